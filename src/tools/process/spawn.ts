import { type ChildProcess, spawn as spawnChild } from "node:child_process";
import { constants as system } from "node:os";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { signalGroup } from "../../processes/group.ts";
import type { Blocked } from "../../protocol/confine.ts";

/** A line for a fresh bash, with a process group of its own, no input, and both outputs in one pipe. */
export type ShellCommand = {
  line: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Called with the leader of its group before the command begins: after a kill nothing runs that was not noted. False: it never begins. */
  noted(pid: number, keeper?: number): Promise<boolean>;
  /** The sandbox that it runs in. Its environment and working folder come with it. */
  launch?: Launch | undefined;
  /** It continues when this process dies. */
  kept?: Kept;
  /** After this time it is stopped. */
  timeoutMs?: number;
};

/** The entry of a command that continues when this process dies: its keeper writes output and end into the folder. */
export type Kept = {
  folder: string;
  timeoutMs: number;
  /** How much of the output is kept, in bytes, apart from its end. */
  largest: number;
  /** The output as it grows there, from a byte on, until the end. */
  follow(ended: Promise<unknown>, from?: number): Readable;
  /**
   * The keeper takes over a command that still runs after this time. Then the entry is made, with the output up to there; it throws where
   * that is impossible. Where no spawner works, nobody keeps the command.
   */
  late?: { afterMs: number; enter(read: Buffer): void; taken(keeper: number): void };
};

/** A prepared start in a sandbox. Its starter opens 3 for the status, 6 and 8 on the files, 7 for a byte before the command begins. */
export type Launch = {
  /** Words in front of the program and its arguments. */
  words: readonly string[];
  /** Files with further words, and with the filter for system calls. */
  args: string;
  filter: string;
  env: NodeJS.ProcessEnv;
  /** Takes a line of the status. True: everything is in its place, and the command may begin. False: it must be ended. */
  heard(line: string): Promise<boolean | undefined>;
  /** The group of the command itself, to be asked to end. */
  inner(): number | undefined;
  over(): Promise<LaunchEnd>;
};

/** The end of a confined command: what it was kept from, or why it did not run. */
export type LaunchEnd = {
  blocked: Blocked[];
  /** The sandbox failed, and not the command. */
  failed?: string;
  /** It failed because files had changed since it was planned: the command was held until then, and has not begun. */
  outdated?: boolean;
};

/** A command that was started. */
export type Spawned = {
  /** The shell, which leads the group. */
  pid: number;
  output: Readable;
  ended: Promise<Ending>;
  /** Stops listening to its keeper, and lets it run. */
  letGo?(): void;
  /** False until a keeper that comes later has taken over. */
  isKept?(): boolean;
  /** Set for a command with a keeper, which sees to the timeout and to processes that it leaves behind. */
  kept?: {
    runs(): boolean;
    end(graceMs: number): Promise<boolean>;
    /** This process leaves or has lost the session. True: the command continues, and `ended` rejects with `why`. False: it is to be ended. */
    letGo(how: "leaving" | "lost", why: unknown): boolean;
  };
};

/**
 * `unknown`: it is over, and nobody was there to be told how. `left`: processes that it had left behind were ended. `closed`: it was ended
 * because its Sage left.
 */
export type Ending =
  | (({ code: number } | { signal: NodeJS.Signals } | { late: true }) & { left?: true; closed?: true })
  | "unknown";

/** Starts a command. Rejects when it cannot be started; how it ends is never an error. */
export type Spawn = (command: ShellCommand) => Promise<Spawned>;

/** A child of this process. The kernel copies the page tables of all its memory for it: the larger it has grown, the longer that takes. */
export const spawnDirectly: Spawn = async ({ line, ...place }) => {
  const { launch } = place;
  if (launch) {
    const words = [...launch.words, "bash", "--noprofile", "--norc", "-c", line];
    const { pid, child, ended } = await spawnNoted('exec "$@" 2>&1 5<&-', words, { ...place, cwd: "/" }, "pipe");
    return { pid, output: child.stdout as Readable, ended };
  }
  // The outer shell only joins both outputs into one pipe, which keeps their order, and becomes the inner one.
  // It is the system's plain one: starting bash twice would cost half a millisecond a command.
  const join = 'exec bash --noprofile --norc -c "$1" 2>&1 </dev/null';
  const { pid, child, ended } = await spawnNoted(join, [line], place, "pipe");
  return { pid, output: child.stdout as Readable, ended };
};

/** A plain shell with its own group, whose script begins by a line on its input, once the group is noted. */
export async function spawnNoted(
  script: string,
  args: readonly string[],
  { cwd, env, noted, launch }: Omit<ShellCommand, "line">,
  stdout: "pipe" | "ignore",
): Promise<{ pid: number; child: ChildProcess; ended: Promise<Ending> }> {
  const opens =
    'for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -gt 3 ] && [ "$fd" != 5 ] && [ "$fd" != 255 ] && eval "exec $fd>&-"; done; ' +
    'exec 6<"$1" 8<"$2" 7<&0 </dev/null; shift 2; ';
  const files = launch ? [launch.args, launch.filter] : [];
  const child: ChildProcess = spawnChild(
    launch ? "bash" : "sh",
    ["-c", `read -r go && { ${launch ? opens : ""}${script}; }`, "sh", ...files, ...args],
    {
      cwd,
      env,
      detached: true,
      // 3: the status of a sandbox; 5: its end tells that this process is gone.
      stdio: ["pipe", stdout, "ignore", ...(launch ? (["pipe", "ignore", "pipe"] as const) : [])],
    },
  );
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (signal !== null) resolve({ signal });
      else resolve(launch ? boxedEnding(code ?? 0) : { code: code ?? 0 });
    });
  });
  const { pid } = child;
  // A process has no streams when no descriptors are left.
  if (pid === undefined) return (await ended) as never;
  const input = child.stdin as Writable;
  input.on("error", () => {}); // it was ended before it began
  let begins = false;
  try {
    begins = await noted(pid);
    if (begins) input.write("go\n");
  } finally {
    if (!launch || !begins) input.end(); // without its line it ends by itself
  }
  if (launch && begins) void letBegin(child, pid, launch);
  return { pid, child, ended };
}

/** Lets a confined command begin once its sandbox is as planned, or ends it. */
async function letBegin(child: ChildProcess, pid: number, launch: Launch): Promise<void> {
  const [input, , , status, , life] = child.stdio as unknown as [Writable, ...(Readable & { unref(): void })[]];
  life?.on("error", () => {});
  life?.unref();
  for await (const line of createInterface({ input: status! })) {
    const may = await launch.heard(line);
    if (may === true) input.end("\n");
    if (may === false) endHeld(launch.inner(), pid);
  }
}

/** Ends the held process itself first: it waits on a pipe that closes when the shell around it is gone, and would take that for leave to begin. */
export function endHeld(inner: number | undefined, group: number): void {
  try {
    if (inner !== undefined) process.kill(inner, "SIGKILL");
  } catch {
    // It has ended.
  }
  signalGroup(group, "SIGKILL");
}

/** A sandbox tells signals as shells do. */
export function boxedEnding(code: number): Ending {
  const [signal] = Object.entries(system.signals).find(([, number]) => number === code - 128) ?? [];
  return signal === undefined || /^SIG(INT|PIPE|TERM)$/.test(signal) ? { code } : { signal: signal as NodeJS.Signals };
}
