import assert from "node:assert/strict";
import type { LocalStore } from "../../src/journal/store/store.ts";
import type { FactData } from "../../src/protocol/facts/fact.ts";
import type { NewRequest } from "../../src/protocol/facts/request.ts";
import { said as inWords } from "../../src/protocol/reasons/reason.ts";
import { plain, question } from "./journals.ts";

export const colour: NewRequest = {
  kind: "question",
  questions: [question("Which colour?")],
  source: "tool",
  agent: [],
  why: inWords(""),
  digest: "",
};
export const begun = { loop: 1, maxSteps: 100, sawUpTo: 0 };
export const started: FactData["call.started"] = { tool: "Bash", effect: "writes", digest: "d", before: "hash" };
export const result = (text: string) => ({ ok: true, text });
export const never = (): never => assert.fail("must not be called");
export const reason = (text: string) => async () => ({ reason: inWords(text) });
export const nextTick = () => new Promise((resolve) => setImmediate(resolve));
export const lost = { reason: { code: "end-unknown", args: {} } } as const;

/** Facts that the store has of the session, by key. */
export const written = (store: LocalStore): Record<string, unknown> =>
  Object.fromEntries(plain(store.since("s", 0)).map(({ key, data }) => [key, data]));
