import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import type { ToolResult } from "../../protocol/facts/message.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import { startInBackground } from "./background.ts";
import { blockedNotes, notConfined, shellEnv, withWrites } from "./shell-env.ts";
import { describe } from "../definition/describe.ts";
import { type Note, failed } from "../definition/result.ts";
import { createExcerpt } from "../content/excerpt.ts";
import { type Ending, type Launch, type Spawned, spawnDirectly } from "../process/spawn.ts";
import { endGroup } from "../../processes/group.ts";
import { watchForPrompt } from "./prompt-watch.ts";
import type { Tool, ToolScope } from "../definition/tool.ts";

const graceMs = 2_000;
/** A command that takes as long says so. */
const SLOW_MS = 10_000;
/** Silence after which a command is looked at: it may wait for somebody to type. */
const quietFor = 3_000;

const inputSchema = z.strictObject({
  command: z.string().min(1),
  description: z.string().optional().describe("Five to ten words for the person who approves it"),
  // Without a default: requests, recordings and approvals of earlier versions hold inputs that do not name it.
  background: z.boolean().optional().describe("Goes on after this call"),
  timeout: z.int().min(1).max(600_000).default(120_000).describe("Milliseconds"),
});

type Input = z.infer<typeof inputSchema>;

export const bash: Tool<Input> = createBash();

export function createBash({ quietMs = quietFor } = {}): Tool<Input> {
  return {
    name: "Bash",
    description: describe("shell/bash"),
    inputSchema,
    effect: "writes",
    specifier: (input) => input.command,
    mayOutlive: ({ background }) => !background,
    async execute(input, scope) {
      if (scope.signal.aborted && !scope.attaches)
        return failed("Interrupted by the person before the command was started.");
      const env = shellEnv(scope);
      const noted = async (pid: number) => {
        await scope.spawned(pid);
        return !scope.signal.aborted;
      };
      const run = async (): Promise<Watched> => {
        let running: Spawned;
        let launch: Launch | undefined;
        try {
          if (input.background) return await startInBackground(input.command, scope);
          launch = await scope.confine?.({ cwd: scope.cwd, env });
          const place = { cwd: scope.cwd, env: launch?.env ?? env, noted, launch };
          running = await (scope.spawn ?? spawnDirectly)({ line: input.command, timeoutMs: input.timeout, ...place });
        } catch (error) {
          await launch?.over();
          if (!existsSync(scope.cwd)) return { result: failed(`The working directory ${scope.cwd} does not exist.`) };
          throw error;
        }
        return watch(running, { ...input, quietMs, launch }, scope);
      };
      const { result, outdated } = await run();
      // A repository in the workspace may have vanished while its sandbox was made: a clone that git gave up.
      return outdated && !scope.signal.aborted ? (await run()).result : result;
    },
  };
}

/** `outdated`: it never began, because files had changed since its sandbox was planned. */
type Watched = { result: ToolResult; outdated?: boolean };

