import { lstat } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import { canonicalPath, lexicalPath } from "../../permission/paths/canonical.ts";
import { messageOf } from "../../protocol/reasons/reason.ts";
import * as z from "../../base/z.ts";
import { describe } from "../definition/describe.ts";
import { pathSchema, showPath } from "../files/path.ts";
import { failed, noMatches } from "../definition/result.ts";
import { ripgrep } from "./ripgrep.ts";
import type { Tool } from "../definition/tool.ts";
import { type Star, star, wild } from "../../permission/text/wild.ts";

const maxShown = 500;
const maxFound = 50_000;

const inputSchema = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .refine((pattern) => !isAbsolute(pattern), "pattern is relative: put the folder in path")
    .refine((pattern) => !pattern.split("/").includes(".."), "pattern must not contain ..: put the folder in path")
    .describe("Such as *.ts, src/**/*.{ts,tsx} or docs/**"),
  path: pathSchema.optional().describe("The folder to look in; the working directory by default"),
});

type Input = z.infer<typeof inputSchema>;

export const glob: Tool<Input> = {
  name: "Glob",
  description: describe("search/glob"),
  inputSchema,
  effect: "reads",
  specifier: (input, place) => lexicalPath(input.path ?? ".", place),
  async execute(input, scope) {
    const { real } = canonicalPath(input.path ?? ".", scope);
    if (!(await lstat(real)).isDirectory()) return failed(`${real} is not a directory.`);
    const isWanted = compileGlob(input.pattern);
    const found: string[] = [];
    let trouble = "";
    try {
      for await (const path of ripgrep(["--files", "--null", "--", real], "\0", scope.signal)) {
        if (isWanted(relative(real, path)) && scope.mayRead?.(path, real) !== false) found.push(path);
        if (found.length > maxFound) return failed(`More than ${maxFound} files match. Narrow the pattern.`);
      }
    } catch (error) {
      if (found.length === 0) throw error;
      trouble = messageOf(error);
    }
    const cwd = canonicalPath(scope.cwd, scope).real;
    const lines = (await newestFirst(found)).slice(0, maxShown).map((path) => showPath(path, cwd));
    if (found.length === 0) return noMatches("(no files match)");
    if (found.length > maxShown)
      lines.push(`(the newest ${maxShown} of ${found.length}; narrow the pattern for the rest)`);
    if (trouble !== "") lines.push(`(not everything could be searched: ${trouble})`);
    return { ok: true, text: lines.join("\n") };
  },
};

async function newestFirst(paths: string[]): Promise<string[]> {
  const dated: { path: string; at: number }[] = [];
  for (let from = 0; from < paths.length; from += 256) {
    const batch = paths.slice(from, from + 256);
    // A file that is gone meanwhile sorts last.
    const ages = batch.map(async (path) => ({ path, at: (await lstat(path).catch(() => ({ mtimeMs: 0 }))).mtimeMs }));
    dated.push(...(await Promise.all(ages)));
  }
  return dated.sort((a, b) => b.at - a.at || (a.path < b.path ? -1 : 1)).map(({ path }) => path);
}

/** Pattern of a name in a path: characters, sets of characters and stars. */
type Name = readonly (string | ((char: string) => boolean) | Star)[];

/** `*`, `?`, `**`, `[abc]`, `{a,b}`; without a slash at any depth. Takes length times length at most; a regular expression could hang. */
export function compileGlob(pattern: string): (path: string) => boolean {
  const alternatives = expandBraces(pattern.replace(/^(\.\/)+/, "")).map(parse);
  return (path) => {
    const names = path.split("/").map((name) => Array.from(name));
    return alternatives.some((pattern) => wild(pattern, names, matchesName));
  };
}

function expandBraces(pattern: string): string[] {
  let ready = [pattern];
  for (let again = true; again;) {
    again = false;
    ready = ready.flatMap((text) => {
      const innermost = /\{([^{}]*,[^{}]*)\}/.exec(text);
      if (innermost?.[1] === undefined) return [text];
      again = true;
      const [before, after] = [text.slice(0, innermost.index), text.slice(innermost.index + innermost[0].length)];
      return innermost[1].split(",").map((choice) => before + choice + after);
    });
    if (ready.length > 1_000) throw new Error("the pattern has too many alternatives in braces");
  }
  return ready;
}

function parse(pattern: string): (Name | Star)[] {
  const names = pattern.split("/").map((name) => (name === "**" ? star : parseName(name)));
  return names.length === 1 && names[0] !== star ? [star, ...names] : names;
}

function parseName(name: string): Name {
  return [...name.matchAll(/\[([!^]?)(\]?[^\]]*)\]|\\(.)|(.)/gsu)].map(([, not, among, escaped, plain]) => {
    if (among !== undefined) {
      const listed = spellOut(among);
      return (char: string) => listed.includes(char) === (not === "");
    }
    if (plain === "*") return star;
    return plain === "?" ? () => true : (escaped ?? plain ?? "");
  });
}

function matchesName(pattern: Name, name: readonly string[]): boolean {
  return wild(pattern, name, (expected: string | ((char: string) => boolean), char) =>
    typeof expected === "string" ? expected === char : expected(char),
  );
}

/** a-e to abcde. */
function spellOut(among: string): string {
  return among.replace(/(.)-(.)/gsu, (range, from: string, to: string) => {
    const [first = 0, last = 0] = [from.codePointAt(0), to.codePointAt(0)];
    return last - first > 1_000
      ? range
      : Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i)).join("");
  });
}
