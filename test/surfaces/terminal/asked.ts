import type { InputResponse } from "../../../src/protocol/facts/answer.ts";
import type { ToolInput } from "../../../src/protocol/facts/call.ts";
import type { Inquired } from "../../../src/protocol/facts/inquiry.ts";
import type { Draft, InputRequest, PermissionRequest, Question } from "../../../src/protocol/facts/request.ts";
import { said } from "../../../src/protocol/reasons/reason.ts";
import { createPanel, type Panel, type PanelOptions, type Queue } from "../../../src/surfaces/terminal/panels/panel.ts";
import { createTheme, type ColorDepth } from "../../../src/surfaces/terminal/draw/theme.ts";
import { CURSOR_MARKER } from "../../../src/surfaces/terminal/draw/tui.ts";
import type { Lang } from "../../../src/texts/language.ts";

const frame = { id: "s/t0/0/0/ask0", session: "s", at: 0, agent: [], why: said("no rule covers it"), digest: "" };

export const colour: Question = {
  question: "Which colour?",
  header: "Colour",
  multiSelect: false,
  options: [
    { label: "Red", description: "warm" },
    { label: "Blue", description: "cool" },
  ],
};
export const extras: Question = {
  ...colour,
  question: "Which extras?",
  header: "Extras",
  multiSelect: true,
  options: [
    { label: "Tests", description: "all of them" },
    { label: "Docs", description: "a page" },
    { label: "中文", description: "中文说明" },
  ],
};

export const questions = (...asked: Question[]): InputRequest => ({
  ...frame,
  kind: "question",
  source: "tool",
  questions: asked,
});

export const text = (prompt: string): InputRequest => ({ ...frame, kind: "text", source: "tool", prompt });

export const permission = (
  tool: string,
  input: ToolInput,
  more: Partial<PermissionRequest> = {},
): PermissionRequest => ({
  ...frame,
  kind: "permission",
  source: "approval",
  tool,
  input,
  suggestions: [],
  hard: false,
  ...more,
});

export const keys = {
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  enter: "\r",
  newline: "\x1b\r",
  esc: "\x1b",
  tab: "\t",
  back: "\x1b[Z",
  space: " ",
  erase: "\x7f",
  pageDown: "\x1b[6~",
  pageUp: "\x1b[5~",
  home: "\x1b[H",
  end: "\x1b[F",
  paste: (pasted: string) => `\x1b[200~${pasted}\x1b[201~`,
};

type Options = {
  draft?: Draft;
  lang?: Lang;
  rows?: number;
  color?: ColorDepth;
  queue?: Queue;
  at?: number;
  inquiry?: () => Inquired | undefined;
  tryRules?: NonNullable<PanelOptions["tryRules"]>;
  /** Nobody waited for the panel to take keys. */ unarmed?: boolean;
};

/** A panel with a person before it, who is slow unless told otherwise. */
export function opened(request: InputRequest, options: Options = {}) {
  const { draft, lang = "en", color = "none", queue = { position: 1, total: 1 } } = options;
  let rows = options.rows ?? 40;
  let now = options.at ?? 1_000;
  const responses: InputResponse[] = [];
  const drafts: Draft[] = [];
  const inquiries: string[] = [];
  const early: string[] = [];
  let collapsed = 0;
  const panel: Panel = createPanel({
    pending: { request, ...(draft && { draft }) },
    queue,
    theme: createTheme({ color, background: "dark" }),
    lang,
    rows: () => rows,
    now: () => now,
    respond: (response) => responses.push(response),
    saveDraft: (saved) => drafts.push(saved),
    inquire: (text) => inquiries.push(text),
    inquiry: () => options.inquiry?.(),
    collapse: () => collapsed++,
    redraw: () => {},
    tryRules: options.tryRules,
    early: (data) => early.push(data),
  });
  panel.focused = true;
  const lines = (width = 80) => panel.render(width);
  lines();
  if (!options.unarmed) now += 1_000;
  return {
    panel,
    responses,
    drafts,
    inquiries,
    early,
    collapsed: () => collapsed,
    lines,
    painted: (width = 80) => lines(width).join("\n").replaceAll(CURSOR_MARKER, ""),
    /** Text as people read it: without colours and the mark of the caret. */
    seen(width = 80) {
      return this.painted(width).replace(/\x1b\[[\d;]*m/g, "");
    },
    press(...pressed: string[]) {
      for (const key of pressed) {
        panel.handleInput(key);
        lines();
        now += 50;
      }
    },
    type(written: string) {
      this.press(...written);
    },
    wait: (ms: number) => void (now += ms),
    resize: (to: number) => void (rows = to),
    only(): InputResponse | undefined {
      return responses.length === 1 ? responses[0] : undefined;
    },
  };
}
