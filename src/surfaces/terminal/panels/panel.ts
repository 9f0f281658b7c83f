import type { InputResponse } from "../../../protocol/facts/answer.ts";
import type { Inquired } from "../../../protocol/facts/inquiry.ts";
import type { Draft, PermissionRequest } from "../../../protocol/facts/request.ts";
import type { CommandReply, PendingRequest } from "../../../protocol/host/host.ts";
import type { RulePreview } from "../../../protocol/host/past.ts";
import type { SessionMode } from "../../../protocol/mode.ts";
import type { Sender } from "../../../protocol/sender.ts";
import type { Lang } from "../../../texts/language.ts";
import { errorText } from "../../../texts/shared/error.ts";
import { texts, type Texts } from "../../../texts/shared/texts.ts";
import { panelTexts, type PanelTexts } from "../../../texts/surfaces/terminal-panels.ts";
import { alikeTo } from "../../../view/request/alike.ts";
import type { FollowedSession, OpenRequest } from "../../../view/session.ts";
import type { Theme } from "../draw/theme.ts";
import type { Component, Focusable } from "../draw/tui.ts";
import type { Draw } from "../widgets/draw.ts";
import { createGuard, readKey, type Key } from "../widgets/key.ts";
import { headLines, keyLines, lay, noteLines, scrolled } from "./frame.ts";
import { withInquiry } from "./inquiry.ts";
import type { AnswerAll, Body, Model, Step } from "./model.ts";
import { permissionModel } from "./permission.ts";
import { questionModel } from "./question.ts";
import { textModel } from "./text.ts";

export type Queue = { position: number; total: number };

export type PanelOptions = {
  pending: PendingRequest;
  queue: Queue;
  theme: Theme;
  lang: Lang;
  /** The folder that paths are told from. */
  cwd?: string | undefined;
  /** How many rows the panel may take. */
  rows(): number;
  /** Wall time. */
  now(): number;
  /** `mode`: the session goes into it once the response is recorded. */
  respond(response: InputResponse, mode?: SessionMode): void;
  /** Open requests that one answer may be meant for, this one included. */
  alike?(): readonly PermissionRequest[];
  respondAll?(answer: AnswerAll): void;
  saveDraft(draft: Draft): void;
  /** Asks about the request; what was asked last, and the reply, is in `inquiry`. */
  inquire(text: string): void;
  inquiry(): Inquired | undefined;
  /** The person at this screen. */
  me?: Sender;
  /** Puts the panel aside; the request stays open. */
  collapse(): void;
  redraw(): void;
  /** Holds rules that would be kept together against the past, and against what is open; undefined until that is known, then `ready` is called. */
  tryRules?: ((rules: readonly string[], ready: () => void) => RulePreview | undefined) | undefined;
  /** Takes what was typed to somebody else: the sentence that the panel came into the middle of. */
  early?(data: string): void;
};

/** Panel for an open request; a component with focus. */
export interface Panel extends Component, Focusable {
  readonly requestId: string;
  handleInput(data: string): void;
  /** The response was refused: the panel stays, with the reason. */
  refused(message: string): void;
  update(queue: Queue): void;
  dispose(): void;
}

export function createPanel(options: PanelOptions): Panel {
  const wording = panelTexts(options.lang);
  const { pending } = options;
  const asked = <S>(model: Model<S>) => withInquiry(model, { latest: options.inquiry, wording, me: options.me });
  switch (pending.request.kind) {
    case "question":
      return show(options, asked(questionModel(pending, wording)), wording);
    case "text":
      return show(options, asked(textModel(pending, wording)), wording);
    case "permission":
      return show(
        options,
        asked(
          permissionModel(pending, {
            wording,
            t: texts(options.lang),
            cwd: options.cwd,
            alike: () => options.alike?.() ?? [],
          }),
        ),
        wording,
      );
    default:
      return pending.request satisfies never;
  }
}

const DRAFT_MS = 500;

type Phase = { at: "open" } | { at: "sent" } | { at: "refused"; message: string };

function show<S>(options: PanelOptions, model: Model<S>, wording: PanelTexts): Panel {
  const { request } = options.pending;
  let state = model.start;
  let queue = options.queue;
  let focused = false;
  let phase: Phase = { at: "open" };
  const guard = createGuard(options.now);
  const paper = createPaper(options, model, wording);
  const keeper = createDraftKeeper(() => model.draft(state), options.saveDraft);

  /** Passes on text that the person was typing elsewhere. Keys that would send, leave or move there are dropped. */
  const early = (key: Key, data: string) => {
    if (key.text !== undefined || key.name === "backspace") options.early?.(data);
  };
  const send = (respond: () => void) => {
    keeper.drop();
    phase = { at: "sent" };
    respond();
  };
  const follow = (step: Step<S>) => {
    if (step.collapse) {
      keeper.keep();
      options.collapse();
      return;
    }
    const { respond, respondAll } = step;
    if (respond) return send(() => options.respond(respond, step.mode));
    if (respondAll) return send(() => options.respondAll?.(respondAll));
    if (step.inquire !== undefined) options.inquire(step.inquire);
    keeper.keepSoon();
  };

  return {
    requestId: request.id,
    get focused() {
      return focused;
    },
    set focused(on) {
      if (on && !focused) guard.arm();
      focused = on;
    },
    render: (width) => paper.render(state, { width, focused, queue, phase }),
    invalidate: paper.invalidate,
    handleInput(data) {
      const key = readKey(data);
      if (!key) return;
      if (!guard.lets(key)) return early(key, data);
      if (paper.scrolls(key.name, { writes: model.writes(state) })) return options.redraw();
      // A key that is held down moves, and decides nothing.
      if ((phase.at === "sent" && key.name !== "escape") || (key.repeat && key.name === "enter")) return;
      const step = model.press(state, key, { seenEnd: paper.isRead(state) });
      state = step.state;
      if (phase.at === "refused") phase = { at: "open" };
      if (step.rearm) {
        guard.arm();
        early(key, data);
      }
      follow(step);
      options.redraw();
    },
    refused(message) {
      phase = { at: "refused", message };
      guard.arm();
      options.redraw();
    },
    update(next) {
      queue = next;
      options.redraw();
    },
    dispose() {
      if (phase.at !== "sent") keeper.keep();
      keeper.drop();
    },
  };
}

