import assert from "node:assert/strict";
import { test } from "node:test";
import { exportsWithoutReader, readEverything } from "../../scripts/exports.ts";

test("every export of src has a reader", () => {
  const unread = exportsWithoutReader(readEverything());
  assert.deepEqual(
    unread,
    [],
    `node scripts/run.mjs scripts/exports.ts --mend takes the word away:\n${unread.join("\n")}`,
  );
});

test("a reader imports the name in whatever form; the entrance for embedders is read by them", () => {
  const sources = [
    {
      path: "src/a/names.ts",
      text: `
        export function called() {}
        export function passedOn() {}
        export const { first, second: renamed } = both;
        export type Shape = { size: number };
        export type Unread = Shape;
        export function loaded() {}
        export { local as published };
      `,
    },
    {
      path: "src/sdk/index.ts",
      text: `
        export { passedOn } from "../a/names.ts";
        export type { Shape } from "../a/names.ts";
        export function offered() {}
      `,
    },
    {
      path: "src/a/reader.ts",
      text: `
        import { called as known, first } from "./names.ts";
        const lazy = async () => (await import("./names.ts")).loaded();
      `,
    },
  ];
  assert.deepEqual(exportsWithoutReader(sources), [
    "src/a/names.ts: renamed",
    "src/a/names.ts: Unread",
    "src/a/names.ts: published",
  ]);
});
