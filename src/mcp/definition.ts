import { hash } from "node:crypto";
import { isObject } from "../base/issue.ts";
import { canonicalJson } from "../base/canonical-json.ts";
import { harmless, oneLine } from "../base/visible.ts";
import type { Preview, ToolInput } from "../protocol/facts/call.ts";

/** A tool as its server describes it, made safe to read. The description is data of a stranger, for model and people alike. */
export type ToolDefinition = {
  /** The name that the server knows it by. */
  own: string;
  /** `mcp__server__tool`, as rules and the model know it. */
  name: string;
  description: string;
  inputSchema: ToolInput;
};

/** The part of a definition that a grant holds for. */
export type Described = Pick<ToolDefinition, "description" | "inputSchema">;

const MAX_NAME_LENGTH = 64;
const MAX_DESCRIPTION_LENGTH = 2_000;
const MAX_SCHEMA_BYTES = 64 * 1024;
const DEEPEST = 12;
export const MAX_TOOLS = 500;

type Listed = { name: string; description?: string | undefined; inputSchema?: unknown };

/** Tools of a server, in its order. Of two with the same name the first counts; one that is no tool is left out. */
export function definitionsOf(server: string, listed: readonly Listed[]): ToolDefinition[] {
  const byName = new Map<string, ToolDefinition>();
  for (const tool of listed.slice(0, MAX_TOOLS)) {
    const definition = toolDefinition(server, tool);
    if (definition && !byName.has(definition.name)) byName.set(definition.name, definition);
  }
  return [...byName.values()];
}

function toolDefinition(server: string, { name, description = "", inputSchema }: Listed): ToolDefinition | undefined {
  if (typeof name !== "string" || name === "" || name.length > 1_000) return undefined;
  const schema = cleaned(inputSchema ?? { type: "object" }, 0);
  if (!isObject(schema) || JSON.stringify(schema).length > MAX_SCHEMA_BYTES) return undefined;
  const tool = toolName(server, name);
  const told = harmless(typeof description === "string" ? description : "").trim();
  const cut = told.length > MAX_DESCRIPTION_LENGTH ? `${told.slice(0, MAX_DESCRIPTION_LENGTH).toWellFormed()}…` : told;
  // A name that was rewritten says what it was.
  const called = tool.endsWith(`__${name}`) ? "" : `(${oneLine(name).slice(0, 200)}) `;
  return { own: name, name: tool, description: `${called}${cut}`, inputSchema: { ...schema, type: "object" } };
}

/** A name that every provider takes: letters, digits, `-`, `_`, 64 at most. A changed name carries a hash, so that no two meet. */
export function toolName(server: string, own: string): string {
  const room = MAX_NAME_LENGTH - `mcp__${server}__`.length;
  const plain = own.replaceAll(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+/, "");
  if (plain === own && own.length <= room) return `mcp__${server}__${own}`;
  const mark = hash("sha256", own, "hex").slice(0, 8);
  const kept = plain.replace(/_+$/, "").slice(0, room - mark.length - 1);
  return `mcp__${server}__${kept === "" ? "" : `${kept}_`}${mark}`;
}

/** Tells a definition from any other: a grant holds for the words that the person knew. */
export function definitionHash({ description, inputSchema }: Described): string {
  return hash("sha256", canonicalJson([description, inputSchema]), "base64url");
}

/** Both definitions as lines of a change; the view finds unchanged lines. */
export function definitionChange(tool: string, before: Described, now: Described): Preview {
  const marked = (mark: "-" | "+", described: Described) =>
    [...described.description.split("\n"), ...canonicalJson(described.inputSchema).split("\n")].map((text) => ({
      mark,
      text,
    }));
  return { of: "tool", path: tool, firstLine: 1, lines: [...marked("-", before), ...marked("+", now)] };
}

/** Texts in a schema go to the model too: nothing in them hides or steers. */
function cleaned(value: unknown, depth: number): unknown {
  if (typeof value === "string") return harmless(value).slice(0, MAX_DESCRIPTION_LENGTH).toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEEPEST) return {};
  if (Array.isArray(value)) return value.map((item) => cleaned(item, depth + 1));
  const kept = Object.entries(value).filter(([key]) => key !== "$schema" && key !== "__proto__");
  return Object.fromEntries(kept.map(([key, inner]) => [harmless(key), cleaned(inner, depth + 1)]));
}
