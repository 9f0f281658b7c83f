import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { withSortedKeys, type ToolInput } from "../../protocol/index.ts";
import type { Tool } from "../../tools/tool.ts";

/** Files that an approval is bound to: the one that the call changes, and the scripts that it runs, by their real paths. */
type Files = { file?: { path: string; hash: string } | undefined; scripts?: Record<string, string> | undefined };

/** Binds an approval to the tool, its exact input, the files above and what the tool promised to take. */
export function digestOf(tool: Tool, schema: () => unknown, input: ToolInput, { file, scripts }: Files): string {
  const changed = file ? `${file.path}\n${file.hash}` : "";
  const run = scripts ? `\n${canonical(scripts)}` : "";
  return hash(
    "sha256",
    `${tool.name}\n${canonical(input)}\n${changed}\n${schemaHash(tool, schema)}${run}`,
    "base64url",
  );
}

/** sha-256 of a file's content; "" when it cannot be read, which for a file to be created is the same as not there. */
export function hashFile(path: string): string {
  try {
    return hash("sha256", readFileSync(path), "hex");
  } catch {
    return "";
  }
}

/** JSON with sorted keys: equal inputs give equal text however they were written. */
export function canonical(value: unknown): string {
  return JSON.stringify(withSortedKeys(value));
}

const schemas = new WeakMap<Tool, string>();
function schemaHash(tool: Tool, schema: () => unknown): string {
  let known = schemas.get(tool);
  if (known === undefined) schemas.set(tool, (known = hash("sha256", canonical(schema()), "base64url")));
  return known;
}
