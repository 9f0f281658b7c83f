import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { signalGroup } from "../../../processes/group.ts";
import { version } from "../../../config/version.ts";
import { repositoryRoot } from "../../../context/environment.ts";
import type { TerminalOptions } from "../../../surfaces/terminal/index.ts";

const FRESH_MS = 2_000;
const TIMEOUT_MS = 5_000;
const APART_MS = 300;
const MAX_OUTPUT_LENGTH = 4_096;

/** Folder and branch. The branch is read again now and then: commands change it. */
export function createFolderLabel(cwd: string, home: string): NonNullable<TerminalOptions["place"]> {
  const folder = cwd === home ? "~" : cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd;
  const root = repositoryRoot(cwd);
  let read = { at: -Infinity, branch: undefined as string | undefined };
  return () => {
    if (root !== undefined && performance.now() - read.at > FRESH_MS)
      read = { at: performance.now(), branch: branchOf(root) };
    return { folder, ...(read.branch !== undefined && { branch: read.branch }) };
  };
}

/** From the files of git: a process for each look would be too dear. */
export function branchOf(root: string): string | undefined {
  try {
    return headIn(join(root, ".git"));
  } catch {
    try {
      // A worktree names its folder in a file.
      const [, folder = ""] = /^gitdir: (.+)$/m.exec(readFileSync(join(root, ".git"), "utf8")) ?? [];
      return headIn(resolve(root, folder));
    } catch {
      return undefined;
    }
  }
}

function headIn(folder: string): string | undefined {
  const head = readFileSync(join(folder, "HEAD"), "utf8").slice(0, MAX_OUTPUT_LENGTH).trim();
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
  return branch ?? (/^[0-9a-f]{7,64}$/.test(head) ? head.slice(0, 7) : undefined);
}

/** The person's command writes the line: on changes, one run at a time, with a limit, as text. Until then, and on failure, Sage's own. */
export function customStatusLine(
  command: string,
  { cwd, env, timeoutMs = TIMEOUT_MS }: { cwd: string; env: NodeJS.ProcessEnv; timeoutMs?: number },
): NonNullable<TerminalOptions["statusLine"]> {
  let line: string | undefined;
  let asked = "";
  let wanted = "";
  let isRunning = false;
  let endedAt = -Infinity;
  const run = (input: string, changed: () => void): void => {
    isRunning = true;
    asked = input;
    let printed = "";
    const child = spawn("sh", ["-c", command], { cwd, env, detached: true, stdio: ["pipe", "pipe", "ignore"] });
    const kill = () => void signalGroup(child.pid, "SIGKILL");
    const timer = setTimeout(kill, timeoutMs);
    process.once("exit", kill);
    let isOver = false;
    const over = (code: number | null) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      process.off("exit", kill);
      [isRunning, endedAt] = [false, performance.now()];
      const before = line;
      line = code === 0 ? (stripVTControlCharacters(printed).split("\n")[0] ?? "").trimEnd() : undefined;
      if (line !== before) changed();
      if (wanted !== asked) setTimeout(changed, APART_MS).unref();
    };
    child.on("error", () => over(1));
    child.on("close", over);
    child.stdin.on("error", () => {}).end(input);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (printed.length < MAX_OUTPUT_LENGTH) printed += text;
    });
    child.unref();
  };
  return (info, changed) => {
    const { session, model, mode, title, folder, branch, contextTokens, contextWindow, usd } = info;
    const input = JSON.stringify({
      session_id: session,
      session_name: title,
      cwd,
      workspace: { current_dir: cwd, project_dir: cwd, folder, branch },
      model: { id: model, display_name: model.slice(model.indexOf("/") + 1) },
      mode,
      version,
      cost: { total_cost_usd: usd },
      context_window: {
        context_window_size: contextWindow,
        used_tokens: contextTokens,
        used_percentage: contextWindow === undefined ? undefined : Math.round((100 * contextTokens) / contextWindow),
      },
    });
    wanted = input;
    if (!isRunning && input !== asked && performance.now() - endedAt >= APART_MS) run(input, changed);
    return line;
  };
}
