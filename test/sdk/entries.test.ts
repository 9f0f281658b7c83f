// An embedder's process loads what an embedder needs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { test } from "node:test";
import { parseSync } from "rolldown/utils";
import { packageEntries } from "../../scripts/entries.ts";

const root = join(import.meta.dirname, "../..");
const others = /^src\/(?:cli|surfaces|journal\/(?:postgres|replica)|host\/(?:cluster|socket\/serve))\b/;
const libraries = /^(?:pg|pg-boss|ws|hono|@hono\/|@larksuiteoapi\/|preact|@earendil-works\/|@modelcontextprotocol\/)/;

test("no entry loads code that only serve, PostgreSQL, Feishu, the page or the terminal need", () => {
  for (const { name, source } of packageEntries()) {
    const loaded = loadedBy(join(root, source));
    assert.ok(loaded.size > 1, name);
    assert.deepEqual(
      [...loaded].filter((file) => others.test(file) || libraries.test(file)),
      [],
      name,
    );
  }
});

/** Files and packages that importing a file loads at once: neither types nor later imports. */
function loadedBy(entrance: string): Set<string> {
  const found = new Set<string>();
  const visit = (file: string) => {
    const path = relative(root, file).replaceAll("\\", "/");
    if (found.has(path)) return;
    found.add(path);
    const { module } = parseSync(file, readFileSync(file, "utf8"));
    const from = [
      ...module.staticImports
        .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
        .map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) =>
        entries.flatMap(({ moduleRequest, isType }) => (moduleRequest && !isType ? [moduleRequest.value] : [])),
      ),
    ];
    for (const specifier of from) {
      if (specifier.startsWith(".")) visit(resolve(file, "..", specifier));
      else if (!specifier.startsWith("node:")) found.add(specifier);
    }
  };
  visit(entrance);
  return found;
}
