import type { InputResponse } from "../../../protocol/facts/answer.ts";
import type { Draft } from "../../../protocol/facts/request.ts";
import type { CommandReply, Refused, SharedAnswer } from "../../../protocol/host/host.ts";
import type { SessionMode } from "../../../protocol/mode.ts";
import { errorText } from "../../../texts/shared/error.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import { alikeTo } from "../../../view/request/alike.ts";
import type { OpenRequest } from "../../../view/session.ts";
import type { AnswerAll } from "./model.ts";
import type { Panel, PanelOptions } from "./panel.ts";

/** The panel for the open request that is shown. */
export type Desk = {
  /** Other requests are open than before, or something else of them has changed. */
  settle(): void;
  /** A request ended, here or elsewhere. */
  ended(requestId: string): void;
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
  /** Open requests of the session. */
  requests(): readonly OpenRequest[];
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

export function createDesk(parts: Parts): Desk {
  const { t, me, requests, createPanel, respond, respondAll, saveDraft, inquire, focus, taken } = parts;
  let panel: Panel | undefined;
  let aside: string | undefined;
  let held = false;
  /** Requests that ended since none was open: the next of three is "2 of 3". */
  let ended = 0;
  const answering = new Set<string>();
  /** Requests that the person here has approved and wants to see all the same. */
  const again = new Set<string>();

  const close = () => {
    panel?.dispose();
    panel = undefined;
  };

  /** Opens the panel that should be open now: for the first request that does not wait for somebody else, unless it was put aside. */
  const settle = () => {
    const isSigned = ({ request, approvals = [] }: OpenRequest) =>
      approvals.some(({ by }) => by === me) && !again.has(request.id);
    const [first, ...others] = requests().filter((open) => !isSigned(open));
    if (requests().length === 0) ended = 0;
    const queue = { position: ended + 1, total: ended + 1 + others.length };
    const wanted = first && first.request.id !== aside && !held ? first : undefined;
    if (panel && panel.requestId === wanted?.request.id) return panel.update(queue);
    close();
    if (wanted) panel = show(wanted, queue);
    focus(panel);
  };

  const show = (pending: OpenRequest, queue: PanelOptions["queue"]): Panel => {
    const { request } = pending;
    const { id } = request;
    return createPanel({
      pending,
      queue,
      respond: (response, mode) => void answer(id, response, mode),
      alike: () =>
        alikeTo(
          request,
          requests().map((open) => open.request),
        ),
      respondAll: (answered) => void answerAll(id, answered),
      saveDraft: (draft) => saveDraft(id, draft),
      inquire: (text) => void ask(id, text),
      inquiry: () => pending.inquiries.at(-1),
      collapse() {
        aside = id;
        settle();
      },
    });
  };

  const answer = async (id: string, response: InputResponse, mode: SessionMode | undefined) => {
    answering.add(id);
    again.delete(id);
    const reply = await respond(response, mode);
    // Somebody else may have been first: then the request is gone all the same, and the transcript says who.
    if (!reply.ok && !reply.resolution && panel?.requestId === id) panel.refused(errorText(reply, t));
    answering.delete(id);
  };

  const ask = async (id: string, text: string) => {
    const reply = await inquire(id, text);
    if (!reply.ok && panel?.requestId === id) panel.refused(errorText(reply, t));
  };

  /** Requests that have ended are gone, and the transcript says how. */
  const answerAll = async (id: string, { requestIds, answer: given }: AnswerAll) => {
    for (const requestId of requestIds) answering.add(requestId);
    const reply = await respondAll(requestIds, given);
    const failed = reply.ok ? reply.results.find((each) => !each.ok && !each.resolution) : reply;
    if (failed && !failed.ok && panel?.requestId === id) panel.refused(errorText(failed, t));
    for (const requestId of requestIds) answering.delete(requestId);
  };

  return {
    settle,
    panel: () => panel,
    ended(id) {
      const elsewhere = panel?.requestId === id && !answering.has(id);
      ended++;
      settle();
      if (elsewhere && !panel) taken();
    },
    hold(on) {
      if (on === held) return;
      held = on;
      settle();
    },
    reopen() {
      aside = undefined;
      for (const { request } of requests()) again.add(request.id);
      settle();
    },
    dispose: close,
  };
}
