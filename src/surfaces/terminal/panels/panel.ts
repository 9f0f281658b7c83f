import type { InputResponse } from "../../../protocol/facts/answer.ts";
import type { Inquired } from "../../../protocol/facts/inquiry.ts";
import type { Draft, PermissionRequest } from "../../../protocol/facts/request.ts";
import type { PendingRequest } from "../../../protocol/host/host.ts";
import type { RuleTrial } from "../../../protocol/host/past.ts";
import type { SessionMode } from "../../../protocol/mode.ts";
import type { Sender } from "../../../protocol/sender.ts";
import type { Lang } from "../../../texts/language.ts";
import { panelTexts, type PanelTexts } from "../../../texts/surfaces/terminal-panels.ts";
import { texts } from "../../../texts/shared/texts.ts";
import type { Theme } from "../draw/theme.ts";
import type { Component, Focusable } from "../draw/tui.ts";
import type { Draw } from "../widgets/draw.ts";
import { headLines, keyLines, noteLines } from "./frame.ts";
import { readKey, type Key } from "../widgets/key.ts";
import { lay, type Sections } from "../widgets/layout.ts";
import type { AnswerAll, Body, Model, Step } from "./model.ts";
import { withInquiry } from "./inquiry.ts";
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
  /** Holds a rule that is offered against the past; undefined until that is known, then `ready` is called. */
  tryRule?: ((rule: string, ready: () => void) => RuleTrial | undefined) | undefined;
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
            ...{ wording, t: texts(options.lang), cwd: options.cwd },
            alike: () => options.alike?.() ?? [],
          }),
        ),
        wording,
      );
    default:
      return pending.request satisfies never;
  }
}

/** Nothing that was typed to somebody else may answer: keys count after this long a silence. */
const QUIET_MS = 300;
const DRAFT_MS = 500;

type Phase = { at: "open" } | { at: "sent" } | { at: "refused"; message: string };

function show<S>(options: PanelOptions, model: Model<S>, wording: PanelTexts): Panel {
  const { pending, theme, lang, tryRule } = options;
  const { request } = pending;
  let state = model.start;
  let queue = options.queue;
  let focused = false;
  let [scroll, page] = [0, 1];
  /** Texts whose end was on the screen. */
  const read = new Set<string>();
  const isRead = () => read.has(model.reads(state));
  const guard = createGuard(options.now);
  let phase: Phase = { at: "open" };
  const keeper = createDraftKeeper(() => model.draft(state), options.saveDraft);
  let drawn: { page: string; width: number; body: Body } | undefined;

  /** Letters still go where they were going; keys that send, leave or move there do not. */
  const early = (key: Key, data: string) => {
    if (key.text !== undefined || key.name === "backspace") options.early?.(data);
  };
  const loaded = () => {
    drawn = undefined;
    options.redraw();
  };
  const body = (draw: Draw): Body => {
    const name = model.page(state);
    if (drawn?.page !== name) scroll = 0;
    if (drawn?.page !== name || drawn.width !== draw.width)
      drawn = { page: name, width: draw.width, body: model.body(state, draw) };
    return drawn.body;
  };

  const below = (draw: Draw) => {
    const seen = { seenEnd: isRead() };
    const notes = noteLines(
      noteIn(phase, wording) ?? model.note(state, seen),
      draw,
      phase.at === "refused" ? theme.danger : theme.warn,
    );
    return { ...model.choices(state, draw, seen), notes };
  };
  const sectionsIn = (draw: Draw): Sections => {
    const { lines, must = lines.length } = body(draw);
    const about = { queue, now: options.now(), draw, dangerous: model.dangerous ?? false, size: model.size };
    return {
      head: [...headLines(request, about), ...(model.tabs?.(state, draw) ?? [])],
      body: lines,
      must,
      ...below(draw),
      keys: keyLines(model.keys(state, draw), draw),
    };
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
    render(width) {
      const past = tryRule && ((rule: string) => tryRule(rule, loaded));
      const draw: Draw = { theme, t: texts(lang), wording, width, focused, loaded, past };
      const sections = sectionsIn(draw);
      const room = { rows: Math.max(4, options.rows()), width, scroll, theme, place: wording.rowsShown };
      const laid = lay(sections, room);
      ({ scroll, page } = laid);
      if (!laid.endShown || isRead()) return laid.lines;
      read.add(model.reads(state));
      // The locked choices are free now and are drawn so.
      return lay({ ...sections, ...below(draw) }, room).lines;
    },
    invalidate() {
      drawn = undefined;
    },
    handleInput(data) {
      const key = readKey(data);
      if (!key) return;
      if (!guard.lets(key)) return early(key, data);
      const to = scrolled(key.name, { scroll, page, writes: model.writes(state) });
      if (to !== undefined) {
        scroll = to;
        return options.redraw();
      }
      // A key that is held down moves, and decides nothing.
      if ((phase.at === "sent" && key.name !== "escape") || (key.repeat && key.name === "enter")) return;
      const step = model.press(state, key, { seenEnd: isRead() });
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

/** Lets keys through that are meant for the panel. `arm`: the panel has just come up, or changed under the person's hands. */
function createGuard(now: () => number) {
  let quietSince = now();
  /** A key that was held down when the panel came up is not meant for it. */
  let fresh = false;
  return {
    arm(): void {
      quietSince = now();
      fresh = false;
    },
    lets(key: Key): boolean {
      if (now() - quietSince < QUIET_MS) {
        quietSince = now(); // also when the clock was set back
        return false;
      }
      if (key.repeat && !fresh) return false;
      fresh = true;
      return true;
    },
  };
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

/** The first row of the body after this key; undefined when it is none that scrolls. What is too far is brought back. */
function scrolled(key: string, { scroll, page, writes }: { scroll: number; page: number; writes: boolean }) {
  switch (key) {
    case "pageUp":
      return scroll - page;
    case "pageDown":
      return scroll + page;
    case "shift+up":
      return scroll - 1;
    case "shift+down":
      return scroll + 1;
    case "home":
      return writes ? undefined : 0;
    case "end":
      return writes ? undefined : Infinity;
    default:
      return undefined;
  }
}
