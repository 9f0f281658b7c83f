import { randomUUID } from "node:crypto";
import { approve, type Approver } from "../../../input/approve.ts";
import { ended, endOf, isRepeated, prepare } from "../../../input/respond.ts";
import type { Page, Store } from "../../../journal/store/store.ts";
import { readRule } from "../../../permission/rules/rules.ts";
import type { InputResponse, LooseResponse } from "../../../protocol/facts/answer.ts";
import { needsConsent } from "../../../protocol/facts/consent.ts";
import { withInquiry } from "../../../protocol/facts/inquiry.ts";
import type { InputRequest, Resolution } from "../../../protocol/facts/request.ts";
import type { PendingRequest } from "../../../protocol/host/host.ts";
import { draftKeys, guestKeys, inquiryKey, splitRequestId, turnKey, turnNumber } from "../../../protocol/key.ts";
import { SageError } from "../../../protocol/reasons/error.ts";
import { misfits } from "../../../protocol/reasons/misfit.ts";
import { reason } from "../../../protocol/reasons/reason.ts";
import type { Sender } from "../../../protocol/sender.ts";
import { checkResponse } from "../../../input/validate.ts";
import { builtinTools } from "../../../tools/registry.ts";
import type { Tool } from "../../../tools/definition/tool.ts";
import { batchAppends } from "./batched-appends.ts";
import type { CommandParts, Handlers } from "../parts.ts";
import { respondAll } from "./respond-all.ts";

type Granted = InputResponse & { type: "granted" };

const MAX_INQUIRY_LENGTH = 10_000;

/** Requests: what is open, answers to it, questions about it, half-filled answers. */
export function requestCommands(
  parts: CommandParts,
): Handlers<"respond" | "respondAll" | "inquire" | "saveDraft" | "request" | "pending"> {
  const { store, personOf, isRunning } = parts;
  const append = batchAppends(store);
  return {
    async respond({ response, ...sender }) {
      checkResponse(response);
      checkGrant(store, response);
      const ready = await prepare(store, response, placeOf(sender));
      const { session } = splitRequestId(response.requestId);
      const end =
        "yes" in ready
          ? await approve(store, ready.request, ready.yes, approverOf(sender, personOf))
          : "won" in ready
            ? ready
            : ended(await append(endOf(ready.request, ready.resolution)));
      if (!("won" in end)) return { ok: true, approved: end, running: isRunning(session) };
      const reply = { ok: true, resolution: end.resolution, running: isRunning(session) } as const;
      if (end.won) return reply;
      const from = { ...sender, name: personOf?.(sender) ?? sender.by };
      if (!isRepeated(store, response, from, end.resolution)) throw alreadyResolved(end.resolution);
      return { ...reply, again: true };
    },
    respondAll: async (command) => ({
      ok: true,
      results: await respondAll({ store, running: isRunning, late: alreadyResolved }, command),
    }),
    async inquire({ requestId, text, id = randomUUID(), by, surface }) {
      const { resolution } = existingRequest(store, requestId);
      if (resolution) throw alreadyResolved(resolution);
      if (text.trim() === "") throw new SageError("input-invalid", reason("inquiry-empty", {}));
      const { length } = text;
      if (length > MAX_INQUIRY_LENGTH)
        throw new SageError("input-invalid", reason("inquiry-too-long", { limit: MAX_INQUIRY_LENGTH, length }));
      const { session, key } = splitRequestId(requestId);
      const inquiry = id.replaceAll(/[^\w-]/g, "-"); // a surface's own id becomes the end of a key
      const data = { requestId, inquiry, text, by, surface };
      await store.append(session, { key: inquiryKey(key, inquiry), type: "inquiry.made", at: Date.now(), data });
      return { ok: true, inquiry, running: isRunning(session) };
    },
    async saveDraft({ requestId, draft, by, surface }) {
      const { resolution } = existingRequest(store, requestId);
      if (resolution) throw alreadyResolved(resolution);
      const { session, key } = splitRequestId(requestId);
      const data = { requestId, draft, by, surface };
      const fact = { key: draftKeys(key).prefix + randomUUID(), type: "draft.saved", at: Date.now(), data } as const;
      await store.append(session, fact);
      return { ok: true };
    },
    request({ id }) {
      const { request, resolution } = existingRequest(store, id);
      const inquiries = store.inquiries(id).reduce(withInquiry, []);
      return {
        ...{ ok: true, ...withDraft(store, request) },
        ...(inquiries.length > 0 && { inquiries }),
        ...(resolution && { resolution }),
      };
    },
    pending: ({ session, limit, after }) => ({
      ok: true,
      requests: pending(
        store,
        session,
        limit === undefined ? undefined : { limit, ...(after !== undefined && { after }) },
      ),
    }),
  };
}

