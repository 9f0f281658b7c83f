import { randomUUID } from "node:crypto";
import { endOf, ended, prepare } from "../../../input/respond.ts";
import type { Page, Store } from "../../../journal/store/store.ts";
import { readRule } from "../../../permission/rules/rules.ts";
import type { InputResponse, LooseResponse } from "../../../protocol/facts/answer.ts";
import { needsConsent } from "../../../protocol/facts/consent.ts";
import { withInquiry } from "../../../protocol/facts/inquiry.ts";
import type { InputRequest, Resolution } from "../../../protocol/facts/request.ts";
import type { PendingRequest, Refused, RespondedEach, SharedAnswer } from "../../../protocol/host/host.ts";
import { refusalOf } from "../../../protocol/host/refusal.ts";
import { draftKeys, guestKeys, inquiryKey, splitRequestId, turnKey, turnNumber } from "../../../protocol/key.ts";
import { reason, SageError } from "../../../protocol/reasons/reason.ts";
import { misfits } from "../../../protocol/reasons/misfit.ts";
import type { Sender } from "../../../protocol/sender.ts";
import { builtinTools } from "../../../tools/registry.ts";
import type { Tool } from "../../../tools/definition/tool.ts";
import { likenessOf } from "../../../view/request/alike.ts";
import type { CommandParts, Handlers } from "../parts.ts";

type Granted = InputResponse & { type: "granted" };

const MAX_INQUIRY_LENGTH = 10_000;

/** Open requests: the list, one answer to several, inquiries and drafts. A single answer is in `host/commands.ts`. */
export function requestCommands({
  store,
  isRunning,
}: CommandParts): Handlers<"respondAll" | "inquire" | "saveDraft" | "request" | "pending"> {
  return {
    respondAll: async (command) => ({ ok: true, results: await respondAll({ store, isRunning }, command) }),
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
        ok: true,
        ...withDraft(store, request),
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

/** Answers alike requests in one transaction, each with its own result. A list with one that stands by itself is refused whole. */
async function respondAll(
  { store, isRunning }: Pick<CommandParts, "store" | "isRunning">,
  { requestIds, answer, by, surface, device }: { requestIds: readonly string[]; answer: SharedAnswer } & Sender,
): Promise<RespondedEach[]> {
  const sender = { by, surface, ...(device !== undefined && { device }) };
  checkAlike(requestIds.map((id) => existingRequest(store, id).request));
  const ready = await Promise.all(
    [...new Set(requestIds)].map((id) => prepareOne(store, { ...answer, requestId: id }, sender)),
  );
  const ends = ready.flatMap((prepared) => ("fact" in prepared ? [prepared] : []));
  const written = await store.appendAll(ends);
  const results = new Map<string, RespondedEach>();
  for (const [n, { requestId, session }] of ends.entries()) {
    const appended = written[n]!;
    if (appended instanceof Error) results.set(requestId, { requestId, ...refusalOf(appended) });
    else {
      const { won, resolution } = ended(appended);
      results.set(
        requestId,
        won
          ? { requestId, ok: true, resolution, running: isRunning(session) }
          : { requestId, ...refusalOf(alreadyResolved(resolution)) },
      );
    }
  }
  return ready.map((prepared) =>
    "fact" in prepared ? results.get(prepared.requestId)! : { ...prepared.refused, requestId: prepared.requestId },
  );

  async function prepareOne(
    of: Store,
    response: Parameters<typeof prepare>[1],
    sender: Sender,
  ): Promise<({ requestId: string } & ReturnType<typeof endOf>) | { requestId: string; refused: Refused }> {
    const { requestId } = response;
    try {
      const found = await prepare(of, response, sender);
      if ("yes" in found) throw new SageError("request-invalid", reason("answered-by-itself", { request: requestId }));
      if ("won" in found) throw alreadyResolved(found.resolution);
      return { requestId, ...endOf(found.request, found.resolution) };
    } catch (error) {
      return { requestId, refused: refusalOf(error) };
    }
  }
}

function checkAlike(requests: readonly InputRequest[]): void {
  const [first, ...others] = requests;
  const likeness = first && likenessOf(first);
  const odd = likeness === undefined ? first : others.find((request) => likenessOf(request) !== likeness);
  if (odd || !first) throw new SageError("request-invalid", reason("answered-by-itself", { request: odd?.id ?? "" }));
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
