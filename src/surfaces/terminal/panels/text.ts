import type { InputRequest } from "../../../protocol/facts/request.ts";
import type { PendingRequest } from "../../../protocol/host/host.ts";
import type { PanelTexts } from "../../../texts/surfaces/terminal-panels.ts";
import { choiceRows, worded, type Row } from "../widgets/draw.ts";
import { createField, edit, isBlank, type Field } from "../widgets/field.ts";
import type { Key } from "../widgets/key.ts";
import { aboutLines } from "./frame.ts";
import type { Model, Step } from "./model.ts";

type TextRequest = InputRequest & { kind: "text" };
type TextState = { row: number; field: Field; note: string };

const rows = ["field", "send", "decline", "stop"] as const;

/** Enter leaves the text, and a second one sends it: what was typed to somebody else is not sent by accident. */
export function textModel({ request, draft }: PendingRequest, wording: PanelTexts): Model<TextState> {
  const asked = request as TextRequest;
  return {
    start: { row: 0, field: createField(draft?.text), note: "" },
    press: (state, key) => press(asked, { ...state, note: "" }, key, wording),
    page: () => "",
    reads: () => "",
    body: (_state, draw) => ({
      lines: [
        ...(asked.lastResponse === undefined ? [] : worded(asked.lastResponse, draw)),
        ...worded(asked.prompt, draw, { paint: draw.theme.bold }),
        ...aboutLines(asked, draw),
      ],
    }),
    choices: ({ row, field }, draw) => {
      const shown: Row[] = [
        { sign: "✎", label: wording.answer, field, placeholder: wording.answerHere },
        isBlank(field)
          ? { sign: "✓", label: wording.sendNone, paint: draw.theme.dim }
          : { sign: "✓", label: wording.send },
        { sign: "✗", label: wording.decline },
        { sign: "■", label: wording.stop },
      ];
      return choiceRows(shown, row, draw);
    },
    note: ({ note }) => note,
    keys: ({ row }, { wording: { keys } }) =>
      row === 0 ? [keys.next, keys.aside, keys.newline] : [keys.pick, keys.aside, keys.move],
    writes: ({ row }) => rows[row] === "field",
    draft: ({ field }) => ({ text: field.text }),
  };
}

function press({ id: requestId }: TextRequest, state: TextState, key: Key, wording: PanelTexts): Step<TextState> {
  const { row, field } = state;
  const at = rows[row];
  if (key.name === "escape") return { state, collapse: true };
  if (at === "field" && key.name !== "enter") {
    const edited = edit(field, key);
    if (edited) return { state: { ...state, field: edited } };
  }
  if (key.name === "up" || key.name === "shift+tab")
    return { state: { ...state, row: (row + rows.length - 1) % rows.length } };
  if (key.name === "down" || key.name === "tab") return { state: { ...state, row: (row + 1) % rows.length } };
  if (key.name !== "enter") return key.text ? { state: { ...state, note: wording.notTyped }, rearm: true } : { state };
  switch (at) {
    case "field":
      return { state: isBlank(field) ? { ...state, note: wording.empty } : { ...state, row: 1 } };
    case "send":
      if (isBlank(field)) return { state: { ...state, note: wording.empty } };
      return { state, respond: { type: "text", requestId, text: field.text } };
    case "decline":
      return { state, respond: { type: "denied", requestId } };
    case "stop":
      return { state, respond: { type: "cancelled", requestId } };
    default:
      return { state };
  }
}
