import { Stopped, type Durable } from "../../journal/session/durable.ts";
import { callsOf, textOf, type ToolResult } from "../../protocol/facts/message.ts";
import type { OutcomeStatus } from "../../protocol/facts/outcome.ts";
import { branchKey, replyKey, stepKeys } from "../../protocol/key.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { count } from "./compact.ts";
import { nextReply } from "./next-reply.ts";
import type { ExecutionContext, Progress } from "../state/context.ts";
import { runCalls } from "../call/orchestrator.ts";
import { addedBySage, assistantMessage, between, toolMessage, toolUse } from "./projection.ts";
import { spend } from "../state/spend.ts";
import { askIfSpinning } from "./spinning.ts";
import { finishOf } from "./finish.ts";
import { enterPhase } from "../state/states.ts";

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
    const reply = await nextReply(line, context, progress);
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
  return [stepKeys.model, stepKeys.compact, stepKeys.compactAll].some((key) => line.known(key));
}
