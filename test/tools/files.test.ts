import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, linkSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { test } from "node:test";
import { canonicalPath } from "../../src/permission/paths/canonical.ts";
import { edit } from "../../src/tools/files/edit.ts";
import { readState, replaceFile } from "../../src/tools/files/file-state.ts";
import { read } from "../../src/tools/files/read.ts";
import { write } from "../../src/tools/files/write.ts";
import { refusedBy, Workspace } from "./workspace.ts";

const sha = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

// Read

test("Read numbers the lines and remembers what was seen", async () => {
  using work = new Workspace({ "文件.txt": "第一行\n\tsecond\n\nlast" });
  assert.deepEqual(await work.run(read, { file_path: "文件.txt" }), {
    ok: true,
    text: "1\t第一行\n2\t\tsecond\n3\t\n4\tlast",
    seen: { [work.path("文件.txt")]: sha("第一行\n\tsecond\n\nlast") },
  });
});

test("Read shows a part, says where to go on, and cuts what is too long", async () => {
  using work = new Workspace({
    "long.txt": Array.from({ length: 2_500 }, (_, i) => `line ${i + 1}\n`).join(""),
    "wide.txt": `${"x".repeat(5_000)}\nshort\n`,
    "much.txt": `${"y".repeat(1_999)}\n`.repeat(200),
  });
  const whole = await work.run(read, { file_path: "long.txt" });
  assert.match(whole.text, /\n2000\tline 2000\n\(lines 1 to 2000 of 2500; go on with offset 2001\)$/);
  const rest = await work.run(read, { file_path: "long.txt", offset: 2_499 });
  assert.equal(rest.text, "2499\tline 2499\n2500\tline 2500");
  const some = await work.run(read, { file_path: "long.txt", offset: 2, limit: 2 });
  assert.equal(some.text, "2\tline 2\n3\tline 3\n(lines 2 to 3 of 2500; go on with offset 4)");
  assert.deepEqual(some.seen, whole.seen);
  assert.match(
    (await work.run(read, { file_path: "long.txt", offset: 9_999 })).text,
    /has 2500 lines; offset 9999 is past/,
  );
  const wide = await work.run(read, { file_path: "wide.txt" });
  assert.match(wide.text, /^1\tx{2000} … 3000 more characters\n2\tshort\n\(1 long lines were cut/);
  const much = await work.run(read, { file_path: "much.txt" });
  assert.ok(much.text.length < 101_000);
  assert.match(much.text, /\(lines 1 to 49 of 200; go on with offset 50\)$/);
});

test("Read says plainly what it cannot show", async () => {
  using work = new Workspace({
    "empty.txt": "",
    "a.png": Buffer.from([137, 80, 0, 1]),
    "b.bin": Buffer.from([1, 0, 2]),
  });
  execFileSync("mkfifo", [work.path("pipe")]);
  const text = async (file_path: string) => (await work.run(read, { file_path })).text;
  assert.match(await text("empty.txt"), /is empty/);
  assert.match(await text("a.png"), /is a binary file \(4 bytes\)\. Read shows text, pictures/);
  assert.match(await text("b.bin"), /is a binary file/);
  assert.match(await text("none.txt"), /does not exist/);
  assert.match(await text("."), /is a directory/);
  assert.match(await text("pipe"), /is a device, pipe or socket/);
  assert.match(await text("empty.txt/x"), /ENOTDIR/);
  assert.match(await text("a".repeat(300)), /ENAMETOOLONG/);
  execFileSync("truncate", ["-s", "60M", work.path("huge.log")]);
  assert.match(await text("huge.log"), /too large \(60\.0 MB/);
});

test("Read survives invalid UTF-8 and says so; Edit refuses to damage it", async () => {
  using work = new Workspace({ "latin.txt": Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]), "ok.txt": "real \ufffd\n" });
  const { text } = await work.run(read, { file_path: "latin.txt" });
  assert.equal(text, "1\tcaf\ufffd\n(not valid UTF-8: what could not be read is shown as \ufffd)");
  assert.equal((await work.run(read, { file_path: "ok.txt" })).text, "1\treal \ufffd");
  assert.match(
    (await work.run(edit, { file_path: "latin.txt", old_string: "caf", new_string: "tea" })).text,
    /not valid UTF-8/,
  );
});

// Write

