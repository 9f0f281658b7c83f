import { takesOwnWords, type InputRequest, type PermissionRequest } from "../../protocol/facts/request.ts";
import type { InputResponse } from "../../protocol/facts/answer.ts";
import type { PermissionSuggestion } from "../../protocol/facts/permission.ts";
import type { PendingRequest } from "../../protocol/host/host.ts";
import { reason, reasonFrom, type Reason } from "../../protocol/reasons/reason.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import { offersOf, type Offer } from "./describe.ts";

export { takesOwnWords };

/** Rules that may be kept with a yes. A request that only a person may allow takes none. */
export function rulesFor(request: PermissionRequest): Offer[] {
  return request.hard ? [] : offersOf(request);
}

/** The ask rule in the way, which a yes may remove or replace by a narrower one. */
export function ruleInTheWay({ suggestions }: PermissionRequest): PermissionSuggestion | undefined {
  return suggestions.find(({ type }) => type === "removeRule");
}

/** The narrower rule that is offered in its place; "" where the person has to write it. */
export function narrowerRule({ suggestions }: PermissionRequest): string {
  return suggestions.find(({ type }) => type === "modifyRule")?.instead ?? "";
}

/** A yes that changes the rule in the way: it goes, or `narrower` asks in its place. */
export function withoutAsking(request: PermissionRequest, narrower = ""): InputResponse & { type: "granted" } {
  const { rule, behavior, destination } = ruleInTheWay(request)!;
  const [asks, place] = [narrower.trim(), { behavior, destination }];
  return {
    type: "granted",
    requestId: request.id,
    removeRules: [{ rule, ...place }],
    ...(asks !== "" && { rules: [{ rule: asks, ...place }] }),
  };
}

/** A word of the person's own may go with the answers to a question. */
export function takesRemark(request: InputRequest): boolean {
  return request.kind === "question" && takesOwnWords(request);
}

/** The line on a request whose agent was stopped since: the answer reaches it later, in words. */
export function carriedLines({ request, carried }: Pick<PendingRequest, "request" | "carried">, t: Texts): string[] {
  return carried ? [t.because(reason("guest-carried", { agent: request.agent[0] ?? "" }))] : [];
}

/** Why a person is asked, where that is worth a line: the agent's own question speaks for itself. */
export function whyOf(request: InputRequest): Reason | undefined {
  const why = reasonFrom(request.why);
  const empty = why.code === "said" && why.args.text === "";
  return empty || (request.kind === "question" && request.source === "tool") ? undefined : why;
}
