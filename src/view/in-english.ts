import type { Delta, Fact } from "../protocol/facts/fact.ts";
import type { OutcomeStatus } from "../protocol/facts/outcome.ts";
import type { CommandReply } from "../protocol/host/host.ts";
import type { Reason } from "../protocol/reasons/reason.ts";
import { sentence } from "../texts/shared/sentence.ts";

// Programs read the text next to a reason. For them it is an English sentence, whichever process wrote the code.

export function replyInEnglish(reply: CommandReply): CommandReply {
  if (!reply.ok) return worded(reply);
  return "results" in reply
    ? { ...reply, results: reply.results.map((result) => (result.ok ? result : worded(result))) }
    : reply;
}

export function outcomeInEnglish<Outcome extends OutcomeStatus>(outcome: Outcome): Outcome {
  return outcome.status === "error" ? { ...outcome, error: worded(outcome.error) } : outcome;
}

export function factInEnglish(fact: Fact): Fact {
  return fact.type === "turn.ended" ? { ...fact, data: outcomeInEnglish(fact.data) } : fact;
}

export function deltaInEnglish(delta: Delta): Delta {
  const { kind, reason, state } = delta;
  if (kind === "notice" && reason) return { ...delta, text: sentence(reason, "en") };
  return state?.state === "error" ? { ...delta, state: { ...state, error: worded(state.error) } } : delta;
}

function worded<Failure extends { message: string; reason?: Reason }>(failure: Failure): Failure {
  return failure.reason ? { ...failure, message: sentence(failure.reason, "en") } : failure;
}
