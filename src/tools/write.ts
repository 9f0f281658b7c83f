import { z } from "zod";
import { canonicalPath, lexicalPath } from "../permission/paths/canonical.ts";
import type { ToolResult } from "../protocol/index.ts";
import { describe } from "./describe.ts";
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
} from "./file.ts";
import { pathSchema } from "./path.ts";
import { previewWrite } from "./preview.ts";
import { attempt, failed } from "./result.ts";
import type { Tool } from "./tool.ts";

const inputSchema = z.strictObject({
  file_path: pathSchema.describe("The file, absolute or relative to the working directory"),
  content: contentSchema.describe("The whole new content"),
});

type Input = z.infer<typeof inputSchema>;

export const write: Tool<Input> = {
  name: "Write",
  description: describe("write"),
  inputSchema,
  effect: "writes",
  specifier: (input, place) => lexicalPath(input.file_path, place),
  operand: (input, place) => operandOf(input.file_path, place),
  preview: (input, place) => previewWrite(input.file_path, place, input.content),

  execute: (input, scope) =>
    attempt("Write", async () => {
      const { real } = canonicalPath(input.file_path, scope);
      const before = await readState(real);
      if (before.kind !== "file" && before.kind !== "missing") return failed(explain(before, real));
      if (before.kind === "file") {
        const seen = scope.seen(real);
        if (seen === undefined)
          return failed(`${real} exists and you have not read it. Read it before overwriting it.`);
        if (seen !== before.hash) return failed(`${real} has changed since you read it. Read it again first.`);
      }
      await replaceFile(real, Buffer.from(input.content), before);
      return written(input, real);
    }),

  async reconcile(input, { before, ...place }) {
    const found = await lookAgain(input.file_path, place);
    if (found === undefined) return undefined;
    const hash = hashOf(found.now);
    if (hash === sha256(input.content)) return written(input, found.real);
    return hash === before ? "again" : undefined;
  },
};

function written({ content }: Input, real: string): ToolResult {
  const text = `Wrote ${showSize(Buffer.byteLength(content))} to ${real}.`;
  return { ok: true, text, seen: { [real]: sha256(content) } };
}
