import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readFilter } from "../../src/permission/rules/filter.ts";
import { compileGlob, glob } from "../../src/tools/search/glob.ts";
import { reason } from "../../src/protocol/reasons/reason.ts";
import { grep } from "../../src/tools/search/grep.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { Workspace } from "./workspace.ts";

const lines = async (work: Workspace, tool: Tool, input: object) => (await work.run(tool, input)).text.split("\n");

test("a glob matches names, folders, alternatives and sets", () => {
  const cases: [string, string[], string[]][] = [
    ["*.ts", ["a.ts", "src/deep/b.ts", ".hidden.ts"], ["a.tsx", "ts"]],
    ["src/*.ts", ["src/a.ts"], ["src/b/a.ts", "a/src/a.ts"]],
    ["src/**/*.ts", ["src/a.ts", "src/b/c/a.ts"], ["lib/a.ts"]],
    ["./src/**", ["src/a", "src/b/c"], ["a/src"]],
    ["**", ["a", "a/b"], []],
    ["**/test/**", ["test/a", "a/test/b/c"], ["a/tests/b"]],
    ["*.{ts,tsx,{m,c}js}", ["a.ts", "a.tsx", "a.mjs", "b/a.cjs"], ["a.js", "a.{ts"]],
    ["[a-c]?[!0-9].md", ["a1x.md", "c文x.md"], ["d1x.md", "a11.md"]],
    ["报告*.txt", ["报告一.txt"], ["告.txt"]],
    ["a\\*b", ["a*b"], ["axb"]],
    ["{a}", ["{a}"], ["a"]],
    ["?", ["😀"], ["ab"]],
  ];
  for (const [pattern, wanted, unwanted] of cases) {
    const matches = compileGlob(pattern);
    for (const path of wanted) assert.equal(matches(path), true, `${pattern} should match ${path}`);
    for (const path of unwanted) assert.equal(matches(path), false, `${pattern} should not match ${path}`);
  }
});

test("a hostile glob costs neither time nor memory", () => {
  assert.equal(compileGlob(`${"*a".repeat(60)}*b`)("a".repeat(250)), false);
  assert.equal(compileGlob(`${"**/a/".repeat(60)}b`)("a/".repeat(120)), false);
  assert.throws(() => compileGlob("{a,b}".repeat(20)), /too many alternatives/);
});

test("Glob lists the newest first, by name where the time is the same", async () => {
  using work = new Workspace({ "old.ts": "", "src/新.ts": "", "b.ts": "", "a.ts": "", "c.md": "" });
  utimesSync(work.path("old.ts"), 1_000, 1_000);
  for (const name of ["a.ts", "b.ts"]) utimesSync(work.path(name), 2_000, 2_000);
  utimesSync(work.path("src/新.ts"), 3_000, 3_000);
  assert.deepEqual(await lines(work, glob, { pattern: "*.ts" }), ["src/新.ts", "a.ts", "b.ts", "old.ts"]);
  assert.deepEqual(await lines(work, glob, { pattern: "*.ts", path: "src" }), ["src/新.ts"]);
  assert.deepEqual(await lines(work, glob, { pattern: "*.rs" }), ["(no files match)"]);
});

test("ignored files, .git and what lies behind links stay out of sight; hidden files do not", async () => {
  using work = new Workspace({
    ".gitignore": "node_modules/\n*.log\n",
    ".git/config": "needle",
    "node_modules/x/index.js": "needle",
    "packages/a/node_modules/y.js": "needle",
    "packages/a/src.js": "needle",
    "debug.log": "needle",
    ".github/ci.yml": "needle",
  });
  writeFileSync(join(work.base, "secret.js"), "needle");
  symlinkSync(work.base, work.path("escape"));
  symlinkSync("../secret.js", work.path("secret.js"));
  const visible = [".github/ci.yml", "packages/a/src.js"];
  for (const pattern of ["**", "**/*", "*"]) {
    assert.deepEqual((await lines(work, glob, { pattern })).toSorted(), [
      ".github/ci.yml",
      ".gitignore",
      "packages/a/src.js",
    ]);
    assert.deepEqual(await lines(work, grep, { pattern: "needle", glob: pattern }), visible);
  }
  assert.deepEqual(await lines(work, grep, { pattern: "needle", glob: "packages/**" }), ["packages/a/src.js"]);
  assert.deepEqual(await lines(work, grep, { pattern: "needle", path: ".git" }), [".git/config"]);
});

