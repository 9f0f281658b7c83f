import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";
import { extname } from "node:path";
import { canonicalPath, lexicalPath } from "../../permission/paths/canonical.ts";
import type { ToolResult } from "../../protocol/facts/message.ts";
import { imageKindOf, imageLabel, isPdf } from "../../protocol/image.ts";
import { messageOf } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import { describe } from "../definition/describe.ts";
import { explain, readState, showSize } from "./file-state.ts";
import { keepImage } from "../content/image.ts";
import { sentence } from "../../texts/shared/sentence.ts";
import { pathSchema } from "./path.ts";
import { failed } from "../definition/result.ts";
import type { Tool } from "../definition/tool.ts";

const maxLines = 2_000;
const maxLineLength = 2_000;
const maxCharacters = 100_000;
const MAX_ENTRIES = 200;

const inputSchema = z.strictObject({
  file_path: pathSchema.describe("Absolute, or relative to the working directory"),
  offset: z.int().min(1).optional().describe("First line, counted from 1"),
  limit: z.int().min(1).optional().describe(`At most ${maxLines} lines`),
});

type Input = z.infer<typeof inputSchema>;

export const read: Tool<Input> = {
  name: "Read",
  description: describe("files/read"),
  inputSchema,
  effect: "reads",
  specifier: (input, place) => lexicalPath(input.file_path, place),
  async execute(input, scope) {
    const { real } = canonicalPath(input.file_path, scope);
    const state = await readState(real);
    if (state.kind === "directory") return listDirectory(real);
    if (state.kind !== "file") return failed(explain(state, real));
    if (imageKindOf(state.bytes)) return showImage(state.bytes, real, scope.keepDir);
    if (isPdf(state.bytes)) return showPdf(state.bytes, input, { path: real, signal: scope.signal });
    if (state.bytes.subarray(0, 8_192).includes(0)) return failed(explainBinary(real, state.bytes.length));
    const shown = show(state.bytes, input, real);
    return shown.ok ? { ...shown, seen: { [real]: state.hash } } : shown;
  },
};

/** Folders end in a slash. */
async function listDirectory(path: string): Promise<ToolResult> {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const more = names.length > MAX_ENTRIES ? [`(${names.length - MAX_ENTRIES} more; use Glob)`] : [];
  const head = `${path} is a directory${names.length === 0 ? ", and it is empty" : ""}:`;
  return { ok: true, text: [head, ...names.slice(0, MAX_ENTRIES), ...more].join("\n") };
}

/** The model sees the picture itself, if it can; everybody else reads one line. */
function showImage(content: Buffer, path: string, folder: string): ToolResult {
  const kept = keepImage(folder, { name: path, content });
  if ("problem" in kept) return failed(`${sentence(kept.problem, "en")}.`);
  return { ok: true, text: `(${path} is a picture: ${imageLabel(kept.image)})`, images: [kept.image] };
}

/** Its text, by page; the pages themselves are seen where a message names the file. */
async function showPdf(body: Buffer, input: Input, { path, signal }: { path: string; signal: AbortSignal }) {
  try {
    const { convert } = await import("../content/convert.ts");
    return show(Buffer.from(await convert({ kind: "pdf", body }, signal)), input, path);
  } catch (error) {
    signal.throwIfAborted();
    return failed(`${path} is a PDF (${showSize(body.length)}), and ${messageOf(error)}.`);
  }
}

function show(bytes: Buffer, { offset = 1, limit = maxLines }: Input, path: string): ToolResult {
  if (bytes.length === 0) return { ok: true, text: `(${path} is empty)` };
  const text = new TextDecoder().decode(bytes);
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (offset > lines.length) return failed(`${path} has ${lines.length} lines; offset ${offset} is past its end.`);

  const shown: string[] = [];
  const notes: string[] = [];
  let characters = 0;
  let cut = 0;
  for (const line of lines.slice(offset - 1, offset - 1 + Math.min(limit, maxLines))) {
    const whole = line.endsWith("\r") ? line.slice(0, -1) : line;
    const rest = whole.length - maxLineLength;
    if (rest > 0) cut += 1;
    const entry = `${offset + shown.length}\t${rest > 0 ? `${whole.slice(0, maxLineLength).toWellFormed()} … ${rest} more characters` : whole}`;
    if (shown.length > 0 && characters + entry.length > maxCharacters) break;
    characters += entry.length + 1;
    shown.push(entry);
  }

  const last = offset - 1 + shown.length;
  if (cut > 0) notes.push(`${cut} long lines were cut at ${maxLineLength} characters`);
  if (last < lines.length) notes.push(`lines ${offset} to ${last} of ${lines.length}; go on with offset ${last + 1}`);
  if (text.includes("\r\n")) notes.push("lines end in CRLF");
  if (text.includes("\ufffd") && !isUtf8(bytes))
    notes.push("not valid UTF-8: what could not be read is shown as \ufffd");
  return { ok: true, text: [...shown, ...notes.map((note) => `(${note})`)].join("\n") };
}

function explainBinary(path: string, size: number): string {
  const images = [".bmp", ".ico", ".tif", ".tiff", ".avif", ".heic"];
  const what = images.includes(extname(path).toLowerCase()) ? "an image" : "a binary file";
  return `${path} is ${what} (${showSize(size)}). Read shows text, pictures in PNG, JPEG, GIF or WebP format, and the text of a PDF.`;
}
