import type { Host } from "../../protocol/host/host.ts";
import { noteLines } from "../../view/lines/note.ts";
import { endNote } from "../../view/note.ts";
import type { Plain, PlainOptions } from "./options.ts";
import { createParts, follow, interrupt } from "./session.ts";

export type { PlainEnd } from "./options.ts";

/** A session on lines of text: events are printed, requests are asked one at a time. */
export function attachPlain(host: Host, options: PlainOptions): Plain {
  const parts = createParts(host, options);
  return {
    done: follow(parts),
    interrupt: () => void interrupt(parts),
    failed(error) {
      const last = { status: "error", error } as const;
      parts.say(...noteLines(endNote(last, parts.style.t), parts.style));
      parts.finish("failed", last);
    },
  };
}
