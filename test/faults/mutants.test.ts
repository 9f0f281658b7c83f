// Checking the checks: a Sage with a mistake in it must be found out, or none of the tests says anything. `npm run test:mutants` plays
// every mutant; here is a sample, and whether each still fits the source.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { clusterMutants } from "./cluster/mutants.ts";
import { mutants } from "./mutants.ts";
import { playMutant } from "./play-mutant.ts";

/** Of so many, one is played: each takes as long as loading Sage anew. */
const SAMPLE = 8;

for (const { name, changes } of [...mutants, ...clusterMutants])
  for (const { file, from } of changes)
    test(`a Sage that ${name} can be made: the text to change is there once`, () => {
      assert.equal(
        readFileSync(join(import.meta.dirname, "../..", file), "utf8").split(from).length,
        2,
        `${file}: ${from}`,
      );
    });

for (const mutant of mutants.filter((_, n) => n % SAMPLE === 0))
  test(`a Sage that ${mutant.name} is found out`, async (t) => {
    const verdict = await playMutant(mutant);
    if (verdict.is === "skipped") t.skip("its test is skipped here");
    else assert.deepEqual(verdict, { is: "killed" });
  });

test("a mutant that nobody finds out, that fits no more, or whose test is gone is told as such", async () => {
  const killedBy = { file: "test/protocol/key.test.ts", test: "key" };
  const play = async (from: string, to: string, test = killedBy.test) => {
    const mutant = { name: "", changes: [{ file: "src/protocol/key.ts", from, to }], killedBy: { ...killedBy, test } };
    const verdict = await playMutant(mutant);
    return verdict.is === "unfit" ? verdict.why : verdict.is;
  };
  assert.equal(await play("withdrawn/said/…", "withdrawn/said/"), "survived");
  assert.match(await play("no such text", ""), /src\/protocol\/key\.ts should have "no such text" once/);
  assert.match(await play("withdrawn/said/…", "*/ )"), /SyntaxError/);
  assert.match(await play("withdrawn/said/…", "", "no such test"), /has no test "no such test"/);
});