test("a configuration file of ripgrep is not read", async () => {
  using work = new Workspace({ "a.txt": "needle", rc: "--files-without-match\n" });
  process.env["RIPGREP_CONFIG_PATH"] = work.path("rc");
  try {
    assert.deepEqual(await lines(work, grep, { pattern: "needle" }), ["a.txt"]);
  } finally {
    delete process.env["RIPGREP_CONFIG_PATH"];
  }
});

test("names that look like options or hold line breaks are only names", async () => {
  using work = new Workspace({
    "-rf": "needle\n",
    "--pre=sh": "needle\n",
    "two\nlines": "needle\n",
    "--\n--": "x\nneedle\ny\n",
  });
  const names = ['"--\\n--"', "--pre=sh", "-rf", '"two\\nlines"'];
  assert.deepEqual((await lines(work, glob, { pattern: "*" })).toSorted(), names.toSorted());
  assert.deepEqual(await lines(work, grep, { pattern: "needle" }), names);
  assert.deepEqual(
    await lines(work, grep, { pattern: "needle", output_mode: "count" }),
    names.map((name) => `${name}:1`),
  );
  assert.deepEqual(await lines(work, grep, { pattern: "needle", path: "-rf", output_mode: "content" }), [
    "-rf:1:needle",
  ]);
  assert.deepEqual(await lines(work, grep, { pattern: "--files" }), ["(no matches)"]);
  const { shown } = await work.run(grep, { pattern: "--files" });
  assert.deepEqual(shown, { characters: 0, notes: [reason("no-matches", {})] }, "people read it in their language");
  assert.deepEqual(await lines(work, grep, { pattern: "-e needle" }), ["(no matches)"]);
  assert.deepEqual(await lines(work, grep, { pattern: "needle", glob: "-*" }), ['"--\\n--"', "--pre=sh", "-rf"]);
});

test("Grep shows lines with numbers and context", async () => {
  using work = new Workspace({
    "a.txt": "零\n一 Needle\r\n二\n三\n",
    "b.ts": "needle()\nneedle()\n",
    "latin.txt": Buffer.from([0xe9, 0x20, 0x6e, 0x65, 0x65, 0x64, 0x6c, 0x65]),
  });
  const content = (input: object) => lines(work, grep, { output_mode: "content", ...input });
  assert.deepEqual(await content({ pattern: "needle" }), [
    "b.ts:1:needle()",
    "b.ts:2:needle()",
    "latin.txt:1:\ufffd needle",
  ]);
  assert.deepEqual(await content({ pattern: "needle", "-i": true, glob: "a.*" }), ["a.txt:2:一 Needle"]);
  assert.deepEqual(await content({ pattern: "Needle", "-C": 1, "-A": 0 }), ["a.txt-1-零", "a.txt:2:一 Needle"]);
  using apart = new Workspace({ "b.txt": "x\n1\n2\n3\nx\nx\n" });
  const { text } = await apart.run(grep, { pattern: "x", output_mode: "content", "-A": 1 });
  assert.deepEqual(text.split("\n"), ["b.txt:1:x", "b.txt-2-1", "--", "b.txt:5:x", "b.txt:6:x"], "groups are apart");
  assert.deepEqual(await content({ pattern: "Needle", "-A": 1, "-n": false }), ["a.txt:一 Needle", "a.txt-二"]);
  assert.deepEqual(await content({ pattern: "二.三", multiline: true }), ["a.txt:3:二", "a.txt:4:三"]);
  assert.deepEqual(await content({ pattern: "needle", type: "ts", head_limit: 1 }), [
    "b.ts:1:needle()",
    "(cut after 1 lines; narrow the search or raise head_limit)",
  ]);
  assert.deepEqual(await lines(work, grep, { pattern: "needle", output_mode: "count" }), ["b.ts:2", "latin.txt:1"]);
});

