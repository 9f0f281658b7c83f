import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import * as fc from "../support/properties.ts";
import { splitLines } from "../../src/base/visible.ts";
import type { Preview } from "../../src/protocol/facts/call.ts";
import { edit } from "../../src/tools/files/edit.ts";
import { write } from "../../src/tools/files/write.ts";
import { allow, sageWith, workspace } from "../support/sage.ts";

const shown = (preview: Preview | undefined) =>
  preview?.lines.map(
    ({ mark, text, line, open }) => `${line === undefined ? "" : `@${line} `}${mark}${text}${open ? "\\" : ""}`,
  );
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `${n + 1}\n`).join("");

test("an edit is shown with three lines around each replacement, and says where lines were passed over", () => {
  using here = workspace();
  writeFileSync(here.path("a"), numbered(30).replace("15\n", "10\n"));
  symlinkSync("a", here.path("link"));
  const input = { file_path: "link", old_string: "10", new_string: "ten\nTEN", replace_all: true };
  const preview = edit.preview?.(input, { cwd: here.dir, home: here.dir });
  assert.deepEqual([preview?.path, preview?.firstLine], [here.path("a"), 7]);
  assert.deepEqual(shown(preview), [
    " 7",
    " 8",
    " 9",
    "-10",
    "+ten",
    "+TEN",
    " 11",
    " 12",
    " 13",
    " 14",
    "-10",
    "+ten",
    "+TEN",
    " 16",
    " 17",
    " 18",
  ]);
  const far = edit.preview?.({ ...input, old_string: "2", new_string: "two" }, { cwd: here.dir, home: here.dir });
  assert.deepEqual(shown(far)?.slice(0, 10), [" 1", "-2", "+two", " 3", " 4", " 5", "@9  9", " 10", " 11", "-12"]);
});

test("a line break that comes or goes is seen", () => {
  using here = workspace();
  writeFileSync(here.path("a"), "one\ntwo\nthree\n");
  const change = (old_string: string, new_string: string) =>
    shown(edit.preview?.({ file_path: "a", old_string, new_string }, { cwd: here.dir, home: here.dir }));
  assert.deepEqual(change("two\n", ""), [" one", "-two", " three"]);
  assert.deepEqual(change("one\n", "one "), ["-one", "-two", "+one two", " three"]);
  assert.deepEqual(change("three\n", "three"), [" one", " two", "-three", "+three\\"]);
  writeFileSync(here.path("a"), "one\r\ntwo\r\n");
  assert.deepEqual(change("one\ntwo", "1\n2"), ["-one\r", "-two\r", "+1\r", "+2\r"]);
});

test("a new file is shown whole, an old one by what changes in it", () => {
  using here = workspace();
  const put = (content: string) => write.preview?.({ file_path: "a", content }, { cwd: here.dir, home: here.dir });
  assert.deepEqual(put("one\ntwo"), {
    path: here.path("a"),
    firstLine: 1,
    lines: [
      { mark: "+", text: "one" },
      { mark: "+", text: "two", open: true },
    ],
  });
  writeFileSync(here.path("a"), numbered(20));
  assert.deepEqual(shown(put(numbered(20).replace("10\n11\n", "x\n"))), [
    " 7",
    " 8",
    " 9",
    "-10",
    "-11",
    "+x",
    " 12",
    " 13",
    " 14",
  ]);
  assert.deepEqual(
    shown(put("")),
    numbered(20)
      .trimEnd()
      .split("\n")
      .map((line) => `-${line}`),
  );
  assert.equal(put(numbered(20))?.omitted, "same");
});

