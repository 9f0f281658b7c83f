import { join, resolve } from "node:path";
import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import { isInside, statOf } from "../../paths/canonical.ts";
import { baseName } from "../../text/tokens.ts";
import type { Word } from "../read/word.ts";
import type { Where } from "./files/targets.ts";

/**
 * An archive may hold any start file: unpacked into the home folder, or above it, it may replace one. A container that is given
 * such a folder may do so too.
 */
export function opensHome(
  words: readonly Word[],
  names: readonly string[],
  { bases, home, disk, source }: Where,
): Reason | undefined {
  const spelled = (word: Word) =>
    source(word)
      .replace(/["'{}]/g, "")
      .replace(/(^|=)\$HOME\b/g, (_, before: string) => before + home);
  const texts = words.map((word) => word.text ?? spelled(word));
  const program = baseName(texts[0] ?? "");
  const isContainer = containers.has(program) && texts.some((text) => /^(-v|--volume|--mount)/.test(text));
  if (!unpackers.has(program) && !isContainer) return undefined;
  const real = followed(home, disk);
  const given = isContainer ? mounted(texts) : names;
  const path = given
    .filter((name) => !name.startsWith("-"))
    .flatMap((name) => bases.map((base) => followed(resolve(base, name), disk)))
    .find((folder) => isInside(folder, real));
  if (path === undefined) return undefined;
  return reason(isContainer ? "mounts-home" : "unpacks-home", { path });
}

/** Folders of this machine that a container is given: `-v a:b`, `--mount source=a,target=b`. */
function mounted(texts: readonly string[]): string[] {
  return texts.flatMap((text, n) => {
    const value = /^(?:-v|--volume=|--mount=)(.+)$/.exec(text)?.[1];
    const given = value ?? (/^(-v|--volume|--mount)$/.test(texts[n - 1] ?? "") ? text : "");
    return [given.split(":")[0]!, /(?:^|,)(?:source|src)=([^,]+)/.exec(given)?.[1] ?? ""].filter((name) =>
      /^[/~.]/.test(name),
    );
  });
}

/** A repository that an archive is unpacked into: what comes out may be a hook of git, and nobody has looked. */
export function unpacksRepository(
  texts: readonly string[],
  { bases }: Where,
  meant: ReadonlySet<string>,
): Reason | undefined {
  const program = baseName(texts[0] ?? "");
  const args = texts.slice(1);
  // A rule that says to unpack meant it.
  if (!extracts(program, args) || args.some((arg) => meant.has(arg) && extracts(program, [arg]))) return undefined;
  const given = args.flatMap((arg, n) => {
    const glued = /^(?:--directory=|--dir[a-z]*=|-C|-d|-o)(.+)$/.exec(arg)?.[1];
    return glued ?? (/^(-[A-Za-z]*C|--dir[a-z]*|-d)$/.test(args[n - 1] ?? "") ? arg : []);
  });
  const folders = bases.flatMap((base) => (given.length === 0 ? [base] : given.map((folder) => resolve(base, folder))));
  const path = folders.find((folder) => !folder.includes("\0") && statOf(join(folder, ".git")) !== undefined);
  return path === undefined ? undefined : reason("unpacks-repository", { path });
}

function extracts(program: string, args: readonly string[]): boolean {
  switch (program) {
    case "tar":
    case "gtar":
    case "bsdtar":
      return args.some(
        (arg, n) => /^--(ext|get)/.test(arg) || ((n === 0 || /^-[^-]/.test(arg)) && /^-?[A-Za-z]*x/.test(arg)),
      );
    case "unzip":
      return !args.some((arg) => /^-[A-Za-z]*[lvtpzZ]/.test(arg));
    case "7z":
    case "7za":
      return args[0] === "x" || args[0] === "e";
    case "cpio":
      return args.some((arg) => /^(-[a-z]*i|--extract)/.test(arg));
    case "pax":
      return args.some((arg) => /^-[a-z]*r/.test(arg));
    case "jar":
      return /^-?[a-z]*x/.test(args[0] ?? "") || args.includes("--extract");
    default:
      return false;
  }
}

const unpackers = new Set("tar gtar bsdtar unzip 7z 7za cpio pax jar rsync".split(" "));
const containers = new Set("docker podman nerdctl".split(" "));

function followed(path: string, disk: Where["disk"]): string {
  try {
    return disk.follow(path);
  } catch {
    return path;
  }
}
