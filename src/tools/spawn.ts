import { spawn as spawnChild, type ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/** A line for a fresh bash, with a process group of its own, no input, and both outputs in one pipe. */
export type ShellCommand = {
  line: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Called with the leader of its group before the command begins: after a kill nothing runs that was not noted. False: it never begins. */
  noted(pid: number): Promise<boolean>;
};

/** A command that was started. */
export type Spawned = {
  /** The shell, which leads the group. */
  pid: number;
  output: Readable;
  ended: Promise<Ending>;
};

/** `unknown`: it is over, and nobody was there to be told how. */
export type Ending = { code: number } | { signal: NodeJS.Signals } | "unknown";

/** Starts a command. Rejects when it cannot be started; how it ends is never an error. */
export type Spawn = (command: ShellCommand) => Promise<Spawned>;

/** A child of this process. The kernel copies the page tables of all its memory for it: the larger it has grown, the longer that takes. */
export const spawnDirectly: Spawn = async ({ line, ...place }) => {
  // The outer shell only joins both outputs into one pipe, which keeps their order, and becomes the inner one.
  // It is the system's plain one: starting bash twice would cost half a millisecond a command.
  const join = 'exec bash --noprofile --norc -c "$1" 2>&1 </dev/null';
  const { pid, child, ended } = await spawnNoted(join, [line], place, "pipe");
  return { pid, output: child.stdout as Readable, ended };
};

/** A plain shell with a group of its own. It waits for a line on its input, so its script begins once its group is noted. */
export async function spawnNoted(
  script: string,
  args: readonly string[],
  { cwd, env, noted }: Omit<ShellCommand, "line">,
  stdout: "pipe" | "ignore",
): Promise<{ pid: number; child: ChildProcess; ended: Promise<Ending> }> {
  const child: ChildProcess = spawnChild("sh", ["-c", `read -r go && { ${script}; }`, "sh", ...args], {
    cwd,
    env,
    detached: true,
    stdio: ["pipe", stdout, "ignore"],
  });
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(signal === null ? { code: code ?? 0 } : { signal }));
  });
  const { pid } = child;
  // Where there are no descriptors left, it has no streams either.
  if (pid === undefined) return (await ended) as never;
  const input = child.stdin as Writable;
  input.on("error", () => {}); // it was ended before it began
  try {
    if (await noted(pid)) input.write("go\n");
  } finally {
    input.end(); // without its line it ends by itself
  }
  return { pid, child, ended };
}
