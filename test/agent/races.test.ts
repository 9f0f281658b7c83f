// Days on which two things happen at once, or one of them happens twice.
import { noUsage } from "../../src/protocol/facts/message.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Store } from "../../src/journal/store/store.ts";
import { askUser, bash, config, question, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { hostOn } from "./hosts.ts";

const lin = { by: "Lin", surface: "test" };

test("after a cancelled turn the next message is heard", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [askUser(question("Sure?"))] }, { text: "what now?" }],
  });
  await sage.say("go");
  await sage.open();
  await sage.host.send({ type: "interrupt", session: sage.session, cancel: true, ...lin });
  assert.equal((await sage.outcome()).status, "cancelled");
  await sage.say("something else");
  assert.equal((await sage.outcome()).text, "what now?");
});

test("a process that lost the session leaves its requests and its turn alone", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("Sure?"))] }, { text: "done by the other" }];
  const [mine, theirs] = [sqliteStore(here.path("journal.db")), sqliteStore(here.path("journal.db"))];
  const a = hostOn(mine, here.dir, script);
  await a.send({ type: "open", session: "s", cwd: here.dir });
  await a.send({ type: "say", session: "s", text: "go", ...lin });
  const lost = a.run("s");
  await until(() => theirs.pending("s").length === 1);
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(here.path("journal.db"));
  db.exec("UPDATE process SET beat=0"); // as after a long freeze
  db.close();
  const b = hostOn(theirs, here.dir, script);
  const won = b.run("s");
  await until(() => theirs.session("s")?.owned === true);
  // The first wakes up and tries to write.
  await a.send({ type: "say", session: "s", text: "still there?", ...lin });
  await a.close();
  await lost.catch(() => undefined);
  assert.equal(theirs.pending("s").length, 1, "the request is still open");
  await b.send({
    type: "respond",
    response: { type: "answers", requestId: "s/t0/0/0/ask0", answers: { "Sure?": { selected: ["Red"] } } },
    ...lin,
  });
  assert.equal((await won).status, "success");
  await b.close();
});

test("calls that an interrupt ended stay ended, however the facts fell, and leave no request behind", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  const script = [{ calls: [bash("echo one >> ran"), bash("echo two >> ran")] }, { text: "heard you" }];
  store.create("s", { cwd: here.dir, version: "test" });
  store.append("s", { key: "said/0", type: "user.said", at: 1, data: { text: "go", ...lin } });
  // The interrupt of another process is on disk before the reply; the owner had not heard of it yet.
  const log = openSession(store, "s");
  const d = log.branch("");
  log.commits.add("state/1.0", "state.changed", {
    from: { state: "initializing" },
    to: { state: "executing", phase: "preparingContext" },
    at: 1,
  });
  d.decide("t0", "turn.begun", () => ({ loop: 1, maxSteps: 9, sawUpTo: 2 }));
  log.flush();
  store.append("s", { key: "interrupt/0", type: "turn.interrupted", at: 2, data: { to: "pause", ...lin } });
  const calls = [bash("echo one >> ran"), bash("echo two >> ran")].map((call, n) => ({
    type: "call" as const,
    id: `c${n}`,
    ...call,
  }));
  d.decide("t0/0/model", "model.replied", () => ({
    parts: calls,
    usage: noUsage,
    finish: "calls",
    model: "scripted",
    sawUpTo: 2,
  }));
  log.release();
  const host = hostOn(store, here.dir, script, { permissionMode: "bypass" });
  await host.send({ type: "say", session: "s", text: "stop that", ...lin });
  assert.equal((await host.run("s")).text, "heard you");
  assert.equal(existsSync(here.path("ran")), false);
  assert.deepEqual(store.pending("s"), []);
  await host.close();
});

test("a command that was started and then interrupted and killed is never called 'not run'", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  let heard = "";
  const script = [
    { calls: [bash("echo one >> ran")] },
    (request: { messages: readonly unknown[] }) => ((heard = JSON.stringify(request.messages)), { text: "I see" }),
  ];
  store.create("s", { cwd: here.dir, version: "test" });
  store.append("s", { key: "said/0", type: "user.said", at: 1, data: { text: "go", ...lin } });
  const log = openSession(store, "s");
  const d = log.branch("");
  d.decide("t0", "turn.begun", () => ({ loop: 1, maxSteps: 9, sawUpTo: 2 }));
  const call = { type: "call" as const, id: "c0", ...bash("echo one >> ran") };
  d.decide("t0/0/model", "model.replied", () => ({
    parts: [call],
    usage: noUsage,
    finish: "calls",
    model: "scripted",
    sawUpTo: 2,
  }));
  d.decide("t0/0/judged", "calls.judged", () => ({
    verdicts: [{ behavior: "allow", reason: said(""), effect: "writes", digest: "x" }],
  }));
  d.decide("t0/0/0/run0.started", "call.started", () => ({ tool: "Bash", effect: "writes", digest: "x" }));
  log.release();
  store.append("s", { key: "interrupt/0", type: "turn.interrupted", at: 2, data: { to: "pause", ...lin } });
  const host = hostOn(store, here.dir, script);
  await host.send({ type: "say", session: "s", text: "what happened?", ...lin });
  assert.equal((await host.run("s")).text, "I see");
  assert.match(heard, /was started, and how it ended is not known/);
  assert.doesNotMatch(heard, /Not run/);
  await host.close();
});

