import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as sdk from "../../src/sdk/index.ts";
import { apiPage, readApi } from "../../scripts/api.ts";
import { exported } from "./exports.ts";

const { sections, hidden } = readApi();
const entries = sections.flatMap((section) => section.entries);

test("the API page is what the types and their comments say", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/api.md"), "utf8");
  assert.ok(page === (await apiPage(sections)), "docs/api.md is stale: `npm run api` writes it again");
});

test("the API page names everything that can be imported, once", () => {
  const names = entries.map(({ name }) => name);
  assert.deepEqual(
    Object.keys(sdk).filter((name) => !names.includes(name)),
    [],
  );
  assert.deepEqual(
    names.filter((name, n) => names.indexOf(name) !== n),
    [],
  );
});

test("everything that can be imported says what it is", () => {
  const silent = entries.filter(({ comment }) => comment === "").map(({ name }) => name);
  assert.deepEqual(silent, [], "these exports have no doc comment");
});

test("exactly the names that are meant are exported", () => {
  for (const { title, entries: listed } of sections) {
    const meant = (exported[title] ?? assert.fail(`a section "${title}" that is not in exports.ts`)).split(/\s+/);
    assert.deepEqual(listed.map(({ name }) => name).sort(), meant.sort(), title);
  }
});

test("whatever type an export mentions can be imported, too", () => {
  assert.deepEqual(
    hidden,
    [],
    "export these, write them out where they are mentioned, or mark what mentions them as @internal",
  );
});
