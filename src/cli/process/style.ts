import { createPaint, type Style } from "../../view/lines/paint.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/shared/texts.ts";

export function styleOf(stream: NodeJS.WriteStream, lang: Lang): Style {
  return { t: texts(lang), paint: createPaint(wantsColor(stream)), width: stream.isTTY ? stream.columns : undefined };
}

export function wantsColor(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}
