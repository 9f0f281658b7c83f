import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { signalGroup } from "../../base/process-group.ts";
import { groupLives } from "../../journal/process.ts";
import type { BackgroundTask, TaskEnd } from "../../protocol/facts/call.ts";
import type { Message } from "../../protocol/facts/message.ts";

const GRACE_MS = 2_000;
const POLL_MS = 5_000;
const MAX_OUTPUT_BYTES = 100 * 1024 * 1024;

/**
 * Undefined while any of its processes runs: its shell may have left a server behind. Works from another process and after a restart too.
 */
export function endOfTask({ id, command, file, pid, started }: BackgroundTask): TaskEnd | undefined {
  if (groupLives(pid, started)) return undefined;
  const code = codeIn(`${file}.end`);
  return { id, command, file, ...(code !== undefined && { code }) };
}

/** Asks the whole group to end, and after a while makes it. */
export async function stopTask(task: BackgroundTask): Promise<"stopped" | "ended"> {
  if (endOfTask(task)) return "ended";
  signalGroup(task.pid, "SIGTERM");
  for (const from = performance.now(); performance.now() - from < GRACE_MS; await sleep(20))
    if (!groupLives(task.pid, task.started)) return "stopped";
  signalGroup(task.pid, "SIGKILL");
  return "stopped";
}

/**
 * The person wants it to keep running after Sage exits. Marked by a file next to its output, which any process that owns the session can
 * see.
 */
export function keepTask({ file }: BackgroundTask): void {
  writeFileSync(`${file}.keep`, "", { mode: 0o600 });
}

export function isKept({ file }: BackgroundTask): boolean {
  return existsSync(`${file}.keep`);
}

/** The message that tells the model what ended since its last reply. Live and folded it is the same. */
export function endedMessages(ended: readonly TaskEnd[] | undefined): Message[] {
  if (!ended || ended.length === 0) return [];
  const lines = ended.map(
    ({ id, command, file, code }) =>
      `${id} (${shortened(command)}) ${code === undefined ? "ended, and how is not known" : `ended with exit code ${code}`}; its output is in ${file}`,
  );
  return [{ role: "user", text: `(From Sage, not from the person. In the background:\n${lines.join("\n")})` }];
}

/** Commands that run in the background end with the process that has their session. A kill leaves them, and the next one finds them. */
export function endWithProcess(task: BackgroundTask): void {
  if (own.size === 0) {
    process.once("exit", endAll);
    watching = setInterval(look, POLL_MS);
    watching.unref();
  }
  own.set(task.id, task);
}

const own = new Map<string, BackgroundTask>();
let watching: NodeJS.Timeout | undefined;

function endAll(): void {
  for (const task of own.values()) if (!isKept(task) && !endOfTask(task)) signalGroup(task.pid, "SIGTERM");
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
  process.off("exit", endAll);
}

function codeIn(path: string): number | undefined {
  try {
    const text = readFileSync(path, "utf8").trim();
    return /^\d+$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}

function shortened(command: string): string {
  return command.length > 100 ? `${command.slice(0, 100).toWellFormed()}…` : command;
}
