import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { Receipt } from "../../src/protocol/host/receipt.ts";
import { reason, said } from "../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { answersOf, replayAnswers, scriptOf } from "../../src/archive/recording.ts";
import { changed, receiptsOf } from "../../src/archive/receipts.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";

const files = (source: string) => `/settings/${source}.json`;
const told = (receipts: readonly Receipt[]) =>
  receipts.map(({ decision, rule, agent, input }) => ({ decision, rule, agent, command: input["command"] }));

test("a rule that answers a twin, an edited input, and a subagent's call each have their receipt", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  const script = {
    "": [
      { calls: [bash("node -p 1"), bash("node -p 1"), bash("node -p 2")] },
      { calls: [{ tool: "Task", input: { agent: "Execute", description: "do it", prompt: "do it" } }] },
      { text: "done" },
    ],
    Execute: [{ calls: [bash("node -p 4")] }, { text: "did it" }],
  };
  await using sage = await sageWith({ script, dir: here.dir, store });
  await sage.say("go");
  const [first, , third] = await sage.open(3);
  const rules = [{ rule: "Bash(node -p 1)", behavior: "allow", destination: "session" }] as const;
  await sage.answer({ type: "granted", requestId: third?.id ?? "", input: { command: "node -p 3" } }, "Bo");
  await sage.answer({ type: "granted", requestId: first?.id ?? "", rules: [...rules] }, "Lin");
  const ofSubagent = () => store.pending(sage.session).find(({ agent }) => agent.length > 0)?.id;
  for (let tries = 0; ofSubagent() === undefined && tries < 2_000; tries++)
    await new Promise((resolve) => setTimeout(resolve, 5)); // the twin is answered by the rule meanwhile
  const deep = ofSubagent() ?? assert.fail("the subagent never asked");
  assert.deepEqual(receiptsOf(sage.facts(), files).at(-1)?.decision, "open");
  await sage.answer({ type: "denied", requestId: deep, reason: "not there" }, "Bo");
  await sage.outcome();

  const receipts = receiptsOf(sage.facts(), files).filter(({ tool }) => tool === "Bash");
  assert.deepEqual(told(receipts), [
    { decision: "allowed", rule: undefined, agent: [], command: "node -p 1" },
    {
      decision: "allowed",
      rule: { text: "Bash(node -p 1)", source: "session", from: "Lin" },
      agent: [],
      command: "node -p 1",
    },
    { decision: "allowed", rule: undefined, agent: [], command: "node -p 3" },
    { decision: "refused", rule: undefined, agent: ["Execute"], command: "node -p 4" },
  ]);
  assert.deepEqual(
    receipts.map(({ asked }) => asked.map(({ resolution }) => `${resolution?.outcome} by ${resolution?.by}`)),
    [["answered by Lin"], ["superseded by Lin"], ["answered by Bo"], ["answered by Bo"]],
  );
  assert.deepEqual(
    receipts[0]?.rulesAdded.map(({ rule }) => rule),
    ["Bash(node -p 1)"],
  );
  assert.ok(receipts.slice(0, 3).every(({ runs, digest }) => runs[0]?.ok && digest !== ""));
  // Who ran what was approved: what started was bound to the digest of the receipt.
  const started = sage.facts().filter((fact) => fact.type === "call.started");
  assert.deepEqual(
    started.map(({ data }) => data.digest),
    receipts.slice(0, 3).map(({ digest }) => digest),
  );
});

test("of several rules a receipt names the one that made the difference, and whoever gave that one", async () => {
  using here = workspace();
  const calls = ["node -p 1", "node -p 2", "node -p 1", "node -p 3 && node -p 1", "touch a"].map(bash);
  const rules: Rule[] = [
    { behavior: "allow", text: "Bash(node -p 3)", source: "user" },
    ...[2, 3].map((approvals): Rule => ({
      ...{ behavior: "ask", text: "Bash(touch:*)", source: approvals === 2 ? "user" : "project" },
      consent: { approvals },
    })),
  ];
  const script = [...calls.map((call) => ({ calls: [call] })), { text: "done" }];
  await using sage = await sageWith({ script, dir: here.dir, rules });
  await sage.say("go");
  for (const [n, by] of ["Lin", "Bo"].entries()) {
    const [request] = await sage.open();
    const rule = { rule: `Bash(node -p ${n + 1})`, behavior: "allow", destination: "session" } as const;
    await sage.answer({ type: "granted", requestId: request?.id ?? "", rules: [rule] }, by);
  }
  const [last] = await sage.open();
  await sage.answer({ type: "denied", requestId: last?.id ?? "" });
  await sage.outcome();
  const given = { text: "Bash(node -p 1)", source: "session", from: "Lin" };
  assert.deepEqual(
    receiptsOf(sage.facts(), files).map(({ rule }) => rule),
    [undefined, undefined, given, given, { text: "Bash(touch:*)", source: "project", from: files("project") }],
  );
});

