import { imageLabel } from "../../protocol/image.ts";
import type { Texts } from "../../texts/shared/texts.ts";
import type { SaidItem } from "../transcript/item.ts";

/** A message as people read it: its words, and one line for each picture. */
export function saidText({ text, images }: SaidItem, t: Texts): string {
  return [text, ...images.map((image) => t.image(imageLabel(image)))].filter((line) => line !== "").join("\n");
}
