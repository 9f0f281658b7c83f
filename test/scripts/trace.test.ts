import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { instrument } from "../../scripts/trace/instrument.ts";
import { trace } from "../../scripts/trace.ts";

/** Files on the way from a typed message over a running command to its result on the screen. It may only go down. */
const LONGEST_WAY = 27;

test("the way of one turn through the house is no longer than it was", async () => {
  const { mainLine } = await trace(join(import.meta.dirname, "../.."));
  assert.ok(mainLine.includes("agent/turn/loop.ts") && mainLine.includes("tools/shell/bash.ts"), mainLine.join("\n"));
  assert.ok(mainLine.length <= LONGEST_WAY, `${mainLine.length} files on the main line:\n${mainLine.join("\n")}`);
});

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