test("Write creates folders and files, and keeps the mode of what it replaces", async () => {
  using work = new Workspace({ "run.sh": "#!/bin/sh\n" });
  const created = await work.run(write, { file_path: "深/文件.txt", content: "内容" });
  assert.deepEqual(created, {
    ok: true,
    text: `Wrote 6 bytes to ${work.path("深/文件.txt")}.`,
    seen: { [work.path("深/文件.txt")]: sha("内容") },
    replaced: [{ path: work.path("深/文件.txt"), before: "", after: sha("内容") }],
  });
  assert.equal(statSync(work.path("深/文件.txt")).mode & 0o777, 0o666 & ~process.umask());
  chmodSync(work.path("run.sh"), 0o751);
  await work.run(read, { file_path: "run.sh" });
  assert.equal((await work.run(write, { file_path: "run.sh", content: "new" })).ok, true);
  assert.deepEqual([work.get("run.sh"), statSync(work.path("run.sh")).mode & 0o777], ["new", 0o751]);
  assert.equal((await work.run(write, { file_path: "run.sh", content: "newer" })).ok, true);
  assert.deepEqual(readdirSync(work.root).toSorted(), ["run.sh", "深"]);
});

test("Write never overwrites what the model has not seen as it is", async () => {
  using work = new Workspace({ "a.txt": "mine" });
  assert.match((await work.run(write, { file_path: "a.txt", content: "x" })).text, /have not read it/);
  await work.run(read, { file_path: "a.txt" });
  work.put("a.txt", "changed by a person");
  assert.match((await work.run(write, { file_path: "a.txt", content: "x" })).text, /has changed since/);
  assert.equal(work.get("a.txt"), "changed by a person");
  rmSync(work.path("a.txt"));
  assert.equal((await work.run(write, { file_path: "a.txt", content: "x" })).ok, true);
});

test("Write goes to where a link leads and leaves the link in place", async () => {
  using work = new Workspace({ "real.txt": "old" });
  symlinkSync("real.txt", work.path("link.txt"));
  await work.run(read, { file_path: "link.txt" });
  assert.equal((await work.run(write, { file_path: "link.txt", content: "new" })).ok, true);
  assert.equal(work.get("real.txt"), "new");
  assert.equal(canonicalPath("link.txt", work.place).real, work.path("real.txt"));
  assert.equal(write.operand?.({ file_path: "link.txt", content: "" }, work.place), work.path("real.txt"));
});

test("Write refuses directories, devices and half characters, and reports a parent that is a file", async () => {
  using work = new Workspace({ "a.txt": "a" });
  assert.match((await work.run(write, { file_path: ".", content: "x" })).text, /is a directory/);
  assert.match((await work.run(write, { file_path: "/dev/full", content: "x" })).text, /is a device/);
  assert.equal(write.operand?.({ file_path: "/dev/full", content: "x" }, work.place), undefined);
  assert.match((await work.run(write, { file_path: "a.txt/b.txt", content: "x" })).text, /^Write failed: ENOTDIR/);
  if (process.platform === "linux")
    // where Node's own recursive mkdir would never return
    assert.match(
      (await work.run(write, { file_path: "/proc/sage/b.txt", content: "x" })).text,
      /^Write failed: ENOENT/,
    );
  assert.ok(refusedBy(write, { file_path: "b.txt", content: "\ud800" }));
});

test("a disk that is full while writing leaves the old content and no litter", () => {
  using work = new Workspace({ "a.txt": "old" });
  const script = `
    import { readState, replaceFile } from ${JSON.stringify(import.meta.resolve("../../src/tools/files/file-state.ts"))};
    const path = ${JSON.stringify(work.path("a.txt"))};
    await replaceFile(path, Buffer.alloc(1e6), await readState(path)).catch((error) => console.log(error.code));
  `;
  // A limit on file size stands in for the full disk: the write fails half-way with an error.
  const shell = 'trap "" XFSZ; ulimit -f 64; exec "$0" --input-type=module -e "$1"';
  assert.equal(execFileSync("bash", ["-c", shell, process.execPath, script], { encoding: "utf8" }), "EFBIG\n");
  assert.deepEqual([work.get("a.txt"), readdirSync(work.root)], ["old", ["a.txt"]]);
});

