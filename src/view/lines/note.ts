import type { Note, Tone } from "../note.ts";
import type { Style } from "./paint.ts";
import { framed } from "./safe.ts";

const colours = { dim: "dim", good: "green", warn: "yellow", danger: "red" } as const satisfies Record<Tone, string>;

export function noteLines({ tone, line, foreign }: Note, style: Style): string[] {
  return [style.paint[colours[tone]](line), ...(foreign === undefined ? [] : framed(foreign, style))];
}
