import type { CallToolResult } from "@modelcontextprotocol/client";
import { canonicalJson } from "../base/canonical-json.ts";
import type { ToolResult } from "../protocol/facts/message.ts";
import type { ImagePart } from "../protocol/image.ts";
import { createExcerpt } from "../tools/content/excerpt.ts";
import { keepImage } from "../tools/content/image.ts";

type Block = CallToolResult["content"][number];

const MAX_IMAGES = 10;
/** Longer texts are cut in pieces, so that no copy of the whole is made for each. */
const PIECE = 1024 * 1024;

/** A result of a server for the model: its texts, long ones kept on disk like the output of a command, and its pictures. */
export async function resultOf(
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
    const text = image === undefined ? textOf(block) : typeof image === "string" ? image : "";
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

/** A picture that cannot be kept is told of in words. */
function keptImage({ data }: Block & { type: "image" }, keepDir: string): ImagePart | string {
  const kept = keepImage(keepDir, { name: "image", content: Buffer.from(data, "base64") });
  return "image" in kept ? kept.image : "[a picture that cannot be shown]";
}

function textOf(block: Block): string {
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
