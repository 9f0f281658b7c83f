import type {
  Draft,
  InputResponse,
  PendingRequest,
  PermissionRequest,
  RuleTrial,
  SessionMode,
  Sender,
  Inquired,
} from "../../../protocol/index.ts";
import type { Lang } from "../../../texts/language.ts";
import { panelTexts, type PanelTexts } from "../../../texts/terminal-panels.ts";
import { texts } from "../../../texts/texts.ts";
import type { Theme } from "../draw/theme.ts";
import type { Component, Focusable } from "../draw/tui.ts";
import type { Draw } from "./draw.ts";
import { headLines, keyLines, noteLines } from "./frame.ts";
import { readKey, type Key } from "./key.ts";
import { lay } from "./layout.ts";
import type { AnswerAll, Body, Model } from "./model.ts";
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
  /** Inquired what was typed to somebody else: the sentence that the panel came into the middle of. */
  early?(data: string): void;
};

/** Panel for an open request; a component with focus. */
export interface Panel extends Component, Focusable {
  readonly requestId: string;
  handleInput(data: string): void;
  /** Inquired when a response was refused: the panel stays, with the reason. */
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
  let quietSince = options.now();
  /** A key that was held down when the panel came up is not meant for it. */
  let fresh = false;
  let phase: { at: "open" } | { at: "sent" } | { at: "refused"; message: string } = { at: "open" };
  let kept = JSON.stringify(model.draft(state));
  let timer: NodeJS.Timeout | undefined;
  let drawn: { page: string; width: number; body: Body } | undefined;

  const keepDraft = () => {
    clearTimeout(timer);
    const draft = model.draft(state);
    if (JSON.stringify(draft) === kept) return;
    kept = JSON.stringify(draft);
    options.saveDraft(draft);
  };
  const arm = () => {
    quietSince = options.now();
    fresh = false;
  };
  const isQuiet = (): boolean => {
    const waited = options.now() - quietSince;
    if (waited >= QUIET_MS) return true;
    quietSince = options.now(); // also when the clock was set back
    return false;
  };
  /** Letters go on where they were going; keys that send, leave or move there do not. */
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

  return {
    requestId: request.id,
    get focused() {
      return focused;
    },
    set focused(on) {
      if (on && !focused) arm();
      focused = on;
    },
    render(width) {
      const past = tryRule && ((rule: string) => tryRule(rule, loaded));
      const draw: Draw = { theme, t: texts(lang), wording, width, focused, loaded, past };
      const below = () => {
        const note =
          phase.at === "sent"
            ? wording.sending
            : phase.at === "refused"
              ? phase.message
              : model.note(state, { seenEnd: isRead() });
        const notes = noteLines(note, draw, phase.at === "refused" ? theme.danger : theme.warn);
        return { ...model.choices(state, draw, { seenEnd: isRead() }), notes };
      };
      const { lines, must = lines.length } = body(draw);
      const sections = {
        head: [
          ...headLines(request, {
            queue,
            now: options.now(),
            draw,
            dangerous: model.dangerous ?? false,
            size: model.size,
          }),
          ...(model.tabs?.(state, draw) ?? []),
        ],
        body: lines,
        must,
        ...below(),
        keys: keyLines(model.keys(state, draw), draw),
      };
      const room = { rows: Math.max(4, options.rows()), width, scroll, theme, place: wording.rowsShown };
      const laid = lay(sections, room);
      ({ scroll, page } = laid);
      if (laid.endShown && !isRead()) {
        read.add(model.reads(state));
        // The locked choices are free now and are drawn so.
        laid.lines = lay({ ...sections, ...below() }, room).lines;
      }
      return laid.lines;
    },
    invalidate() {
      drawn = undefined;
    },
    handleInput(data) {
      const key = readKey(data);
      if (!key) return;
      if (!isQuiet() || (key.repeat && !fresh)) return early(key, data);
      fresh = true;
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
        arm();
        early(key, data);
      }
      if (step.collapse) {
        keepDraft();
        options.collapse();
      } else if (step.respond) {
        clearTimeout(timer);
        phase = { at: "sent" };
        options.respond(step.respond, step.mode);
      } else if (step.respondAll) {
        clearTimeout(timer);
        phase = { at: "sent" };
        options.respondAll?.(step.respondAll);
      } else {
        if (step.inquire !== undefined) options.inquire(step.inquire);
        clearTimeout(timer);
        timer = setTimeout(keepDraft, DRAFT_MS).unref();
      }
      options.redraw();
    },
    refused(message) {
      phase = { at: "refused", message };
      arm();
      options.redraw();
    },
    update(next) {
      queue = next;
      options.redraw();
    },
    dispose() {
      if (phase.at !== "sent") keepDraft();
      clearTimeout(timer);
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
