import { atOnce } from "../../base/at-once.ts";
import { attempt } from "../../base/attempt.ts";
import { isObject } from "../../base/issue.ts";
import type { ToolInput } from "../../protocol/facts/call.ts";
import type { Call } from "../../protocol/facts/message.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import type { Tool } from "./tool.ts";

type Known = { get(name: string): Tool | undefined; names(): string[] };
type Json = Record<string, unknown>;

/** Field names of other agents' tools, which models write out of habit. */
const habits: Readonly<Record<string, readonly string[]>> = {
  background: ["runinbackground"],
  id: ["shellid", "bashid", "taskid"],
  file_path: ["path", "file", "filename"],
};

/**
 * The call as it was meant, where it can mean only one thing: the tool's name in another case, a field in another spelling, a number
 * or a list as text. Done once, before the reply is recorded, so that rules, hooks, requests and receipts all see the same input. Calls
 * of a server's tools are passed on as they are: their schemas are a stranger's.
 */
export function forgiven(call: Call, tools: Known): Call {
  const name = tools.get(call.tool) ? call.tool : onlyOne(tools.names(), (known) => fold(known) === fold(call.tool));
  const tool = name === undefined ? undefined : tools.get(name);
  if (name === undefined || !tool || tool.server !== undefined) return call;
  const named = name === call.tool ? call : { ...call, tool: name };
  if (call.malformed !== undefined || fits(tool, call.input)) return named;
  const input = mended(call.input, jsonSchemaOf(tool.inputSchema)) as ToolInput;
  return fits(tool, input) ? { ...named, input } : named;
}

function fits(tool: Tool, input: ToolInput): boolean {
  // A tool of somebody else may fail here: its call is refused when it is judged.
  return attempt(() => tool.inputSchema.safeParse(atOnce(tool.adapt?.(input), "adapt") ?? input).success) ?? false;
}

/** The value with each part that does not fit read as the only thing that it can mean. */
function mended(value: unknown, schema: Json): unknown {
  switch (schema["type"]) {
    case "object":
      return mendedObject(typeof value === "string" ? (parsed(value) ?? value) : value, schema);
    case "array": {
      const list = typeof value === "string" ? (parsed(value) ?? value) : value;
      return Array.isArray(list) ? list.map((item) => mended(item, (schema["items"] ?? {}) as Json)) : list;
    }
    case "integer":
    case "number":
      return typeof value === "string" && /^-?\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : value;
    case "boolean":
      return typeof value === "string" && /^(?:true|false)$/i.test(value.trim())
        ? value.trim().toLowerCase() === "true"
        : value;
    default:
      return value;
  }
}

function mendedObject(value: unknown, schema: Json): unknown {
  if (!isObject(value)) return value;
  const properties = (schema["properties"] ?? {}) as Record<string, Json>;
  const names = Object.keys(properties);
  const sent = value as Json;
  const entries = Object.entries(sent).map(([key, field]): [string, unknown] => {
    const meant = names.includes(key) ? key : (meantBy(key, names) ?? key);
    // Two spellings of one field leave it open which of them is meant.
    const name = meant !== key && (meant in sent || isSpeltTwice(meant, sent, names)) ? key : meant;
    return [name, name in properties ? mended(field, properties[name] as Json) : field];
  });
  return Object.fromEntries(entries);
}

function meantBy(key: string, names: readonly string[]): string | undefined {
  return onlyOne(names, (name) => fold(name) === fold(key) || habits[name]?.includes(fold(key)) === true);
}

function isSpeltTwice(name: string, sent: Json, names: readonly string[]): boolean {
  return Object.keys(sent).filter((key) => meantBy(key, names) === name).length > 1;
}

function onlyOne(names: readonly string[], fit: (name: string) => boolean): string | undefined {
  const found = names.filter(fit);
  return found.length === 1 ? found[0] : undefined;
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[_\s-]/g, "");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
