import type { Appended, InboundFact, Store } from "../journal/store/store.ts";
import { canonicalJson } from "../base/canonical-json.ts";
import { personName } from "../base/name.ts";
import type { InputResponse, LooseResponse } from "../protocol/facts/answer.ts";
import { needsConsent, takesSignature, type ConsentRequest } from "../protocol/facts/consent.ts";
import type { InputRequest, Resolution } from "../protocol/facts/request.ts";
import { resolvedKey, splitRequestId } from "../protocol/key.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";
import type { Sender } from "../protocol/sender.ts";
import { duesOf } from "./due.ts";
import { isOverdue } from "./enforce.ts";
import { otherEndOf, unheard } from "./other-end.ts";
import { checkPersona, isPersona, senderOf } from "./persona.ts";
import { checkResponse, resolve, spellOut } from "./validate.ts";

type Granted = InputResponse & { type: "granted" };

export type Responded = { won: true; resolution: Resolution } | { won: false; resolution: Resolution };

/** Answers from any process. The first valid answer wins, later ones learn who won; one that does not fit throws and changes nothing. */
export async function respond(
  store: Store,
  response: LooseResponse,
  sender: { by: string; surface: string },
): Promise<Responded> {
  const ready = await prepare(store, response, sender);
  if ("yes" in ready) throw needsPeople(ready.request);
  return "won" in ready ? ready : settle(store, ready.request, ready.resolution);
}

/** A responder, a recording or a channel has no name of a single person. */
function needsPeople({ consent }: ConsentRequest): SageError {
  return new SageError("request-invalid", reason("needs-people", { approvals: consent.approvals }));
}

/** Everything but the writing: how it ended already, what would be written, or that it is one yes of those that the request takes. */
export async function prepare(
  store: Store,
  given: LooseResponse,
  from: Pick<Sender, "by" | "surface" | "device" | "signed" | "typed">,
): Promise<Responded | { request: InputRequest; resolution: Resolution } | { request: ConsentRequest; yes: Granted }> {
  checkResponse(given);
  const found = store.find(given.requestId);
  if (!found) throw new SageError("request-unknown", reason("request-missing", { request: given.requestId }));
  const { response, sender } = senderOf(spellOut(found.request, given), from);
  checkPersona(store, sender);
  if (found.resolution) return { won: false, resolution: found.resolution };
  checkGoesOn(store, found.request);
  if (otherEndOf(store, found.request) === "gone") {
    const { resolution } = await settle(store, found.request, unheard(found.request));
    return { won: false, resolution };
  }
  if (isUncounted(store, found.request) && isOverdue(store, found.request)) {
    const { resolution } = await settle(store, found.request, expired(found.request));
    return { won: false, resolution };
  }
  if (response.type === "granted" && takesSignature(found.request) && from.signed === undefined)
    throw new SageError("not-permitted", reason("takes-signature", {}));
  if (response.type === "granted" && needsConsent(found.request)) {
    if (isPersona(sender)) throw needsPeople(found.request);
    return { request: found.request, yes: response };
  }
  return { request: found.request, resolution: resolve(found.request, response, sender) };
}

/** Is this how the request ended: by the same answer, of the same person, from the same surface? Its first reply may have been lost. */
export function isRepeated(
  store: Store,
  given: LooseResponse,
  from: { by: string; surface: string; /** The one name that they have on every surface. */ name: string },
  ended: Resolution,
): boolean {
  const request = store.find(given.requestId)?.request;
  if (!request) return false;
  const { response, sender } = senderOf(spellOut(request, given), from);
  if (needsConsent(request)) {
    const completing = ended.outcome === "answered" ? ended.approvals?.at(-1) : undefined;
    return (
      response.type === "granted" && completing?.by === personName(from.name) && completing.surface === from.surface
    );
  }
  // Nobody types a number twice for a yes that is recorded.
  const asSaid = (end: Resolution) => canonicalJson({ ...end, at: ended.at, typed: undefined });
  return asSaid(resolve(request, response, sender)) === asSaid(ended);
}

/** A process that runs the session has proven its records. Where none does and none can, an answer would lead nowhere. */
function checkGoesOn(store: Store, { session }: InputRequest): void {
  if (store.session(session)?.owned === false) store.load(session, { verified: true });
}

/** No process enforces its deadline. The session's owner does, and so does any process that waits for the answer. */
function isUncounted(store: Store, { id, session }: InputRequest): boolean {
  return !duesOf(store).has(id) && store.session(session)?.owned === false;
}

/** How a request ends when its deadline has passed. */
export function expired(request: InputRequest): Resolution {
  const { timeoutMs = 0, policy = "fail" } = request.deadline ?? {};
  const frame = { requestId: request.id, by: "deadline", surface: "deadline", at: Date.now() };
  const why = reason("no-answer-within", { timeoutMs });
  const given = policy === "deny" ? ({ type: "denied" } as const) : typeof policy === "object" && policy.default;
  // Silence grants nothing, whatever the record says.
  const response = given && given.type === "granted" ? ({ type: "denied" } as const) : given;
  return {
    ...frame,
    outcome: "timed_out",
    reason: why,
    ...(response && { response: { ...response, requestId: request.id } }),
  };
}

/** The one place where a request ends. Under the request's key that is the whole of first-answer-wins. */
export async function settle(store: Store, request: InputRequest, resolution: Resolution): Promise<Responded> {
  const { session, fact } = endOf(request, resolution);
  return ended(await store.append(session, fact));
}

/** Fact that ends a request, to be written. */
export function endOf(
  request: InputRequest,
  resolution: Resolution,
): { session: string; fact: InboundFact & { type: "input.resolved" } } {
  const { session, key } = splitRequestId(request.id);
  return {
    session,
    fact: { key: resolvedKey(key), type: "input.resolved", at: resolution.at, data: resolution },
  };
}

export function ended({ won, fact }: Appended): Responded {
  return { won, resolution: fact.data as Resolution };
}