test("A4: a directory swapped for a link does not lead a write elsewhere", async () => {
  using work = new Workspace({ "dir/a.txt": "a", "victim/a.txt": "victim" });
  const before = await readState(work.path("dir/a.txt"));
  renameSync(work.path("dir"), work.path("moved"));
  symlinkSync("victim", work.path("dir"));
  await assert.rejects(replaceFile(work.path("dir/a.txt"), Buffer.from("evil"), before));
  await assert.rejects(
    replaceFile(work.path("dir/sub/b.txt"), Buffer.from("evil"), { kind: "missing" }),
    /replaced by a link/,
  );
  assert.equal(work.get("victim/a.txt"), "victim");
  rmSync(work.path("moved/a.txt"));
  symlinkSync("../victim/a.txt", work.path("moved/a.txt"));
  await assert.rejects(readState(work.path("moved/a.txt")), { code: "ELOOP" });
});

test("A4: a file that changes between the look and the write is not overwritten", async () => {
  using work = new Workspace({ "a.txt": "old" });
  const before = await readState(work.path("a.txt"));
  work.put("a.txt", "theirs");
  await assert.rejects(replaceFile(work.path("a.txt"), Buffer.from("ours"), before), /changed the file meanwhile/);
  assert.deepEqual([work.get("a.txt"), readdirSync(work.root)], ["theirs", ["a.txt"]]);
});

test("after a crash a Write knows by the content whether it happened", async () => {
  using work = new Workspace();
  const input = { file_path: "a.txt", content: "new" };
  const look = (before: string) => write.reconcile?.(input, { ...work.place, before });
  assert.equal(await look(""), "again");
  work.put("a.txt", "old");
  assert.equal(await look(sha("old")), "again");
  assert.equal(await look(sha("older")), undefined);
  work.put("a.txt", "new");
  assert.deepEqual(await look(sha("old")), {
    ok: true,
    text: `Wrote 3 bytes to ${work.path("a.txt")}.`,
    seen: { [work.path("a.txt")]: sha("new") },
    replaced: [{ path: work.path("a.txt"), before: sha("old"), after: sha("new") }],
  });
});

test("Edit replaces one exact match, byte for byte", async () => {
  assert.deepEqual(await editing("a\n价格: $1\nb\n", { old_string: "价格: $1", new_string: "$& $' 价" }), {
    ok: true,
    text: "Edited /f.txt (1 place, line 2).\n2\t$& $' 价",
    content: "a\n$& $' 价\nb\n",
  });
  assert.equal((await editing("\ufeffa\nb", { old_string: "a\n", new_string: "" })).content, "\ufeffb");
});

test("Edit refuses several matches unless all are meant", async () => {
  const twice = { old_string: "x", new_string: "yx" };
  assert.deepEqual(await editing("x\nx\n", twice), {
    ok: false,
    text: "old_string occurs 2 times in /f.txt (lines 1, 2). Add lines around it until it is unique, or set replace_all.",
    content: "x\nx\n",
  });
  assert.deepEqual(await editing("x\nx\n", { ...twice, replace_all: true }), {
    ok: true,
    text: "Edited /f.txt (2 places, lines 1, 2).\n1\tyx\n2\tyx",
    content: "yx\nyx\n",
  });
});

test("Edit keeps CRLF, however the model writes its line breaks", async () => {
  const crlf = "one\r\ntwo\r\nthree\r\n";
  assert.equal(
    (await editing(crlf, { old_string: "one\ntwo", new_string: "1\n2\n2b" })).content,
    "1\r\n2\r\n2b\r\nthree\r\n",
  );
  assert.equal((await editing(crlf, { old_string: "two\r\n", new_string: "2\r\n" })).content, "one\r\n2\r\nthree\r\n");
  assert.equal((await editing(`${crlf}lf\nlf\n`, { old_string: "lf\nlf", new_string: "x" })).content, `${crlf}x\n`);
  assert.equal((await editing("a\nb\r\nc\n", { old_string: "a\n", new_string: "A\n" })).content, "A\nb\r\nc\n");
});

test("Edit says what is wrong when it does not find the text", async () => {
  const file = "if (a) {\n\treturn (b);\n}\n";
  const miss = async (old_string: string) => (await editing(file, { old_string, new_string: "x" })).text;
  assert.match(await miss("if (a) {\n    return (b);"), /The same words stand at line 1 with other blanks/);
  assert.match(await miss("1\tif (a) {\n2\t\treturn (b);"), /Leave out the line numbers/);
  assert.match(await miss("while"), /Read the file again and copy the text exactly/);
  assert.match(await miss("   "), /Read the file again/);
});

