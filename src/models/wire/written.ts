import type { Message } from "../../protocol/index.ts";
import type { LoadImage } from "../images.ts";
import type { ModelRequest, ToolOffer } from "../model.ts";

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
export function joinBody(fields: object, written: Record<string, string | undefined>): string {
  const head = JSON.stringify(fields).slice(0, -1);
  const rest = Object.entries(written).flatMap(([name, text]) => (text === undefined ? [] : `"${name}":${text}`));
  return `${head}${head === "{" || rest.length === 0 ? "" : ","}${rest.join(",")}}`;
}

/** Providers refuse text without a visible character, even when they wrote it themselves. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}
