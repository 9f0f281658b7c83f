import { existsSync, readFileSync } from "node:fs";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { markedCalls, type Event, type History } from "./history.ts";

/** The marks that processes left in the file that only they write to, in order. */
export function witnessed(dir: string): string[] {
  return existsSync(`${dir}/witness`) ? readFileSync(`${dir}/witness`, "utf8").trim().split("\n") : [];
}

/** The session in a folder's journal, and what its commands did; `counting` picks the facts that count. */
export function historyIn(dir: string, counting = (facts: readonly Fact[]): readonly Fact[] => facts): History {
  const store = sqliteStore(`${dir}/journal.db`);
  try {
    const facts = [...counting(store.load("s"))];
    const calls = markedCalls(facts);
    const events = witnessed(dir).map((mark, n): Event => {
      const input = calls.get(mark)?.input ?? {};
      return { n, mono: 0, wall: 0, process: "", type: "executed", session: "s", mark, tool: "Bash", input };
    });
    const broken = new Map(Object.entries(store.verify("s") ?? {}).map(([, at]) => ["s", String(at)]));
    return {
      events,
      journal: new Map([["s", facts]]),
      broken,
      listed: store.pending().map(({ id }) => id),
      over: true,
    };
  } finally {
    store.close();
  }
}
