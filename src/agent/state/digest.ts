import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { attempt } from "../../base/attempt.ts";
import type { Finding } from "../../permission/finding.ts";
import { meaningsOf } from "../../permission/shell/suspect/meanings.ts";
import { namedScripts } from "../../permission/shell/suspect/scripts.ts";
import { withSortedKeys } from "../../base/canonical-json.ts";
import type { ToolInput } from "../../protocol/facts/call.ts";
import { jsonSchemaOf } from "../../tools/definition/json-schema.ts";
import type { Tool } from "../../tools/definition/tool.ts";
import type { Place, Tools } from "./context.ts";

/** Files that an approval is bound to: the one that the call changes, and the scripts that it runs, by their real paths. */
type Files = { file?: Operand | undefined; scripts?: Record<string, string> | undefined };

/** `lines`: hash of the lines that a person sees of it, where the approval is bound to them and not to the whole file. */
type Operand = { path: string; hash: string; lines?: string };

/** Prefix of a digest: the version of the rule it was made by. Digests of 0.1.0 and 0.2.0 have none. */
const RULE = "2:";

/** Binds an approval to the tool, its exact input and the files above; for a server's tool, also to its definition. */
export function digestOf(
  context: Pick<Tools, "config">,
  tool: Tool,
  input: ToolInput,
  { file, scripts }: Files = {},
): string {
  const changed = file ? [file.path, file.lines ?? file.hash] : [];
  const definition = tool.server === undefined ? "" : schemaHash(context, tool);
  const text = canonical([tool.name, input, changed, definition, scripts ?? {}]);
  if (last?.text !== text) last = { text, digest: RULE + hash("sha256", text, "base64url") };
  return last.digest;
}

/** Made by a rule that this version does not know. */
export function isOfNewerRule(digest: unknown): boolean {
  return typeof digest === "string" && digest.includes(":") && !digest.startsWith(RULE);
}

export function isOfThisRule(digest: unknown): boolean {
  return typeof digest === "string" && digest.startsWith(RULE);
}

/** A call is judged when it comes and once more before it runs: mostly the same text is hashed twice. */
let last: { text: string; digest: string } | undefined;

/** Is this the digest of the call, by the rule that it was made by? `unbound`: that rule did not cover the scripts yet. */
export function isDigestOf(
  digest: unknown,
  context: Pick<Tools, "config">,
  tool: Tool,
  input: ToolInput,
  files: Files = {},
): boolean | "unbound" {
  if (typeof digest !== "string") return false; // a damaged record: it is asked about again
  if (digest.includes(":")) return digest === digestOf(context, tool, input, files);
  const schema = schemaHash(context, tool);
  const { [tool.name]: [older, ...others] = [schema] } = tool.server === undefined ? earlierSchemas : {};
  if ([older, ...others, schema].some((known) => digest === firstDigest(tool, input, files, known))) return true;
  return others.length > 0 && digest === firstDigest(tool, input, { file: files.file }, older) && "unbound";
}

/** The rule of 0.1.0 and 0.2.0, which covered the schema of every tool. */
function firstDigest({ name }: Tool, input: ToolInput, { file, scripts }: Files, schema: string | undefined): string {
  const changed = file ? `${file.path}\n${file.hash}` : "";
  const run = scripts ? `\n${canonical(scripts)}` : "";
  return hash("sha256", `${name}\n${canonical(input)}\n${changed}\n${schema}${run}`, "base64url");
}

/** Input schemas of 0.1.0 and, where another, of 0.2.0, hashed: digests of then are made with them. They never change. */
const earlierSchemas: Record<string, readonly string[]> = {
  Read: ["yE2sj_n1gD0NFTFHhqKB92DY1UiPzELIGSTqG3fAV1U"],
  Write: ["Xhcp1A69kdAUnGz2x_okIWY0R_z84px_x6DWAC7E_qQ"],
  Edit: ["AErXjHM6GezuylT8v5BO25LePryJj5rdYwq6Ra9I04s"],
  Bash: ["drZn1qo5a5V-AGKtX6Rd7F7N57ZM7nfB1KHQODs8AK0", "FysL97UbOPejkZ35cYJXh83-DQtA4nEYGGPf84qInGs"],
  KillShell: ["FB8auKloIhR2dOOWpP_buHWhau1nHQ6_EyM_Zu1SfKU"],
  Glob: ["DfnmRlUMNP5yZYQkhKaIwhtx5Ea2Br2o3TlWHeFwg-w"],
  Grep: ["0BBtMZbMcayoHIOOpjCswyVvDb5wcA25kuMqYIvv6i0"],
  TodoWrite: ["YJseHPsIvSWjlJlVyXm2g0CFXIfbnFBkKDB3yxUFQmk"],
  ExitPlanMode: ["400WF2B5vvP6JlUC5nSjPi98hc7Bi13sAR4qj-L7IW0"],
  WebFetch: ["w5pKdTdfKbMX2VTsPYUhvI1aafLO2vAn17iP7nVqK7g"],
  WebSearch: ["XDDPd0xrTdKx4ETkQ5pBn9d_E6oxX5tUgkJmZgjEL28"],
};

/** The file that a call changes, as it is now. */
export function operandFile(context: Place, tool: Tool, input: ToolInput): Operand | undefined {
  if (!tool.operand) return undefined;
  const place = { cwd: context.options.workingDirectory, home: context.config.home };
  const path = tool.operand(input, place);
  if (path === undefined) return undefined;
  const lines = tool.shownLines?.(input, place);
  return { path, hash: hashFile(path), ...(lines !== undefined && { lines: hash("sha256", lines, "base64url") }) };
}

/** Hashes of the workspace scripts that a command names. */
export function scriptsOf(context: Place, finding: Finding | undefined): Record<string, string> | undefined {
  const possible = finding?.shell?.reading.possible;
  if (!possible) return undefined;
  const paths = namedScripts(possible, context.options.workingDirectory, context.config.roots);
  return paths.length === 0 ? undefined : Object.fromEntries(paths.map((path) => [path, hashFile(path)]));
}

/** Meanings of a command's words, apart from those scripts. */
export function meaningsIn(context: Place, finding: Finding | undefined): Record<string, string> | undefined {
  const possible = finding?.shell?.reading.possible;
  const { home, roots } = context.config;
  return possible && meaningsOf(possible, { cwd: context.options.workingDirectory, home, roots });
}

/** sha-256 of a file's content; "" when it cannot be read, which for a file to be created is the same as not there. */
function hashFile(path: string): string {
  return attempt(() => hash("sha256", readFileSync(path), "hex")) ?? "";
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
