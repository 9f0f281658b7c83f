import type { ToolInput } from "../../src/protocol/facts/call.ts";
import type { InputRequest, PermissionRequest, Question } from "../../src/protocol/facts/request.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import { createPaint, type Style } from "../../src/view/lines/paint.ts";
import { texts } from "../../src/texts/shared/texts.ts";

export const t = texts("en");
export const style = (width?: number): Style => ({ t, paint: createPaint(false), width });

export const frame = {
  id: "s/t0/0/0/permit0",
  session: "s",
  at: 0,
  agent: [],
  why: said("no rule covers it"),
  digest: "",
};
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
export const colour: Question = {
  question: "Which colour?",
  header: "Colour",
  multiSelect: false,
  options: [
    { label: "Red", description: "warm" },
    { label: "Blue", description: "cool" },
  ],
};
export const questions = (...asked: Question[]): InputRequest => ({
  ...frame,
  kind: "question",
  source: "tool",
  questions: asked,
});
