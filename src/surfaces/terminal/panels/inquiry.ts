import type { Inquired } from "../../../protocol/facts/inquiry.ts";
import type { Sender } from "../../../protocol/sender.ts";
import type { PanelTexts } from "../../../texts/surfaces/terminal-panels.ts";
import { madeNote, replyNote } from "../../../view/inquiry.ts";
import { marginedMarkdown } from "../draw/markdown.ts";
import { choiceRows, own, type Draw } from "../widgets/draw.ts";
import { createField, edit, isBlank, type Field } from "../widgets/field.ts";
import type { Key } from "../widgets/key.ts";
import type { Model, Step } from "./model.ts";

/** A panel in which the person may also ask about the request. */
type Asking<S> = {
  inner: S;
  /** Set while a question is written. */
  writing: boolean;
  field: Field;
  note: string;
};

/** Rows of the last reply that stand above the choices; the whole of it is in the transcript. */
const MAX_ROWS = 8;

/** Adds `?`: a question about the request, which stays as it is. `latest` is the last one that was asked. */
export function withInquiry<S>(
  model: Model<S>,
  { latest, wording, me }: { latest: () => Inquired | undefined; wording: PanelTexts; me: Sender | undefined },
): Model<Asking<S>> {
  const inside = (state: Asking<S>, { state: inner, ...step }: Step<S>): Step<Asking<S>> => ({
    ...step,
    state: { ...state, inner, note: "" },
  });
  const told = (draw: Draw): string[] => {
    const inquiry = latest();
    return inquiry ? inquiryLines(inquiry, draw, me) : [];
  };
  const { tabs, dangerous, size } = model;
  return {
    ...(dangerous !== undefined && { dangerous }),
    ...(size && { size }),
    start: { inner: model.start, writing: false, field: createField(), note: "" },
    press(state, key, context) {
      if (state.writing) return write(state, key, wording);
      if (!model.writes(state.inner) && isQuestionMark(key)) return { state: { ...state, writing: true, note: "" } };
      return inside(state, model.press(state.inner, key, context));
    },
    page: ({ inner }) => model.page(inner),
    reads: ({ inner }) => model.reads(inner),
    body: ({ inner }, draw) => model.body(inner, draw),
    ...(tabs && { tabs: ({ inner }: Asking<S>, draw: Draw) => tabs(inner, draw) }),
    choices(state, draw, context) {
      const row = { sign: "?", label: wording.inquiry, field: state.field, placeholder: wording.inquiryHere };
      const { choices, focus } = state.writing ? choiceRows([row], 0, draw) : model.choices(state.inner, draw, context);
      const above = told(draw);
      return {
        choices: [...above, ...choices],
        focus: { from: focus.from + above.length, to: focus.to + above.length },
      };
    },
    note: ({ writing, note, inner }, context) => (writing || note !== "" ? note : model.note(inner, context)),
    keys(state, draw) {
      const { keys } = wording;
      if (state.writing) return [keys.send, keys.back, keys.newline];
      const [first = "", ...others] = model.keys(state.inner, draw);
      return model.writes(state.inner) ? [first, ...others] : [first, ...others, keys.ask];
    },
    writes: ({ writing, inner }) => writing || model.writes(inner),
    draft: ({ inner }) => model.draft(inner),
  };
}

function write<S>(state: Asking<S>, key: Key, wording: { empty: string }): Step<Asking<S>> {
  const { field } = state;
  if (key.name === "escape") return { state: { ...state, writing: false } };
  if (key.name !== "enter") return { state: { ...state, field: edit(field, key) ?? field, note: "" } };
  if (isBlank(field)) return { state: { ...state, writing: false, note: wording.empty } };
  return { state: { ...state, writing: false, field: createField() }, inquire: field.text.trim() };
}

function isQuestionMark({ name, text = "" }: Key): boolean {
  return name !== "paste" && text.normalize("NFKC") === "?";
}

function inquiryLines(inquiry: Inquired, draw: Draw, me: Sender | undefined): string[] {
  const { t, theme } = draw;
  const made = own(madeNote(inquiry, t, me).line, draw, { paint: theme.dim });
  const reply = replyNote(inquiry, t);
  if (!reply) return [...made, ...own(t.inquiryWaits, draw, { paint: theme.dim }), ""];
  const rows = reply.foreign === undefined ? [] : marginedMarkdown(reply.foreign, draw);
  const cut = rows.length > MAX_ROWS ? [...rows.slice(0, MAX_ROWS), theme.dim("  …")] : rows;
  const paint = reply.tone === "warn" ? theme.warn : theme.dim;
  return [...made, ...own(reply.line, draw, { paint }), ...cut, ""];
}
