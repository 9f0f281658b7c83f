import { NeedsInput } from "../../input/ask.ts";
import type { Durable, StepScope } from "../../journal/session/durable.ts";
import { Stopped } from "../../journal/session/session.ts";
import { isPromised, type Awaitable } from "../../journal/store/store.ts";
import type { Call, ToolResult } from "../../protocol/facts/message.ts";
import type { Verdict } from "../../protocol/facts/permission.ts";
import { branchKey, callKeys, stepKeys } from "../../protocol/key.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { runCall } from "./call.ts";
import type { ExecutionContext, Judging, Place, Self, Tools } from "../state/context.ts";
import { enterPhase } from "../state/states.ts";
import { canonicalPath } from "../../permission/paths/canonical.ts";
import { judgeHooked } from "./judge/judge.ts";
import { toolPlace } from "./judge/decision-input.ts";
import { openRequest } from "./judge/request.ts";
import { notRun } from "./judge/results.ts";
import { SageError } from "../../protocol/reasons/error.ts";

/**
 * Runs the calls of a reply: judges all, opens all requests in the model's order, then lets each go its own way.
 * Readers start at once; writers keep the model's order, so one that waits for a person holds the later ones.
 */
export async function runCalls(
  durable: Durable,
  context: ExecutionContext,
  calls: readonly Call[],
): Promise<ToolResult[]> {
  // Interrupted before they were judged: they have their results, and are not judged now.
  const lines = calls.map((_, n) => durable.branch(branchKey(n)));
  if (lines.every((line) => line.known(callKeys.done)) && !durable.known(stepKeys.judged))
    return lines.map((line) => line.decide(callKeys.done, "call.finished", () => notRun(undefined)));
  // Judged by an attempt before this one: what was looked at then may be different now.
  const judgedAt = durable.known(stepKeys.judged) ? undefined : context.tree.happened;
  const verdicts = await judgeAll(durable, context, calls);
  if (verdicts instanceof Stopped)
    return lines.map((line) => line.decide(callKeys.done, "call.finished", () => notRun(verdicts)));
  enterPhase(context, "executingTools");
  const asked = lines.map((line, n) => {
    const verdict = verdicts[n] as Verdict;
    if (verdict.behavior !== "ask" || durable.stopped || line.known(callKeys.done)) return undefined;
    return openRequest(line, context, calls[n] as Call, { verdict, number: 0 });
  });
  let before: Promise<unknown> | undefined;
  const results = lines.map((line, n) => {
    const verdict = verdicts[n] as Verdict;
    const result = runCall(line, context, calls[n] as Call, { verdict, judgedAt, asked: asked[n], before });
    if (verdict.effect === "writes") before = result;
    return result;
  });
  const all = results[0] && results.length === 1 ? [await results[0]] : await allOf(results);
  context.memory.noteRefusals(calls, all);
  context.memory.noteBlocked(calls, all);
  context.memory.forgetInputs();
  pauseIfRefused(durable, context);
  return all;
}

/** Refusals in a row after which the turn is paused. */
const TOO_MANY = 5;

/** Five refusals in a row mean that the agent and the person are at odds: better to talk than to click. */
export function pauseIfRefused(durable: Durable, { memory, agent }: Tools & Self): void {
  if (memory.refusalsInRow < TOO_MANY || durable.known(stepKeys.paused)) return;
  // The person's next message goes to the main agent. A subagent would never hear it, so it gives its task back.
  if (agent.length > 0) throw new SageError("turn-failed", reason("subagent-refused", { times: TOO_MANY }));
  durable.decide(stepKeys.paused, "turn.interrupted", () => ({ to: "pause", by: "sage", surface: "refusals" }));
  durable.stop(new Stopped("interrupted", reason("refused-in-a-row", { times: TOO_MANY })));
}

async function judgeAll(durable: Durable, context: Judging, calls: readonly Call[]): Promise<Verdict[] | Stopped> {
  try {
    const { verdicts } = await durable.step(stepKeys.judged, "calls.judged", (scope) =>
      judgeInOrder(context, calls, scope),
    );
    return verdicts;
  } catch (error) {
    if (error instanceof Stopped && error.why !== "leaving") return error;
    throw error;
  }
}

/** Hooks are called in the order of the calls. */
function judgeInOrder(
  context: Judging,
  calls: readonly Call[],
  scope: StepScope,
  judged: Verdict[] = [],
): Awaitable<{ verdicts: Verdict[] }> {
  for (let n = judged.length; n < calls.length; n++) {
    const call = calls[n] as Call;
    const settled = n === 0 || isSettled(context, calls.slice(0, n), call);
    const verdict = judgeHooked(context, call, { scope, settled });
    if (isPromised(verdict)) return verdict.then((one) => judgeInOrder(context, calls, scope, [...judged, one]));
    judged.push(verdict);
  }
  return { verdicts: judged };
}

/** No earlier call of the reply reads or changes the file that this one is about. */
function isSettled(context: Tools & Place, earlier: readonly Call[], call: Call): boolean {
  const file = fileOf(context, call);
  return earlier.every((one) => {
    const other = fileOf(context, one);
    const effect = context.config.tools.get(one.tool)?.effect ?? "reads";
    return other === undefined ? effect === "reads" : other !== file;
  });
}

function fileOf(context: Place, { input }: Call): string | undefined {
  const path = input["file_path"];
  try {
    return typeof path === "string" ? canonicalPath(path, toolPlace(context)).real : undefined;
  } catch {
    return undefined;
  }
}

/** Waits for every call, also when one of them failed: nothing of a step runs on behind the loop's back. */
export async function allOf(running: readonly Promise<ToolResult>[]): Promise<ToolResult[]> {
  const settled = await Promise.allSettled(running);
  const failures = settled.filter((one) => one.status === "rejected").map((one) => one.reason as unknown);
  if (failures.length > 0) throw failures.find((reason) => !(reason instanceof NeedsInput)) ?? failures[0];
  return settled.map((one) => (one as PromiseFulfilledResult<ToolResult>).value);
}