test("a message from another process is neither lost at the end of a turn nor jumped over", async () => {
  using here = workspace();
  const prompts: string[] = [];
  const remember = (text: string) => (request: { messages: readonly unknown[] }) => (
    prompts.push(JSON.stringify(request.messages)),
    { text }
  );
  const [mine, theirs] = [sqliteStore(here.path("journal.db")), sqliteStore(here.path("journal.db"))];
  const a = hostOn(mine, here.dir, [remember("one"), remember("two"), remember("three")]);
  const b = hostOn(theirs, here.dir, [remember("from the other")]);
  await a.send({ type: "open", session: "s", cwd: here.dir });
  await a.send({ type: "say", session: "s", text: "first", ...lin });
  const running = a.run("s");
  await b.send({ type: "say", session: "s", text: "from elsewhere", ...lin });
  await a.send({ type: "say", session: "s", text: "from here", ...lin });
  await running;
  await until(() => !mine.session("s")?.owned && !theirs.session("s")?.owned);
  const seen = prompts.join("\n");
  for (const text of ["first", "from elsewhere", "from here"]) assert.ok(seen.includes(text), text);
  await a.close();
  await b.close();
});

test("a watcher hears every fact in order, also those of other processes", async () => {
  using here = workspace();
  const [mine, theirs] = [sqliteStore(here.path("journal.db")), sqliteStore(here.path("journal.db"))];
  const heard: number[] = [];
  mine.create("s", { cwd: here.dir, version: "test" });
  mine.hub.subscribe("s", { fact: ({ seq }) => heard.push(seq) });
  const say = (store: Store, n: number) =>
    store.append("s", { key: `said/${n}`, type: "user.said", at: n, data: { text: `${n}`, ...lin } });
  for (let n = 0; n < 20; n++) say(n % 3 === 0 ? mine : theirs, n);
  await until(() => heard.length === 20);
  assert.deepEqual(
    heard,
    heard.toSorted((x, y) => x - y),
  );
  mine.close();
  theirs.close();
});

test("speaking right after an interrupt is heard, also while the command is still dying", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    permissionMode: "bypass",
    script: [{ calls: [bash("trap '' TERM; echo begun >> ran; sleep 60 & wait; sleep 0.3")] }, { text: "heard" }],
  });
  await sage.say("go");
  await until(() => existsSync(here.path("ran")) && readFileSync(here.path("ran"), "utf8") !== "");
  await sage.host.send({ type: "interrupt", session: sage.session, ...lin });
  await sage.host.send({ type: "say", session: sage.session, text: "do something else", ...lin });
  await until(() => sage.facts().some((fact) => fact.type === "turn.ended"));
  assert.equal((await sage.host.run(sage.session)).text, "heard");
});

test("a session that somebody else has taken is let go at the next beat, with the command it runs", async () => {
  using here = workspace();
  const [mine, theirs] = [sqliteStore(here.path("journal.db")), sqliteStore(here.path("journal.db"))];
  const a = hostOn(mine, here.dir, [{ calls: [bash("echo begun >> ran; sleep 60")] }], { permissionMode: "bypass" });
  await a.send({ type: "open", session: "s", cwd: here.dir });
  await a.send({ type: "say", session: "s", text: "go", ...lin });
  const outcome = a.run("s");
  await until(() => existsSync(here.path("ran")) && readFileSync(here.path("ran"), "utf8") !== "");
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(here.path("journal.db"));
  db.exec("UPDATE process SET beat=0");
  db.close();
  theirs.claim("s");
  const ended = await outcome;
  assert.equal(ended.status === "error" && ended.error.code, "lease-lost");
  await a.close();
  theirs.close();
});

test("a closed channel is nobody: what is asked on it ends as such and the turn goes on", async () => {
  using here = workspace();
  const { InputChannel } = await import("../../src/input/channel.ts");
  const [channel, handle] = InputChannel.create(4);
  const script = [
    { calls: [askUser(question("Sure?"))] },
    { calls: [askUser(question("Really?"))] },
    { text: "nobody there" },
  ];
  const running = new TurnExecutor(
    config({ script, dir: here.dir }),
    { workingDirectory: here.dir },
    channel,
  ).executeTask("go");
  await handle.nextRequest();
  handle.close();
  const outcome = await running;
  assert.equal(outcome.text, "nobody there");
  for (const { result } of outcome.toolHistory) assert.match(result.text, /not answered/i);
});

test("what a person refused is not asked again after a restart, until they say something", async () => {
  using here = workspace();
  const again = { calls: [bash("env touch x")] };
  const store = sqliteStore(here.path("journal.db"));
  const first = await sageWith({ dir: here.dir, script: [again, { text: "", delayMs: 60_000 }], store });
  await first.say("go");
  const [request] = await first.open();
  await first.answer({ type: "denied", requestId: request?.id ?? "" });
  await until(() => first.facts().some(({ key }) => key === "t0/0/0/done"));
  const { session } = first;
  await first[Symbol.asyncDispose]();

  const reopened = sqliteStore(here.path("journal.db"));
  const then = [again, again, { text: "I give up" }, again, { text: "now I may" }];
  await using second = await sageWith({ dir: here.dir, script: then, store: reopened });
  assert.equal((await second.host.run(session)).text, "I give up");
  assert.deepEqual(reopened.pending(session), []);
  await second.host.send({ type: "say", session, text: "try once more", by: "Lin", surface: "test" });
  await until(() => reopened.pending(session).length > 0);
});
