import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { ToolInput } from "../protocol/facts/call.ts";
import { type Reason, reason, said, reasonOf, SageError } from "../protocol/reasons/reason.ts";
import type {
  CodeHook,
  Hook,
  HookAnswer,
  HookEvent,
  HookLists,
  HookMoment,
  HookOutcome,
  Hooks,
  StartConfined,
} from "./hook.ts";
import * as z from "../base/z.ts";
import { signalGroup } from "../processes/group.ts";
import { noteHelper } from "../processes/registry.ts";
import { sentence } from "../texts/shared/sentence.ts";
import { misfits } from "../protocol/reasons/misfit.ts";

const MAX_OUTPUT_BYTES = 1024 * 1024;
const GRACE_MS = 200;
const TIMEOUT_MS = 60_000;
/** Node fires at once what it cannot count. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** None at any moment. */
export const noHooks: Hooks = {
  has: () => false,
  run: async () => noOutcome(),
  within: () => noHooks,
};

/** Hooks that never reject: others are made safe by `guardHooks`. */
const safe = new WeakSet<Hooks>([noHooks]);

export function createHooks(
  configured: HookLists,
  env: NodeJS.ProcessEnv,
  { home, start }: { /** Sage's, where its processes are noted. */ home?: string; start?: StartConfined } = {},
): Hooks {
  const of = (moment: HookMoment, tool: string | undefined) =>
    ((configured[moment] ?? []) as readonly AnyHook[]).filter(
      ({ matcher = "*" }) =>
        tool === undefined || matcher === "*" || matcher.split("|").some((name) => name.trim() === tool),
    );
  return markSafe({
    within: (starting) => createHooks(configured, env, { ...(home !== undefined && { home }), start: starting }),
    has: (moment, tool) => of(moment, tool).length > 0,
    /** In order: each one sees the input that the one before it left. */
    async run(moment, event, signal) {
      const outcome = noOutcome();
      let seen: HookEvent & { input?: ToolInput } = event;
      for (const hook of of(moment, event.tool)) {
        const asked = { moment, ...seen };
        const answer =
          "run" in hook
            ? await callCode(hook, asked, signal)
            : await callHook({ matcher: "*", timeoutMs: TIMEOUT_MS, ...hook }, asked, {
                cwd: event.cwd,
                env,
                signal,
                start,
                home,
              });
        if ("broken" in answer) outcome.problems.push(answer.broken);
        else {
          take(outcome, answer, hookName(hook));
          if (answer.input) seen = { ...seen, input: answer.input };
        }
        if (outcome.decision === "deny") break;
      }
      return outcome;
    },
  });
}

/** Hooks as an embedder gives them: by their moments, or an object of their own making. `env` is asked for where one is a command. */
export function hooksFrom(given: HookLists | Hooks | undefined, env: () => NodeJS.ProcessEnv): Hooks {
  if (given === undefined) return noHooks;
  if ("run" in given) return guardHooks(given);
  const commands = Object.values(given).some((hooks: readonly AnyHook[]) => hooks.some((hook) => !("run" in hook)));
  return createHooks(given, commands ? env() : {});
}

/** Asks the first ones, and then the others about what these left. */
export function joinHooks(first: Hooks, second: Hooks): Hooks {
  return markSafe({
    within: (start) => joinHooks(first.within?.(start) ?? first, second.within?.(start) ?? second),
    has: (moment, tool) => first.has(moment, tool) || second.has(moment, tool),
    async run(moment, event, signal) {
      const outcome = await first.run(moment, event, signal);
      if (outcome.decision === "deny") return outcome;
      const seen = outcome.input ? { ...event, input: outcome.input } : event;
      const { decision, reason: why, input, context, problems } = await second.run(moment, seen, signal);
      take(outcome, { ...(decision && { decision }), ...(input && { input }) }, "", why);
      outcome.context.push(...context);
      outcome.problems.push(...problems);
      return outcome;
    },
  });
}

/** Hooks of an embedder's own making, which may throw, hang or return anything: then they are broken ones. */
function guardHooks(hooks: Hooks): Hooks {
  if (safe.has(hooks)) return hooks;
  const name = "hooks.run";
  return markSafe({
    has(moment, tool) {
      try {
        const has: unknown = hooks.has(moment, tool);
        if (has instanceof Promise) has.catch(() => {});
        return has !== false; // whatever else it is: asked, they say what is wrong
      } catch {
        return true;
      }
    },
    async run(moment, event, signal) {
      const broken = (problem: Reason) => ({
        ...noOutcome(),
        problems: [reason("hook-broken", { command: name, problem })],
      });
      try {
        const outcome = await untilLate((late) => hooks.run(moment, event, late), { signal, timeoutMs: TIMEOUT_MS });
        const parsed = outcomeSchema().safeParse(outcome);
        if (parsed.success) return outcome;
        return broken(reason("hook-misspoke", { problem: misfits(parsed.error, outcome) }));
      } catch (error) {
        return broken(reasonOf(error));
      }
    },
    ...(hooks.within && { within: (start) => guardHooks(hooks.within?.(start) ?? hooks) }),
  });
}