test("what cannot be shown as lines says so, and what cannot be done has no preview", () => {
  using here = workspace();
  writeFileSync(here.path("binary"), Buffer.from([0xff, 0xfe, 0]));
  writeFileSync(here.path("zero"), "a\0b");
  writeFileSync(here.path("huge"), "x".repeat(1024 * 1024 + 1));
  mkdirSync(here.path("dir"));
  const put = (file_path: string, content = "x") =>
    write.preview?.({ file_path, content }, { cwd: here.dir, home: here.dir });
  assert.deepEqual([put("binary")?.omitted, put("zero")?.omitted, put("huge")?.omitted], ["binary", "binary", "huge"]);
  assert.equal(put("new", "y".repeat(1024 * 1024 + 1))?.omitted, "huge");
  assert.equal(put("dir"), undefined);
  const change = (old_string: string) =>
    edit.preview?.({ file_path: "zero.txt", old_string, new_string: "c" }, { cwd: here.dir, home: here.dir });
  assert.equal(change("a"), undefined, "there is no file");
  writeFileSync(here.path("zero.txt"), "a a");
  assert.equal(change("a"), undefined, "it would not know which");
  assert.equal(change("b"), undefined);
});

test("what is shown is what becomes of the file, for any edit", () => {
  using here = workspace();
  const path = here.path("a");
  const text = fc
    .array(fc.constantFrom("a", "b", "ab", "\n", "\n\n", "c"), { maxLength: 60 })
    .map((all) => all.join(""));
  const piece = fc.array(fc.constantFrom("a", "b", "\n"), { maxLength: 3 }).map((all) => all.join(""));
  fc.assert(
    fc.property(text, piece, piece, fc.boolean(), (before, old, fresh, whole) => {
      writeFileSync(path, before);
      const after = whole || old === "" ? fresh : before.split(old).join(fresh);
      const preview =
        whole || old === ""
          ? write.preview?.({ file_path: path, content: fresh }, { cwd: here.dir, home: here.dir })
          : edit.preview?.(
              { file_path: path, old_string: old, new_string: fresh, replace_all: true },
              { cwd: here.dir, home: here.dir },
            );
      if (preview) assert.deepEqual(applied(before, preview), splitLines(after));
      else assert.ok(!before.includes(old));
    }),
    { numRuns: 500 },
  );
});

/** The file, with the lines that were passed over put back from what was there. */
function applied(before: string, { lines, firstLine }: Preview): { text: string; open?: true }[] {
  const was = splitLines(before);
  const is: { text: string; open?: true }[] = [];
  let at = 0;
  for (const [n, { mark, text, line, open }] of lines.entries()) {
    const from = (n === 0 ? firstLine : line) ?? 0;
    while (at < from - 1) is.push(was[at++] ?? { text: "?" });
    const shownLine = { text, ...(open && { open }) };
    if (mark !== "+") assert.deepEqual(was[at++], shownLine);
    if (mark !== "-") is.push(shownLine);
  }
  return [...is, ...was.slice(at)];
}

test("a request to write carries its preview, and a tool whose preview fails is shown by its input", async () => {
  using here = workspace();
  writeFileSync(here.path("a"), "one\n");
  const broken = {
    ...write,
    name: "Broken",
    preview() {
      throw new Error("no");
    },
  };
  const call = (tool: string) => ({ tool, input: { file_path: "a", content: "two\n" } });
  using elsewhere = workspace();
  const outside = { tool: "Write", input: { file_path: elsewhere.path("b"), content: "" } };
  await using sage = await sageWith({
    dir: here.dir,
    tools: [broken],
    rules: [allow("Read")],
    script: [
      { calls: [{ tool: "Read", input: { file_path: "a" } }] },
      { calls: [call("Write"), call("Broken"), outside] },
      { text: "ok" },
    ],
  });
  await sage.say("go");
  const previews = (await sage.open(3)).map((request) => (request.kind === "permission" ? request.preview : "?"));
  const lines = [
    { mark: "-", text: "one" },
    { mark: "+", text: "two" },
  ];
  assert.deepEqual(previews, [
    { path: here.path("a"), firstLine: 1, lines },
    undefined,
    { path: elsewhere.path("b"), firstLine: 1, lines: [], outside: true },
  ]);
  assert.equal(readFileSync(here.path("a"), "utf8"), "one\n");
});