export function pending(store: Store, session: string | undefined, page?: Page): PendingRequest[] {
  return store.pending(session, page).map((request) => withDraft(store, request));
}

function withDraft(store: Store, request: InputRequest): PendingRequest {
  const draft = store.draft(request.id);
  const approvals = needsConsent(request) ? store.approvals(request.id) : undefined;
  const carried = isCarried(store, request) && ({ carried: true } as const);
  return { request, ...(draft && { draft }), ...(approvals && { approvals }), ...carried };
}

/** Nobody runs the session, and the guest that asked was not left with its call: all that is known of it is that it was stopped. */
function isCarried(store: Store, { id, session, agent }: InputRequest): boolean {
  if (agent.length === 0 || store.opened(session)?.agent === undefined || store.session(session)?.owned) return false;
  const { key } = splitRequestId(id);
  const turn = turnNumber(key);
  const asked = store.fact(session, key);
  if (turn === undefined || !asked || store.resolution(id)) return false;
  const joined = store.fact(session, `${turnKey(turn)}/${guestKeys.joined(0)}`);
  if (joined?.type === "guest.joined" && joined.data.keeps) return false;
  return store.since(session, asked.seq).every(({ type }) => type !== "guest.parked");
}

/** The sender as a resolution holds them: the id in the list of people is for the guard alone. */
function placeOf({ by, surface, device }: Sender): Pick<Sender, "by" | "surface" | "device"> {
  return { by, surface, ...(device !== undefined && { device }) };
}

/** The person behind a yes, by the one name that they have on every surface. */
function approverOf(sender: Sender, personOf: CommandParts["personOf"]): Approver {
  const { by } = sender;
  const name = personOf ? personOf(sender) : by;
  if (name === undefined || name === null) throw new SageError("not-permitted", reason("approver-unknown", { by }));
  return { ...placeOf(sender), by: name };
}

export function existingRequest(
  store: Store,
  id: string,
): { request: InputRequest; resolution: Resolution | undefined } {
  const found = store.find(id);
  if (!found) throw new SageError("request-unknown", reason("request-missing", { request: id }));
  return found;
}

/** A grant that could not be carried out is refused while the request is still open. `tools`: those beside the built-in ones. */
export function checkGrant(store: Store, response: LooseResponse, tools: readonly Tool[] = []): void {
  if (response.type !== "granted") return;
  checkRules(response);
  if (response.input) checkInput(store, response, tools);
}

/** A rule that would not parse must not be recorded as granted. */
function checkRules(response: Granted): void {
  for (const { rule, behavior } of response.rules ?? []) {
    const parsed = readRule(rule, behavior);
    if (!parsed.ok) throw new SageError("request-invalid", reason("rule-not-read", { rule, problem: parsed.problem }));
  }
}

/** Refuses an edit that does not fit its tool. A tool that is not known here checks the edit itself when it runs. */
function checkInput(store: Store, response: Granted, tools: readonly Tool[]): void {
  const request = store.find(response.requestId)?.request;
  if (request && store.opened(request.session)?.agent !== undefined) return; // a guest's tool takes what it takes
  const tool =
    request?.kind === "permission"
      ? [...builtinTools(), ...tools].find(({ name }) => name === request.tool)
      : undefined;
  const parsed = tool?.inputSchema.safeParse(response.input);
  if (!parsed || parsed.success) return;
  throw new SageError(
    "request-invalid",
    reason("unfit-input", {
      tool: request?.kind === "permission" ? request.tool : "",
      problem: misfits(parsed.error, response.input),
    }),
  );
}

export function alreadyResolved(resolution: Resolution): SageError {
  const { outcome, by, surface, at } = resolution;
  return new SageError("request-resolved", reason("request-ended", { outcome, by, surface, at }), {
    cause: resolution,
  });
}