function markSafe(hooks: Hooks): Hooks {
  safe.add(hooks);
  return hooks;
}

type AnyHook = CodeHook<never> | (Partial<Hook> & Pick<Hook, "command">);

function hookName(hook: AnyHook): string {
  return "run" in hook ? (hook.name ?? (hook.run.name || "hook")) : hook.command;
}

/** Why a person is asked, as their own commands read it: in English. */
export function whyText(why: Reason): string {
  return sentence(why, "en");
}

function noOutcome(): HookOutcome {
  return { decision: undefined, reason: said(""), input: undefined, context: [], problems: [] };
}

const strictness = { allow: 1, ask: 2, deny: 3 };

function take(outcome: HookOutcome, answer: HookAnswer, command: string, why?: Reason): void {
  // An allow was for the input that was there then.
  if (answer.input && outcome.decision === "allow") outcome.decision = undefined;
  if (answer.input) outcome.input = answer.input;
  if (answer.context) outcome.context.push(answer.context);
  if (!answer.decision || (outcome.decision && strictness[outcome.decision] >= strictness[answer.decision])) return;
  outcome.decision = answer.decision;
  const unsaid = () => reason("hook-decided", { command, decision: answer.decision ?? "ask" });
  outcome.reason = why ?? (answer.reason === undefined ? unsaid() : said(answer.reason));
}

/** Calls a function with a copy of the event: what it changes in there changes nothing. */
async function callCode(
  hook: CodeHook<never>,
  event: Record<string, unknown>,
  signal: AbortSignal,
): Promise<HookAnswer | { broken: Reason }> {
  const broken = (problem: Reason) => ({ broken: reason("hook-broken", { command: hookName(hook), problem }) });
  const { timeoutMs = TIMEOUT_MS } = hook;
  try {
    const copy = structuredClone(event) as never;
    const answer = await untilLate((late) => hook.run(copy, { signal: late }), { signal, timeoutMs });
    if (answer === undefined || answer === null) return {};
    const read = readAnswer(answer);
    return "code" in read ? broken(reason("hook-misspoke", { problem: read })) : read;
  } catch (error) {
    return broken(reasonOf(error));
  }
}

/** Gives up code that does not listen; what it says later is heard by nobody. */
async function untilLate<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<T> {
  const late = new AbortController();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const end = (why: Reason) => {
    late.abort();
    reject(new SageError("input-invalid", why));
  };
  const timer = setTimeout(() => end(reason("hook-late", { timeoutMs })), Math.min(timeoutMs, MAX_TIMER_MS));
  const aborted = () => end(reason("hook-interrupted", {}));
  signal.addEventListener("abort", aborted, { once: true });
  if (signal.aborted) aborted();
  try {
    return await Promise.race([over, Promise.resolve(work(late.signal))]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", aborted);
  }
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

type HookPlace = {
  cwd: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  start: StartConfined | undefined;
  home: string | undefined;
};

type Ended = { code: number | string; out: string; err: string };

async function run(hook: Hook, input: string, { cwd, env, signal, start, home }: HookPlace): Promise<Ended | Reason> {
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
  const forget = noteHelper(home, "hook", child.pid);
  return new Promise((done) => {
    let out = "";
    let err = "";
    let why: Reason | undefined;
    const stop = (problem: Reason) => {
      why ??= problem;
      signalGroup(child.pid, "SIGKILL"); // with everything it started
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
      forget();
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
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return said(JSON.stringify(text.trim().slice(0, 200)));
  }
  return readAnswer(data);
}

const decision = () => z.enum(["allow", "deny", "ask"]).optional();
const input = () => z.record(z.string(), z.unknown()).optional();

function readAnswer(data: unknown): HookAnswer | Reason {
  const schema = z.strictObject({
    decision: decision(),
    reason: z.string().optional(),
    input: input(),
    context: z.string().optional(),
  });
  const parsed = schema.safeParse(data);
  return parsed.success ? (parsed.data as HookAnswer) : misfits(parsed.error, data);
}

function outcomeSchema() {
  const reasons = z.looseObject({ code: z.string(), args: z.looseObject({}) });
  return z.looseObject({
    decision: decision(),
    reason: reasons,
    input: input(),
    context: z.array(z.string()),
    problems: z.array(reasons),
  });
}
