// A4, A5: what runs is what was ruled or shown, also when links, files and scripts change in between.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { createHost } from "../../src/host/host.ts";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import type { Verdict } from "../../src/protocol/facts/permission.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { allow, bash, config, sageWith, workspace, type TestSage } from "../support/sage.ts";
import { until } from "../support/until.ts";

const why = (request: InputRequest | undefined) => sentence(request?.why ?? "", "en");
const write = (path: string, content = "new\n") => ({ tool: "Write", input: { file_path: path, content } });
const allOf = (sage: TestSage) => sage.facts().filter(({ type }) => type === "input.requested").length;

/** Puts a link in the place of a folder or a file. */
function swap(from: string, to: string): void {
  renameSync(from, `${from}.was`);
  symlinkSync(to, from);
}

test("a checkout that brings links along does not lead the writes and reads behind it anywhere else", async () => {
  using here = workspace();
  using elsewhere = workspace();
  writeFileSync(elsewhere.path("secret"), "secret\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: here.dir });
  git("init", "-q", "-b", "main");
  mkdirSync(here.path("lib"));
  writeFileSync(here.path("lib/secret"), "nothing\n");
  git("add", ".");
  git("commit", "-qm", "one");
  git("checkout", "-qb", "evil");
  rmSync(here.path("lib"), { recursive: true });
  symlinkSync(elsewhere.dir, here.path("lib"));
  git("add", ".");
  git("commit", "-qm", "two");
  git("checkout", "-q", "main");
  await using sage = await sageWith({
    dir: here.dir,
    rules: [allow("Bash(git checkout:*)"), allow("Edit(./**)")],
    script: [{ calls: [bash("git checkout -q evil"), write("lib/bashrc"), bash("cat lib/secret")] }, { text: "ok" }],
  });
  await sage.say("go");
  const [first] = await sage.open();
  assert.match(why(first), /changed since it was judged: \S+lib\S* pointed to itself and now points to/);
  assert.equal(existsSync(elsewhere.path("bashrc")), false);
  await sage.answer({ type: "denied", requestId: first?.id ?? "" });
  const [second] = await sage.open();
  assert.equal(second?.kind === "permission" && second.input["command"], "cat lib/secret");
  await sage.answer({ type: "denied", requestId: second?.id ?? "" });
  await sage.outcome();
  assert.doesNotMatch(sage.result(0, 2), /secret\n/);
});

test("a link that is swapped in while a person decides is asked about again, with where it leads", async () => {
  using here = workspace();
  using elsewhere = workspace();
  mkdirSync(here.path("lib"));
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [write("lib/b.txt")] }, { text: "ok" }] });
  await sage.say("go");
  const [first] = await sage.open();
  swap(here.path("lib"), elsewhere.dir);
  await sage.answer({ type: "granted", requestId: first?.id ?? "" });
  const [again] = await sage.open();
  assert.notEqual(again?.id, first?.id);
  assert.match(why(again), new RegExp(`points to ${elsewhere.path("b.txt")}`));
  await sage.answer({ type: "granted", requestId: again?.id ?? "" });
  await sage.outcome();
  assert.equal(readFileSync(elsewhere.path("b.txt"), "utf8"), "new\n", "approved for what it says now");
  assert.equal(allOf(sage), 2);
});

test("a read that needs no permission waits behind one that does, and is looked at again", async () => {
  using here = workspace();
  using elsewhere = workspace();
  writeFileSync(elsewhere.path("b.txt"), "secret\n");
  mkdirSync(here.path("lib"));
  writeFileSync(here.path("lib/b.txt"), "mine\n");
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("touch ok"), bash("cat lib/b.txt")] }, { text: "ok" }],
  });
  await sage.say("go");
  const [first] = await sage.open();
  swap(here.path("lib"), elsewhere.dir);
  await sage.answer({ type: "granted", requestId: first?.id ?? "" });
  const [again] = await sage.open();
  assert.equal(again?.kind === "permission" && again.input["command"], "cat lib/b.txt");
  assert.match(why(again), /points to/);
  await sage.answer({ type: "denied", requestId: again?.id ?? "" });
  await sage.outcome();
  assert.doesNotMatch(sage.result(0, 1), /secret\n/);
});

