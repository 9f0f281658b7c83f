import assert from "node:assert/strict";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { askUser, bash, question, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const sender = { by: "Lin", surface: "test" };
const limits = { promptTimeout: 60_000, timeoutPolicy: "cancel" } as const;

test("the message that begins a turn says how long its requests wait, also after a restart; one that joins it does not", async () => {
  using here = workspace();
  const script = [
    { calls: [askUser(question("One?"))] },
    { calls: [askUser(question("Two?"))] },
    { text: "done" },
    { calls: [askUser(question("Three?"))] },
  ];
  const at = here.path("journal.db");
  const answer = (requestId: string, text: string): InputResponse => ({
    type: "answers",
    requestId,
    answers: { [text]: { selected: ["Red"] } },
  });
  let session = "";
  {
    await using sage = await sageWith({ dir: here.dir, script, store: sqliteStore(at) });
    session = sage.session;
    await sage.host.send({ type: "say", session, text: "go", limits, ...sender });
    const [one] = await sage.open();
    assert.deepEqual(
      { timeoutMs: one?.deadline?.timeoutMs, policy: one?.deadline?.policy },
      { timeoutMs: 60_000, policy: "cancel" },
    );
    await sage.host.send({ type: "say", session, text: "and this", limits: { promptTimeout: 1 }, ...sender });
  }
  await using sage = await sageWith({ dir: here.dir, script, store: sqliteStore(at) });
  const pending = (text: string) =>
    until(() => {
      const [request] = sage.store.pending(session);
      return request?.kind === "question" && request.questions[0]?.question === text && request;
    });
  const one = await pending("One?");
  await sage.host.send({ type: "resume", session });
  await sage.host.send({ type: "respond", response: answer(one.id, "One?"), ...sender });
  const two = await pending("Two?");
  assert.equal(two.deadline?.timeoutMs, 60_000);
  await sage.host.send({ type: "respond", response: answer(two.id, "Two?"), ...sender });
  await sage.host.run(session);
  await sage.host.send({ type: "say", session, text: "from elsewhere", ...sender });
  assert.equal((await pending("Three?")).deadline, undefined);
});

test("nobody answers: the turn is cancelled, and the person's time is not the turn's", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [askUser(question("One?"))] }, { text: "no" }],
  });
  const { session } = sage;
  const hurried = { promptTimeout: 30, timeoutPolicy: "cancel", executionTimeout: 60_000 } as const;
  await sage.host.send({ type: "say", session, text: "go", limits: hurried, ...sender });
  const outcome = await sage.host.run(session);
  assert.equal(outcome.status, "cancelled");
});

test("a turn that works longer than its message allows is stopped", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [{ text: "slow", delayMs: 60_000 }] });
  const { session } = sage;
  await sage.host.send({ type: "say", session, text: "go", limits: { executionTimeout: 30 }, ...sender });
  const outcome = await sage.host.run(session);
  assert.equal(outcome.status === "error" && outcome.error.code, "timeout");
});

test("limits that are none are refused before they are kept", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [] });
  for (const bad of [
    { promptTimeout: 0 },
    { executionTimeout: Number.NaN },
    { timeoutPolicy: "grant" as "fail" },
    { timeoutPolicy: { escalate: "Lin" } as unknown as "fail" },
  ]) {
    const reply = await sage.host.send({ type: "say", session: sage.session, text: "go", limits: bad, ...sender });
    assert.equal(!reply.ok && reply.code, "input-invalid");
  }
  assert.deepEqual(
    sage.facts().filter(({ type }) => type === "user.said"),
    [],
  );
});

test("escalation gives each further person as much time, and is known from the start; then the request counts as refused", async () => {
  using here = workspace();
  await using sage = await sageWith({
    dir: here.dir,
    script: [{ calls: [bash("touch made.txt")] }, { text: "then not" }],
  });
  const { session } = sage;
  const timeoutPolicy = { escalate: ["Wang", "Zhao"], end: "deny" as const };
  await sage.host.send({ type: "say", session, text: "go", limits: { promptTimeout: 40, timeoutPolicy }, ...sender });
  const [request] = await sage.open();
  const { at = 0, escalation, ...rest } = request?.deadline ?? {};
  assert.deepEqual(rest, { timeoutMs: 120, policy: "deny" });
  assert.deepEqual(escalation, [
    { to: "Wang", at: at - 80 },
    { to: "Zhao", at: at - 40 },
  ]);
  await sage.host.run(session);
  const [end] = sage.store.load(session).filter(({ type }) => type === "input.resolved") as Fact<"input.resolved">[];
  assert.equal(end?.data.outcome, "timed_out");
  assert.deepEqual("response" in end.data && end.data.response, { type: "denied", requestId: request?.id });
  assert.equal(
    sage.store.load(session).some(({ type }) => type === "call.started"),
    false,
  );
  assert.equal(sage.store.load(session).at(-1)?.type, "turn.ended");
});
