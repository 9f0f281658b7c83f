import { imageKindOf, isPdf } from "../../protocol/image.ts";
import { convert } from "../content/convert.ts";

/** A page as text, or a picture as it is. `type`: the kind of content, in the words of its server. */
export type PageText = { type: string; whole: boolean } & ({ text: string } | { image: Buffer });

type Raw = { url: string; type: string; body: Buffer; whole: boolean };

/** A body as text for a model: HTML as Markdown, the text of a PDF, anything else that is text as it is. */
export async function toText(raw: Raw, signal: AbortSignal): Promise<PageText | { problem: string }> {
  const { body, whole, url } = raw;
  const type = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,60})\s*(;|$)/.exec(raw.type)?.[1]?.toLowerCase() ?? "";
  const named = { type: type || "unknown type", whole };
  if (imageKindOf(body)) return whole ? { ...named, image: body } : { problem: "the picture is too large" };
  if (isPdf(body) || type === "application/pdf") {
    if (!whole) return { problem: `the PDF is larger than ${body.length / 1024 / 1024} MB` };
    return { ...named, type: "application/pdf", text: await convert({ kind: "pdf", body }, signal) };
  }
  if (!isText(type) || (marked(body) === undefined && body.subarray(0, 8_192).includes(0)))
    return { problem: `it is not text (${type || "of no stated type"}, ${body.length} bytes)` };
  const text = decode(body, raw.type);
  if (!isHtml(type, text)) return { ...named, text };
  return { ...named, text: await convert({ kind: "html", text, url }, signal) };
}

function isText(type: string): boolean {
  return type === "" || /^text\/|[/+](json|xml|yaml|toml|javascript|ecmascript|x-ndjson|x-sh|sql|graphql)\b/.test(type);
}

function isHtml(type: string, text: string): boolean {
  if (type === "text/html" || type === "application/xhtml+xml") return true;
  return type === "" && /^\s*<(!doctype html|html)\b/i.test(text);
}

/** In the encoding that a mark at its beginning, its server or the page itself names. */
function decode(body: Buffer, type: string): string {
  const head = body.subarray(0, 2_048).toString("latin1");
  const named =
    marked(body) ??
    /charset\s*=\s*["']?([\w:.-]+)/i.exec(type)?.[1] ??
    /<meta[^>]{0,200}charset\s*=\s*["']?([\w:.-]+)/i.exec(head)?.[1];
  try {
    return new TextDecoder(named).decode(body);
  } catch {
    return new TextDecoder().decode(body); // an encoding that nobody knows
  }
}

function marked(body: Buffer): string | undefined {
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le";
  return body[0] === 0xfe && body[1] === 0xff ? "utf-16be" : undefined;
}
