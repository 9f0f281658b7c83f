import type { ToolInput } from "../protocol/facts/call.ts";
import { reason, said, type Reason } from "../protocol/reasons/reason.ts";
import { sentence } from "../texts/shared/sentence.ts";
import type { Hook, HookAnswer, HookEvent, HookMoment, HookOutcome, Hooks, StartConfined } from "./hook.ts";
import { callHook } from "./process.ts";

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
