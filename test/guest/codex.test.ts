import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { codexDriver } from "../../src/guest/codex/codex.ts";
import { serversIn, stopCodex } from "../../src/guest/codex/server.ts";
import type { GuestAsk, GuestEvent, GuestStart } from "../../src/guest/driver.ts";
import { no, played, yes } from "../support/guests/listen.ts";

const fake = new URL("../support/guests/fake-codex.mjs", import.meta.url).pathname;
const home = mkdtempSync(join(tmpdir(), "sage-codex-"));
const shared = join(home, "guests");
after(async () => {
  await stopCodex(shared); // it is found by a file in its folder
  rmSync(home, { recursive: true, force: true });
});
let folders = 0;

type Step = { text?: string; calls?: object[] };

function codex(context: TestContext, script: Step[], { mode, alone = false }: { mode?: string; alone?: boolean } = {}) {
  const dir = alone ? join(home, `${folders++}`) : shared;
  const cwd = mkdtempSync(join(home, "project-"));
  writeFileSync(join(cwd, "script.json"), JSON.stringify(script));
  const driver = codexDriver({ name: "codex", command: fake, args: [], dir, ...(mode !== undefined && { mode }) });
  if (alone) context.after(() => stopCodex(dir));
  return {
    dir,
    cwd,
    made: (name: string) => existsSync(join(cwd, name)),
    state: (thread: string) =>
      JSON.parse(readFileSync(join(cwd, "threads", `${thread}.json`), "utf8")) as {
        heard: string[];
        results: object[];
      },
    async start(resume?: string) {
      const options: GuestStart = {
        cwd,
        env: process.env,
        spawned: () => assert.fail("it outlives us"),
        signal: context.signal,
      };
      const guest = await driver.start({ ...options, ...(resume !== undefined && { resume }) });
      context.after(() => guest.close());
      return guest;
    },
  };
}

const touch = (name: string) => ({ id: `call_${name}`, command: `touch ${name}` });
const bash = (name: string) => ({
  type: "call",
  id: `call_${name}`,
  tool: "Bash",
  input: { command: `touch ${name}` },
});
const asksOf = (events: GuestEvent[]): GuestAsk[] =>
  events.flatMap((event) => (event.type === "asks" ? [event.ask] : []));

test("a command is asked about as Bash without its shell, runs after a yes, and everything is told", async (context) => {
  const { start, made } = codex(context, [{ text: "I make it.", calls: [touch("a")] }, { text: "Done." }]);
  const guest = await start();
  await guest.say("make a");
  const judged = [{ tool: "Bash", input: { command: "touch a" } }];
  assert.deepEqual(await played(guest, () => yes), [
    { type: "said", parts: [{ type: "text", text: "I make it." }, bash("a")], model: "fake-model", agent: [] },
    { type: "asks", ask: { id: "0", call: bash("a"), judged, agent: [] } },
    { type: "result", call: "call_a", ok: true, text: "completed" },
    { type: "said", parts: [{ type: "text", text: "Done." }], model: "fake-model", agent: [] },
    { type: "ended", how: "done" },
  ]);
  assert.ok(made("a"));
  assert.deepEqual([guest.version, guest.model, guest.goesOn], ["9.9.9", "fake-model", false]);
});

test("left while it asks it asks the same again, whoever comes; two of them hear who was first", async (context) => {
  const { start, made, dir } = codex(context, [{ calls: [touch("a")] }, { text: "Done." }]);
  const guest = await start();
  await guest.say("make a");
  const [first] = asksOf(await played(guest, () => (void guest.park([]), "nothing")));
  assert.deepEqual(
    serversIn(dir).map(({ lives, parked }) => [lives, parked]),
    [[true, 1]],
  );
  assert.equal(made("a"), false);
  const [one, two] = [await start(guest.session), await start(guest.session)];
  assert.deepEqual([one.goesOn, two.goesOn], [true, true]);
  const [mine, other] = await Promise.all([played(one, () => yes), played(two, () => "nothing")]);
  assert.deepEqual(asksOf(mine), [first]);
  assert.deepEqual(
    other.map(({ type }) => type),
    ["said", "asks", "withdrawn", "result", "said", "ended"],
  );
  assert.ok(made("a"));
  assert.deepEqual(
    serversIn(dir).map(({ parked }) => parked),
    [0],
  );
});

