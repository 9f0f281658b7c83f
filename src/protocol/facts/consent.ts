import { personName } from "../../base/name.ts";
import type { Consent, Rule } from "./permission.ts";
import type { Approval, InputRequest, PermissionRequest, Resolution } from "./request.ts";

/** A permission that one yes of anybody does not grant. */
export type ConsentRequest = PermissionRequest & { consent: NonNullable<PermissionRequest["consent"]> };

export function needsConsent(request: InputRequest): request is ConsentRequest {
  return request.kind === "permission" && request.consent !== undefined;
}

/** Does this rule ask for more than one yes of anybody? */
export function demands({ consent }: Pick<Rule, "consent">): boolean {
  return consent !== undefined && (consent.approvals > 1 || consent.notAsker === true);
}

/** The demands of several rules together. */
export function strictest(all: readonly Consent[]): Consent | undefined {
  if (all.length === 0) return undefined;
  const approvals = Math.max(...all.map((demand) => demand.approvals));
  return { approvals, ...(all.some(({ notAsker }) => notAsker) && { notAsker: true }) };
}

/** Does `now` demand something that `then` did not? */
export function isStricter(now: Consent | undefined, then: Consent | undefined): boolean {
  if (!now) return false;
  return now.approvals > (then?.approvals ?? 1) || (now.notAsker === true && then?.notAsker !== true);
}

/** Each person counts once, under one name; those who asked do not count at all, nor does a yes to another input. */
export function isComplete({ consent, digest, signed }: ConsentRequest, approvals: readonly Approval[]): boolean {
  if ((consent.unnamed ?? []).length > 0) return false;
  const except = new Set((consent.except ?? []).map(personName));
  const counts = (approval: Approval) => approval.digest === digest && (!signed || approval.signed !== undefined);
  const people = new Set(approvals.filter(counts).map(({ by }) => personName(by)));
  return [...people].filter((person) => !except.has(person)).length >= consent.approvals;
}

/** Does a yes to it count only with proof that it was given elsewhere? */
export function takesSignature(request: InputRequest): boolean {
  return request.kind === "permission" && request.signed === true;
}

/** True unless it grants a request that takes more signatures than it has: an earlier version of Sage, or other code, may have answered it. */
export function isSigned(request: InputRequest, resolution: Resolution): boolean {
  if (!("response" in resolution) || resolution.response?.type !== "granted") return true;
  if (!needsConsent(request)) return !takesSignature(request) || resolution.signed !== undefined;
  return resolution.outcome === "answered" && isComplete(request, resolution.approvals ?? []);
}
