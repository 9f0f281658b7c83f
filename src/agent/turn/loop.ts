import { NeedsInput } from "../../input/ask.ts";
import { Stopped, type Durable } from "../../journal/session/durable.ts";
import type { FactData } from "../../protocol/facts/fact.ts";
import { callsOf, textOf, type Call, type ToolResult } from "../../protocol/facts/message.ts";
import type { OutcomeStatus } from "../../protocol/facts/outcome.ts";
import type { Verdict } from "../../protocol/facts/permission.ts";
import { branchKey, callKeys, replyKey, stepKeys } from "../../protocol/key.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { runCall } from "../call/call.ts";
import { judgeReply } from "../call/judge/judge.ts";
import { openRequest } from "../call/judge/request.ts";
import { notRun } from "../call/judge/results.ts";
import type { ExecutionContext, Progress } from "../state/context.ts";
import { pauseIfRefused } from "../state/memory.ts";
import { spend } from "../state/spend.ts";
import { enterPhase } from "../state/states.ts";
import { count } from "./compact.ts";
import { finishOf } from "./finish.ts";
import { nextReply } from "./next-reply.ts";
import { addedBySage, assistantMessage, between, interruptedMessages, toolMessage, toolUse } from "./projection.ts";
import { askIfOverLimit, askIfSpinning } from "./spinning.ts";

/** The loop. The same code runs a new turn, a resumed one and a subagent: what is a fact already returns at once. */
export async function loop(durable: Durable, context: ExecutionContext, progress: Progress): Promise<OutcomeStatus> {
  let rests = 0; // replies in a row whose rest was asked for
  while (progress.steps < progress.maxSteps) {
    const step = branchKey(progress.steps);
    // A turn that is over goes through what is a fact already, so that its outcome tells all of it.
    if (durable.stopped && !isBegun(durable.branch(step))) throw durable.stopped;
    if (context.lifecycle.checkInterrupt()) throw new Stopped("interrupted", reason("interrupted", {}));
    // Interrupted after this reply: its calls that had not run by then must not run now.
    const isClosed = !durable.stopped && durable.interruptedSince(replyKey(progress.steps));
    const line = isClosed ? durable.closedBranch(step) : durable.branch(step);
    const limit = askIfOverLimit(line, context, isBegun(line));
    if (limit) progress.talk = (await limit) ?? progress.talk;
    if (limit && durable.stopped) continue;
    const reply = await nextReply(line, context, progress);
    if ("by" in reply) {
      noteInterrupted(progress, reply);
      continue;
    }
    const heard = between(progress.said, progress.sawUpTo, reply);
    if (heard.length > 0) context.memory.forgetRefusals();
    for (const message of heard) progress.messages.push(message);
    for (const message of addedBySage(reply)) progress.messages.push(message);
    progress.messages.push(assistantMessage(reply));
    progress.sawUpTo = reply.sawUpTo;
    progress.talk = undefined;
    count(progress, reply.usage);
    progress.steps++;
    spend(context, reply);
    progress.text = rests > 0 ? progress.text + textOf(reply) : textOf(reply) || progress.text;
    const calls = callsOf(reply);
    if (calls.length === 0) {
      const finish = finishOf(reply, rests);
      if ("ended" in finish) return finish.ended;
      progress.messages.push(finish.asks);
      rests++;
      continue;
    }
    rests = 0;
    enterPhase(context, "processingResponse");
    const results = await runCalls(line, context, calls);
    context.tree.toolCalls += calls.length;
    progress.messages.push(toolMessage(calls, results));
    for (const [n, call] of calls.entries()) progress.toolHistory.push(toolUse(call, results[n] as ToolResult));
    const spinning = askIfSpinning(line, context, { calls, results });
    if (spinning) progress.talk = await spinning;
  }
  return { status: "max-steps", steps: progress.maxSteps };
}

/** True when an earlier attempt had a reply in this step, or made room for one. */
function isBegun(line: Durable): boolean {
  return [stepKeys.model, stepKeys.interrupted, stepKeys.compact, stepKeys.compactAll].some((key) => line.known(key));
}

/** It is no reply: the next one is asked for under the next step, which the person has not paid for. */
function noteInterrupted(progress: Progress, reply: FactData["reply.interrupted"]): void {
  progress.messages.push(...between(progress.said, progress.sawUpTo, reply), ...interruptedMessages(reply));
  progress.sawUpTo = reply.sawUpTo;
  progress.steps++;
  progress.maxSteps++;
}

/** Judges all calls, opens their requests in order, then runs each: readers at once, writers in the model's order, behind a waiting one. */
async function runCalls(durable: Durable, context: ExecutionContext, calls: readonly Call[]): Promise<ToolResult[]> {
  // Interrupted before they were judged: they have their results, and are not judged now.
  const lines = calls.map((_, n) => durable.branch(branchKey(n)));
  if (lines.every((line) => line.known(callKeys.done)) && !durable.known(stepKeys.judged))
    return lines.map((line) => line.decide(callKeys.done, "call.finished", () => notRun(undefined)));
  // Judged by an attempt before this one: what was looked at then may be different now.
  const judgedAt = durable.known(stepKeys.judged) ? undefined : context.tree.happened;
  const verdicts = await judgeReply(durable, context, calls);
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

/** Waits for every call, also when one of them failed: nothing of a step runs on behind the loop's back. */
export async function allOf(running: readonly Promise<ToolResult>[]): Promise<ToolResult[]> {
  const settled = await Promise.allSettled(running);
  const failures = settled
    .filter(({ status }) => status === "rejected")
    .map((end) => (end as PromiseRejectedResult).reason as unknown);
  if (failures.length > 0) throw failures.find((reason) => !(reason instanceof NeedsInput)) ?? failures[0];
  return settled.map((end) => (end as PromiseFulfilledResult<ToolResult>).value);
}
