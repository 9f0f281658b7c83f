import type { Delta, Fact } from "../../src/protocol/facts/fact.ts";
import type { Item } from "../../src/view/transcript/item.ts";
import { createTranscript } from "../../src/view/transcript/transcript.ts";

/** Facts and deltas that a test tells by hand, as whoever draws items gets them. */
export function folded<Drawn>(draw: (items: readonly Item[]) => Drawn) {
  const transcript = createTranscript();
  return {
    fact: (fact: Fact) => draw(transcript.fact(fact)),
    delta: (delta: Delta) => draw(transcript.delta(delta)),
  };
}
