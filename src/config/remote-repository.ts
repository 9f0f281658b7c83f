import type { FileReasonArgs } from "../protocol/reasons/file.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";

/** A repository elsewhere, and the branch to begin from. */
export type Remote = {
  /** The address as given, in its canonical spelling. */
  name: string;
  scheme: "https" | "ssh" | "file";
  url: string;
  branch: string | undefined;
};

const MAX_ADDRESS_LENGTH = 2_000;

/** A folder that has yet to be made, from a repository. */
export function isRemote(cwd: string): boolean {
  return /^git\+/i.test(cwd);
}

/** Reads `git+https://host/path.git#branch`. Nothing that git would take for an option or a command, and no password, gets through. */
export function remoteOf(given: string): Remote {
  // For messages: everything before an @ could be a password.
  const shown = given.slice(0, 200).replace(/\/\/.*@/s, "//…@");
  const refuse = (why: FileReasonArgs["remote-unfit"]["why"]): never => {
    throw new SageError("input-invalid", reason("remote-unfit", { remote: shown, why }));
  };
  const [, scheme] = /^git\+(https|ssh|file):\/\//.exec(given) ?? [];
  if (scheme !== "https" && scheme !== "ssh" && scheme !== "file") return refuse("scheme");
  if (given.length > MAX_ADDRESS_LENGTH || /[\s\p{C}\\]/u.test(given)) return refuse("form");
  let url: URL;
  let fragment: string;
  try {
    url = new URL(given.slice("git+".length));
    fragment = decodeURIComponent(url.hash.slice(1));
  } catch {
    return refuse("form");
  }
  if (url.password !== "" || (url.username !== "" && scheme !== "ssh")) return refuse("password");
  if (!isAddress(url, scheme)) return refuse("address");
  if (url.hash !== "" && !isBranch(fragment)) return refuse("branch");
  url.hash = "";
  return {
    name: `git+${url.href}${fragment === "" ? "" : `#${fragment}`}`,
    scheme,
    url: url.href,
    branch: fragment === "" ? undefined : fragment,
  };
}

/** Listed itself, or below something that is: `git+https://host/team` has all repositories of that team. */
export function isAllowed({ name }: Remote, allowed: readonly string[]): boolean {
  const [bare = ""] = name.split("#");
  return allowed.some(
    (start) => name === start || bare === start || bare.startsWith(start.endsWith("/") ? start : `${start}/`),
  );
}

function isAddress(url: URL, scheme: Remote["scheme"]): boolean {
  if (url.search !== "" || url.pathname.length < 2) return false;
  // A server might see a separator, or an end, in what is not one here.
  if (/%(00|0[ad]|2f|5c)/i.test(url.pathname)) return false;
  if (scheme === "file") return url.host === "";
  return /^[a-z0-9[][\w.:[\]-]*$/i.test(url.host) && /^[\w.-]*$/.test(url.username) && !url.username.startsWith("-");
}

/** True for a name that `git check-ref-format --branch` takes. */
function isBranch(name: string): boolean {
  if (name === "" || name.length > 200 || name === "@") return false;
  if (/^[-/.]|[/.]$|\.\.|\/\/|@\{|[\s\p{C}~^:?*[\\]/u.test(name)) return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}
