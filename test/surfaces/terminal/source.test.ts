import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchedSource } from "../../../src/surfaces/terminal/widgets/source.ts";

test("output of another machine comes a part at a time, as it is read, and a line that two parts share is one line", async () => {
  const parts = ["one\ntw", "o\nthree\n", "four"];
  const asked: number[] = [];
  let changes = 0;
  const source = fetchedSource(
    "the beginning\nand the end",
    async (page) => {
      asked.push(page);
      return { text: parts[page] ?? "", pages: parts.length };
    },
    () => changes++,
  );
  assert.deepEqual(source.lines(0, 5), ["the beginning", "and the end"], "what the result says, until there is more");
  await new Promise(setImmediate);
  assert.deepEqual([asked, source.count(), changes], [[0], 1, 1]);
  assert.deepEqual(source.lines(0, 5), ["one"]);
  await new Promise(setImmediate);
  assert.deepEqual(source.lines(0, 2), ["one", "two"]);
  assert.deepEqual(asked, [0, 1], "nothing is fetched before it is read");
  source.lines(1, 5);
  await new Promise(setImmediate);
  assert.deepEqual(source.lines(0, 10), ["one", "two", "three", "four"]);
  await new Promise(setImmediate);
  assert.deepEqual(asked, [0, 1, 2]);
});

test("where it cannot be had, that is said, and the result's own text follows", async () => {
  const source = fetchedSource(
    "beginning\nend",
    async () => ({ trouble: "kept at build" }),
    () => {},
  );
  await new Promise(setImmediate);
  assert.deepEqual(source.lines(0, 10), ["kept at build", "", "beginning", "end"]);
});
