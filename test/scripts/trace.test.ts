import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { runInNewContext } from "node:vm";
import { instrument } from "../../scripts/trace/instrument.ts";
import { mainLine, rowsIn, rowsOf, traceTurns } from "../../scripts/trace.ts";

const root = join(import.meta.dirname, "../..");

/** Files on the way from a typed message over a request and its answer to the result on the screen. It may only go down. */
const MAX_FILES = 28;

/** Files touched may change by this many until the page is written again: most changes of the code touch one or two. */
const MAX_DRIFT = 10;

test("the way of one turn through the house is no longer than it was, and the page says how long it is", async () => {
  const traced = await traceTurns(root);
  const recordings = [...traced.allowed, ...traced.asked];
  const unmet = recordings.flatMap(({ stacks }) => stacks).filter(({ files }) => files.length === 0);
  assert.deepEqual(unmet, [], "scripts/trace/recorder.ts no longer finds these moments");
  const files = mainLine(traced.asked);
  assert.ok(files.length <= MAX_FILES, `${files.length} files on the main line:\n${files.join("\n")}`);
  const [now, said] = [rowsOf(traced), rowsIn(readFileSync(join(root, "docs/decisions/house.md"), "utf8"))];
  assert.ok(isFresh(said, now), `docs/decisions/house.md is stale, \`npm run trace -- --write\`:\n${now.join("\n")}`);
});

/** The same turns and main lines, and about as many files touched. */
function isFresh(said: readonly string[], now: readonly string[]): boolean {
  const read = (rows: readonly string[]) => rows.map((row) => row.split("|"));
  const touched = (rows: readonly string[]) => read(rows).map((cells) => Number(cells[3]));
  const rest = (rows: readonly string[]) => read(rows).map((cells) => cells.slice(1, 3));
  const before = touched(said);
  return (
    isDeepStrictEqual(rest(said), rest(now)) &&
    touched(now).every((count, n) => Math.abs(count - (before[n] ?? NaN)) <= MAX_DRIFT)
  );
}

test("a traced function says its name and what it was given, and otherwise does the same", () => {
  const source = `
    function add(a: number, { b, ...rest }: { b: number }) { return a + b; }
    const api = { async run([first]: string[], n = 1) { return first; }, of: (x: string) => ({ x }) };
    const twice = (n: number) => n * 2;
  `;
  const calls: unknown[] = [];
  const code = instrument(source, "x.ts", 7).replaceAll(/: (number|string\[\]|string|\{ b: number \})/g, "");
  const after = 'api.run(["x"]); JSON.stringify([add(1, { b: 2, c: 3 }), api.of("y").x, twice(4)])';
  const __entered = (...given: unknown[]) => calls.push(structuredClone(given));
  assert.equal(runInNewContext(`${code};${after}`, { __entered }), '[3,"y",8]');
  assert.deepEqual(calls, [
    [7, "run", ["x", 1]],
    [7, "add", [1, 2, { c: 3 }]],
    [7, "of", ["y"]],
    [7, "twice", [4]],
  ]);
});
