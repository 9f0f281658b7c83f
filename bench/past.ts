import { join } from "node:path";
import { readPast } from "../src/archive/trials.ts";
import { sqliteStore } from "../src/journal/sqlite/sqlite.ts";
import type { Fact } from "../src/protocol/facts/fact.ts";
import { bash, sageWith } from "../test/support/sage.ts";
import { median, type Row } from "./measure.ts";

const sessions = 500;
const callsEach = 20;

/** Cost of holding a rule against ten thousand calls of the past, the journal read anew. */
export async function past(dir: string): Promise<Row[]> {
  const store = sqliteStore(join(dir, "past.db"));
  // As agents work: half of it looks, the rest asks.
  const kinds = ["ls -la", "make test", "cat Makefile | head -n", "git log -n", "python3 build.py", "make test -j"];
  const commands = Array.from({ length: callsEach }, (_, n) => `${kinds[n % kinds.length]!} ${n}`);
  const script = [{ calls: commands.map(bash) }, { text: "done" }];
  const sage = await sageWith({ script, dir, store });
  await sage.say("go");
  for (const [n, { id }] of (await sage.open(callsEach / 2)).entries())
    await sage.answer(n % 7 === 0 ? { type: "denied", requestId: id } : { type: "granted", requestId: id });
  await sage.outcome();
  const facts = sage.facts();
  for (let n = 1; n < sessions; n++) store.housekeeping.copy(`copy${n}`, renamed(facts, `copy${n}`, n));
  const times: number[] = [];
  for (let n = 0; n < 5; n++) {
    const before = performance.now();
    const { trials, calls } = await readPast(store, dir, { rules: [] });
    const { changed } = trials.of({ text: "Bash(make test:*)", behavior: "allow" });
    if (calls.length !== sessions * callsEach || changed === 0)
      throw new Error(`${calls.length} calls, ${changed} changed`);
    times.push(performance.now() - before);
  }
  await sage[Symbol.asyncDispose]();
  return [
    {
      figure: `a rule tried against ${sessions * callsEach} calls`,
      unit: "ms",
      sage: median(times),
      aim: { atMost: 1_000 },
    },
  ];
}

/** Commands that ask are a session's own, as in life: no two days are alike. */
function renamed(facts: readonly Fact[], session: string, n: number): Fact[] {
  const text = JSON.stringify(facts)
    .replaceAll(facts[0]!.session, session)
    .replaceAll(/(make test|build\.py) (-j )?(\d+)/g, `$1 $2$3 of${n}`);
  return JSON.parse(text) as Fact[];
}
