import assert from "node:assert/strict";
import type { InputRequest, PermissionRequest, Question, Resolution } from "../../../src/protocol/facts/request.ts";
import { said } from "../../../src/protocol/reasons/reason.ts";
import { type Asked } from "../../../src/surfaces/feishu/cards/permission.ts";
import { speechesFrom } from "../../../src/surfaces/feishu/cards/speech.ts";
import { checkCard } from "../../support/feishu/card-check.ts";

export const asked = (over: Partial<Asked> = {}): Asked => ({
  rid: "0123456789abcdef01234567",
  g: 1,
  session: "7f3a",
  folder: "my-repo",
  typed: (words) => words,
  now: 0,
  ...over,
});
export const en = speechesFrom("en");

export const frame = {
  id: "s/t0/0/0/permit0",
  session: "s",
  at: 0,
  agent: [],
  digest: "d",
  why: said("no rule covers it"),
} as const;

export const bash = (command: string, over: Partial<PermissionRequest> = {}): PermissionRequest => ({
  ...frame,
  source: "approval",
  kind: "permission",
  tool: "Bash",
  input: { command },
  suggestions: [{ type: "addRule", rule: `Bash(${command.slice(0, 40)})`, behavior: "allow", destination: "session" }],
  hard: false,
  ...over,
});

export const question = (text: string, labels = ["PostgreSQL", "SQLite"], multiSelect = false): Question => ({
  question: text,
  header: "Database",
  options: labels.map((label) => ({ label, description: `take ${label}` })),
  multiSelect,
});
export const asks = (...questions: Question[]): InputRequest & { kind: "question" } => ({
  ...frame,
  source: "tool",
  kind: "question",
  questions,
});
export const writes = (prompt: string): InputRequest & { kind: "text" } => ({
  ...frame,
  source: "tool",
  kind: "text",
  prompt,
});

/** Every text of a card that is Markdown. */
export function markdowns(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(markdowns);
  if (node === null || typeof node !== "object") return [];
  const own = "tag" in node && node.tag === "markdown" && "content" in node ? [String(node.content)] : [];
  return [...own, ...Object.values(node).flatMap(markdowns)];
}
export const valid = (card: object) => assert.equal(checkCard(card), undefined);

export const resolution = (over: Partial<Resolution> & Pick<Resolution, "outcome">): Resolution =>
  ({ requestId: frame.id, by: "Lin (ou_1)", surface: "feishu", at: 0, reason: "", ...over }) as Resolution;
