// Checking the checker: a Sage with a mistake in it must be found out, or none of the other tests here says anything.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadMutant, mutants } from "./mutants.ts";
import { play, sceneNames } from "./scenes.ts";
import { show } from "./checker.ts";

for (const name of sceneNames)
  test(`scene ${name}: nothing lost, nothing twice`, async () => {
    const violations = await play(name);
    assert.deepEqual(violations, [], show(violations));
  });

for (const mutant of mutants)
  test(`a Sage that ${mutant.name} is found out`, async (t) => {
    const { play: playMutant } = await loadMutant(mutant);
    const violations = await playMutant(mutant.scene, mutant.hangs ? { patienceMs: 1_000 } : {});
    t.diagnostic([...new Set(violations.map(({ invariant }) => invariant))].join(", "));
    assert.notDeepEqual(violations, [], "the mutant survived");
  });
