import type { InputResponse } from "../../../protocol/facts/answer.ts";
import { needsConsent } from "../../../protocol/facts/consent.ts";
import type { InquiryFact, Inquired } from "../../../protocol/facts/inquiry.ts";
import type { Approval, Draft, InputRequest } from "../../../protocol/facts/request.ts";
import type { CommandReply, PendingRequest, Refused, SharedAnswer } from "../../../protocol/host/host.ts";
import type { SessionMode } from "../../../protocol/mode.ts";
import { errorText } from "../../../texts/shared/error.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import { alikeTo } from "../../../view/request/alike.ts";
import type { AnswerAll } from "./model.ts";
import type { Panel, PanelOptions } from "./panel.ts";

/** The open requests of a session, and the panel for the one that is shown. */
export type Desk = {
  open(): readonly PendingRequest[];
  /** Everything that is open, on attaching. */
  begin(requests: readonly PendingRequest[]): void;
  add(request: InputRequest): void;
  /** Somebody approved it, and it waits for more people. */
  approved(approval: Approval): void;
  /** It ended, here or elsewhere. */
  remove(requestId: string): void;
  /** Somebody asked about a request, or the agent replied. */
  inquired(fact: InquiryFact): void;
  /** The panel that has the keyboard. */
  panel(): Panel | undefined;
  /** Brings back what was put aside. */
  reopen(): void;
  /** While held no panel is shown, and the keyboard is the editor's. */
  hold(on: boolean): void;
  dispose(): void;
};

type Parts = {
  t: Texts;
  createPanel(options: Omit<PanelOptions, "theme" | "lang" | "cwd" | "rows" | "now" | "redraw">): Panel;
  /** Name of the person at this terminal. */
  me: string;
  respond(response: InputResponse, mode?: SessionMode): Promise<CommandReply<"respond">>;
  respondAll(requestIds: readonly string[], answer: SharedAnswer): Promise<CommandReply<"respondAll">>;
  saveDraft(requestId: string, draft: Draft): void;
  inquire(requestId: string, text: string): Promise<{ ok: true } | Refused>;
  /** The keyboard is for this panel now, or for the editor. */
  focus(panel: Panel | undefined): void;
  /** The shown request was answered elsewhere, and no other took its place. */
  taken(): void;
};

export function createDesk({ t, me, createPanel, respond, respondAll, saveDraft, inquire, focus, taken }: Parts): Desk {
  let open: PendingRequest[] = [];
  let panel: Panel | undefined;
  let aside: string | undefined;
  let held = false;
  /** Requests that ended since none was open: the next of three is "2 of 3". */
  let ended = 0;
  const drafts = new Map<string, Draft>();
  const answering = new Set<string>();
  /** Requests that the person here has approved: they wait for somebody else, and make room for the next. */
  const signed = new Set<string>();
  /** The latest inquiry by request. */
  const inquiries = new Map<string, Inquired>();

  const close = () => {
    panel?.dispose();
    panel = undefined;
  };

  /** Opens the panel that should be open now: for the first request, unless it was put aside. */
  const settle = () => {
    const [first, ...others] = open.filter(({ request }) => !signed.has(request.id));
    if (open.length === 0) ended = 0;
    const queue = { position: ended + 1, total: ended + 1 + others.length };
    const wanted = first && first.request.id !== aside && !held ? first : undefined;
    if (panel && panel.requestId === wanted?.request.id) return panel.update(queue);
    close();
    if (wanted) panel = show(wanted, queue);
    focus(panel);
  };

  const show = (pending: PendingRequest, queue: PanelOptions["queue"]): Panel => {
    const { id } = pending.request;
    const draft = drafts.get(id) ?? pending.draft;
    return createPanel({
      pending: draft ? { ...pending, draft } : pending,
      queue,
      respond: (response, mode) => void answer(id, response, mode),
      alike: () =>
        alikeTo(
          pending.request,
          open.map(({ request }) => request),
        ),
      respondAll: (all) => void answerAll(id, all),
      saveDraft(kept) {
        drafts.set(id, kept);
        saveDraft(id, kept);
      },
      inquire: (text) => void ask(id, text),
      inquiry: () => inquiries.get(id),
      collapse() {
        aside = id;
        settle();
      },
    });
  };

  const answer = async (id: string, response: InputResponse, mode: SessionMode | undefined) => {
    answering.add(id);
    const reply = await respond(response, mode);
    if (reply.ok && !reply.resolution) {
      signed.add(id);
      settle();
    }
    // Somebody else may have been first: then the request is gone all the same, and the transcript says who.
    else if (reply.ok || reply.resolution) remove(id);
    else if (panel?.requestId === id) panel.refused(errorText(reply, t));
    answering.delete(id); // not before: the reply of a host elsewhere may come ahead of the fact
  };

  const ask = async (id: string, text: string) => {
    const reply = await inquire(id, text);
    if (!reply.ok && panel?.requestId === id) panel.refused(errorText(reply, t));
  };

  /** Requests that have ended are gone, and the transcript says how. */
  const answerAll = async (id: string, { requestIds, answer: given }: AnswerAll) => {
    for (const one of requestIds) answering.add(one);
    const reply = await respondAll(requestIds, given);
    const failed = reply.ok ? reply.results.find((one) => !one.ok && !one.resolution) : reply;
    for (const one of reply.ok ? reply.results : []) if (one.ok || one.resolution) remove(one.requestId);
    if (failed && !failed.ok && panel?.requestId === id) panel.refused(errorText(failed, t));
    for (const one of requestIds) answering.delete(one);
  };

  const remove = (id: string) => {
    if (!open.some(({ request }) => request.id === id)) return;
    const elsewhere = panel?.requestId === id && !answering.has(id);
    open = open.filter(({ request }) => request.id !== id);
    ended++;
    drafts.delete(id);
    inquiries.delete(id);
    settle();
    if (elsewhere && !panel) taken();
  };

  return {
    open: () => open,
    panel: () => panel,
    remove,
    begin(requests) {
      open = [...requests];
      for (const { request, approvals = [] } of open) if (approvals.some(({ by }) => by === me)) signed.add(request.id);
      settle();
    },
    add(request) {
      if (open.some((one) => one.request.id === request.id)) return;
      open.push({ request, ...(needsConsent(request) && { approvals: [] }) });
      settle();
    },
    approved(approval) {
      const { approvals } = open.find(({ request }) => request.id === approval.requestId) ?? {};
      // The panel holds the same list.
      if (approvals && !approvals.some(({ by }) => by === approval.by)) approvals.push(approval);
      panel?.invalidate();
      settle();
    },
    inquired({ type, data, at }) {
      const { requestId } = data;
      const before = inquiries.get(requestId);
      if (type === "inquiry.made") inquiries.set(requestId, { made: data });
      else if (before?.made.inquiry === data.inquiry) inquiries.set(requestId, { ...before, reply: { ...data, at } });
    },
    hold(on) {
      if (on === held) return;
      held = on;
      settle();
    },
    reopen() {
      aside = undefined;
      signed.clear();
      settle();
    },
    dispose: close,
  };
}