async function watch(
  { pid, output, ended, kept: keeper }: Spawned,
  input: Input & { quietMs: number; launch: Launch | undefined },
  scope: ToolScope,
): Promise<Watched> {
  const since = performance.now();
  let stopped: "interrupted" | "timed out" | undefined;
  let ending: Promise<boolean> | undefined;
  const stop = (why: "interrupted" | "timed out") => {
    if (keeper && !keeper.runs()) return;
    stopped ??= why;
    ending ??= keeper ? keeper.end(graceMs) : endGroup(pid, graceMs, input.launch?.inner());
  };
  const interrupt = () => {
    const how = scope.leaves?.();
    if (how === undefined || keeper?.letGo(how, scope.signal.reason) !== true) stop("interrupted");
  };
  // Of a command that another process began, its keeper knows the time.
  const timer = scope.attaches ? undefined : setTimeout(stop, input.timeout, "timed out");
  scope.signal.addEventListener("abort", interrupt, { once: true });
  if (scope.signal.aborted) interrupt();

  const excerpt = createExcerpt(scope.keepDir);
  const waiting = watchForPrompt(pid, input.quietMs, (question) => scope.waiting?.(question));
  const drained = drain(output, excerpt.push, (text) => {
    waiting.output(text);
    scope.output(text);
  });
  const end = await ended
    .catch(async (why: unknown) => {
      await drained;
      await excerpt.drop(); // whoever continues it begins at its beginning
      throw why;
    })
    .finally(() => {
      clearTimeout(timer);
      waiting.stop();
      scope.signal.removeEventListener("abort", interrupt);
    });
  const asked = waiting.asked();
  if (end !== "unknown" && "late" in end) stopped ??= "timed out";
  const leftOver = keeper ? end !== "unknown" && end.left === true : await (ending ?? endGroup(pid, graceMs));
  await ending;
  // A process that left the group may hold the pipe for as long as it likes; nobody waits for it.
  await (keeper ? drained : Promise.race([drained, sleep(graceMs, undefined, { ref: false })]));
  output.destroy();
  await drained;
  const { text, output: kept } = await excerpt.end();
  const { blocked = [], failed: problem, outdated = false } = (await input.launch?.over()) ?? {};
  if (problem !== undefined)
    return {
      result: failed(notConfined(`${problem}. ${text}`.trimEnd())),
      outdated: outdated && stopped === undefined,
    };
  const missed = input.launch ? withWrites(blocked, text) : [];

  const ok = stopped === undefined && end !== "unknown" && "code" in end && end.code === 0;
  const printed = text.replace(/\n$/, "");
  const waitedFor = ok ? undefined : (asked ?? waiting.ended());
  const notes: Note[] = [
    ...(printed === "" ? [["(no output)", reason("no-output", {})] as const] : []),
    ...(stopped === undefined ? (ok ? [] : [howItEnded(end)]) : [howItWasStopped(stopped, input.timeout)]),
    ...tookLong(performance.now() - since),
    ...(stopped === undefined && leftOver ? [leftBehind] : []),
    ...(waitedFor === undefined ? [] : [unanswered(waitedFor)]),
    ...blockedNotes(missed),
  ];
  const unknown = stopped === undefined && end === "unknown";
  const result = {
    ok,
    text: [...(printed === "" ? [] : [printed]), ...notes.map(([words]) => words)].join("\n"),
    ...(notes.length > 0 && { shown: { characters: printed.length, notes: notes.map(([, why]) => why) } }),
    ...(kept && { output: kept }),
    ...(unknown && { end }),
    ...(missed.length > 0 && { blocked: missed }),
  };
  return { result };
}

const leftBehind: Note = ["Processes it had left in the background were ended.", reason("left-processes-ended", {})];

function tookLong(ms: number): Note[] {
  if (ms < SLOW_MS) return [];
  const seconds = Math.round(ms / 1_000);
  return [[`It took ${seconds} s.`, reason("command-took", { seconds })]];
}

function howItWasStopped(why: "interrupted" | "timed out", timeout: number): Note {
  const rest = "the command was stopped, the output is what came before.";
  return why === "interrupted"
    ? [`Interrupted by the person: ${rest}`, reason("command-stopped", {})]
    : [`Timed out after ${timeout} ms: ${rest}`, reason("command-timed-out", { ms: timeout })];
}

function howItEnded(end: Ending): Note {
  if (end === "unknown")
    return ["How it ended is not known: check what it left behind before anything else.", reason("exit-unknown", {})];
  if ("late" in end) return ["It took too long.", reason("exit-unknown", {})]; // told as a timeout
  if (end.closed)
    return [
      "Sage was closed while it ran: that ended it, the output is what came before.",
      reason("command-closed", {}),
    ];
  return "code" in end
    ? [`Exit code ${end.code}.`, reason("exit-code", { code: end.code })]
    : [`Ended by ${end.signal}.`, reason("ended-by-signal", { signal: end.signal })];
}

function unanswered(question: string): Note {
  const advice = `It seems to have waited for somebody to answer: ${JSON.stringify(question)}. There is no terminal and no input here. Give the answer with the command (a flag such as --yes, a variable, \`printf 'y\\n' |\` in front), or ask the person to run it themselves; a password or a token is for them alone.`;
  return [advice, reason("waited-for-answer", { question })];
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
