// A journal as this version writes it, kept so that later versions must still read it.
import { hash } from "node:crypto";
import { fold } from "../../src/agent/turn/projection.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";

/** The first line says what the facts behind it must come to. */
export type Recorded = {
  version: string;
  facts: number;
  state: string;
  /** Files of the session's folder that its facts rest on. */ files?: Record<string, string>;
};

export function write(version: string, facts: readonly Fact[], files?: Recorded["files"]): string {
  const first: Recorded = { version, facts: facts.length, state: stateOf(facts), ...(files && { files }) };
  return `${[first, ...facts].map((line) => JSON.stringify(line)).join("\n")}\n`;
}

export function read(text: string): { recorded: Recorded; facts: Fact[] } {
  const [first = "{}", ...facts] = text.trimEnd().split("\n");
  return { recorded: JSON.parse(first) as Recorded, facts: facts.map((line) => JSON.parse(line) as Fact) };
}

/**
 * All that a session is: what the model would see next, the rules it was given, where its turn stands.
 * Left out: what 0.1.0 did not fold (commands in the background, rules set aside), for its fixtures hold a hash of what it did.
 */
export function stateOf(facts: readonly Fact[]): string {
  const { seen, open, tasks: _, toldTasks: __, setAside: ___, ...folded } = fold(facts);
  const state = { ...folded, seen: [...(seen ?? [])], open: open?.key };
  return hash("sha256", JSON.stringify(state), "hex");
}
