import { oneLine } from "../../base/visible.ts";
import { needsConsent, takesSignature } from "../../protocol/facts/consent.ts";
import type { Approval, InputRequest } from "../../protocol/facts/request.ts";
import type { Sender } from "../../protocol/sender.ts";
import { whoOf } from "../../texts/shared/resolution.ts";
import type { Texts } from "../../texts/shared/texts.ts";

/** That a yes has to be signed; how many people a request takes, which ones not, and who has approved it so far. Nothing where any yes is enough. */
export function consentLines(
  request: InputRequest,
  approvals: readonly Approval[] = [],
  t: Texts,
  me?: Sender,
): string[] {
  const signed = takesSignature(request) ? [t.takesSignature] : [];
  if (!needsConsent(request)) return signed;
  const { approvals: needed, except = [] } = request.consent;
  return [
    ...signed,
    t.consent(needed, except.map(oneLine)),
    ...(approvals.length > 0 ? [consentSoFar({ approvals, needed }, t, me)] : []),
  ];
}

/** `1 of 2: approved by lin (terminal)`. */
export function consentSoFar(
  { approvals, needed }: { approvals: readonly Approval[]; needed: number },
  t: Texts,
  me?: Sender,
): string {
  return t.consentGiven(
    approvals.length,
    needed,
    approvals.map((approval) => whoOf(approval, t, me)),
  );
}
