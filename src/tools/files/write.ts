import { canonicalPath, lexicalPath } from "../../permission/paths/canonical.ts";
import type { ToolResult } from "../../protocol/facts/message.ts";
import * as z from "../../base/z.ts";
import { describe } from "../definition/describe.ts";
import {
  contentSchema,
  explain,
  hashOf,
  lookAgain,
  operandOf,
  readState,
  replaceFile,
  sha256,
  showSize,
  type FileState,
} from "./file-state.ts";
import { keepContent, replacedBy } from "./kept-content.ts";
import { pathSchema } from "./path.ts";
import { keptChange, previewWrite } from "./preview.ts";
import { failed, isProblem, unseen, type ToolProblem } from "../definition/result.ts";
import type { Tool, ToolPlace } from "../definition/tool.ts";

const inputSchema = z.strictObject({
  file_path: pathSchema.describe("The file, absolute or relative to the working directory"),
  content: contentSchema.describe("The whole new content"),
});

type Input = z.infer<typeof inputSchema>;

export const write: Tool<Input> = {
  name: "Write",
  description: describe("files/write"),
  inputSchema,
  effect: "writes",
  specifier: (input, place) => lexicalPath(input.file_path, place),
  operand: (input, place) => operandOf(input.file_path, place),
  preview: (input, place) => previewWrite(input.file_path, place, input.content),

  preflight: async (input, scope) => {
    const found = await lookBefore(input, scope);
    return isProblem(found) ? found : undefined;
  },

  async execute(input, scope) {
    const found = await lookBefore(input, scope);
    if (isProblem(found)) return failed(found);
    const { note } = await keepContent(scope.keepDir, found.before);
    // A new file is its content, which is in the input.
    const change =
      found.before.kind === "missing" ? {} : keptChange(previewWrite(input.file_path, scope, input.content));
    await replaceFile(found.real, Buffer.from(input.content), found.before);
    const result = written(input, found.real);
    const replaced = [replacedBy(found.real, found.before, sha256(input.content))];
    return { ...result, text: result.text + note, replaced, ...change };
  },

  async reconcile(input, { before, ...place }) {
    const found = await lookAgain(input.file_path, place);
    if (found === undefined) return undefined;
    const hash = hashOf(found.now);
    if (hash === sha256(input.content))
      return { ...written(input, found.real), replaced: [{ path: found.real, before, after: hash }] };
    return hash === before ? "again" : undefined;
  },
};

/** The file as it is, or why it cannot be written. */
async function lookBefore(
  { file_path: path }: Input,
  scope: ToolPlace & { seen(path: string): string | undefined },
): Promise<{ real: string; before: FileState } | string | ToolProblem> {
  const { real } = canonicalPath(path, scope);
  const before = await readState(real);
  if (before.kind === "missing") return { real, before };
  if (before.kind !== "file") return explain(before, real);
  const unread = `${real} exists and you have not read it. Read it before overwriting it.`;
  return unseen({ path: real, hash: before.hash }, scope.seen(real), unread) ?? { real, before };
}

function written({ content }: Input, real: string): ToolResult {
  const text = `Wrote ${showSize(Buffer.byteLength(content))} to ${real}.`;
  return { ok: true, text, seen: { [real]: sha256(content) } };
}
