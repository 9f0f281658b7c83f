import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { endGroup } from "./process-group.ts";
import { keptEnding } from "./keeper.ts";
import type { Ending, ShellCommand, Spawn, Spawned } from "./spawn.ts";
import { createEntries, noteKeeping, readKeeping, toldEnd, type Keeping, type RunnerCall } from "./runner-entries.ts";
import { followOutput } from "./follow-output.ts";

export type { RunnerCall } from "./runner-entries.ts";

const POLL_MS = 100;
const GRACE_MS = 2_000;
const NO_TIMEOUT_MS = 600_000;
const MAX_OUTPUT_BYTES = 100 * 1024 * 1024;
/** Entries of sessions that nobody has touched for this long are removed. */
const SWEEP_MS = 7 * 24 * 3_600_000;

/** Commands that outlive their worker: entered at most once by call and epoch, and found again by whoever has the session next. */
export type CommandRunner = {
  /** Keeps out earlier owners of the session. The id is for `call.started`; undefined: commands of it cannot be kept now. */
  take(session: string, epoch: number): string | undefined;
  /** Like `take`, for a turn that continues. */
  retake(session: string, epoch: number): void;
  /** Starts the command of a call, once; a second time it is attached to. */
  start(call: RunnerCall, id: string): Spawn;
  /** `never`: it did not begin, and may run now. A `Spawn`: attaches to it, whether it runs or has ended. Undefined: nobody can say. */
  find(call: RunnerCall, id: string): "never" | Spawn | undefined;
  /** The result of the call is on disk. */
  forget(call: RunnerCall): void;
  /** Ends every command of a session: its turn was cancelled while nobody ran it. */
  endAll(session: string, epoch: number): Promise<void>;
  sweep(): void;
};

export type RunnerParts = {
  /** Folder of the place: all its workers share it. */
  folder: string;
  /** Names this machine since it was started, as far as processes see each other. */
  machine: string;
  /** When a process was started; "" when it does not live. */
  startOf(pid: number): string;
  /** Starts commands that have a keeper. */
  spawn: Spawn;
  /** How much of an output is kept, in bytes, apart from its end. */
  largest?: number;
};

export function createCommandRunner({
  folder: root,
  machine,
  startOf,
  spawn,
  largest = MAX_OUTPUT_BYTES,
}: RunnerParts): CommandRunner {
  const entries = createEntries(root, machine);
  const lives = (pid: number, started: string) => started !== "" && startOf(pid) === started;

  const start = async (call: RunnerCall, id: string, command: ShellCommand): Promise<Spawned> => {
    if (!existsSync(command.cwd)) throw new Error(`there is no folder ${command.cwd}`);
    const entry = entries.enter(call, id);
    if (entry === "there") {
      const found = entries.find(call, id);
      if (found === "never") return start(call, id, command);
      if (found === "unknown") throw new Error("it was begun by another process, and how it ended is not known");
      return attach(found.folder, command);
    }
    const { folder } = entry;
    const follow = (ended: Promise<unknown>) => followOutput(folder, ended);
    let keeping: Keeping | undefined;
    const noted = async (pid: number, keeper = 0) => {
      keeping = { keeper, keeperStarted: startOf(keeper), pid, started: startOf(pid) };
      noteKeeping(folder, keeping);
      return command.noted(pid);
    };
    const kept = { folder, largest, timeoutMs: command.timeoutMs ?? NO_TIMEOUT_MS, follow };
    const started = await spawn({ ...command, noted, kept });
    return leavable(started, () => keeping !== undefined && lives(keeping.pid, keeping.started));
  };

  const attach = async (folder: string, command: ShellCommand): Promise<Spawned> => {
    const keeping = readKeeping(folder);
    const left = new AbortController();
    const runs = () => toldEnd(folder) === undefined && keeping !== undefined && lives(keeping.pid, keeping.started);
    const ended = endOf(folder, keeping, left.signal);
    const { pid = 0 } = keeping ?? {};
    if (runs()) await command.noted(pid);
    return leavable({ pid, output: followOutput(folder, ended), ended, letGo: () => left.abort() }, runs);
  };

  /** Waits for the end that the keeper tells; without a keeper for the end of the command, whatever it was. */
  const endOf = async (folder: string, keeping: Keeping | undefined, signal: AbortSignal): Promise<Ending> => {
    for (;;) {
      const isKept = keeping !== undefined && lives(keeping.keeper, keeping.keeperStarted);
      const told = toldEnd(folder); // after the look at the keeper: it tells before it ends
      if (told !== undefined) return keptEnding(told);
      if (!isKept && !(keeping && lives(keeping.pid, keeping.started))) return "unknown";
      if (signal.aborted) return "unknown";
      await sleep(POLL_MS);
    }
  };

  return {
    take: (session, epoch) => entries.take(session, epoch)?.id,
    retake: entries.retake,
    start: (call, id) => (command) => start(call, id, command),
    find(call, id) {
      const found = entries.find(call, id);
      if (found === "never") return found;
      if (found === "unknown") return undefined;
      const keeping = readKeeping(found.folder);
      const isKept = keeping !== undefined && lives(keeping.keeper, keeping.keeperStarted);
      if (!isKept && toldEnd(found.folder) === undefined) return undefined;
      return (command) => attach(found.folder, command);
    },
    forget: entries.forget,
    async endAll(session, epoch) {
      entries.retake(session, epoch);
      const running = entries.all(session, epoch).flatMap((folder) => {
        const keeping = toldEnd(folder) === undefined ? readKeeping(folder) : undefined;
        return keeping && lives(keeping.pid, keeping.started) ? [keeping.pid] : [];
      });
      await Promise.all(running.map((pid) => endGroup(pid, GRACE_MS)));
    },
    sweep: () => entries.sweep(SWEEP_MS),
  };
}

/** A command that this process may leave while it runs. */
function leavable({ letGo, ...spawned }: Spawned, runs: () => boolean): Spawned {
  const leaving = Promise.withResolvers<never>();
  leaving.promise.catch(() => {}); // the end may have been told before
  return {
    ...spawned,
    ended: Promise.race([spawned.ended, leaving.promise]),
    kept: {
      runs,
      end: async (graceMs) => runs() && endGroup(spawned.pid, graceMs),
      letGo(why) {
        leaving.reject(why);
        letGo?.();
        spawned.output.destroy();
      },
    },
  };
}
