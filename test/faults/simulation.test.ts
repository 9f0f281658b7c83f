// T10: a failure prints its seed and the shortest plan that still fails. A seed that failed once stays in `once`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { show } from "./checker.ts";
import { roundsOf, seed, thorough } from "./rounds.ts";
import { minimise, plan, simulate } from "./simulation.ts";

const once: number[] = [];
const size = thorough ? { sessions: 50, minutes: 10 } : { sessions: 5, minutes: 1 };

for (const of of [...once, ...Array.from({ length: roundsOf(5) }, (_, n) => seed + n)])
  test(`a day on which everything goes wrong (seed ${of})`, { timeout: 600_000 }, async (t) => {
    const day = plan(of, thorough && of % 10 !== 0 ? { sessions: 8, minutes: 2 } : size);
    const violations = await simulate(day);
    if (violations.length === 0) return;
    const shortest = await minimise(day, async (one) => (await simulate(one)).length > 0);
    const found = await simulate(shortest);
    t.diagnostic(JSON.stringify(shortest));
    assert.fail(
      `seed ${of}, ${shortest.actions.length} of ${day.actions.length} actions\n${show(found.length > 0 ? found : violations)}`,
    );
  });
