// Checking the checker: a Sage with a mistake in it must be found out, or none of the other tests here says anything.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { clusterMutants } from "./cluster/mutants.ts";
import { loadMutant, mutants } from "./mutants.ts";
import { thorough } from "./rounds.ts";
import { play, sceneNames } from "./scenes.ts";
import { show } from "./checker.ts";

for (const name of sceneNames)
  test(`scene ${name}: nothing lost, nothing twice`, async () => {
    const violations = await play(name);
    assert.deepEqual(violations, [], show(violations));
  });

// One in three by default: each takes as long as loading Sage anew.
const played = thorough ? mutants : mutants.filter((_, n) => n % 3 === 0);

for (const { name, changes } of [...mutants, ...clusterMutants])
  for (const { file, from } of changes)
    test(`a Sage that ${name} can be made: the line to change is there once`, () => {
      assert.equal(
        readFileSync(join(import.meta.dirname, "../..", file), "utf8").split(from).length,
        2,
        `${file}: ${from}`,
      );
    });

for (const mutant of played)
  test(`a Sage that ${mutant.name} is found out`, async (t) => {
    const { play: playMutant } = await loadMutant(mutant);
    const violations = await playMutant(mutant.scene, mutant.hangs ? { patienceMs: 1_000 } : {});
    t.diagnostic([...new Set(violations.map(({ invariant }) => invariant))].join(", "));
    assert.notDeepEqual(violations, [], "the mutant survived");
  });
