import assert from "node:assert/strict";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import type { Host } from "../../src/protocol/host/host.ts";
import { said as inWords } from "../../src/protocol/reasons/reason.ts";
import { recover } from "../../src/host/recovery.ts";
import { fact } from "../journal/journals.ts";
import { askUser, bash, question, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

test("a turn that a person paused stays paused; one that broke off goes on; one that ended is left alone", async () => {
  using here = workspace();
  const path = here.path("journal.db");
  const script = [{ calls: [bash("sleep 30")] }, { text: "done" }];
  const rules = [{ behavior: "allow", text: "Bash", source: "user" } as const];
  const begun = async () => {
    const sage = await sageWith({ script, dir: here.dir, store: sqliteStore(path), rules });
    await sage.say("go");
    await until(() => sage.facts().some(({ type }) => type === "call.started"));
    return sage;
  };
  const paused = await begun();
  await paused.host.send({ type: "interrupt", session: paused.session, by: "Lin", surface: "test" });
  await paused.outcome();
  await paused.host.close();
  const broken = await begun();
  await broken.host.close();

  await using next = await sageWith({ script: [{ text: "nothing to do" }], dir: here.dir, store: sqliteStore(path) });
  await next.say("hello");
  await next.outcome();
  const sent: unknown[] = [];
  const host: typeof next.host = {
    ...next.host,
    send(command) {
      sent.push(command);
      return Promise.resolve({ ok: true } as never);
    },
  };
  const recovered = await recover(next.store, host, [paused.session, broken.session, next.session, "unknown"]);
  assert.deepEqual([recovered.resumed, recovered.waiting], [1, 0]);
  assert.deepEqual(sent, [{ type: "resume", session: broken.session }]);
});

test("a call whose end is unknown is asked about at once, beside a question that waits; a message nobody began with is taken up", async () => {
  using here = workspace();
  const path = here.path("journal.db");
  const store = sqliteStore(path);
  const said = (session: string) => {
    store.create(session, { cwd: here.dir, version: "test" });
    const data = { text: "go", by: "Lin", surface: "test" };
    return store.append(session, { key: "said/0", type: "user.said", at: 1, data });
  };
  const frame = { source: "tool", agent: [], why: inWords(""), digest: "", at: 1 } as const;
  const asked = (session: string) =>
    fact(
      "t0/0/1/ask0",
      "input.requested",
      { ...frame, id: `${session}/t0/0/1/ask0`, session, kind: "text", prompt: "?" },
      session,
    );
  for (const session of ["both", "waits", "ended", "heard"]) {
    const begun = fact("t0", "turn.begun", { loop: 1, maxSteps: 9, sawUpTo: said(session).fact.seq }, session);
    const started = fact(
      "t0/0/0/run0.started",
      "call.started",
      { tool: "Bash", effect: "writes", digest: "x" },
      session,
    );
    const finished = fact("t0/0/0/run0.finished", "call.finished", { ok: true, text: "" }, session);
    const stats = { steps: 0, modelCalls: 0, toolCalls: 0, durationMs: 0 };
    const ended = fact("t0.ended", "turn.ended", { status: "success", text: "", usage: noUsage, stats }, session);
    const facts = {
      both: [begun, started, asked(session)],
      waits: [begun, started, finished, asked(session)],
      ended: [begun, ended],
      heard: [begun, started, finished, ended],
    }[session]!;
    const epoch = store.claim(session);
    store.commit(session, epoch, facts);
    store.release(session, epoch);
  }
  said("unheard");
  const sent: string[] = [];
  const host = {
    send: (command: { session: string }) => (sent.push(command.session), Promise.resolve({ ok: true })),
  } as unknown as Host;
  const all = ["both", "waits", "ended", "heard", "unheard"];
  const recovered = await recover(store, host, all);
  assert.deepEqual([recovered.resumed, recovered.waiting], [2, 1]);
  assert.deepEqual(sent, ["both", "unheard"]);
  recovered.stop();
  store.close();
});

test("a clock that is set forward ends no request whose time a restarted process measures", async (t) => {
  using here = workspace();
  const path = here.path("journal.db");
  const script = [{ calls: [askUser(question("Which?"))] }, { text: "done" }];
  const first = await sageWith({
    script,
    dir: here.dir,
    store: sqliteStore(path),
    options: { promptTimeout: 600_000 },
  });
  await first.say("go");
  const [request] = await first.open();
  await first.host.close();

  await using next = await sageWith({ script, dir: here.dir, store: sqliteStore(path) });
  const recovered = await recover(next.store, next.host, [first.session]);
  assert.equal(recovered.waiting, 1);
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 3_600_000 });
  const answers = { "Which?": { selected: ["Red"] } };
  const reply = await next.answer({ type: "answers", requestId: request?.id ?? "", answers });
  assert.equal(reply.ok && reply.resolution?.outcome, "answered");
  recovered.stop();
});

test("a question about a request that a killed process left without a reply is replied to, also where the turn only waits", async () => {
  using here = workspace();
  const path = here.path("journal.db");
  const script = { "": [{ calls: [bash("make")] }, { text: "done" }], inquiry: [{ text: "because" }] };
  const first = await sageWith({ script, dir: here.dir, store: sqliteStore(path) });
  await first.say("go");
  const [request] = await first.open();
  await first.host.close();

  await using next = await sageWith({ script, dir: here.dir, store: sqliteStore(path) });
  const requestId = request!.id;
  const asked = await next.host.send({ type: "inquire", requestId, text: "why?", by: "Ada", surface: "test" });
  assert.equal(asked.ok && asked.running, false, "nothing runs it");
  const recovered = await recover(next.store, next.host, [first.session]);
  assert.deepEqual([recovered.resumed, recovered.waiting], [1, 0]);
  await until(() => next.store.inquiries(requestId).length === 2);
  assert.equal(next.store.resolution(requestId), undefined);
  await next.host.send({ type: "respond", response: { type: "denied", requestId }, by: "Ada", surface: "test" });
  await until(() => next.store.session(first.session)?.open === false);
});

test("an answer from another process to a turn that waits after a restart is told that the turn goes on, and it does", async () => {
  using here = workspace();
  const path = here.path("journal.db");
  const script = [{ calls: [askUser(question("Which?"))] }, { text: "done" }];
  const first = await sageWith({ script, dir: here.dir, store: sqliteStore(path) });
  await first.say("go");
  const [request] = await first.open();
  await first.host.close();

  await using next = await sageWith({ script, dir: here.dir, store: sqliteStore(path) });
  const recovered = await recover(next.store, next.host, [first.session]);
  await using other = await sageWith({ script, dir: here.dir, store: sqliteStore(path) });
  assert.equal(other.store.session(first.session)?.owned, true);
  const answers = { "Which?": { selected: ["Red"] } };
  const reply = await other.answer({ type: "answers", requestId: request?.id ?? "", answers });
  assert.equal(reply.ok && reply.running, true);
  await until(() => next.store.session(first.session)?.open === false);
  recovered.stop();
});