test("Edit refuses what was not read, what changed since, what is missing, and what changes nothing", async () => {
  using work = new Workspace({ "f.txt": "a" });
  const input = { file_path: "f.txt", old_string: "a", new_string: "b" };
  assert.match((await work.run(edit, input)).text, /You have not read/);
  await work.run(read, { file_path: "f.txt" });
  work.put("f.txt", "a, but different");
  assert.match((await work.run(edit, input)).text, /has changed since/);
  assert.equal(work.get("f.txt"), "a, but different");
  assert.match((await work.run(edit, { ...input, file_path: "none.txt" })).text, /does not exist/);
  assert.ok(refusedBy(edit, { ...input, new_string: "a" }));
  assert.ok(refusedBy(edit, { ...input, old_string: "" }));
});

test("after a crash an Edit knows by taking itself back whether it happened", async () => {
  using work = new Workspace({ "f.txt": "one two one" });
  const look = (input: object, before: string) =>
    edit.reconcile?.(edit.inputSchema.parse({ file_path: "f.txt", ...input }), { ...work.place, before: sha(before) });
  const two = { old_string: "two", new_string: "one" };
  assert.equal(await look(two, "one two one"), "again");
  work.put("f.txt", "one one one");
  assert.deepEqual(await look(two, "one two one"), {
    ok: true,
    text: `Edited ${work.path("f.txt")} (before a restart).`,
    seen: { [work.path("f.txt")]: sha("one one one") },
    replaced: [{ path: work.path("f.txt"), before: sha("one two one"), after: sha("one one one") }],
  });
  assert.equal(await look(two, "something else"), undefined);
  assert.equal(await look({ old_string: "x", new_string: "" }, "one one onex"), undefined);
  work.put("f.txt", "A\r\nB\r\nA\r\n");
  const all = { old_string: "a\n", new_string: "A\n", replace_all: true };
  assert.equal(((await look(all, "a\r\nB\r\na\r\n")) as { ok: boolean }).ok, true);
  rmSync(work.path("f.txt"));
  assert.equal(await look(two, "one two one"), undefined);
});

test("a hard link elsewhere keeps the old content, as with any editor that saves whole files", async () => {
  using work = new Workspace({ "a.txt": "old" });
  linkSync(work.path("a.txt"), work.path("b.txt"));
  await work.run(read, { file_path: "a.txt" });
  await work.run(write, { file_path: "a.txt", content: "new" });
  assert.deepEqual([work.get("a.txt"), work.get("b.txt")], ["new", "old"]);
});

// Edit

async function editing(content: string, input: { old_string: string; new_string: string; replace_all?: boolean }) {
  using work = new Workspace({ "f.txt": content });
  await work.run(read, { file_path: "f.txt" });
  const { ok, text } = await work.run(edit, { file_path: "f.txt", ...input });
  return { ok, text: text.replaceAll(work.root, ""), content: work.get("f.txt") };
}

test("a directory is read as its entries, a missing file names the nearest, and a long edit shows its first new lines", async () => {
  using work = new Workspace({ "src/loop.ts": "a\n", "文.txt": "b\n" });
  const text = async (file_path: string) => (await work.run(read, { file_path })).text.replaceAll(work.cwd, "");
  assert.equal(await text("."), " is a directory:\nsrc/\n文.txt");
  assert.match(await text("src/lop.ts"), /^\/src\/lop\.ts does not exist\. Did you mean \/src\/loop\.ts\?$/);
  assert.match(await text("lib/lop.ts"), /Its folder does not exist either\.$/);
  await work.run(read, { file_path: "src/loop.ts" });
  const fresh = Array.from({ length: 30 }, (_, n) => `line ${n + 1}`).join("\n");
  const edited = await work.run(edit, { file_path: "src/loop.ts", old_string: "a", new_string: fresh });
  assert.deepEqual(edited.text.split("\n").slice(1, 3), ["1\tline 1", "2\tline 2"]);
  assert.equal(edited.text.split("\n").length, 1 + 12 + 1, "the rest is left out");
  assert.equal(
    edited.text.slice(0, edited.shown?.characters).includes("line 1\n"),
    false,
    "people see the change itself",
  );
});
