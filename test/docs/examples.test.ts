import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { discover } from "../../src/context/discover.ts";
import { findBestMatch } from "../../src/context/skills.ts";
import { printed } from "./printed.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const preload = new URL("../support/bundled-sdk.ts", import.meta.url).href;

for (const name of readdirSync(join(root, "examples"))) {
  test(`examples/${name} runs and prints what it promises`, async () => {
    const { stdout } = await run(process.execPath, ["--import", preload, join(root, "examples", name)], {
      timeout: 50_000, // before the runner gives up on this file and leaves the child behind
      killSignal: "SIGKILL",
    });
    assert.match(stdout, printed[name.replace(/\.ts$/, "")] ?? assert.fail(`say here what examples/${name} prints`));
  });
}

const ownSkill = ".claude/skills/extending-sage/SKILL.md";

test("code shown in the docs is code that runs", () => {
  const pages = [
    "README.md",
    "README.zh.md",
    ownSkill,
    ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ];
  let shown = 0;
  for (const page of pages) {
    const text = readFileSync(join(root, page), "utf8");
    for (const [, file = "", code = ""] of text.matchAll(/```(?:ts|js) file=(\S+)\n([\s\S]*?)```/g)) {
      assert.equal(code, readFileSync(join(root, file), "utf8"), `${page} shows ${file} as it is no longer`);
      shown++;
    }
    if (/^docs\/api[./]/.test(page)) continue; // declarations, which a test of its own compares with the types
    assert.doesNotMatch(text, /```ts\n/, `${page} shows code that no test runs; write \`\`\`ts file=…`);
  }
  assert.ok(shown > 0);
});

test("links between the pages lead somewhere", async () => {
  const { dirname } = await import("node:path");
  const pages = [
    "README.md",
    "README.zh.md",
    "AGENTS.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ];
  for (const page of pages) {
    const links = readFileSync(join(root, page), "utf8").matchAll(/\]\(((?!https?:|#)[^)#]+)(?:#([^)]+))?\)/g);
    for (const [, link = "", section] of links) {
      const file = join(root, dirname(page), link);
      assert.ok(existsSync(file), `${page} links to ${link}, which is not there`);
      if (section !== undefined)
        assert.ok(sections(file).includes(section), `${page}: ${link} has no section ${section}`);
    }
  }
});

test("the index of the documentation names thirty tasks, and every page", () => {
  for (const [index, folder] of [
    ["docs/README.md", "docs"],
    ["docs/zh/README.md", "docs/zh"],
  ] as const) {
    const text = readFileSync(join(root, index), "utf8");
    const tasks = text.split("\n").filter((line) => line.startsWith("- "));
    assert.ok(tasks.length >= 30, `${index}: ${tasks.length}`);
    for (const task of tasks) assert.match(task, /\]\(/, task);
    for (const name of readdirSync(join(root, folder)).filter((name) => /^(?!README).*\.md$/.test(name)))
      assert.ok(text.includes(`](${name}`), `${index} does not name ${name}`);
  }
});

test("the repository's own skill is found, matches what people ask, and names files that exist", () => {
  const { skills, problems } = discover(root);
  assert.deepEqual(problems, []);
  const skill = skills.find(({ name }) => name === "extending-sage") ?? assert.fail("not found");
  for (const asked of ["Write a tool of my own for Sage", "给 sage 写一个 module 和 hook"])
    assert.equal(findBestMatch(skills, asked), skill, asked);
  const named = [...skill.body.matchAll(/(?:docs|examples)\/[\w-]+\.(?:md|ts|mjs)/g)].map(([file]) => file);
  assert.ok(named.length > 10);
  for (const file of named) assert.ok(existsSync(join(root, file)), file);
});

/** Names by which links reach the headings of a page, as forges make them. */
function sections(file: string): string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => /^#+ /.test(line))
    .map((line) => line.replace(/^#+ /, "").toLowerCase())
    .map((heading) => heading.replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "").replaceAll(" ", "-"));
}
