import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { apiPage, readApi, unexplained } from "../../scripts/api.ts";
import { packageEntries } from "../../scripts/entries.ts";
import { exported } from "./exports.ts";

const root = join(import.meta.dirname, "../..");
/** A person learns the names of the main entry on the first day. */
const MAX_MAIN = 80;

const { pages, hidden } = readApi();
const entries = pages.flatMap(({ sections }) => sections.flatMap((section) => section.entries));
const namesOf = (page: (typeof pages)[number]) =>
  page.sections.flatMap((section) => section.entries.map(({ name }) => name));

test("the pages of the API are what the types and their comments say, one for each entry", async () => {
  for (const page of pages)
    assert.ok(
      readFileSync(join(root, page.file), "utf8") === (await apiPage(page, pages)),
      `${page.file} is stale: \`npm run api\` writes it again`,
    );
  assert.deepEqual(
    globSync("docs/api/*.md", { cwd: root })
      .map((file) => file.replaceAll("\\", "/"))
      .toSorted(),
    pages.flatMap(({ name, file }) => (name === "." ? [] : [file])).toSorted(),
  );
});

test("each name can be imported from one entry, and the pages have every value that there is", async () => {
  for (const { name, source } of packageEntries()) {
    const page = pages.find((other) => other.name === name) ?? assert.fail(name);
    const values = Object.keys((await import(join(root, source))) as object);
    assert.deepEqual(
      values.filter((value) => !namesOf(page).includes(value)),
      [],
    );
  }
  const names = entries.map(({ name }) => name);
  assert.deepEqual(
    names.filter((name, n) => names.indexOf(name) !== n),
    [],
  );
});

test("everything that can be imported says what it is, and has an example, a name that mentions it, or a reason", () => {
  const silent = entries.filter(({ comment }) => comment === "").map(({ name }) => name);
  assert.deepEqual(silent, [], "these exports have no doc comment");
  assert.deepEqual(unexplained(pages), [], "name these in an example, or give a reason in scripts/api.ts");
});

test("exactly the names that are meant are exported, and a day is enough to learn the main ones", () => {
  for (const page of pages) {
    const meant = (exported[page.name] ?? assert.fail(`an entry "${page.name}" that is not in exports.ts`)).split(
      /\s+/,
    );
    assert.deepEqual(namesOf(page).toSorted(), meant.toSorted(), page.name);
    if (page.name === ".") assert.ok(meant.length <= MAX_MAIN, `${meant.length} names`);
  }
});

test("whatever type an export mentions can be imported, too", () => {
  assert.deepEqual(
    hidden,
    [],
    "export these, write them out where they are mentioned, or mark what mentions them as @internal",
  );
});
