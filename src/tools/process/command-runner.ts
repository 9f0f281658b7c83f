import { closeSync, constants, existsSync, openSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { attempt } from "../../base/attempt.ts";
import { endGroup } from "../../processes/group.ts";
import { type Identity, identify, lifeOf } from "../../processes/identity.ts";
import { listProcesses, noteProcess } from "../../processes/registry.ts";
import type { Ending, Kept, ShellCommand, Spawn, Spawned } from "./spawn.ts";
import { keptEnding } from "./keeper.ts";
import { spawnBetween } from "./spawner.ts";
import { LATE, type RunnerCall, createRunnerEntries, olderKeeping, toldEnd } from "./runner-entries.ts";

const CHUNK = 64 * 1024;
/** Time between two looks: short while something comes, longer while nothing does. */
const SOONEST_MS = 10;
const LATEST_MS = 100;

/** File in an entry whose command was ended because its Sage left. */
const CLOSED = "closed";

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

/** A keeper and its command, as they are noted while it may run. */
type Keeping = Identity & { command?: Identity };

type RunnerParts = {
  /** Folder of the place, in Sage's home: all its workers share it. */
  folder: string;
  /** Names this machine since it was started, as far as processes see each other. */
  machine: string;
  /** Starts commands that have a keeper. */
  spawn: Spawn;
  /** How much of an output is kept, in bytes, apart from its end. */
  largest?: number;
  /** The keeper takes over after this time. Most commands end before, and cost nothing more than without one; killed before, their end is not known. */
  afterMs?: number;
  /** Its commands end when this process leaves; they only outlive its sudden death. */
  endsOnLeaving?: boolean;
};

export function createCommandRunner({
  folder: root,
  machine,
  spawn,
  largest = MAX_OUTPUT_BYTES,
  afterMs = 0,
  endsOnLeaving = false,
}: RunnerParts): CommandRunner {
  const entries = createRunnerEntries(root, machine);
  const keepers = createKeepers(dirname(root));

  const start = async (call: RunnerCall, id: string, command: ShellCommand): Promise<Spawned> => {
    if (!existsSync(command.cwd)) throw new Error(`there is no folder ${command.cwd}`);
    const entry = entries.enter(call, id);
    if (entry === "there") {
      const found = entries.find(call, id);
      if (found === "never") return start(call, id, command);
      if (found === "unknown") throw new Error("it was begun by another process, and how it ended is not known");
      return attach(call, found.folder, command);
    }
    const { folder } = entry;
    let own: Identity | undefined;
    const noted = async (pid: number, keeper = 0) => {
      own = identify(pid);
      keepers.note(call, folder, keeper, own);
      return command.noted(pid);
    };
    const started = await spawn({ ...command, noted, kept: keptIn(folder, command, largest) });
    return leavable(started, { folder, runs: () => lives(own), endsOnLeaving });
  };

  /** Until its keeper takes over it is a command like any other, and has no entry. */
  const startLate = (call: RunnerCall): Spawn => {
    const folder = entries.folderOf(call);
    let own: Identity | undefined;
    let leader = 0;
    let isOver = false;
    const late = {
      afterMs,
      enter(read: Buffer) {
        own = identify(leader);
        entries.enterLate(call, read);
      },
      taken: (keeper: number) => void attempt(() => keepers.note(call, folder, keeper, own!)), // on a full disk nobody finds it
    };
    const noting = (command: ShellCommand) => async (pid: number) => {
      leader = pid;
      return command.noted(pid);
    };
    return spawnBetween(
      spawn,
      (command) => ({ ...command, noted: noting(command), kept: { ...keptIn(folder, command, largest), late } }),
      ({ isKept = () => false, ...started }) => {
        const ended = started.ended.then(async (end) => {
          isOver = true;
          if (end === "unknown" || isKept()) return end;
          return { ...end, ...((await endGroup(started.pid, GRACE_MS)) && ({ left: true } as const)) };
        });
        return leavable({ ...started, ended, isKept }, { folder, runs: () => !isOver, endsOnLeaving });
      },
    );
  };

  const attach = async (call: RunnerCall, folder: string, command: ShellCommand): Promise<Spawned> => {
    const keeping = keepers.find(call, folder);
    const left = new AbortController();
    const runs = () => toldEnd(folder) === undefined && lives(keeping?.command);
    const ended = endOfKept(folder, keeping, left.signal);
    const { pid = 0 } = keeping?.command ?? {};
    if (runs()) await command.noted(pid);
    const output = followOutput(folder, ended);
    return leavable({ pid, output, ended, letGo: () => left.abort() }, { folder, runs, endsOnLeaving });
  };

  return {
    take: (session, epoch) => (afterMs > 0 ? LATE : entries.take(session, epoch)?.id),
    retake: entries.retake,
    start: (call, id) => (id === LATE ? startLate(call) : (command) => start(call, id, command)),
    find(call, id) {
      const found = entries.find(call, id);
      if (found === "never") return found;
      if (found === "unknown") return undefined;
      if (!lives(keepers.find(call, found.folder)) && toldEnd(found.folder) === undefined) return undefined;
      return (command) => attach(call, found.folder, command);
    },
    forget: (call) => keepers.forget(entries.forget(call)),
    async endAll(session, epoch) {
      entries.retake(session, epoch);
      const running = keepers
        .all(session, entries.all(session, epoch))
        .flatMap(({ command }) => (lives(command) ? [command!.pid] : []));
      await Promise.all([...new Set(running)].map((pid) => endGroup(pid, GRACE_MS)));
    },
    sweep: () => entries.sweep(SWEEP_MS),
  };
}

/** Keepers on the list of processes, and those of version 0.2.0 beside their commands. */
function createKeepers(home: string) {
  /** How to take those off the list that this process has noted, by the folders of their commands. */
  const noted = new Map<string, () => void>();
  const keepersOf = (session: string) => listProcesses(home, "keeper").filter((entry) => entry.session === session);
  return {
    note({ session, key }: RunnerCall, folder: string, keeper: number, command: Identity): void {
      noted.set(folder, noteProcess(home, "keeper", keeper, { session, key, command }));
    },
    find(call: RunnerCall, folder: string): Keeping | undefined {
      const found = keepersOf(call.session).filter(({ key }) => key === call.key);
      // An owner who was frozen may have noted one that never began.
      const running = found.find(({ command }) => lives(command)) ?? found.find(({ life }) => life === "alive");
      return running ?? found[0] ?? olderKeeping(folder);
    },
    all: (session: string, folders: readonly string[]): Keeping[] => [
      ...keepersOf(session),
      ...folders.flatMap((folder) => olderKeeping(folder) ?? []),
    ],
    forget(folder: string): void {
      noted.get(folder)?.();
      noted.delete(folder);
    },
  };
}

/** Waits for the end that the keeper tells; without a keeper for the end of the command, whatever it was. */
async function endOfKept(folder: string, keeping: Keeping | undefined, signal: AbortSignal): Promise<Ending> {
  for (;;) {
    const isKept = lives(keeping);
    const told = toldEnd(folder); // after the look at the keeper: it tells before it ends
    if (told !== undefined) return wasClosed(keptEnding(told), folder);
    if (!isKept && !lives(keeping?.command)) return "unknown";
    if (signal.aborted) return "unknown";
    await sleep(POLL_MS);
  }
}

function keptIn(folder: string, { timeoutMs = NO_TIMEOUT_MS }: ShellCommand, largest: number): Kept {
  return { folder, largest, timeoutMs, follow: (ended, from) => followOutput(folder, ended, from) };
}

function wasClosed(end: Ending, folder: string): Ending {
  return end !== "unknown" && existsSync(join(folder, CLOSED)) ? { ...end, closed: true } : end;
}

function lives(process: Identity | undefined): boolean {
  return process !== undefined && lifeOf(process) === "alive";
}

/** A command that this process may leave while it runs. */
function leavable(
  { letGo, isKept, ...spawned }: Spawned,
  { folder, runs, endsOnLeaving }: { folder: string; runs: () => boolean; endsOnLeaving: boolean },
): Spawned {
  const leaving = Promise.withResolvers<never>();
  leaving.promise.catch(() => {}); // the end may have been told before
  return {
    ...spawned,
    ended: Promise.race([spawned.ended, leaving.promise]),
    kept: {
      runs,
      end: async (graceMs) => runs() && endGroup(spawned.pid, graceMs),
      letGo(how, why) {
        if (isKept?.() === false) return false;
        if (how === "leaving" && endsOnLeaving) {
          if (runs()) attempt(() => writeFileSync(join(folder, CLOSED), ""));
          return false;
        }
        leaving.reject(why);
        letGo?.();
        spawned.output.destroy();
        return true;
      },
    },
  };
}

/** The output of a kept command, from its beginning, as it grows in the folder of its entry; until the command has ended. */
function followOutput(folder: string, ended: Promise<unknown>, from = 0): Readable {
  return Readable.from(grown(folder, ended, from), { objectMode: false });
}

async function* grown(folder: string, ended: Promise<unknown>, from: number): AsyncGenerator<Buffer> {
  let isOver = false;
  let wake = () => {};
  const end = () => {
    isOver = true;
    wake();
  };
  void ended.then(end, end);
  let file: number | undefined;
  let waitMs = SOONEST_MS;
  let at = from;
  try {
    for (;;) {
      const isLast = isOver; // what came before the end was told is read once more
      file ??= openIfThere(join(folder, "output"));
      for (let bytes = readNext(file, at); bytes; bytes = readNext(file, at)) {
        waitMs = SOONEST_MS;
        at += bytes.length;
        yield bytes;
      }
      if (isLast) break;
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), sleep(waitMs)]);
      waitMs = Math.min(LATEST_MS, waitMs * 2);
    }
    yield* rest(folder);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The end of an output that was cut, because it was too long or the disk was full. */
function* rest(folder: string): Generator<Buffer> {
  const path = join(folder, "rest");
  if (!existsSync(path)) return;
  yield Buffer.from("\n[From here on the output was not kept: it is too long, or the disk is full. Its end:]\n");
  yield readFileSync(path);
}

function readNext(file: number | undefined, at: number): Buffer | undefined {
  if (file === undefined) return undefined;
  const bytes = Buffer.allocUnsafe(CHUNK);
  const length = readSync(file, bytes, 0, CHUNK, at);
  return length === 0 ? undefined : bytes.subarray(0, length);
}

function openIfThere(path: string): number | undefined {
  try {
    // A command of the same user could have put a link or a pipe there: neither is followed or waited for.
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
