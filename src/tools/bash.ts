import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { messageOf } from "../protocol/index.ts";
import type { ToolResult } from "../protocol/index.ts";
import { startInBackground } from "./background.ts";
import { describe } from "./describe.ts";
import { createExcerpt } from "./excerpt.ts";
import { watchForPrompt } from "./prompt.ts";
import { failed } from "./result.ts";
import { shellEnv } from "./shell-env.ts";
import type { Tool, ToolScope } from "./tool.ts";

const graceMs = 2_000;
/** Silence after which a command is looked at: it may wait for somebody to type. */
const quietFor = 3_000;

const inputSchema = z.strictObject({
  command: z.string().min(1).describe("The command line, for bash"),
  description: z.string().optional().describe("What it does, in five to ten words, for the person who approves it"),
  // Without a default: requests, recordings and approvals of earlier versions hold inputs that do not name it.
  background: z.boolean().optional().describe("Goes on after this call; its output goes to a file that you can Read"),
  timeout: z.int().min(1).max(600_000).default(120_000).describe("Milliseconds before it is stopped"),
});

type Input = z.infer<typeof inputSchema>;

export const bash: Tool<Input> = createBash();

export function createBash({ quietMs = quietFor } = {}): Tool<Input> {
  return {
    name: "Bash",
    description: describe("bash"),
    inputSchema,
    effect: "writes",
    specifier: (input) => input.command,
    async execute(input, scope) {
      if (scope.signal.aborted) return failed("Interrupted by the person before the command was started.");
      if (input.background) return startInBackground(input.command, scope);
      return watch(start(input.command, scope), { ...input, quietMs }, scope);
    },
  };
}

type Running = ChildProcessByStdio<Writable, Readable, null>;

function start(command: string, scope: ToolScope): Running {
  // The outer shell only joins both outputs into one pipe, which keeps their order, and becomes the inner one.
  // It is the system's plain one: starting bash twice would cost half a millisecond a command.
  // It waits for a line: the command begins once its group is noted, so that after a kill in between nothing runs unnoticed.
  const join = 'read -r go && exec bash --noprofile --norc -c "$1" 2>&1 </dev/null';
  return spawn("sh", ["-c", join, "sh", command], {
    cwd: scope.cwd,
    env: shellEnv(scope),
    // A group of its own, so that what the command starts can be ended with it; and no terminal to ask on.
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
}

type Exit = { code: number | null; signal: NodeJS.Signals | null; error?: Error };

async function watch(child: Running, input: Input & { quietMs: number }, scope: ToolScope): Promise<ToolResult> {
  const exited = new Promise<Exit>((resolve) => {
    child.once("error", (error) => resolve({ code: null, signal: null, error }));
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const { pid } = child;
  if (pid === undefined) {
    const { error } = await exited;
    return failed(existsSync(scope.cwd) ? messageOf(error) : `The working directory ${scope.cwd} does not exist.`);
  }
  child.stdin.on("error", () => {}); // it was ended before it began
  try {
    const noted = scope.spawned(pid);
    if (noted) await noted;
    if (!scope.signal.aborted) child.stdin.write("go\n");
  } finally {
    child.stdin.end(); // without its line it ends by itself
  }

  let stopped: "interrupted" | "timed out" | undefined;
  let ending: Promise<boolean> | undefined;
  const stop = (why: "interrupted" | "timed out") => {
    stopped ??= why;
    ending ??= endGroup(pid);
  };
  const interrupt = () => stop("interrupted");
  const timer = setTimeout(stop, input.timeout, "timed out");
  scope.signal.addEventListener("abort", interrupt, { once: true });

  const excerpt = createExcerpt(scope.keepDir);
  const waiting = watchForPrompt(pid, input.quietMs, (question) => scope.waiting?.(question));
  const drained = drain(child.stdout, excerpt.push, (text) => {
    waiting.output(text);
    scope.output(text);
  });
  const exit = await exited;
  clearTimeout(timer);
  waiting.stop();
  const asked = waiting.asked();
  scope.signal.removeEventListener("abort", interrupt);
  const leftOver = await (ending ?? endGroup(pid));
  // A process that left the group may hold the pipe for as long as it likes; nobody waits for it.
  await Promise.race([drained, sleep(graceMs, undefined, { ref: false })]);
  child.stdout.destroy();
  await drained;
  const { text, output } = await excerpt.end();

  const ok = stopped === undefined && exit.code === 0;
  const notes = [
    stopped === "interrupted" && "Interrupted by the person: the command was stopped, the output is what came before.",
    stopped === "timed out" &&
      `Timed out after ${input.timeout} ms: the command was stopped, the output is what came before.`,
    stopped === undefined && exit.signal !== null && `Ended by ${exit.signal}.`,
    stopped === undefined && exit.code !== null && exit.code !== 0 && `Exit code ${exit.code}.`,
    stopped === undefined && leftOver && "Processes it had left in the background were ended.",
    !ok && unanswered(asked ?? waiting.ended()),
  ].filter((note) => note !== false);
  const whole = [text.replace(/\n$/, "") || "(no output)", ...notes].join("\n");
  return { ok, text: whole, ...(output && { output }) };
}

function unanswered(question: string | undefined): string | false {
  if (question === undefined) return false;
  return `It seems to have waited for somebody to answer: ${JSON.stringify(question)}. There is no terminal and no input here. Give the answer with the command (a flag such as --yes, a variable, \`printf 'y\\n' |\` in front), or ask the person to run it themselves; a password or a token is for them alone.`;
}

async function drain(
  pipe: Readable,
  push: (bytes: Buffer, text: string) => Promise<void>,
  output: (text: string) => void,
): Promise<void> {
  const decoder = new StringDecoder("utf8");
  const take = async (bytes: Buffer, text: string) => {
    if (text !== "") output(text);
    await push(bytes, text);
  };
  try {
    for await (const bytes of pipe as AsyncIterable<Buffer>) await take(bytes, decoder.write(bytes));
  } catch {
    // Destroyed by us: what came until then counts.
  }
  await take(Buffer.alloc(0), decoder.end());
}

/** Asks every process of the group to end, and after a while makes it. False when there was none. */
async function endGroup(group: number): Promise<boolean> {
  if (!isRunning(group)) return false;
  signalGroup(group, "SIGTERM");
  for (const from = performance.now(); performance.now() - from < graceMs; await sleep(20)) {
    if (!isRunning(group)) return true;
  }
  signalGroup(group, "SIGKILL");
  return true;
}

/** The dead that nobody has reaped yet still take signals. In a container that may be for long, so they are looked at. */
function isRunning(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  return !existsSync("/proc/self/stat") || readdirSync("/proc").some((entry) => isAliveIn(group, entry));
}

function isAliveIn(group: number, entry: string): boolean {
  try {
    // After the name, which may hold anything: state, parent, group.
    const [state, , itsGroup] = readFileSync(`/proc/${entry}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return Number(itsGroup) === group && state !== "Z";
  } catch {
    return false;
  }
}

function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}