for (const [name, command] of [
  ["an interpreter runs it", "sh run.sh"],
  ["it is run by its path", "./run.sh"],
  ["it lies where cd leads", "cd tools && sh ./run.sh"],
  ["it is sourced", ". ./run.sh"],
] as const)
  test(`a script that is another one when its command is approved is asked about again: ${name}`, async () => {
    using here = workspace();
    mkdirSync(here.path("tools"));
    for (const path of ["run.sh", "tools/run.sh"])
      writeFileSync(here.path(path), "#!/bin/sh\necho good > ran\n", { mode: 0o755 });
    await using sage = await sageWith({ dir: here.dir, script: [{ calls: [bash(command)] }, { text: "ok" }] });
    await sage.say("go");
    const [first] = await sage.open();
    for (const path of ["run.sh", "tools/run.sh"]) writeFileSync(here.path(path), "#!/bin/sh\necho evil > ran\n");
    await sage.answer({ type: "granted", requestId: first?.id ?? "" });
    const [again] = await sage.open();
    assert.match(why(again), /run\.sh, which it runs, changed in between/);
    assert.notEqual(again?.digest, first?.digest);
    await sage.answer({ type: "denied", requestId: again?.id ?? "" });
    await sage.outcome();
    for (const path of ["ran", "tools/ran"]) assert.equal(existsSync(here.path(path)), false);
  });

test("a script that this session itself wrote in between is no surprise", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    rules: [allow("Edit(./**)")],
    script: [{ calls: [write("run.sh", "echo mine > ran\n"), bash("sh run.sh")] }, { text: "ok" }],
  });
  await sage.say("go");
  const [first] = await sage.open();
  await until(() => existsSync(here.path("run.sh")));
  await sage.answer({ type: "granted", requestId: first?.id ?? "" });
  await sage.outcome();
  assert.equal(allOf(sage), 1);
  assert.equal(readFileSync(here.path("ran"), "utf8"), "mine\n");
});

test("two edits of one file in one reply are asked about once each", async () => {
  using here = workspace();
  writeFileSync(here.path("a.txt"), "one two\n");
  const edit = (from: string, to: string) => ({
    tool: "Edit",
    input: { file_path: "a.txt", old_string: from, new_string: to },
  });
  await using sage = await sageWith({
    dir: here.dir,
    script: [
      { calls: [{ tool: "Read", input: { file_path: "a.txt" } }] },
      { calls: [edit("one", "1"), edit("two", "2")] },
      { text: "ok" },
    ],
  });
  await sage.say("go");
  for (const { id } of await sage.open(2)) await sage.answer({ type: "granted", requestId: id });
  await sage.outcome();
  assert.equal(allOf(sage), 2);
  assert.equal(readFileSync(here.path("a.txt"), "utf8"), "1 2\n");
});

const count = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
for (const [what, lines, runs] of [
  ["far from the lines shown", ["zero", ...count.slice(0, 9), "TEN"], true],
  ["in the lines shown", count.with(3, "FOUR"), false],
  ["so that the text is there twice", [...count, "five"], false],
] as [string, string[], boolean][])
  test(`an edit that a person approved, when somebody changed the file ${what}`, async () => {
    using here = workspace();
    const path = here.path("file.txt");
    writeFileSync(path, `${count.join("\n")}\n`);
    const input = { file_path: path, old_string: "five", new_string: "FIVE" };
    const read = { tool: "Read", input: { file_path: path } };
    await using sage = await sageWith({
      dir: here.dir,
      rules: [allow("Read")],
      script: [{ calls: [read] }, { calls: [{ tool: "Edit", input }] }, { calls: [write(path)] }, { text: "ok" }],
    });
    await sage.say("go");
    const [request] = await sage.open();
    const theirs = `${lines.join("\n")}\n`;
    writeFileSync(path, theirs);
    await sage.answer({ type: "granted", requestId: request?.id ?? "" });
    await sage.outcome();
    assert.equal(readFileSync(path, "utf8"), runs ? theirs.replace("five", "FIVE") : theirs);
    assert.equal(allOf(sage), 1, "a call that cannot work any more is nobody's question");
    assert.match(sage.result(1, 0), runs ? /Other lines of the file had changed/ : /has changed since you read it/);
    assert.equal(sage.result(1, 0).includes("The person had approved this call"), !runs);
    assert.doesNotMatch(sage.result(2, 0), /had approved this call/, "nobody was asked about this one");
    assert.match(sage.result(2, 0), /has changed since you read it/, "nobody overwrites what they have not read");
  });

