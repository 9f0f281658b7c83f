import { lstat } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import { canonicalPath, lexicalPath } from "../../permission/paths/canonical.ts";
import { messageOf } from "../../protocol/reasons/error.ts";
import * as z from "../../base/z.ts";
import { describe } from "../definition/describe.ts";
import { compileGlob } from "./glob-match.ts";
import { pathSchema, showPath } from "../files/path.ts";
import { failed, noMatches } from "../definition/result.ts";
import { ripgrep } from "./ripgrep.ts";
import type { Tool } from "../definition/tool.ts";

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
