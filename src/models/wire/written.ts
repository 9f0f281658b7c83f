import type { Message } from "../../protocol/facts/message.ts";
import type { LoadImage } from "../images.ts";
import type { ModelRequest, ToolOffer } from "../model.ts";
import type { Body } from "./request.ts";

/** Writes each message as JSON once, so that a step costs what is new in it. */
export function createWritten<T>(
  write: (message: Message, load: LoadImage | undefined) => T,
): (request: Pick<ModelRequest, "messages" | "image">) => T[] {
  const written = new WeakMap<Message, T>();
  return ({ messages, image }) =>
    messages.map((message) => {
      let text = written.get(message);
      if (text === undefined) written.set(message, (text = write(message, image)));
      return text;
    });
}

type Kept = {
  messages: Message[];
  /** Position at which each of them ends. */
  ends: number[];
  bytes: Buffer;
};

/**
 * The same for formats whose messages follow one another as they are, each behind a comma, as bytes. They are kept from request to
 * request, so that a long conversation is neither joined nor encoded anew with every step. Bytes that were given away never change:
 * the request that they are for may still be on its way.
 */
export function createWrittenBytes(
  write: (message: Message, load: LoadImage | undefined) => readonly object[],
): (request: Pick<ModelRequest, "messages" | "image">) => Uint8Array {
  const conversations = new WeakMap<Message, Kept>();
  return ({ messages, image }) => {
    const [first] = messages;
    if (!first) return Buffer.alloc(0);
    const before = conversations.get(first);
    const kept = before ? keptFor(before, messages) : { messages: [], ends: [], bytes: Buffer.alloc(0) };
    for (const message of messages.slice(kept.messages.length)) {
      append(
        kept,
        write(message, image)
          .map((item) => `,${JSON.stringify(item)}`)
          .join(""),
      );
      kept.messages.push(message);
    }
    conversations.set(first, kept);
    return kept.bytes.subarray(0, kept.ends.at(-1));
  };
}

/** The part that these messages have in common with those of the last request. */
function keptFor(kept: Kept, messages: readonly Message[]): Kept {
  const differs = kept.messages.findIndex((message, n) => message !== messages[n]);
  if (differs < 0) return kept;
  // Other text follows, in bytes of its own.
  const bytes = Buffer.from(kept.bytes.subarray(0, kept.ends[differs - 1] ?? 0));
  return { messages: kept.messages.slice(0, differs), ends: kept.ends.slice(0, differs), bytes };
}

function append(kept: Kept, text: string): void {
  const from = kept.ends.at(-1) ?? 0;
  const end = from + Buffer.byteLength(text);
  if (end > kept.bytes.length) {
    const larger = Buffer.allocUnsafeSlow(Math.ceil(end * 1.25));
    kept.bytes.copy(larger, 0, 0, from);
    kept.bytes = larger;
  }
  kept.bytes.write(text, from);
  kept.ends.push(end);
}

/** The same for the tools, which are one list for a whole run. */
export function createWrittenTools(
  write: (offers: readonly ToolOffer[]) => unknown,
): (offers: readonly ToolOffer[]) => string {
  let last: { offers: readonly ToolOffer[]; text: string } | undefined;
  return (offers) => {
    if (last?.offers !== offers) last = { offers, text: JSON.stringify(write(offers)) };
    return last.text;
  };
}

/** An object whose last fields are JSON already. */
export function joinBody(fields: object, written: Record<string, string | Body | undefined>): Body {
  const head = JSON.stringify(fields).slice(0, -1);
  const body: (string | Uint8Array)[] = [head];
  for (const [name, text] of Object.entries(written)) {
    if (text === undefined) continue;
    const isFirst = head === "{" && body.length === 1;
    body.push(`${isFirst ? "" : ","}"${name}":`, ...(typeof text === "string" ? [text] : text));
  }
  return [...body, "}"];
}

/** A list of JSON: a first item, if there is one, and then those of `createWrittenBytes`. */
export function joinList(first: string | undefined, bytes: Uint8Array): Body {
  return first === undefined ? ["[", bytes.subarray(1), "]"] : ["[", first, bytes, "]"];
}

/** Providers refuse text without a visible character, even when they wrote it themselves. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}
