import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Fact, FactType } from "../../src/protocol/facts/fact.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import type { CommandReply, WatchEvent } from "../../src/protocol/host/host.ts";
import { createSession, type RunState, type SessionChange, type SessionOptions } from "../../src/view/session.ts";

let seq = 0;
function fact(type: FactType, key: string, data: unknown): WatchEvent {
  return { type: "fact", fact: { session: "s", seq: ++seq, key, type, at: seq, data } as unknown as Fact };
}
const said = () => fact("user.said", "said/m", { text: "go", by: "Ada", surface: "tui" });
const begun = () => fact("turn.begun", "t0", { loop: 1, maxSteps: 9, sawUpTo: seq });
const started = () => fact("call.started", "t0/0/0/run0.started", { tool: "Bash", effect: "writes", digest: "d" });
const paused = () => fact("turn.interrupted", "interrupt/i", { to: "pause", by: "Ada", surface: "tui" });
const attempt = () => fact("state.changed", "t0/a1", { from: { state: "initializing" }, to: { state: "executing" } });
const ended = () => {
  const stats = { steps: 0, toolCalls: 0, modelCalls: 1, durationMs: 1 };
  return fact("turn.ended", "t0.ended", { status: "success", text: "", usage: noUsage, stats });
};
const asked = () => fact("input.requested", "t0/0/0/permit0", { id: "s/r", kind: "text", prompt: "Name?" });
const ready = (owned: boolean, more: object = {}): WatchEvent => ({
  ...{ type: "ready", requests: [], live: true, owned },
  ...more,
});
const gone: WatchEvent = { type: "owner", live: true, stopped: true };
const refusal: WatchEvent = {
  type: "delta",
  delta: { session: "s", key: "host", attempt: 0, n: 0, kind: "notice", text: "no model" },
};

function heard(events: readonly WatchEvent[], options: Partial<SessionOptions> = {}) {
  const changes: SessionChange[] = [];
  const session = createSession("s", { changed: (change) => void changes.push(change), ...options });
  events.forEach(session.hear);
  return { session, changes, names: () => changes.map((one) => (one.type === "request" ? one.is : one.type)) };
}

suite("the state of a followed session", () => {
  const working = () => [said(), begun(), started()];
  const table: [string, () => WatchEvent[], RunState, number][] = [
    ["a turn that a process runs", () => [...working(), ready(true)], "running", 1],
    ["a turn that no process runs: nothing runs in it", () => [...working(), ready(false)], "stopped", 0],
    ["a message that nobody has taken up", () => [said(), ready(false)], "stopped", 0],
    ["a paused turn, whoever runs it", () => [...working(), paused(), ready(false)], "paused", 0],
    ["nothing to do", () => [...working(), ended(), ready(false)], "idle", 0],
    ["its process is gone", () => [...working(), ready(true), gone], "stopped", 0],
    ["another attempt goes on with it", () => [...working(), ready(false), attempt()], "running", 0],
    ["somebody speaks, and runs it", () => [ready(false), said()], "running", 0],
    ["a process is gone that had nothing to do", () => [...working(), ended(), ready(true), gone], "idle", 0],
    ["a turn that cannot begin", () => [ready(true), said(), refusal], "idle", 0],
    ["the next message after that", () => [ready(true), said(), refusal, said()], "running", 0],
  ];
  for (const [what, events, run, running] of table)
    test(what, () => {
      const { session } = heard(events());
      assert.deepEqual([session.run, session.progress.running.size], [run, running]);
    });

  test("a lost link says so, also before all facts are there, and joining goes on behind it", () => {
    const { session } = heard([said()]);
    assert.equal(session.phase, "joining");
    session.hear({ type: "link", lost: true });
    assert.equal(session.phase, "lost");
    session.hear({ type: "link", lost: false });
    assert.equal(session.phase, "joining");
    session.hear(ready(true));
    assert.equal(session.phase, "live");
  });

  test("an owner that changes nothing is not told", () => {
    const { names } = heard([ready(true), { type: "owner", live: true, stopped: false }, gone]);
    assert.deepEqual(names(), ["joined"]);
  });
});

suite("what a reply says before its fact comes", () => {
  const sends = (reply: object) => Promise.resolve(reply as CommandReply);

  test("a command shows the session at work until it is refused, or its facts say more", async () => {
    const { session } = heard([ready(false)]);
    const by = { by: "Ada", surface: "tui" };
    const refused = session.sends({ type: "say", session: "s", text: "go", ...by }, sends({ ok: false }));
    assert.equal(session.run, "running");
    await refused;
    assert.equal(session.run, "idle");
    await session.sends({ type: "say", session: "s", text: "go", ...by }, sends({ ok: true, seq: seq + 1 }));
    assert.equal(session.run, "running");
    for (const event of [said(), begun(), ended()]) session.hear(event);
    assert.equal(session.run, "idle");
  });

  test("resume continues what is stopped or paused, and begins nothing", async () => {
    for (const [events, run] of [
      [[said(), begun(), ready(false)], "running"],
      [[said(), begun(), paused(), ready(false)], "running"],
      [[said(), begun(), ended(), ready(false)], "idle"],
    ] as const) {
      const { session } = heard(events);
      await session.sends({ type: "resume", session: "s" }, sends({ ok: true }));
      assert.equal(session.run, run);
    }
  });

  test("a request that was answered is open no more, and is told to end once", async () => {
    const { session, names } = heard([ready(true), asked()]);
    const resolution = { requestId: "s/r", by: "Ada", surface: "tui", at: 1, outcome: "answered" };
    const response = { type: "text", requestId: "s/r", text: "Ada" } as const;
    const replied = sends({ ok: true, running: true, resolution });
    await session.sends({ type: "respond", response, by: "Ada", surface: "tui" }, replied);
    session.hear(fact("input.resolved", "t0/0/0/permit0.resolved", resolution));
    assert.deepEqual([session.requests.length, names()], [0, ["joined", "fact", "opened", "ended", "fact"]]);
  });

  test("an interrupt that cancels ends what is open", async () => {
    const { session, names } = heard([ready(true), asked()]);
    const command = { type: "interrupt", session: "s", by: "Ada", surface: "tui" } as const;
    await session.sends(command, sends({ ok: true, to: "cancel" }));
    assert.deepEqual([session.requests.length, names().at(-1)], [0, "ended"]);
  });
});

test("a request keeps what facts of before said of it, and its identity", () => {
  const inquiry = { requestId: "s/r", inquiry: "i", text: "Why?", by: "Ada", surface: "tui" };
  const request = { id: "s/r", kind: "text", prompt: "Name?" };
  const draft = { text: "A" };
  const events = [asked(), fact("inquiry.made", "t0/0/0/permit0/ask/i", inquiry)];
  const { session } = heard([...events, ready(true, { requests: [{ request, draft }] })]);
  const [open] = session.requests;
  assert.deepEqual([open?.draft, open?.inquiries.map(({ made }) => made.text)], [draft, ["Why?"]]);
  session.hear(fact("draft.saved", "d", { requestId: "s/r", draft: { text: "Ada" }, by: "Ada", surface: "tui" }));
  assert.deepEqual([session.requests[0] === open, open?.draft], [true, { text: "Ada" }]);
});

test("items of before the turn under way are kept, or let go", () => {
  const turns = () => [ready(true), said(), begun(), ended(), said(), begun()];
  assert.equal(heard(turns()).session.items.size, 3);
  assert.equal(heard(turns(), { keep: "turn" }).session.items.size, 1);
});
