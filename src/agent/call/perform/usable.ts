import { kindOf } from "../../../base/issue.ts";
import type { ToolResult } from "../../../protocol/facts/message.ts";
import { messageOf } from "../../../protocol/reasons/reason.ts";
import { createExcerpt } from "../../../tools/content/excerpt.ts";
import type { Tool } from "../../../tools/definition/tool.ts";

/** More than any built-in tool gives at once. */
const MAX_TEXT_LENGTH = 200_000;
const PIECE = 1024 * 1024;

/** True for a result that the loop can record and the model can read: code of others may return anything, of any length. */
export function isUsable(result: ToolResult): boolean {
  return resultProblem(result) === undefined && result.text.length <= MAX_TEXT_LENGTH;
}

/** Makes a usable result of any other: a long text is kept in a file, like the output of a command. */
export async function madeUsable({ name }: Tool, result: ToolResult, keepDir: string): Promise<ToolResult> {
  const problem = resultProblem(result);
  if (problem !== undefined)
    return { ok: false, text: `${name} ran, and its result cannot be read: ${problem}. Whatever it did is done.` };
  const { shown: _shown, ...rest } = result;
  const excerpt = createExcerpt(keepDir);
  for (let at = 0, end = 0; at < result.text.length; at = end) {
    end = isTornAt(result.text, at + PIECE) ? at + PIECE + 1 : at + PIECE;
    const piece = result.text.slice(at, end);
    await excerpt.push(Buffer.from(piece), piece);
  }
  return { ...rest, ...(await excerpt.end()) };
}

/** True where a cut would part the two halves of one character. */
function isTornAt(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff;
}

function resultProblem(result: ToolResult): string | undefined {
  if (kindOf(result) !== "object") return `a tool should return { ok, text }, and it returned ${kindOf(result)}`;
  if (typeof result.ok !== "boolean") return `ok should be true or false, and it is ${kindOf(result.ok)}`;
  if (typeof result.text !== "string") return `text should be a string, and it is ${kindOf(result.text)}`;
  return Object.keys(result).length > 2 ? notRecorded(result) : undefined;
}

/** Fields besides ok and text are recorded as they are, also those of one's own. */
function notRecorded(result: ToolResult): string | undefined {
  try {
    JSON.stringify(result);
    return undefined;
  } catch (error) {
    return `it should be JSON (${messageOf(error).split("\n", 1)[0]})`;
  }
}
