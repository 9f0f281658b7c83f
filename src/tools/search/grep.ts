import { lstat } from "node:fs/promises";
import { basename, relative } from "node:path";
import { canonicalPath, lexicalPath } from "../../permission/paths/canonical.ts";
import { messageOf } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import { describe } from "../definition/describe.ts";
import { compileGlob } from "./glob.ts";
import { pathSchema, showPath } from "../files/path.ts";
import { failed, noMatches } from "../definition/result.ts";
import { ripgrep } from "./ripgrep.ts";
import type { Tool } from "../definition/tool.ts";

const maxCharacters = 30_000;
const maxLineLength = 500;

const context = z.int().min(0).max(100).optional();

const inputSchema = z.strictObject({
  pattern: z.string().min(1),
  path: pathSchema.optional().describe("A file or folder"),
  glob: z.string().min(1).optional().describe("Such as *.ts or src/**"),
  type: z.string().min(1).optional().describe("Such as ts, py, rust"),
  output_mode: z.enum(["files_with_matches", "content", "count"]).default("files_with_matches"),
  "-i": z.boolean().optional().describe("Ignore case"),
  "-n": z.boolean().default(true).describe("Line numbers"),
  "-A": context.describe("Lines after each match"),
  "-B": context.describe("Lines before each match"),
  "-C": context.describe("Lines around each match"),
  head_limit: z.int().min(1).max(2_000).default(200),
  multiline: z.boolean().optional().describe("The pattern may span lines"),
});

type Input = z.infer<typeof inputSchema>;

export const grep: Tool<Input> = {
  name: "Grep",
  description: describe("search/grep"),
  inputSchema,
  effect: "reads",
  specifier: (input, place) => lexicalPath(input.path ?? ".", place),
  async execute(input, scope) {
    const { real } = canonicalPath(input.path ?? ".", scope);
    const stat = await lstat(real);
    if (!stat.isDirectory() && !stat.isFile()) return failed(`${real} is neither a file nor a directory.`);
    const isWanted = input.glob === undefined ? () => true : compileGlob(input.glob);
    const cwd = canonicalPath(scope.cwd, scope).real;
    const lines: string[] = [];
    let characters = 0;
    let note = "";
    try {
      for await (const { path, line, separates } of found(input, real, scope.signal)) {
        if (!isWanted(stat.isDirectory() ? relative(real, path) : basename(real))) continue;
        if (scope.mayRead?.(path, real) === false) continue;
        const shown = separates ? line : showPath(path, cwd) + line;
        if (lines.length >= input.head_limit)
          note = `(cut after ${lines.length} lines; narrow the search or raise head_limit)`;
        else if (characters + shown.length > maxCharacters)
          note = `(cut after ${lines.length} lines; narrow the search)`;
        if (note !== "") break;
        characters += shown.length + 1;
        lines.push(shown);
      }
    } catch (error) {
      if (lines.length === 0) throw error;
      note = `(not everything could be searched: ${messageOf(error)})`;
    }
    if (lines.length === 0 && note === "") return noMatches("(no matches)");
    return { ok: true, text: (note === "" ? lines : [...lines, note]).join("\n") };
  },
};

type Found = { path: string; line: string; /** Stands between groups of lines. */ separates?: true };

async function* found(input: Input, real: string, signal: AbortSignal): AsyncGenerator<Found> {
  // Sorted by path, so that the same search always gives the same text, also when it is cut.
  const args = ["--sort=path"];
  if (input["-i"]) args.push("--ignore-case");
  if (input.multiline) args.push("--multiline", "--multiline-dotall");
  if (input.type !== undefined) args.push(`--type=${input.type}`);
  const what = ["--", input.pattern, real];

  if (input.output_mode === "files_with_matches") {
    const paths = ripgrep([...args, "--files-with-matches", "--null", ...what], "\0", signal);
    for await (const path of paths) yield { path, line: "" };
    return;
  }
  if (input.output_mode === "content") {
    const { "-A": after = input["-C"], "-B": before = input["-C"] } = input;
    args.push(`--after-context=${after ?? 0}`, `--before-context=${before ?? 0}`);
  }
  const grouped = input["-A"] !== undefined || input["-B"] !== undefined || input["-C"] !== undefined;
  let next = 0; // line that would continue the group
  for await (const record of ripgrep([...args, "--json", ...what], "\n", signal)) {
    const { type, data } = JSON.parse(record) as Message;
    if (type === "begin") next = 0;
    if (input.output_mode === "count") {
      if (type === "end") yield { path: decode(data.path), line: `:${data.stats.matched_lines}` };
    } else if (type === "match" || type === "context") {
      const mark = type === "match" ? ":" : "-";
      const texts = decode(data.lines)
        .replace(/\r?\n$/, "")
        .split(/\r?\n/);
      if (grouped && next !== 0 && data.line_number > next)
        yield { path: decode(data.path), line: "--", separates: true };
      next = data.line_number + texts.length;
      for (const [i, text] of texts.entries()) {
        const number = input["-n"] ? `${mark}${data.line_number + i}` : "";
        yield { path: decode(data.path), line: `${number}${mark}${cut(text)}` };
      }
    }
  }
}

type Text = { text: string } | { /** Base64 of what is not UTF-8. */ bytes: string };

/** Output of ripgrep --json, as far as it is used here. */
type Message =
  | { type: "match" | "context"; data: { path: Text; lines: Text; line_number: number } }
  | { type: "end"; data: { path: Text; stats: { matched_lines: number } } }
  | { type: "begin" | "summary"; data: object };

function decode(text: Text): string {
  return "text" in text ? text.text : Buffer.from(text.bytes, "base64").toString();
}

function cut(text: string): string {
  const rest = text.length - maxLineLength;
  return rest > 0 ? `${text.slice(0, maxLineLength).toWellFormed()} … ${rest} more characters` : text;
}
