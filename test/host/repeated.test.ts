// Commands that arrive a second time, because the reply to the first was lost on the way.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { Command } from "../../src/protocol/host/host.ts";
import { bash, sageWith, workspace } from "../support/sage.ts";

const lin = { by: "Lin", surface: "web" };

test("the same answer of the same person is taken as the first one; any other is told who won", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [bash("echo x >> ran")] }, { text: "ok" }] });
  await sage.say("go");
  const requestId = (await sage.open())[0]?.id ?? "";
  const yes = { type: "respond", response: { type: "granted", requestId, comment: "once" }, ...lin } as const;
  const first = await sage.host.send(yes);
  assert.ok(first.ok && first.resolution && !first.again);
  await sage.outcome();
  const second = await sage.host.send(yes);
  assert.ok(second.ok && second.again);
  assert.deepEqual(second.resolution, first.resolution);
  const others: (Command & { type: "respond" })[] = [
    { ...yes, by: "Wang" },
    { ...yes, surface: "tui" },
    { ...yes, response: { type: "granted", requestId } },
    { ...yes, response: { type: "denied", requestId } },
  ];
  for (const other of others) {
    const late = await sage.host.send(other);
    assert.equal(!late.ok && late.code, "request-resolved");
  }
  assert.equal(sage.facts().filter(({ type }) => type === "input.resolved").length, 1);
});

test("the yes that completed two people's is taken again from whoever gave it, where they gave it, and from nobody else", async () => {
  using here = workspace();
  const rules: Rule[] = [{ behavior: "ask", text: "Bash(echo:*)", source: "user", consent: { approvals: 2 } }];
  const script = [{ calls: [bash("echo x >> ran")] }, { text: "ok" }];
  await using sage = await sageWith({ dir: here.dir, script, rules });
  await sage.say("go");
  const requestId = (await sage.open())[0]?.id ?? "";
  const yes = { type: "respond", response: { type: "granted", requestId }, ...lin } as const;
  const last = { ...yes, by: "Wang" };
  assert.ok((await sage.host.send(yes)).ok);
  const first = await sage.host.send(last);
  assert.ok(first.ok && first.resolution && !first.again);
  await sage.outcome();
  const second = await sage.host.send(last);
  assert.ok(second.ok && second.again);
  const others: (Command & { type: "respond" })[] = [
    yes,
    { ...last, surface: "tui" },
    { ...last, response: { type: "denied", requestId } },
  ];
  for (const other of others) {
    const late = await sage.host.send(other);
    assert.equal(!late.ok && late.code, "request-resolved", JSON.stringify(other));
  }
});

test("an interrupt is done once under its id, and a pause that comes too late cancels nothing", async () => {
  using here = workspace();
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [bash("echo x >> ran")] }, { text: "ok" }] });
  await sage.say("go");
  const [request] = await sage.open();
  assert.ok(request);
  const interrupt = { type: "interrupt", session: sage.session, ...lin } as const;
  const late = await sage.host.send({ ...interrupt, to: "pause", id: "a" });
  assert.deepEqual(late, { ok: true, to: "nothing" }, "by now the turn waits for an answer");
  assert.equal((await sage.open()).length, 1);

  const stop = { ...interrupt, to: "cancel", id: "b" } as const;
  assert.deepEqual(await sage.host.send(stop), { ok: true, to: "cancel" });
  assert.equal((await sage.outcome()).status, "cancelled");
  const interrupted = () => sage.facts().filter(({ type }) => type === "turn.interrupted").length;
  assert.equal(interrupted(), 1);
  await sage.say("again");
  await sage.outcome();
  assert.deepEqual(await sage.host.send(stop), { ok: true, to: "cancel" }, "told what became of the first");
  assert.equal(interrupted(), 1);
});
