import { createHash, randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Identity } from "../../processes/identity.ts";

/** Stands for the id of a folder where a call gets its entry only when it has run for a while: a missing one says nothing. */
export const LATE = "late";

/** Others may be quicker a few times; a folder that cannot be read stays so. */
const MAX_TRIES = 100;

/** A call as the runner knows it: one run of it, by the owner with this epoch. */
export type RunnerCall = { session: string; key: string; epoch: number };

/** `never`: did not and cannot begin. `entered`: its entry is in `folder`, with what is known of its end. `unknown`: unclear. */
type Found = "never" | "unknown" | { folder: string };

type RunnerEntries = {
  /** Raises the epoch of a session; owners before this one begin nothing from now on. Undefined: somebody later has the session, or it is impossible. */
  take(session: string, epoch: number): { id: string } | undefined;
  /** Like `take`, where commands of the session were entered already; otherwise there is nobody to be kept out. */
  retake(session: string, epoch: number): void;
  /** Makes the entry of a call. "there": it was made before. Throws when the session is somebody else's. */
  enter(call: RunnerCall, id: string): { folder: string } | "there";
  find(call: RunnerCall, id: string): Found;
  /** Makes the entry of a call that was begun without one, with its output up to here. Throws when the session is somebody else's. */
  enterLate(call: RunnerCall, read: Buffer): void;
  folderOf(call: RunnerCall): string;
  /** Every entry of the session. */
  all(session: string, epoch: number): string[];
  /** Removes the entry, and names its folder. */
  forget(call: RunnerCall): string;
  /** Removes what nobody has touched for so long. */
  sweep(olderThanMs: number): void;
};

/**
 * Folders in which commands are entered that outlive their worker: `root/<machine>/<session>/<epoch>/<call>`. Names are the locks. The folder
 * of an epoch is given the name of the next one, so that an owner who was replaced finds no place for an entry; a call is entered by making
 * its folder, which succeeds once. `machine` changes with each start of the machine: a folder that was made and not yet on disk when the power
 * failed would otherwise look as if nothing had begun.
 */
export function createRunnerEntries(root: string, machine: string): RunnerEntries {
  const base = join(root, machine);
  const homeOf = (session: string) => join(base, encodeURIComponent(session));
  const folderOf = ({ session, epoch, key }: RunnerCall) => join(homeOf(session), String(epoch), entryName(key));

  const raise = (session: string, epoch: number): { id: string } | undefined => {
    const home = homeOf(session);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const names = namesIn(home);
      if (!names) {
        makeHome(base, home);
        continue;
      }
      const [now = "", ...others] = names;
      if (others.length > 0 || !/^\d+$/.test(now) || Number(now) > epoch) return undefined;
      const folder = join(home, String(epoch));
      if (Number(now) < epoch && !renamed(join(home, now), folder)) continue; // somebody else was quicker
      return { id: readFileSync(join(folder, "id"), "utf8") };
    }
    return undefined; // it is there, and cannot be read
  };
  const take: RunnerEntries["take"] = (session, epoch) => {
    try {
      return raise(session, epoch);
    } catch {
      return undefined; // a full disk, or a folder that cannot be written
    }
  };

  return {
    take,
    retake(session, epoch) {
      if (existsSync(homeOf(session))) take(session, epoch);
    },
    enter(call, id) {
      if (take(call.session, call.epoch)?.id !== id) throw new Error("another process has the session now");
      const folder = folderOf(call);
      try {
        mkdirSync(folder, { mode: 0o700 });
        return { folder };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") return "there";
        throw error;
      }
    },
    find(call, id) {
      if (id === LATE) {
        const isOurs = existsSync(homeOf(call.session)) && take(call.session, call.epoch) !== undefined;
        return isOurs && hasBegun(folderOf(call)) ? { folder: folderOf(call) } : "unknown";
      }
      // Without its folder nobody knows what had been in there, and a new one knows nothing.
      if (!existsSync(homeOf(call.session)) || take(call.session, call.epoch)?.id !== id) return "unknown";
      const folder = folderOf(call);
      if (!existsSync(folder)) return "never";
      if (hasBegun(folder)) return { folder };
      if (!madeFirst(join(folder, "begun"))) return hasBegun(folder) ? { folder } : "unknown";
      rmSync(folder, { recursive: true, force: true });
      return "never";
    },
    enterLate(call, read) {
      if (!take(call.session, call.epoch)) throw new Error("another process has the session now");
      const folder = folderOf(call);
      mkdirSync(folder, { mode: 0o700 });
      for (const [name, bytes] of [["output", read] as const, ["begun", ""] as const])
        writeFileSync(join(folder, name), bytes, { flag: "wx", mode: 0o600 });
    },
    folderOf,
    all: (session, epoch) =>
      (namesIn(join(homeOf(session), String(epoch))) ?? [])
        .filter((name) => name !== "id")
        .map((name) => join(homeOf(session), String(epoch), name)),
    forget(call) {
      const folder = folderOf(call);
      if (existsSync(folder)) rmSync(folder, { recursive: true, force: true }); // most calls of a terminal have none
      return folder;
    },
    sweep(olderThanMs) {
      const isOld = (path: string) => Date.now() - statSync(path).mtimeMs > olderThanMs;
      for (const owner of namesIn(root) ?? []) {
        for (const session of namesIn(join(root, owner)) ?? []) sweepSession(join(root, owner, session), isOld);
        if (owner !== machine) removeIfEmpty(join(root, owner));
      }
    },
  };
}

/** The end of a command as its keeper told it; undefined while it runs. */
export function toldEnd(folder: string): string | undefined {
  const name = namesIn(folder)?.find((entry) => entry.startsWith("ended."));
  return name?.slice("ended.".length);
}

/** Version 0.2.0 wrote into the folder who keeps the command; it runs on over an update. */
export function olderKeeping(folder: string): (Identity & { command: Identity }) | undefined {
  try {
    const { keeper, keeperStarted, pid, started } = JSON.parse(readFileSync(join(folder, "keeping"), "utf8")) as never;
    return { pid: keeper, started: keeperStarted, command: { pid, started } };
  } catch {
    return undefined;
  }
}

/** Created with its first epoch in it, so that there is never more than one. */
function makeHome(base: string, home: string): void {
  mkdirSync(base, { recursive: true, mode: 0o700 });
  const made = mkdtempSync(join(base, ".new-"));
  mkdirSync(join(made, "0"), { mode: 0o700 });
  writeFileSync(join(made, "0", "id"), randomUUID(), { mode: 0o600 });
  if (!renamed(made, home)) rmSync(made, { recursive: true, force: true });
}

function hasBegun(folder: string): boolean {
  return existsSync(join(folder, "begun")) || toldEnd(folder) !== undefined;
}

function madeFirst(path: string): boolean {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch {
    return false;
  }
}

/** A whole session at once: without an entry of it, a call that is still asked for would look as if it had never begun. */
function sweepSession(home: string, isOld: (path: string) => boolean): void {
  try {
    const epochs = readdirSync(home).map((name) => join(home, name));
    const entries = epochs.flatMap((epoch) => (namesIn(epoch) ?? []).map((name) => join(epoch, name)));
    if (![home, ...epochs, ...entries].every(isOld)) return;
    const aside = `${home}.old-${randomUUID()}`;
    renameSync(home, aside);
    rmSync(aside, { recursive: true, force: true });
  } catch {
    // somebody else sweeps, or uses it
  }
}

/** Another machine may be about to enter something there. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // something is in it
  }
}

function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (["ENOENT", "ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}

/** Keys may be long. */
function entryName(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 32);
}
