import { oneLine } from "../../base/visible.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import { leftOf, timeOf } from "../../texts/shared/resolution.ts";
import type { Texts } from "../../texts/shared/texts.ts";

/** The fate of a request that nobody answers, and when: who else is asked, and the end. Every surface says the same. */
export function silenceLines({ deadline }: Pick<InputRequest, "deadline">, t: Texts, now = Date.now()): string[] {
  if (!deadline) return [t.waitsForEver];
  const { at, policy, escalation = [] } = deadline;
  return [
    ...escalation
      .filter((step) => step.at > now)
      .map(({ to, at: then }) => t.thenAsked(oneLine(to), timeOf(then, now))),
    t.deadline(timeOf(at, now), leftOf(at, t, now), policy),
  ];
}
