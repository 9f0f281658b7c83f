import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { said } from "../../src/protocol/reasons/reason.ts";

export const textRequest = (key: string, session = "s"): InputRequest => ({
  id: `${session}/${key}`,
  session,
  at: 1,
  source: "model",
  agent: [],
  why: said(""),
  digest: "",
  kind: "text",
  prompt: `${key}?`,
});
export const permission = (hard = false): InputRequest => ({
  ...textRequest("permit0"),
  kind: "permission",
  tool: "Bash",
  input: { command: "ls" },
  suggestions: [],
  hard,
});
export const says = (request: InputRequest | string, text = "yes"): InputResponse => ({
  type: "text",
  requestId: typeof request === "string" ? request : request.id,
  text,
});
export const answers = (requestId: string, label: string) => ({
  type: "answers" as const,
  requestId,
  answers: { "Which colour?": { selected: [label] } },
});
export const refusal = (code: string) => ({ name: "SageError", code });
