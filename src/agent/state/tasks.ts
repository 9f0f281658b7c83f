import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { endAll, endAllNow, signalGroup, treeOf } from "../../processes/group.ts";
import { groupLife, type Life } from "../../processes/identity.ts";
import type { BackgroundTask, TaskEnd } from "../../protocol/facts/call.ts";
import type { Message } from "../../protocol/facts/message.ts";

const GRACE_MS = 2_000;
const POLL_MS = 5_000;
const MAX_OUTPUT_BYTES = 100 * 1024 * 1024;

/** Alive while anything of it runs: its shell may have left a server behind. From another process, or after a restart, it looks the same. */
export function lifeOfTask(task: BackgroundTask): Life {
  const life = groupLife(task);
  // Whoever cannot look at its processes can still read its exit code.
  return life === "unknown" && writtenCode(task) !== undefined ? "dead" : life;
}

/** Undefined while it runs, and while nobody here can tell. */
export function endOfTask(task: BackgroundTask): TaskEnd | undefined {
  if (lifeOfTask(task) !== "dead") return undefined;
  const { id, command, file } = task;
  const code = writtenCode(task);
  return { id, command, file, ...(code !== undefined && { code }) };
}

/** Asks everything of it to end, and after a while makes it. `unknown`: it runs where this process cannot reach it, if it does. */
export async function stopTask(task: BackgroundTask): Promise<"stopped" | "ended" | "unknown"> {
  const life = lifeOfTask(task);
  if (life !== "alive") return life === "dead" ? "ended" : life;
  await endAll(() => treeOf(task, task.file), GRACE_MS);
  return "stopped";
}

/** Keeps it running after Sage exits, by a file next to its output that any owner of the session can see. */
export function keepTask({ file }: BackgroundTask): void {
  writeFileSync(`${file}.keep`, "", { mode: 0o600 });
}

export function isKept({ file }: BackgroundTask): boolean {
  return existsSync(`${file}.keep`);
}

/** The person stopped it by hand: nobody needs to be told of its end. */
export function noteStopped({ file }: BackgroundTask): void {
  writeFileSync(`${file}.stopped`, "", { mode: 0o600 });
}

export function isStopped({ file }: BackgroundTask): boolean {
  return existsSync(`${file}.stopped`);
}

/** The message that tells the model what ended since its last reply. Live and folded it is the same. */
export function endedMessages(ended: readonly TaskEnd[] | undefined): Message[] {
  if (!ended || ended.length === 0) return [];
  const lines = ended.map(
    ({ id, command, file, code }) =>
      `${id} (${shortened(command)}) ${code === undefined ? "ended without an exit code: stopped from outside, or together with Sage" : `ended with exit code ${code}`}; its output is in ${file}`,
  );
  return [{ role: "user", text: `(From Sage, not from the person. In the background:\n${lines.join("\n")})` }];
}

/** Commands that run in the background end with the process that has their session. A kill leaves them, and the next one finds them. */
export function endWithProcess(task: BackgroundTask): void {
  if (own.size === 0) {
    process.once("exit", endOwn);
    watching = setInterval(look, POLL_MS);
    watching.unref();
  }
  own.set(task.id, task);
}

const own = new Map<string, BackgroundTask>();
let watching: NodeJS.Timeout | undefined;

/** An exit waits for them: one that ignores the request to end would otherwise stay for ever. */
function endOwn(): void {
  const left = [...own.values()].filter((task) => !isKept(task));
  if (left.length > 0) endAllNow(() => left.flatMap((task) => treeOf(task, task.file)), GRACE_MS);
}

/** Output that grows without end would fill the disk. */
function look(): void {
  for (const task of own.values()) {
    if (endOfTask(task)) own.delete(task.id);
    else if ((statSync(task.file, { throwIfNoEntry: false })?.size ?? 0) > MAX_OUTPUT_BYTES)
      signalGroup(task.pid, "SIGKILL");
  }
  if (own.size > 0) return;
  clearInterval(watching);
  process.off("exit", endOwn);
}

function writtenCode({ file }: BackgroundTask): number | undefined {
  try {
    const text = readFileSync(`${file}.end`, "utf8").trim();
    return /^\d+$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}

function shortened(command: string): string {
  return command.length > 100 ? `${command.slice(0, 100).toWellFormed()}…` : command;
}
