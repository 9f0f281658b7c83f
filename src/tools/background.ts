import { spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf, oneLine, type ToolResult } from "../protocol/index.ts";
import { failed } from "./result.ts";
import { shellEnv } from "./shell-env.ts";
import type { ToolScope } from "./tool.ts";

const MOST_RUNNING = 10;

/**
 * Starts a command that goes on after its call. Its output goes to a file and not through Sage, so that it neither waits for Sage nor
 * breaks when Sage is killed. The outer shell stays and leaves the exit code beside that file.
 */
export async function startInBackground(command: string, scope: ToolScope): Promise<ToolResult> {
  const running = scope.tasks?.running() ?? [];
  if (running.length >= MOST_RUNNING)
    return failed(`${running.length} commands run in the background already; stop one with KillShell first.`);
  const id = randomBytes(3).toString("hex");
  const file = join(scope.keepDir, `task-${randomUUID()}.txt`);
  mkdirSync(scope.keepDir, { recursive: true, mode: 0o700 });
  writeFileSync(file, "", { flag: "wx", mode: 0o600 });
  // It waits for a line: the command begins once its group is noted.
  const script =
    'read -r go && { bash --noprofile --norc -c "$1" >"$2" 2>&1 </dev/null; echo $? >"$2.tmp" && mv "$2.tmp" "$2.end"; }';
  const child = spawn("sh", ["-c", script, "sh", command, file], {
    cwd: scope.cwd,
    env: shellEnv(scope),
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.stdin.on("error", () => {}); // it was ended before it began
  if (child.pid === undefined) {
    const [error] = (await once(child, "error")) as [Error];
    return failed(messageOf(error));
  }
  const { pid } = child;
  try {
    const noted = scope.spawned(pid);
    if (noted) await noted;
    if (scope.signal.aborted) return failed("Interrupted by the person before the command was started.");
    child.stdin.write("go\n");
  } finally {
    child.stdin.end(); // without its line it ends by itself
  }
  child.unref();
  const text = `Started in the background as ${id}. Its output goes to ${file}: Read it whenever you like. You will be told when it ends; KillShell stops it.`;
  return { ok: true, text, background: { id, command: oneLine(command), pid, started: "", file, at: Date.now() } };
}
