import { ask } from "../../input/ask.ts";
import type { Durable } from "../../journal/session/durable.ts";
import { Stopped } from "../../journal/session/session.ts";
import type { Call, ToolResult } from "../../protocol/facts/message.ts";
import { choiceOf } from "../../protocol/facts/request.ts";
import { stepKeys } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { ownQuestion } from "../../texts/shared/questions.ts";
import { limitReached, type SpendLimits } from "../state/cap.ts";
import type { ExecutionContext } from "../state/context.ts";
import { endTurnIfSaid, waitForPerson } from "../call/judge/request.ts";

/** The same action with the same result this often is no progress. */
const TOO_OFTEN = 4;

/** An agent that repeats itself asks the person instead of continuing. What a person has answered is no repetition. Returns inquiries about its question. */
export function askIfSpinning(
  durable: Durable,
  context: ExecutionContext,
  { calls, results }: { calls: readonly Call[]; results: readonly ToolResult[] },
): Promise<string | undefined> | undefined {
  if (context.memory.repeats(calls, results) < TOO_OFTEN || durable.stopped) return undefined;
  const { tools } = context.config;
  const answered = calls.some(({ tool }, n) => tools.get(tool)?.requiresUserInteraction && results[n]?.ok);
  return answered ? undefined : askToGoOn(durable, context, calls);
}

/** Asks before the step beyond a limit, never within a step. Only a person says go on: an automatic run ends as if nobody could be asked. */
export function askIfOverLimit(
  durable: Durable,
  context: ExecutionContext,
  isBegun: boolean,
): Promise<string | undefined> | undefined {
  const { limits } = context.config;
  const isAsked = durable.known(stepKeys.limit);
  return !limits || durable.stopped || (isBegun && !isAsked)
    ? undefined
    : askAtLimit(durable, context, limits, isAsked);
}

async function askAtLimit(durable: Durable, context: ExecutionContext, limits: SpendLimits, isAsked: boolean) {
  const { asking, config, session } = context;
  if (!isAsked) await context.record(); // what was spent is on disk
  const reached = isAsked ? undefined : await limitReached(asking.store, session, { limits, prices: config.prices });
  if (!isAsked && !reached) return undefined;
  const request = () => {
    if (!reached) throw new Error("a request that is known is not made again");
    const why = reason("limit-reached", reached);
    return ownQuestion(reason("go-on-spending", {}), { source: "sage", agent: context.agent, why, digest: "" });
  };
  const mode = asking.mode.type === "nonInteractive" ? ({ type: "batch" } as const) : asking.mode;
  const opened = ask(durable, stepKeys.limit, request, { ...asking, mode });
  const resolution = await waitForPerson(context, opened);
  const talk = context.inquiries.end(context, opened.request.id);
  endTurnIfSaid(durable, resolution, opened.request);
  const choice = choiceOf(resolution);
  if (choice === "stop") durable.stop(new Stopped("cancelled", reason("stopped-at-limit", {})));
  else if (choice === undefined && !durable.stopped) throw new SageError("turn-failed", reason("limit-unanswered", {}));
  return talk && `A person was asked whether you should go on at a limit of spending, and let you go on. ${talk}`;
}

async function askToGoOn(durable: Durable, context: ExecutionContext, calls: readonly Call[]) {
  context.memory.forgetRepeats();
  const why = reason("spinning", {
    times: TOO_OFTEN,
    calls: calls.map(({ tool, input }) => ({ tool, input: JSON.stringify(input) })),
  });
  const asking = { source: "sage", agent: context.agent, why, digest: "" } as const;
  const opened = ask(durable, stepKeys.spinning, ownQuestion(reason("go-on-repeating", {}), asking), context.asking);
  const resolution = await waitForPerson(context, opened);
  const talk = context.inquiries.end(context, opened.request.id);
  endTurnIfSaid(durable, resolution, opened.request);
  const choice = choiceOf(resolution);
  if (choice === "stop") durable.stop(new Stopped("cancelled", reason("repeated-itself", {})));
  else if (choice === undefined && !durable.stopped)
    throw new SageError("turn-failed", reason("nobody-said-go-on", { times: TOO_OFTEN }));
  return (
    talk && `A person was asked whether you should go on, because you repeated yourself, and let you go on. ${talk}`
  );
}
