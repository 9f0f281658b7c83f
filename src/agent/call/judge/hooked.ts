import type { HookOutcome } from "../../../hooks/hook.ts";
import type { Awaitable } from "../../../journal/store/store.ts";
import type { StepScope } from "../../../journal/session/durable.ts";
import type { Call, ToolResult } from "../../../protocol/facts/message.ts";
import type { Verdict } from "../../../protocol/facts/permission.ts";
import { reason } from "../../../protocol/reasons/reason.ts";
import { whyText } from "../../../hooks/hooks.ts";
import type { Judging, Place, Self, Workspace } from "../../state/context.ts";
import type { Case, Question } from "./judge.ts";
import { advised } from "./results.ts";

/** The person's own hooks, before anything else: they may change the input. */
export function hearHooks(at: Case): Awaitable<Case> {
  const { context, call } = at.question;
  const { hooks } = context.config;
  const { tool } = call;
  return hooks.has("beforeCall", tool) || hooks.has("permissionRequest", tool) ? heard(at) : at;
}

async function heard(at: Case): Promise<Case> {
  const { context, call, signal } = at.question;
  const hooks = await context.config.hooks.run("beforeCall", eventOf(context, call), signal);
  return { ...at, hooks, edited: hooks.input };
}

/** Hooks that answer in the place of the person, where one would be asked. */
export function answerByHooks({ context, call, signal }: Question, verdict: Verdict): Awaitable<Verdict> {
  const { hooks } = context.config;
  if (verdict.behavior !== "ask" || !hooks.has("permissionRequest", call.tool)) return verdict;
  const event = eventOf(context, { ...call, input: verdict.input ?? call.input }); // what would run, not what was sent
  const asked = hooks.run("permissionRequest", { ...event, why: whyText(verdict.reason) }, signal);
  return asked.then((outcome) => weigh(verdict, outcome));
}

/** After the call, inside its own step: what a hook adds becomes part of the result. */
export async function afterCall(
  context: Judging & Pick<Workspace, "config">,
  call: Call,
  result: ToolResult,
  scope: StepScope,
): Promise<ToolResult> {
  if (!context.config.hooks.has("afterCall", call.tool) || scope.signal.aborted) return result;
  const { context: added, problems } = await context.config.hooks.run(
    "afterCall",
    { ...eventOf(context, call), result: { ok: result.ok, text: result.text } },
    scope.signal,
  );
  for (const problem of problems) scope.notice(problem);
  return added.length > 0 ? advised(result, added.map(quoted).map(context.config.redact).join("\n")) : result;
}

/** A rule's deny beats every hook; a hook's deny and ask beat every allow; a hook's allow answers only an ordinary ask. */
export function weigh(verdict: Verdict, { decision, reason: why, context, problems }: HookOutcome): Verdict {
  const told =
    context.length > 0 ? { ...verdict, context: [...(verdict.context ?? []), ...context.map(quoted)] } : verdict;
  if (verdict.behavior === "deny") return told;
  if (decision === "deny") return { ...told, behavior: "deny", reason: why };
  if (problems.length > 0)
    return {
      ...told,
      behavior: "ask",
      hard: true,
      hooked: true,
      reason: reason("hooks-broken", { problems }),
    };
  if (decision === "ask") return { ...told, behavior: "ask", hard: true, hooked: true, reason: why };
  if (decision === "allow" && verdict.behavior === "ask" && !verdict.hard)
    return { ...told, behavior: "allow", allowedBy: "hook", reason: why };
  return told;
}

export function eventOf(
  context: Self & Place,
  call: Call,
): { session: string; cwd: string; agent: readonly string[]; tool: string; input: Call["input"] } {
  return {
    session: context.session,
    cwd: context.options.workingDirectory,
    agent: context.agent,
    tool: call.tool,
    input: call.input,
  };
}

function quoted(context: string): string {
  return `(A hook of the person adds: ${context})`;
}
