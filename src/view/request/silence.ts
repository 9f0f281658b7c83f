import { oneLine } from "../../base/visible.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import { leftOf, timeOf } from "../../texts/shared/resolution.ts";
import type { Texts } from "../../texts/shared/texts.ts";

/** The fate of a request that nobody answers, and when: who else is asked, and the end. Every surface says the same. */
export function silenceLines(request: InputRequest, t: Texts, now = Date.now()): string[] {
  const { deadline } = request;
  // Without an end it is worth a line only where others than the reader are waited for.
  if (!deadline) return request.kind === "permission" && request.consent ? [t.waitsForEver] : [];
  const { at, policy, escalation = [] } = deadline;
  return [
    ...escalation
      .filter((step) => step.at > now)
      .map(({ to, at: then }) => t.thenAsked(oneLine(to), timeOf(then, now))),
    t.deadline(timeOf(at, now), leftOf(at, t, now), policy),
  ];
}
