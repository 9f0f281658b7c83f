import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { ToolInput } from "../protocol/facts/call.ts";
import { type Reason, reason, said } from "../protocol/reasons/reason.ts";
import type { Hook, HookAnswer, HookEvent, HookMoment, HookOutcome, Hooks, StartConfined } from "./hook.ts";
import * as z from "../base/z.ts";
import { reasonOf } from "../protocol/reasons/error.ts";
import { sentence } from "../texts/shared/sentence.ts";
import { misfits } from "../protocol/reasons/misfit.ts";

const MAX_OUTPUT_BYTES = 1024 * 1024;
const GRACE_MS = 200;

/** No hooks at all. */
export const noHooks: Hooks = {
  has: () => false,
  run: async () => noOutcome(),
  within: () => noHooks,
};

export function createHooks(
  configured: Partial<Record<HookMoment, readonly Hook[]>>,
  env: NodeJS.ProcessEnv,
  start?: StartConfined,
): Hooks {
  const of = (moment: HookMoment, tool: string | undefined) =>
    (configured[moment] ?? []).filter(({ matcher }) => tool === undefined || matches(matcher, tool));
  return {
    within: (starting) => createHooks(configured, env, starting),
    has: (moment, tool) => of(moment, tool).length > 0,
    /** In order: each one sees the input that the one before it left. */
    async run(moment, event, signal) {
      const outcome = noOutcome();
      let seen: HookEvent & { input?: ToolInput } = event;
      for (const hook of of(moment, event.tool)) {
        const answer = await callHook(hook, { moment, ...seen }, { cwd: event.cwd, env, signal, start });
        if ("broken" in answer) outcome.problems.push(answer.broken);
        else {
          take(outcome, answer, hook);
          if (answer.input) seen = { ...seen, input: answer.input };
        }
        if (outcome.decision === "deny") break;
      }
      return outcome;
    },
  };
}

/** Why a person is asked, as their own commands read it: in English. */
export function whyText(why: Reason): string {
  return sentence(why, "en");
}

function noOutcome(): HookOutcome {
  return { decision: undefined, reason: said(""), input: undefined, context: [], problems: [] };
}

const strictness = { allow: 1, ask: 2, deny: 3 };

function take(outcome: HookOutcome, answer: HookAnswer, hook: Hook): void {
  // An allow was for the input that was there then.
  if (answer.input && outcome.decision === "allow") outcome.decision = undefined;
  if (answer.input) outcome.input = answer.input;
  if (answer.context) outcome.context.push(answer.context);
  if (!answer.decision || (outcome.decision && strictness[outcome.decision] >= strictness[answer.decision])) return;
  outcome.decision = answer.decision;
  outcome.reason =
    answer.reason === undefined
      ? reason("hook-decided", { command: hook.command, decision: answer.decision })
      : said(answer.reason);
}

function matches(matcher: string, tool: string): boolean {
  return matcher === "*" || matcher.split("|").some((name) => name.trim() === tool);
}

/** Runs one hook: the event as JSON on its standard input, its answer as JSON on its standard output; or what went wrong. */
async function callHook(
  hook: Hook,
  event: Record<string, unknown>,
  place: HookPlace,
): Promise<HookAnswer | { broken: Reason }> {
  const broken = (problem: Reason) => ({ broken: reason("hook-broken", { command: hook.command, problem }) });
  const changed = hook.changed?.();
  if (changed !== undefined) return broken(reason("hook-changed", { path: changed }));
  const ended = await run(hook, JSON.stringify(event), place);
  if ("args" in ended) return broken(ended);
  if (ended.code !== 0)
    return broken(reason("hook-exited", { code: ended.code, output: ended.err.trim().slice(0, 500) }));
  if (ended.out.trim() === "") return {};
  const answer = parse(ended.out);
  return "code" in answer ? broken(reason("hook-misspoke", { problem: answer })) : answer;
}

type HookPlace = { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal; start?: StartConfined | undefined };

type Ended = { code: number | string; out: string; err: string };

async function run(hook: Hook, input: string, { cwd, env, signal, start }: HookPlace): Promise<Ended | Reason> {
  // A relative command is a file next to the settings, never one of the same name in the repository.
  const place = { cwd: hook.folder ?? cwd, env: { ...env, SAGE_CWD: cwd } };
  const shell = ["/bin/bash", "--noprofile", "--norc", "-c", hook.command] as const;
  let child: ChildProcessWithoutNullStreams;
  try {
    child =
      hook.confined && start
        ? await start(shell, place)
        : spawn(shell[0], shell.slice(1), { ...place, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  } catch (error) {
    return reason("hook-not-started", { problem: reasonOf(error) });
  }
  return new Promise((done) => {
    let out = "";
    let err = "";
    let why: Reason | undefined;
    const stop = (problem: Reason) => {
      why ??= problem;
      try {
        process.kill(-(child.pid ?? 0), "SIGKILL"); // with everything it started
      } catch {
        // gone already
      }
    };
    const timer = setTimeout(() => stop(reason("hook-late", { timeoutMs: hook.timeoutMs })), hook.timeoutMs);
    const aborted = () => stop(reason("hook-interrupted", {}));
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (out.length > MAX_OUTPUT_BYTES) stop(reason("hook-flooded", {}));
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err = (err + text).slice(-10_000)));
    child.stdin.on("error", () => {}); // a hook need not read its input
    child.stdin.end(input);
    const end = (ended: Ended | Reason) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
      done(why ?? ended);
    };
    child.on("error", (error) => end(reason("hook-not-started", { problem: error.message })));
    child.on("close", (code, killed) => end({ code: code ?? killed ?? "unknown", out, err }));
    // A background process of the hook may keep the pipes open forever; the answer has arrived by now.
    child.on("exit", () =>
      setTimeout(() => [child.stdout, child.stderr].forEach((pipe) => pipe.destroy()), GRACE_MS).unref(),
    );
  });
}

function parse(text: string): HookAnswer | Reason {
  const schema = z.strictObject({
    decision: z.enum(["allow", "deny", "ask"]).optional(),
    reason: z.string().optional(),
    input: z.record(z.string(), z.unknown()).optional(),
    context: z.string().optional(),
  });
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return said(JSON.stringify(text.trim().slice(0, 200)));
  }
  const parsed = schema.safeParse(data);
  return parsed.success ? (parsed.data as HookAnswer) : misfits(parsed.error, data);
}
