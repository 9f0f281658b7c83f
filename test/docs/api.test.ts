import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as sdk from "../../src/sdk/index.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The names that open a row: `name`, `name(…)`, `Name.member(…)`. Members begin with a dot and belong to the row above. */
const told = read("docs/api.md")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .flatMap((line) => [...(line.split(/(?<!\\)\|/)[1] ?? "").matchAll(/`(\w+)/g)].map(([, name = ""]) => name));

const types = [
  ...read("src/sdk/index.ts").matchAll(/type (\w+)/g),
  ...read("src/sdk/index.ts").matchAll(/^export type \{([^}]*)\}/gm),
].flatMap(([, names = ""]) => names.split(",").map((name) => name.trim()));

test("the API page names everything that can be imported, and nothing else", () => {
  const exported = new Set([...Object.keys(sdk), ...types.filter((name) => name !== "")]);
  const missing = [...exported].filter((name) => !told.includes(name));
  const gone = told.filter((name) => !exported.has(name));
  assert.deepEqual({ missing, gone }, { missing: [], gone: [] }, "docs/api.md is not what sage-agent exports");
});
