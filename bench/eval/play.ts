import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { Model } from "../../src/models/model.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import type { ResponderAnswer } from "../../src/protocol/host/options.ts";
import { SageAgentSDK } from "../../src/sdk/index.ts";
import type { EvalTask } from "./tasks.ts";

/** Sage with a model, or the command line of another agent, which gets the prompt as its last argument. */
export type Player = { model: Model | string } | { command: readonly string[] };

/** What came of one task. Only Sage tells more than whether it was solved. */
export type Played = {
  task: string;
  kind: EvalTask["kind"];
  solved: boolean;
  /** Why not, in the words of the check or of the agent's end. */
  problem?: string;
  seconds: number;
  sage?: {
    steps: number;
    inputTokens: number;
    cachedTokens: number;
    outputTokens: number;
    /** Calls to tools that are not there, or with input that does not fit. */
    invalidCalls: number;
    questions: number;
    /** A question where none was needed, or none where only the person knew. */
    needless: number;
    missed: number;
    refusals: number;
  };
};

const MAX_MS = 15 * 60_000;
const MAX_STEPS = 60;
const invalid = ["unknown-tool", "unfit-input", "malformed-arguments"];

/** Plays one task in a folder of its own, which is gone afterwards. `record` is a folder that keeps the replies, for a replay. */
export async function play(task: EvalTask, player: Player, record?: string): Promise<Played> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "sage-eval-")));
  try {
    putFiles(dir, task.files);
    const since = performance.now();
    const run =
      "model" in player ? await playSage(task, player.model, dir, record) : await playOther(task, player.command, dir);
    const seconds = Math.round((performance.now() - since) / 1_000);
    const problem = run.problem ?? (await verify(task, dir, run.said));
    const { id, kind } = task;
    return {
      task: id,
      kind,
      solved: problem === undefined,
      ...(problem !== undefined && { problem }),
      seconds,
      ...(run.sage && { sage: run.sage }),
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Undefined where the hidden check passes; the folder is copied first, so that the check leaves no trace. */
export async function verify(task: EvalTask, dir: string, said: string): Promise<string | undefined> {
  const copy = mkdtempSync(join(tmpdir(), "sage-eval-check-"));
  try {
    cpSync(dir, copy, { recursive: true });
    writeFileSync(join(copy, "hidden-check.mjs"), task.check);
    await promisify(execFile)(process.execPath, ["hidden-check.mjs", said], { cwd: copy, timeout: 60_000 });
    return undefined;
  } catch (error) {
    const lines = String((error as { stderr?: string }).stderr ?? error).split("\n");
    return (lines.find((line) => /Error/.test(line)) ?? lines[0] ?? "").slice(0, 200);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

export function putFiles(dir: string, files: Readonly<Record<string, string | undefined>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(dir, name);
    mkdirSync(dirname(path), { recursive: true });
    if (content === undefined) rmSync(path);
    else writeFileSync(path, content);
  }
}

type Run = { said: string; problem?: string; sage?: NonNullable<Played["sage"]> };

async function playSage(task: EvalTask, model: Model | string, dir: string, record: string | undefined): Promise<Run> {
  const store = memoryStore();
  await using sage = new SageAgentSDK({ model, store, workingDirectory: dir });
  const outcome = await sage.runWithOptions(task.prompt, {
    maxSteps: MAX_STEPS,
    executionTimeout: MAX_MS,
    mode: {
      type: "nonInteractive",
      autoResponse: (request) => personsAnswer(task, request),
      sender: { by: "somebody", surface: "eval" },
    },
  });
  const { session, text: said, usage, stats } = outcome;
  if (record !== undefined) {
    mkdirSync(record, { recursive: true });
    writeFileSync(join(record, `${task.id}.json`), `${JSON.stringify(sage.recording(session).script, undefined, 1)}\n`);
  }
  const facts = store.load(session);
  const questions = requests(facts, "question");
  const counts = {
    steps: stats.steps,
    inputTokens: usage.inputTokens,
    cachedTokens: usage.cacheReadTokens,
    outputTokens: usage.outputTokens,
    invalidCalls: verdicts(facts).filter((code) => invalid.includes(code)).length,
    questions,
    needless: task.kind === "ask" ? 0 : questions,
    missed: task.kind === "ask" && questions === 0 ? 1 : 0,
    refusals: facts.filter((fact) => fact.type === "call.finished" && fact.data.end === "refused-by-person").length,
  };
  return { said, sage: counts, ...(outcome.status !== "success" && { problem: `it ended as ${outcome.status}` }) };
}

/** A person who allows everything but what they refuse, and answers each question in their own words. */
function personsAnswer({ refuses, answer }: EvalTask, request: InputRequest): ResponderAnswer {
  if (request.kind === "permission") {
    const isRefused = refuses?.pattern.test(JSON.stringify(request.input)) ?? false;
    return isRefused ? { type: "denied", reason: refuses?.reason ?? "" } : { type: "granted" };
  }
  const words = answer ?? "Decide that yourself.";
  if (request.kind === "text") return { type: "text", text: words };
  const answers = request.questions.map(({ question }) => [question, { selected: [], other: words }]);
  return { type: "answers", answers: Object.fromEntries(answers) };
}

function requests(facts: readonly Fact[], kind: InputRequest["kind"]): number {
  return facts.filter(
    (fact) => fact.type === "input.requested" && fact.data.kind === kind && fact.data.source === "tool",
  ).length;
}

function verdicts(facts: readonly Fact[]): string[] {
  return facts.flatMap((fact) =>
    (fact.type === "calls.judged" ? fact.data.verdicts : []).map(({ reason }) => reason.code),
  );
}

async function playOther(task: EvalTask, [program = "", ...args]: readonly string[], dir: string): Promise<Run> {
  const child = spawn(program, [...args, task.prompt], {
    cwd: dir,
    stdio: ["ignore", "pipe", "ignore"],
    signal: AbortSignal.timeout(MAX_MS),
  });
  const ended = new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code === 0 ? undefined : `it ended with ${code ?? signal}`));
  });
  const [said, problem] = await Promise.all([text(child.stdout), ended]);
  return { said, ...(problem !== undefined && { problem }) };
}