test("its policy is sent again with every resume: it asks in the second turn, too", async (context) => {
  const { start, made } = codex(context, [
    { calls: [touch("a")] },
    { text: "One." },
    { calls: [touch("b")] },
    { text: "Two." },
  ]);
  const guest = await start();
  await guest.say("make a");
  await played(guest, () => yes);
  const again = await start(guest.session);
  assert.equal(again.goesOn, false);
  await again.say("make b");
  assert.deepEqual(
    asksOf(await played(again, () => no())).map(({ call }) => call),
    [bash("b")],
  );
  assert.deepEqual([made("a"), made("b")], [true, false]);
});

test("killed while it asks it does not ask again: the thread is there, and has nothing to do", async (context) => {
  const { start, dir, made } = codex(context, [{ calls: [touch("a")] }, { text: "Done." }], { alone: true });
  const guest = await start();
  await guest.say("make a");
  const heard = await played(guest, () => {
    for (const { pid } of serversIn(dir)) process.kill(-pid, "SIGKILL");
    return "nothing";
  });
  assert.deepEqual(heard.at(-1), { type: "ended", how: "died", words: "its app-server is gone" });
  const again = await start(guest.session);
  assert.deepEqual([again.session, again.goesOn], [guest.session, false]);
  await again.say("go on");
  assert.deepEqual(asksOf(await played(again, () => yes)), []);
  assert.equal(made("a"), false);
});

test("a thread that is not found begins anew, under another name", async (context) => {
  const { start } = codex(context, [{ text: "Done." }]);
  assert.notEqual((await start("0-0-0")).session, "0-0-0");
});

test("the words of a refusal come before it", async (context) => {
  const { start, state, made } = codex(context, [{ calls: [touch("a")] }, { text: "I see." }]);
  const guest = await start();
  await guest.say("make a");
  await played(guest, () => no("The person said no: 用 b。"));
  assert.deepEqual(state(guest.session).heard, ["make a", "steered: The person said no: 用 b。"]);
  assert.deepEqual(state(guest.session).results, [{ id: "call_a", decision: "decline" }]);
  assert.equal(made("a"), false);
});

test("two calls of one reply are asked about at once, and answered each by itself", async (context) => {
  const { start, made } = codex(context, [{ calls: [touch("a"), touch("b")] }, { text: "Done." }]);
  const guest = await start();
  await guest.say("make both");
  const asked: GuestAsk[] = [];
  await played(guest, (ask) => {
    asked.push(ask);
    if (asked.length === 2) for (const one of asked) guest.answer(one, one.call.id === "call_a" ? yes : no());
    return "nothing";
  });
  assert.deepEqual(
    asked.map(({ call }) => call.id),
    ["call_b", "call_a"],
  );
  assert.deepEqual([made("a"), made("b")], [true, false]);
});

test("a patch is one request with its changes, judged file by file, also when it is met again", async (context) => {
  const fixture: { path: string; kind: object; diff: string }[] = [];
  const { start, cwd } = codex(context, [{ calls: [{ id: "p", changes: fixture }] }, { text: "Done." }]);
  fixture.push({ path: join(cwd, "new.txt"), kind: { type: "add" }, diff: "你好\n" });
  fixture.push({ path: join(cwd, "old.txt"), kind: { type: "update" }, diff: "@@ -1,2 +1,2 @@\n one\n-two\n+three\n" });
  writeFileSync(
    join(cwd, "script.json"),
    JSON.stringify([{ calls: [{ id: "p", changes: fixture }] }, { text: "Done." }]),
  );
  const guest = await start();
  await guest.say("patch it");
  const [ask] = asksOf(await played(guest, () => (void guest.park([]), "nothing")));
  assert.deepEqual(ask?.judged, [
    { tool: "Write", input: { file_path: join(cwd, "new.txt"), content: "你好\n" } },
    { tool: "Edit", input: { file_path: join(cwd, "old.txt"), old_string: "one\ntwo", new_string: "one\nthree" } },
  ]);
  const again = await start(guest.session);
  assert.deepEqual(asksOf(await played(again, () => yes)), [ask]);
  assert.ok(existsSync(join(cwd, "new.txt")));
});

