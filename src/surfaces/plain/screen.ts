import type { Writable } from "node:stream";
import type { Style } from "../../view/lines/paint.ts";
import { fitted } from "../../view/lines/safe.ts";
import type { Piece } from "./view.ts";

/** Writes pieces, on lines of their own where needed; holds them back while a prompt is shown at the bottom. */
export type Screen = {
  write(pieces: readonly Piece[]): void;
  /** Not held back: no prompt is there yet. */
  now(line: string): void;
  startLine(): void;
  hold(): void;
  release(): void;
};

export function createScreen(output: Writable, style: Style): Screen {
  let atStart = true;
  let held: Piece[] | undefined;
  const startLine = () => {
    if (!atStart) output.write("\n");
    atStart = true;
  };
  const put = (piece: Piece) => {
    if ("stream" in piece) {
      if (piece.stream === "") return;
      output.write(piece.stream);
      atStart = piece.stream.endsWith("\n");
    } else if (piece.lines.length > 0) {
      startLine();
      output.write(
        fitted(piece.lines, style.width)
          .map((line) => `${line}\n`)
          .join(""),
      );
    }
  };
  return {
    startLine,
    now: (line) => put({ lines: [line] }),
    write(pieces) {
      if (held) held.push(...pieces);
      else pieces.forEach(put);
    },
    hold: () => void (held ??= []),
    release() {
      const waiting = held ?? [];
      held = undefined;
      waiting.forEach(put);
    },
  };
}
