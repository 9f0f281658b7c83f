import type { Durable } from "../../journal/session/durable.ts";
import { Stopped } from "../../journal/session/session.ts";
import type { Call, ToolResult } from "../../protocol/facts/message.ts";
import type { Verdict } from "../../protocol/facts/permission.ts";
import { callKeys, finishedKey, startedKey } from "../../protocol/key.ts";
import type { ExecutionContext, Judging, Tree } from "../state/context.ts";
import { judgeAgain } from "./judge/judge.ts";
import { perform } from "./perform/perform.ts";
import { openRequest, waitForAnswer, type Asked } from "./judge/request.ts";
import { notRun, resultWithoutRun, stoppedBefore, withTalk } from "./judge/results.ts";
import { firstState, nextState, type Again, type CallState } from "./judge/call-state.ts";

/** `judgedAt`: how much had happened in the session when it was judged; undefined when another attempt judged it. */
type Judged = {
  verdict: Verdict;
  judgedAt: number | undefined;
  asked: Asked | undefined;
  before: Promise<unknown> | undefined;
};

/** Takes a call from its verdict to its result. Every way through ends in exactly one `call.finished`. */
export function runCall(durable: Durable, context: ExecutionContext, call: Call, judged: Judged): Promise<ToolResult> {
  // It has its result, whatever else is known of it.
  if (durable.known(callKeys.done))
    return Promise.resolve(durable.decide(callKeys.done, "call.finished", () => notRun(undefined)));
  return fromVerdictToResult(durable, context, call, judged).then((result) =>
    context.memory.remember(result, judged.verdict.effect),
  );
}

async function fromVerdictToResult(
  durable: Durable,
  context: ExecutionContext,
  call: Call,
  { verdict, judgedAt, asked, before }: Judged,
): Promise<ToolResult> {
  let state = firstState(verdict);
  try {
    for (;;) {
      switch (state.at) {
        case "asking": {
          const opened: Asked = asked ?? openRequest(durable, context, call, state);
          asked = undefined;
          state = nextState(state, await waitForAnswer(durable, context, opened, state.number));
          break;
        }
        case "judging": {
          const stale = durable.known(callKeys.judged(state.number));
          judgedAt = stale ? undefined : context.tree.happened;
          const again: Verdict = await rejudge(durable, context, call, state);
          state = nextState(state, { type: "judged", verdict: again, stale });
          break;
        }
        case "allowed":
          if (state.verdict.effect === "writes") await before;
          state = nextState(state, { type: "turn-came", fresh: isFresh(durable, context, state, judgedAt) });
          break;
        case "running":
          state = nextState(state, await perform(durable, context, call, state));
          break;
        case "over": {
          const { end, talk } = state;
          return end.how === "ran"
            ? end.result
            : durable.decide(callKeys.done, "call.finished", () =>
                withTalk(resultWithoutRun(context, call, end), talk),
              );
        }
        default:
          return state satisfies never;
      }
    }
  } catch (error) {
    if (!(error instanceof Stopped) || error.why === "leaving") throw error;
    durable.withdraw(error.reason);
    return durable.decide(callKeys.done, "call.finished", () => stoppedBefore(error, call, state));
  }
}

/** Judges again, in a fact under the next number, without hooks: those had their say. */
async function rejudge(durable: Durable, context: Judging, call: Call, state: CallState & { at: "judging" }) {
  const { shown, again } = state;
  const edited = again.because === "edited" ? again.input : shown.input;
  const { verdicts } = await durable.step(callKeys.judged(state.number), "calls.judged", async ({ signal }) => {
    const verdict = await judgeAgain(shownTo(again, context), call, { edited, signal, shown, again });
    // Nobody is asked, so no rules are offered: a turn of a thousand approvals must not hold a thousand judgements.
    if (verdict.behavior !== "ask") context.memory.takeJudgement(verdict.digest);
    return { verdicts: [verdict] };
  });
  return verdicts[0] as Verdict;
}

/** A person's yes to this very call counts, also when the session has gone into plan mode since. */
function shownTo<C extends Judging>(again: Again, context: C): C {
  const approved = again.because === "edited" || (again.because === "last-look" && again.approval.by === "person");
  return approved ? { ...context, approved } : context;
}

/**
 * Nothing has happened since the judgement that could have changed what the call means: no other writer of the session started,
 * nobody was waited for, be it by a call that went first, and it was judged in this attempt. What has been started is not judged
 * any more.
 */
function isFresh(
  durable: Durable,
  context: Tree,
  { verdict, waited, run }: CallState & { at: "allowed" },
  judgedAt: number | undefined,
): boolean {
  if (verdict.effect === "waits" || (!waited && judgedAt === context.tree.happened)) return true;
  const key = callKeys.run(run);
  return durable.known(startedKey(key)) || durable.known(finishedKey(key)) || durable.known(key);
}
