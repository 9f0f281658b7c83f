import type { Durable } from "../../journal/durable.ts";
import { callsOf, textOf, type OutcomeStatus } from "../../protocol/index.ts";
import { count, nextReply } from "./compact.ts";
import type { ExecutionContext, Progress } from "../state/context.ts";
import { runCalls } from "../call/orchestrator.ts";
import { assistantMessage, between, toolMessage } from "./projection.ts";
import { spend } from "./spend.ts";
import { askIfSpinning } from "./spinning.ts";
import { enterPhase } from "../state/states.ts";

/** The loop. The same code runs a new turn, a resumed one and a subagent: what is a fact already returns at once. */
export async function loop(d: Durable, c: ExecutionContext, p: Progress): Promise<OutcomeStatus> {
  while (p.steps < p.maxSteps) {
    if (d.stopped) throw d.stopped;
    const step = `${p.steps}`;
    // Interrupted after this reply: its calls that had not run by then must not run now.
    const line = d.interruptedSince(`${step}/model`) ? d.closedBranch(step) : d.branch(step);
    const reply = await nextReply(line, c, p);
    const heard = between(p.said, p.sawUpTo, reply.sawUpTo);
    if (heard.length > 0) c.memory.forgetRefusals();
    p.messages.push(...heard, assistantMessage(reply));
    p.sawUpTo = reply.sawUpTo;
    count(c, p, reply.usage);
    p.steps++;
    spend(c, reply);
    p.text = textOf(reply) || p.text;
    const calls = callsOf(reply);
    if (calls.length === 0) return { status: "success" };
    enterPhase(c, "executingTools");
    const results = await runCalls(line, c, calls);
    enterPhase(c, "processingResponse");
    c.tree.toolCalls += calls.length;
    p.messages.push(toolMessage(calls, results));
    calls.forEach(({ tool, input }, n) =>
      p.toolHistory.push({ tool, input, result: results[n] ?? { ok: false, text: "" } }),
    );
    await askIfSpinning(line, c, { calls, results });
  }
  return { status: "max-steps", steps: p.maxSteps };
}