test("a subagent's patch is shown with its changes where they were told, and says so where they were not", async (context) => {
  const changes = [{ path: "/nowhere/new.txt", kind: { type: "add" }, diff: "你好\n" }];
  const calls = [
    { id: "p", thread: "below", changes },
    { id: "q", thread: "below", changes, untold: true },
  ];
  const { start } = codex(context, [{ calls }, { text: "Done." }]);
  const guest = await start();
  await guest.say("patch it");
  const events = await played(guest, () => no());
  assert.deepEqual(
    asksOf(events).map(({ call, agent, untold, judged }) => [call.id, call.input, agent, untold, judged.length]),
    [
      ["below/q", { thread: "below", item: "q" }, ["subagent"], true, 0],
      ["below/p", { changes: [{ ...changes[0], kind: "add" }] }, ["subagent"], undefined, 1],
    ],
  );
  const ends = events.flatMap((event) => (event.type === "result" ? [[event.call, event.ok]] : []));
  assert.deepEqual(ends, [["below/p", false]]);
});

test("questions are answered by their ids; one that wants a secret is not put to anybody", async (context) => {
  const options = [{ label: "SQLite", description: "one file" }];
  const plain = { id: "db", header: "Database", question: "Which?", isOther: true, isSecret: false, options };
  const secret = { id: "key", header: "Key", question: "Your key?", isOther: true, isSecret: true, options: null };
  const script = [
    { calls: [{ id: "q", questions: [plain] }] },
    { calls: [{ id: "s", questions: [secret] }] },
    { text: "Done." },
  ];
  const { start, state } = codex(context, script, { mode: "plan" });
  const guest = await start();
  await guest.say("ask me");
  const heard = await played(guest, () => ({
    type: "answers",
    answers: { "Which?": { selected: ["SQLite"], other: "for now" } },
  }));
  assert.deepEqual(
    asksOf(heard).map(({ questions }) => questions),
    [[{ question: "Which?", header: "Database", options, multiSelect: false }]],
  );
  assert.deepEqual(state(guest.session).results, [
    { id: "q", answers: { db: { answers: ["SQLite", "for now"] } } },
    { id: "s", answers: {} },
  ]);
});

test("an interrupt ends the turn; words that come while it works join it", async (context) => {
  const { start, state, made } = codex(context, [{ calls: [touch("a")] }]);
  const guest = await start();
  await guest.say("make a");
  const said: Promise<void>[] = [];
  const heard = await played(guest, () => {
    said.push(guest.say("and quickly").then(() => guest.interrupt()));
    return "nothing";
  });
  await Promise.all(said);
  assert.deepEqual(heard.at(-1), { type: "ended", how: "interrupted" });
  assert.deepEqual(state(guest.session).heard, ["make a", "steered: and quickly"]);
  assert.equal(made("a"), false);
});

test("two that begin at once share one server, on a socket that is theirs alone; stopped, it is gone", async (context) => {
  const { start, dir } = codex(context, [{ text: "Done." }], { alone: true });
  await Promise.all([start(), start()]);
  const servers = serversIn(dir);
  assert.equal(servers.length, 1);
  assert.equal(statSync(dir).mode & 0o077, 0);
  assert.equal(await stopCodex(dir), 1);
  assert.deepEqual(
    serversIn(dir).map(({ lives }) => lives),
    [false],
  );
  assert.equal(await stopCodex(dir), 0);
});

test("a program that is not there, or ends at once, is an error in its own words", async (context) => {
  const options: GuestStart = { cwd: home, env: process.env, spawned: () => {}, signal: context.signal };
  const failing = codexDriver({ name: "codex", command: "/nonexistent/codex", args: [], dir: join(home, "none") });
  await assert.rejects(failing.start(options), /not found|No such file/);
});
