import type { Store } from "../journal/store/store.ts";
import { canonicalJson } from "../base/canonical-json.ts";
import { personName } from "../base/name.ts";
import type { InputResponse, PlanEnd } from "../protocol/facts/answer.ts";
import { isComplete, type ConsentRequest } from "../protocol/facts/consent.ts";
import type { Approval, Approved, Resolution } from "../protocol/facts/request.ts";
import { approvalKey, splitRequestId } from "../protocol/key.ts";
import { reason, type Reason, SageError } from "../protocol/reasons/reason.ts";
import type { Sender } from "../protocol/sender.ts";
import { endOf, settle, type Responded } from "./respond.ts";

type Granted = InputResponse & { type: "granted" };

/** A person with a name that stands for them alone, on every surface. */
export type Approver = Pick<Sender, "by" | "surface" | "device" | "signed">;

/** Records one yes of several. The last ends the request in the same transaction; an edit ends it at once, to be asked again. */
export async function approve(
  store: Store,
  request: ConsentRequest,
  response: Granted,
  { by: name, surface, device, signed }: Approver,
): Promise<Responded | Approved> {
  const by = personName(name);
  check(request, response, by);
  const at = Date.now();
  const { comment, mode, input } = response;
  if (input !== undefined && canonicalJson(input) !== canonicalJson(request.input))
    return settle(store, request, {
      requestId: request.id,
      by,
      surface,
      at,
      outcome: "superseded",
      reason: reason("edited-anew", { by }),
      edited: { input, ...(comment !== undefined && { comment }) },
    });
  const approval: Approval = {
    requestId: request.id,
    digest: request.digest,
    by,
    surface,
    at,
    ...(device !== undefined && { device }),
    ...(signed !== undefined && { signed }),
    ...(comment !== undefined && { comment }),
    ...(mode !== undefined && { mode }),
  };
  const { session, key } = splitRequestId(request.id);
  const { won, approvals, ended } = await store.approve(
    session,
    { key: approvalKey(key, by), type: "input.approved", at, data: approval },
    (given) => (isComplete(request, given) ? endOf(request, completed(request, given)).fact : undefined),
  );
  if (ended) return { won, resolution: ended };
  return { ...approval, outcome: "approved", approvals, needed: request.consent.approvals, again: !won };
}

function check({ consent }: ConsentRequest, { rules = [], removeRules = [], outside }: Granted, by: string): void {
  if (consent.except?.some((person) => personName(person) === by))
    throw refused("not-permitted", reason("asker-may-not-approve", { by }));
  const [unnamed] = consent.unnamed ?? [];
  if (unnamed !== undefined) throw refused("not-permitted", reason("asker-unknown", { by: unnamed }));
  // A rule by one of them would change what later calls need.
  if (rules.length + removeRules.length > 0) throw refused("request-invalid", reason("consent-takes-no-rules", {}));
  // The others approved a call that runs confined.
  if (outside) throw refused("request-invalid", reason("not-offered-outside", {}));
}

/** The end of a request that everybody approved. It is in the name of the last of them. */
function completed(request: ConsentRequest, approvals: Approval[]): Resolution {
  const { by, surface, device, at } = approvals.at(-1)!;
  const comments = approvals.flatMap((approval) =>
    approval.comment?.trim() ? [`${approval.by}: ${approval.comment}`] : [],
  );
  const own = approvals.length === 1 ? approvals[0]!.comment : undefined;
  const comment = own ?? (comments.length > 0 ? comments.join("\n") : undefined);
  const mode = freest(approvals);
  return {
    requestId: request.id,
    by,
    surface,
    at,
    outcome: "answered",
    approvals,
    ...(device !== undefined && { device }),
    response: {
      type: "granted",
      requestId: request.id,
      ...(comment !== undefined && { comment }),
      ...(mode !== undefined && { mode }),
    },
  };
}

/** Edits without asking only where everybody wanted it so. */
function freest(approvals: readonly Approval[]): PlanEnd | undefined {
  if (approvals.every(({ mode }) => mode === "acceptEdits")) return "acceptEdits";
  return approvals.some(({ mode }) => mode !== undefined) ? "ask" : undefined;
}

function refused(code: "not-permitted" | "request-invalid", why: Reason): SageError {
  return new SageError(code, why);
}
