import type { ToolResult } from "../../protocol/facts/message.ts";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";

/** A remark of a result: in words for the model, and for people. */
export type Note = readonly [words: string, why: Reason];

/** Why a call cannot work: in words for the model, and for people. */
export type ToolProblem = { text: string; why: Reason };

export function failed(problem: string | ToolProblem): ToolResult {
  if (typeof problem === "string") return { ok: false, text: problem };
  return { ok: false, text: problem.text, shown: { characters: 0, notes: [problem.why] } };
}

export function isProblem(found: string | ToolProblem | object): found is string | ToolProblem {
  return typeof found === "string" || "why" in found;
}

/** Why a file may not be replaced: the model has not read it, or not as it is now. */
export function unseen(
  { path, hash }: { path: string; hash: string },
  seen: string | undefined,
  unread: string,
): ToolProblem | undefined {
  if (seen === undefined) return { text: unread, why: reason("file-unread", { path }) };
  if (seen === hash) return undefined;
  const text = `${path} has changed since you read it. Read it again first.`;
  return { text, why: reason("file-changed-since", { path }) };
}

/** A search that found nothing. */
export function noMatches(text: string): ToolResult {
  return { ok: true, text, shown: { characters: 0, notes: [reason("no-matches", {})] } };
}
