import { ask, type Asking } from "../../src/input/ask.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { openSession } from "../../src/journal/session/session.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { NewRequest } from "../../src/protocol/facts/request.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import { opened, question } from "../journal/journals.ts";

const frame = { source: "tool", agent: [], why: said(""), digest: "" } as const;
export const colour: NewRequest = { ...frame, kind: "question", questions: [question("Which colour?")] };
export const bash = {
  ...frame,
  kind: "permission",
  tool: "Bash",
  input: { command: "ls" },
  suggestions: [],
  hard: false,
} satisfies NewRequest;
export const lin = { by: "Lin", surface: "test" };
export const red: InputResponse = {
  type: "answers",
  requestId: "s/t0/ask0",
  answers: { "Which colour?": { selected: ["Red"] } },
};

/** A session, and asking in it. */
export function asker(store = memoryStore(), more: Partial<Asking> = {}) {
  store.create("s", opened);
  const log = openSession(store, "s");
  const asking: Asking = { store, mode: { type: "interactive" }, ...more };
  return {
    store,
    log,
    ask: (key: string, request: NewRequest = colour) => ask(log.branch("t0"), key, request, asking),
  };
}
