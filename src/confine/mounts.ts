import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isInside, type Mount } from "./plan.ts";

const POLL_MS = 5_000;

/**
 * Waits until a sandbox has all its mounts and compares each with the plan: a command that runs at the same time may have put a link
 * where a folder was. Gives the path that is not what it should be, or undefined when everything is in its place.
 */
export async function checkMounts(
  pid: number,
  mounts: readonly Mount[],
  isOver: () => boolean,
): Promise<string | undefined> {
  const binds = mounts.flatMap(({ bind }) => (bind ? [bind] : []));
  const last = new Map(binds.map((one) => [one.to, one]));
  const here = readMounts("self");
  const wanted = [...last.values()].map((one) => ({ ...one, ...sourceOf(one.from, here) }));
  let wrong: string | undefined = "/";
  for (const until = performance.now() + POLL_MS; performance.now() < until && !isOver(); await sleep(1)) {
    const found = new Map(readMounts(pid).map((one) => [one.at, one]));
    // The last step of all: until then folders come and go.
    if (found.get("/")?.writable !== false || found.has("/oldroot") || found.has("/newroot")) continue;
    wrong = wanted.find((one) => {
      const mount = found.get(one.to);
      return (
        mount === undefined ||
        mount.device !== one.device ||
        mount.root !== one.root ||
        (mount.writable && !one.writable)
      );
    })?.to;
    if (wrong === undefined) return undefined;
  }
  return wrong;
}

/** A line of `mountinfo`: the part `root` of a file system is seen at `at`. */
type Seen = { device: string; root: string; at: string; writable: boolean };

function readMounts(pid: number | "self"): Seen[] {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const [, , device = "", root = "", at = "", options = ""] = line.split(" ");
        return { device, root: plain(root), at: plain(at), writable: !options.split(",").includes("ro") };
      });
  } catch {
    return []; // it is gone
  }
}

/** Device and path within its file system of a path on this machine: those of the innermost mount that holds it. */
function sourceOf(path: string, mounts: readonly Seen[]): { device: string; root: string } {
  let inner: Seen | undefined;
  for (const one of mounts) if (isInside(one.at, path) && one.at.length >= (inner?.at.length ?? 0)) inner = one;
  const rest = path.slice(inner?.at === "/" ? 0 : (inner?.at.length ?? 0));
  const root = `${inner?.root === "/" ? "" : (inner?.root ?? "")}${rest}`;
  return { device: inner?.device ?? "", root: root === "" ? "/" : root };
}

/** The kernel writes blanks and backslashes as octal numbers. */
function plain(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
