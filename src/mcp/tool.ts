import type { CallToolResult } from "@modelcontextprotocol/client";
import type { ToolInput } from "../protocol/facts/call.ts";
import type { ToolResult } from "../protocol/facts/message.ts";
import { type Reason, reasonOf } from "../protocol/reasons/reason.ts";
import { sentence } from "../texts/shared/sentence.ts";
import * as z from "../base/z.ts";
import type { Tool, ToolScope } from "../tools/definition/tool.ts";
import type { CallListener, Connection } from "./connection.ts";
import { type ToolDefinition, definitionChange, definitionHash } from "./definition.ts";
import { type ServerDefinition, ServerFailure } from "./server.ts";
import type { ServerMemory } from "./memory.ts";
import { canonicalJson } from "../base/canonical-json.ts";
import type { ImagePart } from "../protocol/image.ts";
import { createExcerpt } from "../tools/content/excerpt.ts";
import { keepImage } from "../tools/content/image.ts";

type ToolLine = {
  definition: ServerDefinition;
  memory: ServerMemory;
  /** Opens the line of this session, if it is not. */
  connection(session: string, signal: AbortSignal): Promise<Connection>;
  /** The tool as the server describes it now. */
  current(tool: string): ToolDefinition | undefined;
};

/** A tool of a server as an ordinary tool. Nothing that the server says about its harmlessness is taken for true. */
export function serverTool(line: ToolLine, defined: ToolDefinition): Tool<ToolInput> {
  const { definition: server, memory } = line;
  const reads = server.reads.some((pattern) => matches(pattern, defined.own));
  const now = definitionHash(defined);
  return {
    name: defined.name,
    description: defined.description,
    server: server.name,
    inputSchema: anyObject(defined.inputSchema),
    effect: reads ? "reads" : "writes",
    // A read may run again after a crash, and must not ask again.
    elicits: !reads,
    changed() {
      const granted = memory.approved(server, defined.name);
      if (!granted || definitionHash(granted) === now) return undefined;
      return definitionChange(defined.name, granted, defined);
    },
    approve: () => memory.approve(server, defined.name, defined),
    async execute(input, scope) {
      const connection = await line
        .connection(scope.session ?? "", scope.signal)
        .catch((error: unknown) => failureReason(error));
      if ("code" in connection)
        return failed(`The MCP server "${server.name}" is not available: ${sentence(connection, "en")}.`);
      const latest = line.current(defined.name);
      if (!latest || definitionHash(latest) !== now) return failed(changedText(defined.name, latest !== undefined));
      if (!memory.approved(server, defined.name)) memory.approve(server, defined.name, defined);
      return run(line, connection, { defined, input, scope });
    },
  };
}

async function run(
  { definition: server }: ToolLine,
  connection: Connection,
  { defined, input, scope }: { defined: ToolDefinition; input: ToolInput; scope: ToolScope },
): Promise<ToolResult> {
  const elicit = scope.elicit?.bind(scope);
  const listener: CallListener = {
    signal: scope.signal,
    progress: (text) => scope.output(`${text}\n`),
    ...(elicit && {
      elicit: async (params, signal) => {
        const { askFor } = await import("./elicit.ts");
        return askFor(params, { server: server.name, tool: defined.name, signal, elicit, notice: scope.notice });
      },
    }),
  };
  try {
    return await callResult(await connection.call(defined.own, input, listener), scope.keepDir);
  } catch (error) {
    if (scope.signal.aborted) return failed("Interrupted. The server was told so; it may have finished all the same.");
    if (error instanceof ServerFailure && !error.sent)
      return failed(`The MCP server "${server.name}" is not available: ${sentence(error.reason, "en")}.`);
    if (!(error instanceof ServerFailure))
      return failed(`The MCP server "${server.name}" says: ${sentence(reasonOf(error), "en")}`);
    return {
      ok: false,
      end: "unknown",
      text: `The MCP server "${server.name}" was lost during this call: ${sentence(error.reason, "en")}. Whether the call took effect is not known; check before you try again.`,
    };
  }
}

function changedText(tool: string, isThere: boolean): string {
  return isThere
    ? `Not run: the server describes ${tool} in another way than when this call was made. Read its description again and call it anew.`
    : `Not run: the server no longer offers ${tool}.`;
}

function failureReason(error: unknown): Reason {
  if (error instanceof ServerFailure) return error.reason;
  throw error;
}

function failed(text: string): ToolResult {
  return { ok: false, text };
}

/** Takes any object and tells the server's schema: the server checks its own input. */
function anyObject(schema: ToolInput): Tool<ToolInput>["inputSchema"] & { toJSONSchema(): ToolInput } {
  const parse = (value: unknown) => object.parse(value);
  return { parse, safeParse: (value) => object.safeParse(value), toJSONSchema: () => schema };
}

const object = z.record(z.string(), z.unknown());

/** `*` stands for anything. */
function matches(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === name;
  if (!name.startsWith(first)) return false;
  const last = rest.pop() ?? "";
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

type Block = CallToolResult["content"][number];

const MAX_IMAGES = 10;
/** Longer texts are cut in pieces, so that no copy of the whole is made for each. */
const PIECE = 1024 * 1024;

/** A result of a server for the model: its texts, long ones kept on disk like the output of a command, and its pictures. */
async function callResult(
  { content, structuredContent, isError }: CallToolResult,
  keepDir: string,
): Promise<ToolResult> {
  const excerpt = createExcerpt(keepDir);
  const images: ImagePart[] = [];
  const blocks = Array.isArray(content) ? content : [];
  let said = false;
  const say = async (text: string) => {
    const lined = said ? `\n${text}` : text;
    said = true;
    for (let at = 0; at < lined.length; at += PIECE) {
      const piece = lined.slice(at, at + PIECE);
      await excerpt.push(Buffer.from(piece), piece);
    }
  };
  for (const block of blocks) {
    const image = block.type === "image" && images.length < MAX_IMAGES ? keptImage(block, keepDir) : undefined;
    if (typeof image === "object") images.push(image);
    const text = image === undefined ? blockText(block) : typeof image === "string" ? image : "";
    if (text !== "") await say(text);
  }
  if (!said && structuredContent !== undefined) await say(canonicalJson(structuredContent));
  const { text, output } = await excerpt.end();
  return {
    ok: isError !== true,
    text: text === "" && images.length === 0 ? "(The tool returned nothing.)" : text,
    ...(output && { output }),
    ...(images.length > 0 && { images }),
  };
}

/** A picture that cannot be stored is replaced by a description. */
function keptImage({ data }: Block & { type: "image" }, keepDir: string): ImagePart | string {
  const kept = keepImage(keepDir, { name: "image", content: Buffer.from(data, "base64") });
  return "image" in kept ? kept.image : "[a picture that cannot be shown]";
}

function blockText(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}, ${block.mimeType}, ${block.data.length} characters of base64, not shown]`;
    case "resource_link":
      return `[resource ${block.uri}${block.name ? ` (${block.name})` : ""}]`;
    case "resource":
      return "text" in block.resource
        ? `[resource ${block.resource.uri}]\n${block.resource.text}`
        : `[resource ${block.resource.uri}, ${block.resource.mimeType ?? "binary"}, not shown]`;
    default:
      return `[${String((block as { type?: unknown }).type)}, not shown]`;
  }
}
