import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Finding } from "../../permission/finding.ts";
import { namedScripts } from "../../permission/shell/suspect/scripts.ts";
import { withSortedKeys } from "../../base/canonical-json.ts";
import type { ToolInput } from "../../protocol/facts/call.ts";
import { jsonSchemaOf } from "../../tools/definition/json-schema.ts";
import type { Tool } from "../../tools/definition/tool.ts";
import type { Place, Tools } from "./context.ts";

/** Files that an approval is bound to: the one that the call changes, and the scripts that it runs, by their real paths. */
type Files = { file?: { path: string; hash: string } | undefined; scripts?: Record<string, string> | undefined };

/** Binds an approval to the tool, its exact input, the files above and what the tool promised to take. */
export function digestOf(
  context: Pick<Tools, "config">,
  tool: Tool,
  input: ToolInput,
  { file, scripts }: Files = {},
): string {
  const changed = file ? `${file.path}\n${file.hash}` : "";
  const run = scripts ? `\n${canonical(scripts)}` : "";
  const text = `${tool.name}\n${canonical(input)}\n${changed}\n${schemaHash(context, tool)}${run}`;
  if (last?.text !== text) last = { text, digest: hash("sha256", text, "base64url") };
  return last.digest;
}

/** A call is judged when it comes and once more before it runs: mostly the same text is hashed twice. */
let last: { text: string; digest: string } | undefined;

/** Is a server's tool still the one that this digest was made of? */
export function isDefinedAs(context: Pick<Tools, "config">, tool: Tool, input: ToolInput, digest: string): boolean {
  return digestOf(context, tool, input) === digest;
}

/** The file that a call changes, as it is now. */
export function operandFile(context: Place, tool: Tool, input: ToolInput): { path: string; hash: string } | undefined {
  if (!tool.operand) return undefined;
  const path = tool.operand(input, { cwd: context.options.workingDirectory, home: context.config.home });
  return path === undefined ? undefined : { path, hash: hashFile(path) };
}

/** Hashes of the workspace scripts that a command names. */
export function scriptsOf(context: Place, finding: Finding | undefined): Record<string, string> | undefined {
  const possible = finding?.shell?.reading.possible;
  if (!possible) return undefined;
  const paths = namedScripts(possible, context.options.workingDirectory, context.config.roots);
  return paths.length === 0 ? undefined : Object.fromEntries(paths.map((path) => [path, hashFile(path)]));
}

/** sha-256 of a file's content; "" when it cannot be read, which for a file to be created is the same as not there. */
function hashFile(path: string): string {
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
function schemaHash(context: Pick<Tools, "config">, tool: Tool): string {
  let known = schemas.get(tool);
  if (known === undefined) schemas.set(tool, (known = hash("sha256", canonical(schemaOf(context, tool)), "base64url")));
  return known;
}

/** The description of a server's tool counts too: it is the server's promise. */
function schemaOf({ config }: Pick<Tools, "config">, tool: Tool): unknown {
  if (tool.server !== undefined) return [tool.description, jsonSchemaOf(tool.inputSchema)];
  // A guest's own tool is offered to no model.
  return config.tools.offers().find(({ name }) => name === tool.name)?.inputSchema ?? jsonSchemaOf(tool.inputSchema);
}
