import { isUtf8 } from "node:buffer";
import { canonicalPath, lexicalPath } from "../../permission/paths/canonical.ts";
import type { Preview } from "../../protocol/facts/call.ts";
import type { ToolResult } from "../../protocol/facts/message.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import { describe } from "../definition/describe.ts";
import type { FileState } from "./file-state.ts";
import { contentSchema, explain, hashOf, lookAgain, operandOf, readState, replaceFile, sha256 } from "./file-state.ts";
import { keepContent, replacedBy } from "./kept-content.ts";
import { pathSchema } from "./path.ts";
import { keptChange, previewEdit, type Replacement } from "./preview.ts";
import { failed, isProblem, unseen, type ToolProblem } from "../definition/result.ts";
import type { Tool, ToolPlace, ToolScope } from "../definition/tool.ts";

const inputSchema = z
  .strictObject({
    file_path: pathSchema.describe("Absolute, or relative to the working directory"),
    old_string: contentSchema.min(1, "old_string is empty; use Write to create a file"),
    new_string: contentSchema,
    replace_all: z.boolean().optional(),
  })
  .refine(
    (input) => input.old_string !== input.new_string,
    "old_string and new_string are the same: nothing would change",
  );

type Input = z.infer<typeof inputSchema>;

export const edit: Tool<Input> = {
  name: "Edit",
  description: describe("files/edit"),
  inputSchema,
  effect: "writes",
  specifier: (input, place) => lexicalPath(input.file_path, place),
  operand: (input, place) => operandOf(input.file_path, place),
  preview: replacementPreview,
  shownLines: (input, place) => linesBefore(replacementPreview(input, place)),

  preflight: async (input, scope) => {
    const found = await findPlaces(input, scope);
    return isProblem(found) ? found : undefined;
  },

  async execute(input, scope) {
    const found = await findPlaces(input, scope);
    if (isProblem(found)) return failed(found);
    const { real, before, text, old, fresh, places } = found;
    const after = Buffer.from(text.split(old).join(fresh));
    const { note } = await keepContent(scope.keepDir, before);
    const elsewhere = scope.seen(real) !== before.hash;
    const change = keptChange(replacementPreview(input, scope));
    await replaceFile(real, after, before);
    const where = `${places.length} ${places.length === 1 ? "place" : "places"}, ${linesAt(text, places)}`;
    // The model has not seen the rest of the file as it is now: what it writes next must not rest on what it saw.
    const result = elsewhere
      ? { ok: true, text: `Edited ${real} (${where}). ${changedElsewhere}` }
      : edited(after, real, where, newLines(after.toString(), found));
    return { ...result, text: result.text + note, replaced: [replacedBy(real, before, sha256(after))], ...change };
  },

  /** Takes the edit back in memory: if that gives what was there before, the edit had happened. */
  async reconcile(input, { before, ...place }) {
    const found = await lookAgain(input.file_path, place);
    if (found === undefined) return undefined;
    const { real, now } = found;
    if (hashOf(now) === before) return "again";
    if (now.kind !== "file") return undefined;
    const text = now.bytes.toString();
    const { old: fresh, fresh: old } = inLineEndingsOf(text, input.new_string, input.old_string);
    if (fresh === "") return undefined;
    const undone = input.replace_all
      ? [text.split(fresh).join(old)]
      : occurrences(text, fresh)
          .slice(0, 100)
          .map((at) => text.slice(0, at) + old + text.slice(at + fresh.length));
    return undone.some((candidate) => sha256(candidate) === before)
      ? {
          ...edited(now.bytes, real, "before a restart"),
          replaced: [{ path: real, before, after: sha256(now.bytes) }],
        }
      : undefined;
  },
};

const changedElsewhere =
  "Other lines of the file had changed since you read it; those that the person approved had not. Read it again before you change it further.";

/** Lines that stand in the file now: those that the edit takes away, and those around it. */
function linesBefore(preview: Preview | undefined): string | undefined {
  const lines = preview?.lines.filter(({ mark }) => mark !== "+") ?? [];
  return lines.length > 0 ? JSON.stringify(lines.map(({ mark, text, open }) => [mark, text, open])) : undefined;
}

function replacementPreview(input: Input, place: ToolPlace): Preview | undefined {
  return previewEdit(input.file_path, place, (text) => {
    const replacement = replacementIn(text, input);
    const { length } = replacement.places;
    return length === 1 || (length > 1 && input.replace_all === true) ? replacement : undefined;
  });
}

