import type { Delta, Fact } from "../../protocol/facts/fact.ts";
import { withoutEnd } from "../../protocol/key.ts";

/** Text that is being streamed right now, whole: for a surface that attaches in the middle of a reply. */
export type Blocks = {
  fact(fact: Fact): void;
  delta(delta: Delta): void;
  of(session: string): Delta[];
  forget(session: string): void;
};

/** Characters of a command's output kept here: output may be endless, and the result has all of it. */
const MAX_OUTPUT = 32_000;

export function createBlocks(): Blocks {
  const blocks = new Map<string, Map<string, Delta>>();
  return {
    fact({ session, key }) {
      const ofSession = blocks.get(session);
      if (!ofSession) return;
      for (const [id, block] of ofSession)
        if (key.startsWith(block.key) && block.key === withoutEnd(key)) ofSession.delete(id);
    },
    delta(delta) {
      const ofSession = blocks.get(delta.session) ?? new Map<string, Delta>();
      blocks.set(delta.session, ofSession);
      const id = `${delta.key} ${delta.kind}`;
      const block = ofSession.get(id);
      const isWhole = delta.kind === "notice" || delta.kind === "state" || delta.whole === true;
      if (!block || block.attempt < delta.attempt || isWhole) ofSession.set(id, delta);
      else ofSession.set(id, { ...delta, text: capped(block.text + delta.text, delta.kind) });
    },
    of: (session) => [...(blocks.get(session)?.values() ?? [])],
    forget: (session) => void blocks.delete(session),
  };
}

function capped(text: string, kind: Delta["kind"]): string {
  return kind === "output" && text.length > 2 * MAX_OUTPUT ? text.slice(-MAX_OUTPUT) : text;
}
