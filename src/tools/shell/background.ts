import * as z from "../../base/z.ts";
import { randomBytes, randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { oneLine } from "../../base/visible.ts";
import type { BackgroundTask } from "../../protocol/facts/call.ts";
import type { ToolResult } from "../../protocol/facts/message.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { failed } from "../definition/result.ts";
import { TASK_MARK } from "../../processes/group.ts";
import { blockedNotes, notConfined, shellEnv } from "./shell-env.ts";
import { endHeld, spawnNoted, type Launch, type LaunchEnd } from "../process/spawn.ts";
import type { ToolScope, Tool } from "../definition/tool.ts";
import { describe } from "../definition/describe.ts";

const MAX_RUNNING = 10;
const interrupted = "Interrupted by the person before the command was started.";

/** Starts a command that outlives its call. Output goes to a file, never through Sage; the outer shell leaves the exit code beside it. */
export async function startInBackground(
  command: string,
  scope: ToolScope,
): Promise<{ result: ToolResult; outdated?: boolean }> {
  const running = scope.tasks?.running() ?? [];
  if (running.length >= MAX_RUNNING)
    return {
      result: failed({
        text: `${running.length} commands run in the background already; stop one with KillShell first.`,
        why: reason("too-many-tasks", { count: running.length }),
      }),
    };
  const id = randomBytes(3).toString("hex");
  const file = join(scope.keepDir, `task-${randomUUID()}.txt`);
  mkdirSync(scope.keepDir, { recursive: true, mode: 0o700 });
  writeFileSync(file, "", { flag: "wx", mode: 0o600 });
  const script = 'bash --noprofile --norc -c "$1" >"$2" 2>&1 </dev/null; echo $? >"$2.tmp" && mv "$2.tmp" "$2.end"';
  let begins = false;
  let identity: Pick<BackgroundTask, "pid" | "started" | "machine"> = { pid: 0, started: "" };
  const noted = async (pid: number) => {
    // While it waits: later it may have ended, and only what it started lives.
    identity = scope.tasks?.identify(pid) ?? { pid, started: "" };
    await scope.spawned(pid);
    return (begins = !scope.signal.aborted);
  };
  // Everything that it starts inherits this: so a process that leaves its group and its parent is found.
  const env = { ...shellEnv(scope), [TASK_MARK]: file };
  const { signal } = scope;
  const { launch, held } = watched(await scope.confine?.({ cwd: scope.cwd, env }), signal);
  const place = { cwd: launch ? "/" : scope.cwd, env: launch?.env ?? env, noted, launch };
  const shell = ["bash", "--noprofile", "--norc", "-c", command];
  const starting = launch
    ? spawnNoted(tied, [file, ...launch.words, ...shell], place, "ignore")
    : spawnNoted(script, [command, file], place, "ignore");
  const { pid, child, ended } = await starting.catch(async (error: unknown) => {
    await launch?.over(); // the sandbox would keep its hosts open for others
    throw error;
  });
  const over = launch && ended.then(() => launch.over());
  over?.catch(() => {});
  if (!begins) return { result: failed(interrupted) };
  const stop = () => endHeld(launch?.inner(), pid);
  const refused = over && (await stoppable(Promise.race([held, over]), signal, stop));
  if (refused && (signal.aborted || refused.failed !== undefined)) {
    for (const left of [file, `${file}.end`]) rmSync(left, { force: true });
    if (signal.aborted) return { result: failed(interrupted) };
    return { result: failed(notConfined(refused.failed ?? "")), outdated: refused.outdated ?? false };
  }
  void over?.then((end) => noteBlocked(file, end)).catch(() => {});
  child.unref();
  const text = `Started in the background as ${id}. Its output goes to ${file}. Wait for it by its id; KillShell stops it.`;
  const shown = { characters: 0, notes: [reason("task-started", { id })] };
  const background = { id, command: oneLine(command), ...identity, file, at: Date.now() };
  return { result: { ok: true, text, shown, background } };
}

/** `held` ends when the sandbox is as planned, and the command may begin in it: not where the person has interrupted it meanwhile. */
function watched(
  launch: Launch | undefined,
  signal: AbortSignal,
): { launch: Launch | undefined; held: Promise<undefined> } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  if (launch === undefined) return { launch, held: promise };
  const heard = async (line: string) => {
    const may = await launch.heard(line);
    if (may !== true) return may;
    if (!signal.aborted) resolve(undefined);
    return !signal.aborted;
  };
  return { launch: { ...launch, heard }, held: promise };
}

async function stoppable<Work>(work: Promise<Work>, signal: AbortSignal, stop: () => void): Promise<Work> {
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    return await work;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** As above, in a sandbox, with one more process that ends everything when Sage is gone. */
const tied = `f=$1; shift
  ( read -r x <&5; kill -KILL 0 ) 3>&- 6<&- 7<&- 8<&- & exec 5<&-
  "$@" >"$f" 2>&1; echo $? >"$f.tmp" && mv "$f.tmp" "$f.end"; kill $!`;

/** Nobody waits for the result any more: what the command was kept from is told where its output is. */
function noteBlocked(file: string, { blocked }: LaunchEnd): void {
  const lines = blockedNotes(blocked).map(([words]) => words);
  if (lines.length > 0) appendFileSync(file, `${lines.join("\n")}\n`);
}

const inputSchema = z.strictObject({ id: z.string().min(1).describe("From the result of the call") });

/** Ends only what this session started itself, so it needs no permission; doing it twice does no harm. */
export const killShell: Tool<z.infer<typeof inputSchema>> = {
  name: "KillShell",
  description: describe("shell/kill-shell"),
  inputSchema,
  effect: "reads",
  specifier: ({ id }) => id,
  checkPermissions: () => ({ behavior: "allow", reason: "stops a command that this session started" }),
  async execute({ id }, scope) {
    const how = await scope.tasks?.stop(id);
    if (how === undefined) return failed(`There is no command ${id} in the background.`);
    if (how === "unknown")
      return failed(`${id} was started in another container or on another machine, and can only be stopped there.`);
    return { ok: true, text: how === "ended" ? `${id} had ended already.` : `${id} was stopped.` };
  },
};
