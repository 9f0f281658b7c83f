// Test files that share a process are told of by their own names, however that process ends.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { writeGroup } from "../../scripts/groups.ts";
import { workspace } from "../support/sage.ts";

const scripts = join(import.meta.dirname, "../../scripts");
const head = 'import { suite, test } from "node:test";\n';
const passes = `${head}test("one", () => {});\n`;
const fails = `${head}suite("some", () => { test("two", () => { throw new Error("it fails"); }); });\n`;
/** Waits, so that the runner has heard of what came before. */
const then = (act: string) =>
  `${head}test("three", async () => { await new Promise((go) => setTimeout(go, 500)); ${act} });\n`;

/** Runs each group of files in one process, as `npm test` does, and gives the lines about files and failures. */
function run(
  groups: Record<string, string>[],
  seconds = 60,
): { lines: string[]; output: string; status: number | null } {
  using here = workspace();
  const written = groups.map((files, n) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(here.path(name), text);
    return writeGroup(here.dir, n + 1, Object.keys(files).map(here.path));
  });
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const flags = ["--test-timeout=60000", `--import=${join(scripts, "deadline.ts")}`, join(scripts, "in-order.ts"), "2"];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, ...written], {
    cwd: here.dir,
    env: { ...env, SAGE_TEST_FILE_SECONDS: String(seconds) },
    encoding: "utf8",
  });
  const output = `${stdout}${stderr}`;
  const lines = stdout.split("\n").filter((line) => /^[✔✖]|before its tests/.test(line));
  return { lines: lines.map((line) => line.replace(/\d+ ms/, "… ms").trim()), output, status };
}

test("each file of a group has its line, and a failure its place", () => {
  const { lines, output, status } = run([{ "a.test.mjs": passes, "b.test.mjs": fails, "c.test.mjs": passes }]);
  assert.deepEqual(lines, [
    "✖ b.test.mjs:2 two",
    "✔ a.test.mjs (1 in … ms)",
    "✖ b.test.mjs (1 in … ms)",
    "✔ c.test.mjs (1 in … ms)",
  ]);
  assert.deepEqual([status, /together/.test(output)], [1, false], output);
});

test("a group that is over before another is told of in its turn, and has not failed", () => {
  const { lines, output, status } = run([
    { "a.test.mjs": then("") },
    { "b.test.mjs": passes },
    { "c.test.mjs": passes },
  ]);
  assert.deepEqual(
    lines,
    ["a", "b", "c"].map((name) => `✔ ${name}.test.mjs (1 in … ms)`),
  );
  assert.deepEqual([status, /together/.test(output)], [0, false], output);
});

for (const [how, act, end, seconds] of [
  ["crashes", 'process.kill(process.pid, "SIGKILL");', "was ended by SIGKILL"],
  ["leaves in the midst of a test, as if all were well", "process.exit(0);", "ended with code 0"],
  ["takes too long", "await new Promise((go) => setTimeout(go, 600_000));", "was ended by SIGKILL", 3],
] as const)
  test(`of a process that ${how}, the files are named whose tests were not over`, () => {
    const { lines, output, status } = run(
      [{ "a.test.mjs": passes, "b.test.mjs": then(act), "c.test.mjs": passes }],
      seconds,
    );
    assert.deepEqual(lines, [
      "✔ a.test.mjs (1 in … ms)",
      "✖ b.test.mjs, c.test.mjs",
      `[Error: the process ${end} before its tests were over]`,
    ]);
    assert.deepEqual([status, /together/.test(output)], [1, false], output);
  });

test("of a process that loads nothing, every file is named", () => {
  const { lines, output, status } = run([{ "a.test.mjs": passes, "b.test.mjs": "no code" }]);
  assert.deepEqual(lines.slice(0, 1), ["✖ a.test.mjs, b.test.mjs"], output);
  assert.equal(status, 1);
  assert.match(output, /b\.test\.mjs:1\b[^]*SyntaxError/, "Node tells which it was");
});
