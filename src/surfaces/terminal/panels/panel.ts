import type { InputResponse } from "../../../protocol/facts/answer.ts";
import type { Inquired } from "../../../protocol/facts/inquiry.ts";
import type { Draft, PermissionRequest } from "../../../protocol/facts/request.ts";
import type { PendingRequest } from "../../../protocol/host/host.ts";
import type { RulePreview } from "../../../protocol/host/past.ts";
import type { SessionMode } from "../../../protocol/mode.ts";
import type { Sender } from "../../../protocol/sender.ts";
import type { Lang } from "../../../texts/language.ts";
import { texts } from "../../../texts/shared/texts.ts";
import { panelTexts, type PanelTexts } from "../../../texts/surfaces/terminal-panels.ts";
import type { Theme } from "../draw/theme.ts";
import type { Component, Focusable } from "../draw/tui.ts";
import type { Draw } from "../widgets/draw.ts";
import { createGuard, createHeld, readKey, type Key, type Pressed } from "../widgets/key.ts";
import { headLines, keyLines, lay, noteLines, scrolled } from "./frame.ts";
import { withInquiry } from "./inquiry.ts";
import type { AnswerAll, Body, Model, Seen, Step } from "./model.ts";
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
  /** Takes what was typed to somebody else. `burst`: it began at the panel, else it is the sentence that the panel came into the middle of. */
  early?(data: string, options: { burst: boolean }): void;
  /** When text was typed in the editor last. */
  typedAt?(): number;
  /** No answer comes from one key. */
  twoKeys?: boolean | undefined;
  /** A message of the person waits, which can be read now. */
  waits?(): boolean;
  readNow?(): void;
  /** Calls back later; returns how to call it off. */
  later?(act: () => void, ms: number): () => void;
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
            waits: () => options.waits?.() ?? false,
          }),
        ),
        wording,
      );
    default:
      return pending.request satisfies never;
  }
}

const DRAFT_MS = 500;

function afterwards(act: () => void, ms: number): () => void {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
}

/** `typed`: a burst of typing went to the editor. */
type Phase = { at: "open" | "typed" | "sent" } | { at: "refused"; message: string };

function show<S>(options: PanelOptions, model: Model<S>, wording: PanelTexts): Panel {
  const { request } = options.pending;
  let state = model.start;
  let queue = options.queue;
  let focused = false;
  let phase: Phase = { at: "open" };
  const guard = createGuard(options.now, options.typedAt);
  let bursting = false;
  const paper = createPaper(options, model, wording);
  const keeper = createDraftKeeper(() => model.draft(state), options.saveDraft);

  /** Passes on text that the person was typing elsewhere. Keys that would send, leave or move there are dropped. */
  const early = (key: Key, data: string) => {
    if (key.text !== undefined || key.name === "backspace") options.early?.(data, { burst: bursting });
  };
  const press = (key: Key, data: string) => {
    const { readNow, rearm, ...step } = model.press(state, key, paper.seen(state));
    state = step.state;
    if (rearm) {
      guard.arm(true);
      early(key, data);
    }
    if (readNow) return send(() => options.readNow?.());
    follow(step);
  };
  const held = createHeld(options.now, options.later ?? afterwards, ({ key, data }) => {
    press(key, data);
    options.redraw();
  });
  /** Everything since the letter was typed to somebody else. */
  const burst = ({ key, data }: Pressed) => {
    [bursting, phase] = [true, { at: "typed" }];
    guard.arm(true);
    early(key, data);
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
      held.settle();
      const letter = held.take();
      if (letter) burst(letter);
      else if (guard.lets(key)) bursting = false;
      else return early(key, data);
      if (bursting) {
        early(key, data);
        return options.redraw();
      }
      if (paper.scrolls(key.name, { writes: model.writes(state) })) return options.redraw();
      // A key that is held down moves, and decides nothing.
      if ((phase.at === "sent" && key.name !== "escape") || (key.repeat && key.name === "enter")) return;
      if (phase.at === "refused" || phase.at === "typed") phase = { at: "open" };
      if (model.isLetter?.(state, key) && !key.repeat) held.hold({ key, data });
      else press(key, data);
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
      held.take();
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
  /** Rows that were on the screen, by text and width; those of a text that was read are forgotten. */
  const shown = new Map<string, Set<number>>();
  const read = new Set<string>();
  let left = 0;
  let whole = false;
  const seen = (state: S): Seen => {
    const seenEnd = read.has(model.reads(state));
    return { seenEnd, whole, left: seenEnd ? 0 : left, twoKeys: options.twoKeys === true };
  };
  const note = (state: S, { from, to, must, width }: { from: number; to: number; must: number; width: number }) => {
    const text = model.reads(state);
    const rows = shown.get(`${text} ${width}`) ?? new Set();
    shown.set(`${text} ${width}`, rows);
    for (let row = from; row < Math.min(to, must); row++) rows.add(row);
    left = must - rows.size;
    if (left <= 0) read.add(text);
  };
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
    const known = seen(state);
    const notes = noteLines(
      noteIn(phase, wording) ?? model.note(state, known),
      draw,
      phase.at === "refused" ? theme.danger : theme.warn,
    );
    return { ...model.choices(state, draw, known), notes };
  };

  return {
    seen,
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
      whole = laid.whole;
      if (read.has(model.reads(state))) return laid.lines;
      note(state, { from: laid.scroll, to: laid.scroll + laid.shown, must, width });
      // Rows are on the screen that were not before: the choices say so.
      return lay({ ...sections, ...below(state, phase, draw) }, room).lines;
    },
  };
}

function noteIn(phase: Phase, wording: PanelTexts): string | undefined {
  switch (phase.at) {
    case "open":
      return undefined;
    case "typed":
      return wording.typed;
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
