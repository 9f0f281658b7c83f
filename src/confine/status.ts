import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { LaunchEnd } from "../tools/process/spawn.ts";
import { startOf } from "../processes/identity.ts";
import { type Mount, exists, isInside } from "./plan.ts";

const POLL_MS = 30_000;
/** After its last step a sandbox changes no mount: a few looks more, and what is wrong stays wrong. */
const MAX_LOOKS = 20;

/** Follows the status that bwrap writes: lines of JSON with the process inside, and at the end with its exit code. */
export function createStatus(mounts: readonly Mount[]) {
  let inner: number | undefined;
  let hasEnded = false;
  let problem: Omit<LaunchEnd, "blocked"> | undefined;
  return {
    inner: () => inner,
    failure: () => (hasEnded ? {} : (problem ?? neverBegun(mounts))),
    async heard(line: string): Promise<boolean | undefined> {
      const { "child-pid": pid, "exit-code": code } = parsed(line);
      if (code !== undefined) hasEnded = problem !== undefined && problem.failed === undefined;
      if (pid === undefined) return undefined;
      inner = pid;
      const wrong = await checkMounts(pid, mounts, () => !runs(pid));
      problem = wrong === undefined ? {} : { failed: `${wrong} is not what it was`, outdated: true };
      return wrong === undefined;
    },
    /** Its first process ends when all others in there are gone. */
    async dead(): Promise<void> {
      if (inner !== undefined) await ended(inner);
    },
  };
}

/** Bwrap may end before its mounts are looked at: it cannot mount what is gone. */
function neverBegun(mounts: readonly Mount[]): Omit<LaunchEnd, "blocked"> {
  const gone = mounts.find(({ bind }) => bind && !exists(bind.from))?.bind?.from;
  if (gone === undefined) return { failed: "bwrap ended before the command began" };
  return { failed: `${gone} is not what it was`, outdated: true };
}

function parsed(line: string): { "child-pid"?: number; "exit-code"?: number } {
  try {
    return JSON.parse(line) as object;
  } catch {
    return {};
  }
}

async function ended(pid: number): Promise<void> {
  for (;;) {
    if (!runs(pid)) return;
    await sleep(2);
  }
}

const runs = (pid: number): boolean => startOf(pid) !== "";

/** Compares all mounts with the plan: a parallel command may have put a link where a folder was. Gives a path that differs. */
async function checkMounts(pid: number, mounts: readonly Mount[], isOver: () => boolean): Promise<string | undefined> {
  const binds = mounts.flatMap(({ bind }) => (bind ? [bind] : []));
  const last = new Map(binds.map((mount) => [mount.to, mount]));
  const here = readMounts("self");
  const wanted = [...last.values()].map((mount) => ({ ...mount, ...sourceOf(mount.from, here) }));
  let wrong: string | undefined = "/";
  let looks = 0;
  for (const until = performance.now() + POLL_MS; performance.now() < until && !isOver(); await sleep(1)) {
    const found = new Map(readMounts(pid).map((mount) => [mount.at, mount]));
    // The last step of all: until then folders come and go.
    if (found.get("/")?.writable !== false || found.has("/oldroot") || found.has("/newroot")) continue;
    wrong = wanted.find((expected) => {
      const mount = found.get(expected.to);
      return (
        mount === undefined ||
        mount.device !== expected.device ||
        mount.root !== expected.root ||
        (mount.writable && !expected.writable)
      );
    })?.to;
    if (wrong === undefined || ++looks === MAX_LOOKS) return wrong;
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
  for (const mount of mounts) if (isInside(mount.at, path) && mount.at.length >= (inner?.at.length ?? 0)) inner = mount;
  const rest = path.slice(inner?.at === "/" ? 0 : (inner?.at.length ?? 0));
  const root = `${inner?.root === "/" ? "" : (inner?.root ?? "")}${rest}`;
  return { device: inner?.device ?? "", root: root === "" ? "/" : root };
}

/** The kernel writes blanks and backslashes as octal numbers. */
function plain(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