type Shown = { width: number; focused: boolean; queue: Queue; phase: Phase };

/** Lays a panel out. Remembers its scroll position and which texts were on the screen to their end. */
function createPaper<S>(options: PanelOptions, model: Model<S>, wording: PanelTexts) {
  const { theme, lang, tryRules } = options;
  let scroll = 0;
  let pageRows = 1;
  const read = new Set<string>();
  const isRead = (state: S) => read.has(model.reads(state));
  let drawn: { page: string; width: number; body: Body } | undefined;

  const invalidate = () => void (drawn = undefined);
  const loaded = () => {
    invalidate();
    options.redraw();
  };
  const bodyIn = (state: S, draw: Draw): Body => {
    const page = model.page(state);
    if (drawn?.page !== page) scroll = 0;
    if (drawn?.page !== page || drawn.width !== draw.width)
      drawn = { page, width: draw.width, body: model.body(state, draw) };
    return drawn.body;
  };
  const below = (state: S, phase: Phase, draw: Draw) => {
    const seen = { seenEnd: isRead(state) };
    const note = noteIn(phase, wording) ?? model.note(state, seen);
    const notes = noteLines(note, draw, phase.at === "refused" ? theme.danger : theme.warn);
    return { ...model.choices(state, draw, seen), notes };
  };

  return {
    isRead,
    invalidate,
    /** True when the key scrolled the body. */
    scrolls(key: string, { writes }: { writes: boolean }): boolean {
      const to = scrolled(key, { scroll, page: pageRows, writes });
      scroll = to ?? scroll;
      return to !== undefined;
    },
    render(state: S, { width, focused, queue, phase }: Shown): string[] {
      const past = tryRules && ((rules: readonly string[]) => tryRules(rules, loaded));
      const draw: Draw = { theme, t: texts(lang), wording, width, focused, loaded, past };
      const { lines, must = lines.length } = bodyIn(state, draw);
      const about = { queue, now: options.now(), draw, dangerous: model.dangerous ?? false, size: model.size };
      const sections = {
        head: [...headLines(options.pending.request, about), ...(model.tabs?.(state, draw) ?? [])],
        body: lines,
        must,
        keys: keyLines(model.keys(state, draw), draw),
      };
      const room = { rows: Math.max(4, options.rows()), width, scroll, theme, place: wording.rowsShown };
      const laid = lay({ ...sections, ...below(state, phase, draw) }, room);
      scroll = laid.scroll;
      pageRows = laid.page;
      if (!laid.endShown || isRead(state)) return laid.lines;
      read.add(model.reads(state));
      // The end is on the screen now: draw the choices again, unlocked.
      return lay({ ...sections, ...below(state, phase, draw) }, room).lines;
    },
  };
}

function noteIn(phase: Phase, wording: PanelTexts): string | undefined {
  switch (phase.at) {
    case "open":
      return undefined;
    case "sent":
      return wording.sending;
    case "refused":
      return phase.message;
    default:
      return phase satisfies never;
  }
}

function createDraftKeeper(current: () => Draft, save: (draft: Draft) => void) {
  let kept = JSON.stringify(current());
  let timer: NodeJS.Timeout | undefined;
  const drop = () => clearTimeout(timer);
  const keep = () => {
    drop();
    const draft = current();
    const text = JSON.stringify(draft);
    if (text === kept) return;
    kept = text;
    save(draft);
  };
  return {
    keep,
    drop,
    keepSoon(): void {
      drop();
      timer = setTimeout(keep, DRAFT_MS).unref();
    },
  };
}

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
  session: Pick<FollowedSession, "requests" | "send">;
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
    const isSigned = ({ request, approvals = [] }: OpenRequest) =>
      approvals.some(({ by }) => by === sender.by) && !again.has(request.id);
    const [first, ...others] = session.requests.filter((open) => !isSigned(open));
    if (session.requests.length === 0) ended = 0;
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
          session.requests.map((open) => open.request),
        ),
      respondAll: (answered) => void answerAll(id, answered),
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

  const ask = async (id: string, text: string) => {
    const reply = await session.send({ type: "inquire", requestId: id, text, ...sender });
    if (!reply.ok && panel?.requestId === id) panel.refused(errorText(reply, t));
  };

  /** Requests that have ended are gone, and the transcript says how. */
  const answerAll = async (id: string, { requestIds, answer: given }: AnswerAll) => {
    for (const requestId of requestIds) answering.add(requestId);
    const reply = await session.send({ type: "respondAll", requestIds, answer: given, ...sender });
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
      for (const { request } of session.requests) again.add(request.id);
      settle();
    },
    dispose: close,
  };
}