test("Grep stays within its limits on long lines, many lines and binary files", async () => {
  using work = new Workspace({
    "min.js": `needle${"x".repeat(1_000_000)}`,
    "many.txt": "needle and some more\n".repeat(5_000),
    "blob.bin": Buffer.from("needle\n\0\0needle\n"),
  });
  const [long = ""] = await lines(work, grep, { pattern: "needle", path: "min.js", output_mode: "content" });
  assert.match(long, /^min\.js:1:needlex{494} … 999506 more characters$/);
  const many = await work.run(grep, { pattern: "needle", path: "many.txt", output_mode: "content", head_limit: 2_000 });
  assert.ok(many.text.length < 31_000);
  assert.match(many.text, /\(cut after \d+ lines; narrow the search\)$/);
  assert.deepEqual(await lines(work, grep, { pattern: "needle" }), ["many.txt", "min.js"]);
});

test("Glob stays within its limits", async () => {
  using work = new Workspace();
  for (let i = 0; i < 510; i++) writeFileSync(work.path(`f${i}.txt`), "");
  const shown = await lines(work, glob, { pattern: "*.txt" });
  assert.equal(shown.length, 501);
  assert.equal(shown.at(-1), "(the newest 500 of 510; narrow the pattern for the rest)");
});

test("a search that cannot be done is a result that says why", async () => {
  using work = new Workspace({ "a.txt": "a" });
  execFileSync("mkfifo", [work.path("pipe")]);
  const failure = async (tool: Tool, input: object, signal?: AbortSignal) => {
    const { ok, text } = await work.run(tool, input, signal);
    assert.equal(ok, false);
    return text;
  };
  assert.match(await failure(grep, { pattern: "(" }), /^Grep failed: [\s\S]*unclosed group/);
  assert.match(await failure(grep, { pattern: "a", type: "klingon" }), /unrecognized file type/);
  assert.match(await failure(grep, { pattern: "a", path: "none" }), /ENOENT/);
  assert.match(await failure(grep, { pattern: "a", path: "pipe" }), /neither a file nor a directory/);
  assert.match(await failure(grep, { pattern: "a" }, AbortSignal.abort()), /^Interrupted\.$/);
  assert.match(await failure(glob, { pattern: "*", path: "a.txt" }), /is not a directory/);
  assert.match(await failure(glob, { pattern: "*" }, AbortSignal.abort()), /^Interrupted\.$/);
  for (const pattern of ["/etc/*", "../*", "a/../../b", ""])
    assert.ok(!glob.inputSchema.safeParse({ pattern }).success, pattern);
});

test("what a rule says no to is not found, by name or by content", async () => {
  using work = new Workspace({ "src/a.ts": "key", "src/.env": "key", "vault/b.txt": "key" });
  const rules = [
    { behavior: "deny", text: "Read(**/.env)", source: "user" },
    { behavior: "ask", text: "Read(./vault)", source: "user" },
  ] as const;
  work.mayRead = readFilter(rules, work.place);
  assert.deepEqual(await lines(work, glob, { pattern: "**" }), ["src/a.ts"]);
  for (const output_mode of ["content", "count", "files_with_matches"])
    assert.match((await lines(work, grep, { pattern: "key", output_mode })).join("\n"), /^src\/a\.ts\S*$/);
  assert.deepEqual(await lines(work, glob, { pattern: "*", path: "vault" }), ["vault/b.txt"]);
});

test("searching is allowed inside the workspace and left to the rules outside of it", () => {
  using work = new Workspace();
  mkdirSync(work.path("src"));
  symlinkSync("/", work.path("root"));
  for (const tool of [glob, grep] as Tool[]) {
    assert.equal(work.judge(tool, { pattern: "x" }).behavior, "allow");
    assert.equal(work.judge(tool, { pattern: "x", path: "src" }).behavior, "allow");
    assert.equal(work.judge(tool, { pattern: "x", path: ".." }).behavior, "ask");
    assert.equal(work.judge(tool, { pattern: "x", path: "root/etc" }).behavior, "ask");
    assert.equal(tool.specifier?.({ pattern: "x", path: "src/../lib" }, work.place), work.path("lib"));
  }
});