type Found = Replacement & { real: string; before: FileState & { kind: "file" }; text: string };

/** Text to be replaced, or the reason why nothing can be. */
async function findPlaces(
  input: Input,
  scope: ToolPlace & Pick<ToolScope, "seen" | "approvedIn">,
): Promise<Found | string | ToolProblem> {
  const { real } = canonicalPath(input.file_path, scope);
  const before = await readState(real);
  if (before.kind !== "file") return explain(before, real);
  const unread = `You have not read ${real}. Read it before editing it.`;
  const seen = scope.seen(real);
  const known = seen !== undefined && scope.approvedIn === before.hash ? before.hash : seen;
  const problem = unseen({ path: real, hash: before.hash }, known, unread);
  if (problem) return problem;
  if (!isUtf8(before.bytes)) return `${real} is not valid UTF-8; editing it as text would damage it.`;
  const text = before.bytes.toString();
  const replacement = replacementIn(text, input);
  const { places } = replacement;
  const times = places.length;
  if (times === 0) return { text: explainMiss(text, input, real), why: reason("text-not-found", { path: real }) };
  if (times > 1 && input.replace_all !== true)
    return { text: explainMany(text, places, real), why: reason("text-found-often", { path: real, times }) };
  return { ...replacement, real, before, text };
}

function edited(after: Buffer, real: string, where: string, lines = ""): ToolResult {
  const told = `Edited ${real} (${where}).`;
  const seen = { [real]: sha256(after) };
  if (lines === "") return { ok: true, text: told, seen };
  return { ok: true, text: `${told}\n${lines}`, shown: { characters: told.length }, seen };
}

const MAX_NEW_LINES = 12;

/** The lines as they are now, with their numbers, so that the next edit need not be preceded by a Read. People see the change itself. */
function newLines(text: string, { places, old, fresh }: Replacement): string {
  const lines = text.split("\n");
  const numbers = places.slice(0, MAX_NEW_LINES).flatMap((place, n) => {
    const at = place + n * (fresh.length - old.length);
    const first = text.slice(0, at).split("\n").length;
    return Array.from({ length: fresh.split("\n").length }, (_, line) => first + line);
  });
  const unique = [...new Set(numbers)].filter((number) => number <= lines.length);
  const shown = unique.slice(0, MAX_NEW_LINES).map((number) => `${number}\t${lines[number - 1]?.slice(0, 400)}`);
  return [...shown, ...(unique.length > MAX_NEW_LINES ? ["…"] : [])].join("\n");
}

function replacementIn(text: string, input: Input): Replacement {
  const { old, fresh } = inLineEndingsOf(text, input.old_string, input.new_string);
  return { old, fresh, places: occurrences(text, old) };
}

/** Models write \n; in a file whose lines end in \r\n that has to mean \r\n. */
function inLineEndingsOf(text: string, old: string, fresh: string): { old: string; fresh: string } {
  const crlf = occurrences(text, "\r\n").length;
  if (crlf * 2 <= occurrences(text, "\n").length) return { old, fresh };
  const convert = (part: string) => part.replace(/\r?\n/g, "\r\n");
  return { old: text.includes(convert(old)) ? convert(old) : old, fresh: convert(fresh) };
}

function occurrences(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

function explainMiss(text: string, input: Input, path: string): string {
  const miss = `old_string was not found in ${path}.`;
  const withoutNumbers = input.old_string.replace(/^ *\d+\t/gm, "");
  if (withoutNumbers !== input.old_string && text.includes(withoutNumbers)) {
    return `${miss} Leave out the line numbers that Read puts before each line.`;
  }
  const words = input.old_string.split(/\s+/).filter((word) => word !== "");
  const near = words.length === 0 ? null : new RegExp(words.map(literal).join("\\s+")).exec(text);
  return near === null
    ? `${miss} Read the file again and copy the text exactly.`
    : `${miss} The same words stand at ${linesAt(text, [near.index])} with other blanks, tabs or line breaks: copy those exactly.`;
}

function literal(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function explainMany(text: string, places: readonly number[], path: string): string {
  return `old_string occurs ${places.length} times in ${path} (${linesAt(text, places)}). Add lines around it until it is unique, or set replace_all.`;
}

function linesAt(text: string, places: readonly number[]): string {
  const lines = places.slice(0, 10).map((place) => text.slice(0, place).split("\n").length);
  return `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${places.length > 10 ? ", …" : ""}`;
}
