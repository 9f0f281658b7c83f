import type { InputResponse } from "../../../protocol/facts/answer.ts";
import type { CommandReply } from "../../../protocol/host/host.ts";
import type { SessionMode } from "../../../protocol/mode.ts";
import type { Sender } from "../../../protocol/sender.ts";
import { errorText } from "../../../texts/shared/error.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import { alikeTo } from "../../../view/request/alike.ts";
import type { FollowedSession, OpenRequest } from "../../../view/session.ts";
import type { AnswerAll } from "./model.ts";
import type { Panel, PanelOptions } from "./panel.ts";

/** Shows the panel of the open request that the person should answer next. */
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

type DeskParts = {
  t: Texts;
  session: Pick<FollowedSession, "id" | "requests" | "queue" | "send">;
  /** The person at this terminal. */
  sender: Sender;
  createPanel(options: Omit<PanelOptions, "theme" | "lang" | "cwd" | "rows" | "now" | "redraw">): Panel;
  /** The answer that was given chooses a mode as well. */
  chooseMode(mode: SessionMode): void;
  /** The keyboard is for this panel now, or for the editor. */
  focus(panel: Panel | undefined): void;
  /** The shown request was answered elsewhere, and no other took its place. */
  taken(): void;
};

/** Of several answers the first that failed, while its request is open. */
function firstFailure(reply: CommandReply<"respondAll">): CommandReply {
  if (!reply.ok) return reply;
  const failed = reply.results.find((each) => !each.ok && !each.resolution);
  return failed && !failed.ok ? failed : { ok: true };
}

function alikeIn({ requests }: Pick<FollowedSession, "requests">, request: OpenRequest["request"]) {
  return alikeTo(
    request,
    requests.map((open) => open.request),
  );
}

/** A request waits for others once this person has approved it. */
function isSigned({ approvals = [] }: OpenRequest, by: string): boolean {
  return approvals.some((approval) => approval.by === by);
}

export function createDesk({ t, session, sender, createPanel, chooseMode, focus, taken }: DeskParts): Desk {
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
    const [first, ...others] = session.requests.filter(
      (open) => again.has(open.request.id) || !isSigned(open, sender.by),
    );
    if (session.requests.length === 0) ended = 0;
    const queue = { position: ended + 1, total: ended + 1 + others.length };
    const wanted = first && first.request.id !== aside && !held ? first : undefined;
    if (panel && panel.requestId === wanted?.request.id) return panel.update(queue);
    close();
    if (wanted) panel = show(wanted, queue);
    focus(panel);
  };

  const show = (pending: OpenRequest, queue: PanelOptions["queue"]): Panel => {
    const { id } = pending.request;
    return createPanel({
      pending,
      queue,
      respond: (response, mode) => void answer(id, response, mode),
      alike: () => alikeIn(session, pending.request),
      respondAll: (answered) => void answerAll(id, answered),
      waits: () => session.queue.length > 0,
      readNow: () => void readNow(id),
      saveDraft: (draft) => void session.send({ type: "saveDraft", requestId: id, draft, ...sender }),
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
    const reply: CommandReply<"respond"> = await session.send({ type: "respond", response, ...sender });
    if (reply.ok && reply.resolution && mode !== undefined) chooseMode(mode);
    // Somebody else may have been first: then the request is gone all the same, and the transcript says who.
    if (!reply.ok && !reply.resolution && panel?.requestId === id) panel.refused(errorText(reply, t));
    answering.delete(id);
  };

  const refused = (id: string, reply: CommandReply) => {
    if (!reply.ok && panel?.requestId === id) panel.refused(errorText(reply, t));
  };
  const ask = async (id: string, text: string) =>
    refused(id, await session.send({ type: "inquire", requestId: id, text, ...sender }));
  const readNow = async (id: string) => {
    answering.add(id);
    refused(id, await session.send({ type: "interrupt", session: session.id, to: "now", ...sender }));
    answering.delete(id);
  };

  /** Requests that have ended are gone, and the transcript says how. */
  const answerAll = async (id: string, { requestIds, answer: given }: AnswerAll) => {
    for (const requestId of requestIds) answering.add(requestId);
    const reply = await session.send({ type: "respondAll", requestIds, answer: given, ...sender });
    refused(id, firstFailure(reply));
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
      for (const { request } of session.requests) again.add(request.id);
      settle();
    },
    dispose: close,
  };
}