test("which calls changed a file: by the file itself, through a command, or with its folder", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  const write = { tool: "Write", input: { file_path: "dir/a.txt", content: "a" } };
  const script = [
    { calls: [bash("mkdir -p dir"), write, bash("echo b >> dir/a.txt"), bash("rm -r dir")] },
    { text: "ok" },
  ];
  const mode = { type: "nonInteractive", autoResponse: "alwaysAllow" } as const;
  await using sage = await sageWith({ script, dir: here.dir, store, options: { mode } });
  await sage.say("go");
  await sage.outcome();
  const receipts = receiptsOf(sage.facts(), files);
  const by = (path: string) =>
    receipts.filter((one) => changed(one, here.path(path))).map(({ id }) => id.split("/").at(-1));
  assert.deepEqual(by("dir/a.txt"), ["0", "1", "2", "3"]);
  assert.deepEqual(by("dir/b.txt"), ["0", "3"]);
  assert.deepEqual(by("other.txt"), []);
});

test("what was interrupted by a crash says so, with what the person said to it", () => {
  const frame = { session: "s", at: 1 };
  const call = { type: "call", id: "x", tool: "Bash", input: { command: "make" } } as const;
  const facts = [
    { ...frame, key: "t0/0/model", type: "model.replied", data: { parts: [call] } },
    {
      ...frame,
      key: "t0/0/judged",
      type: "calls.judged",
      data: { verdicts: [{ behavior: "allow", reason: "a rule", effect: "writes", digest: "d" }] },
    },
    {
      ...frame,
      key: "t0/0/0/run0.started",
      type: "call.started",
      data: { tool: "Bash", effect: "writes", digest: "d" },
    },
    { ...frame, key: "t0/0/0/run0.finished", type: "call.unknown", data: { reason: "?" } },
    {
      ...frame,
      key: "t0/0/0/lost0",
      type: "input.requested",
      data: { id: "s/t0/0/0/lost0", kind: "question", why: said("lost"), questions: [] },
    },
    {
      ...frame,
      key: "t0/0/0/lost0.resolved",
      type: "input.resolved",
      data: { requestId: "s/t0/0/0/lost0", by: "Lin", outcome: "answered", response: { type: "answers" } },
    },
    {
      ...frame,
      key: "t0/0/0/run1.started",
      type: "call.started",
      data: { tool: "Bash", effect: "writes", digest: "d" },
    },
    { ...frame, key: "t0/0/0/run1.finished", type: "call.finished", data: { ok: true, text: "" } },
  ].map((fact, n) => ({ ...fact, seq: n + 1 })) as unknown as Fact[];
  const [receipt] = receiptsOf(facts, files);
  assert.equal(receipt?.decision, "allowed");
  assert.equal(receipt?.asked[0]?.resolution?.by, "Lin");
  assert.deepEqual(
    receipt?.runs.map(({ unknown = false, ok }) => ({ unknown, ok })),
    [
      { unknown: true, ok: undefined },
      { unknown: false, ok: true },
    ],
  );
});

test("a recorded session plays again: the same script, the same answers, the same results", async () => {
  using here = workspace();
  const script = [
    {
      reasoning: "hm",
      text: "first",
      calls: [bash("env echo 一"), { tool: "Nope", input: {} }],
      usage: { inputTokens: 5 },
    },
    { text: "last", finish: "length" as const },
  ];
  await using sage = await sageWith({ script, dir: here.dir });
  await sage.say("go");
  const [request] = await sage.open();
  await sage.answer({ type: "granted", requestId: request?.id ?? "", comment: "好" });
  const first = await sage.outcome();
  assert.deepEqual(scriptOf(sage.facts()), script);
  const mode = {
    type: "nonInteractive",
    autoResponse: replayAnswers(answersOf(sage.facts())),
    sender: { by: "replay", surface: "replay" },
  } as const;
  await using again = await sageWith({ script: scriptOf(sage.facts()), dir: here.dir, options: { mode } });
  await again.say("go");
  const second = await again.outcome();
  assert.deepEqual([second.status, second.toolHistory], [first.status, first.toolHistory]);
});

test("a call whose request ended without an answer, and which never ran, is not open any more", async () => {
  using here = workspace();
  await using sage = await sageWith({ script: [{ calls: [bash("node -p 1")] }, { text: "done" }], dir: here.dir });
  await sage.say("go");
  const [request] = await sage.open();
  const end = { requestId: request?.id ?? "", by: "claude", surface: "guest", at: 1, outcome: "superseded" } as const;
  const facts = sage.facts();
  const at = { session: sage.session, at: 1, seq: 90 };
  const resolved = {
    ...at,
    key: "t0/0/0/permit0.resolved",
    type: "input.resolved",
    data: { ...end, reason: reason("guest-withdrew", { agent: "claude" }) },
  } as const;
  const notRun = {
    ...at,
    seq: 91,
    key: "t0/0/0/done",
    type: "call.finished",
    data: { ok: false, text: "Not run.", end: "not-run" },
  } as const;
  const decision = (list: readonly Fact[]) => receiptsOf(list, files).map((receipt) => receipt.decision);
  assert.deepEqual(decision(facts), ["open"]);
  assert.deepEqual(decision([...facts, resolved, notRun]), ["refused"]);
  await sage.answer({ type: "denied", requestId: request?.id ?? "" });
});