test("more files than were shown: a pattern that has come to stand for another one asks again", async () => {
  using here = workspace();
  writeFileSync(here.path("a.log"), "");
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [bash("rm *.log")] }, { text: "ok" }] });
  await sage.say("go");
  const [first] = await sage.open();
  writeFileSync(here.path("important.log"), "");
  await sage.answer({ type: "granted", requestId: first?.id ?? "" });
  const [again] = await sage.open();
  assert.match(why(again), /it would also write \S+important\.log/);
  await sage.answer({ type: "denied", requestId: again?.id ?? "" });
  await sage.outcome();
  assert.equal(existsSync(here.path("important.log")), true);
});

test("a call that another attempt judged is judged again before it runs", async () => {
  using here = workspace();
  using elsewhere = workspace();
  const store = sqliteStore(here.path("journal.db"));
  const calls = [{ type: "call" as const, id: "c0", ...write("lib/b.txt") }];
  // The journal of a process that was killed after it had judged the call, and before it ran.
  store.create("s", { cwd: here.dir, version: "test" });
  store.append("s", { key: "said/0", type: "user.said", at: 1, data: { text: "go", by: "Lin", surface: "test" } });
  const log = openSession(store, "s");
  const root = log.branch("");
  root.decide("t0", "turn.begun", () => ({ loop: 1, maxSteps: 9, sawUpTo: 2 }));
  const reply = { parts: calls, usage: noUsage, finish: "calls", model: "scripted", sawUpTo: 2 } as const;
  root.decide("t0/0/model", "model.replied", () => ({ ...reply, parts: [...calls] }));
  const verdict: Verdict = { behavior: "allow", reason: said("a rule"), effect: "writes", digest: "x" };
  root.decide("t0/0/judged", "calls.judged", () => ({ verdicts: [verdict] }));
  log.release();
  symlinkSync(elsewhere.dir, here.path("lib"));

  const made = config({ script: [{ text: "ok" }], dir: here.dir, store, rules: [allow("Edit(./**)")] });
  const executor = async () => new TurnExecutor(made, { workingDirectory: here.dir });
  const host = createHost({ store, version: "test", executor });
  const ended = host.run("s");
  await until(() => store.pending("s").length === 1);
  const [request] = store.pending("s");
  assert.equal(existsSync(elsewhere.path("b.txt")), false);
  const response = { type: "denied", requestId: request?.id ?? "" } as const;
  await host.send({ type: "respond", response, by: "Lin", surface: "test" });
  await ended;
  await host.close();
  assert.equal(existsSync(elsewhere.path("b.txt")), false);
});

test("nothing is judged twice that nothing could have changed", async () => {
  using here = workspace();
  const glob = { tool: "Glob", input: { pattern: "*" } };
  await using sage = await sageWith({
    dir: here.dir,
    rules: [allow("Bash(echo:*)")],
    script: [{ calls: [bash("echo a")] }, { calls: [glob, glob] }, { text: "ok" }],
  });
  await sage.say("go");
  await sage.outcome();
  const judged = sage.facts().flatMap(({ type, key }) => (type === "calls.judged" ? [key] : []));
  assert.deepEqual(judged, ["t0/0/judged", "t0/1/judged"]);
});
