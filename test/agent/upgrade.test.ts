// A turn that another version of the loop has begun: it ends, and what was asked in it goes on under its ids.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Store } from "../../src/journal/store/store.ts";
import type { ModelRequest } from "../../src/models/model.ts";
import type { ScriptedTurns } from "../../src/models/scripted.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { TurnLimits } from "../../src/protocol/facts/silence.ts";
import type { ExecutionOptions } from "../../src/protocol/host/options.ts";
import { createHost } from "../../src/host/host.ts";
import { askUser, bash, config, question, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const lin = { by: "Lin", surface: "test" };

function hostOn(
  store: Store,
  dir: string,
  script: ScriptedTurns,
  { rules = [], ...options }: Partial<ExecutionOptions> & { rules?: Rule[] } = {},
) {
  const made = config({ script, dir, store, rules });
  const executor = async () => new TurnExecutor(made, { ...options, workingDirectory: dir });
  return createHost({ store, version: "test", executor });
}

/** A journal as another version left it: a question and an approval are open in its turn. */
function left(here: ReturnType<typeof workspace>, limits?: TurnLimits): Promise<Store> {
  return leftWith(here, { calls: [askUser(question("Which colour?")), bash("echo ran >> ran.txt")] }, limits);
}

const begunByAnother = (fact: Fact): Fact =>
  fact.type === "turn.begun" ? { ...fact, data: { ...fact.data, loop: 0 } } : fact;

async function leftWith(
  here: ReturnType<typeof workspace>,
  first: { calls: { tool: string; input: object }[] },
  limits?: TurnLimits,
  change = begunByAnother,
  rules: Rule[] = [],
): Promise<Store> {
  const before = sqliteStore(here.path("before.db"));
  const old = hostOn(before, here.dir, [first] as ScriptedTurns, { rules });
  await old.send({ type: "open", session: "s", cwd: here.dir });
  await old.send({ type: "say", session: "s", text: "paint it", ...(limits && { limits }), ...lin });
  await until(() => before.pending("s").length === first.calls.length);
  const facts = before.load("s").map((fact): Fact => JSON.parse(JSON.stringify(fact)) as Fact);
  await old.close();
  const store = sqliteStore(here.path("journal.db"));
  store.create("s", { cwd: here.dir, version: "test" });
  const epoch = store.claim("s");
  store.commit("s", epoch, facts.slice(1).map(change));
  store.release("s", epoch);
  return store;
}

const answers: InputResponse = {
  type: "answers",
  requestId: "s/t0/0/0/ask0",
  answers: { "Which colour?": { selected: ["Blue"] } },
};
const granted = { type: "granted", requestId: "s/t0/0/1/permit0" } as const;
const again = { calls: [bash("echo ran >> ran.txt")] };

test("the requests stay open under their ids, the model hears the answers, and a yes is a yes, once", async () => {
  using here = workspace();
  const store = await left(here);
  const heard: ModelRequest[] = [];
  const listen = (turn: object) => (request: ModelRequest) => {
    heard.push(request);
    return turn;
  };
  const host = hostOn(store, here.dir, [again, listen(again), listen(again), { text: "blue it is" }]);
  await host.send({ type: "resume", session: "s" });
  const outcome = host.run("s");
  await until(() => store.load("s").some(({ key }) => key === "t1"));
  assert.deepEqual(
    store.pending("s").map(({ id }) => id),
    ["s/t0/0/0/ask0", "s/t0/0/1/permit0"],
  );
  assert.equal((await host.send({ type: "respond", response: answers, ...lin })).ok, true);
  assert.equal((await host.send({ type: "respond", response: granted, ...lin })).ok, true);
  await until(() => store.pending("s").some(({ id }) => id === "s/t1/1/0/permit0")); // the second time it is asked again
  assert.equal(readFileSync(here.path("ran.txt"), "utf8"), "ran\n");
  await host.send({
    type: "respond",
    response: { type: "denied", requestId: "s/t1/1/0/permit0", reason: "once is enough" },
    ...lin,
  });
  assert.equal((await outcome).text, "blue it is");

  const note = heard[0]?.messages.at(-1);
  assert.equal(note?.role, "user");
  assert.match(JSON.stringify(note), /Which colour\?.*Blue.*May Bash run.*The person allowed it/s);
  const ends = store.load("s").filter(({ type }) => type === "turn.ended");
  assert.deepEqual(
    ends.map(({ key }) => key),
    ["t0.ended", "t1.ended"],
  );
  assert.equal(store.verify("s"), undefined);
  await host.close();
});

test("left and resumed in between, it waits for the same requests and tells the answers once", async () => {
  using here = workspace();
  const store = await left(here);
  const first = hostOn(store, here.dir, [again]);
  await first.send({ type: "resume", session: "s" });
  await until(() => store.load("s").some(({ key }) => key === "t1"));
  await first.send({ type: "respond", response: answers, ...lin });
  await first.close();

  const second = sqliteStore(here.path("journal.db"));
  const host = hostOn(second, here.dir, [{ text: "unused" }, { text: "done" }]);
  await host.send({ type: "resume", session: "s" });
  assert.deepEqual(
    second.pending("s").map(({ id }) => id),
    ["s/t0/0/1/permit0"],
  );
  const denied = { type: "denied", requestId: granted.requestId, reason: "not now" } as const;
  await host.send({ type: "respond", response: denied, ...lin });
  assert.equal((await host.run("s")).text, "done");
  const told = second.load("s").filter((fact) => fact.type === "user.said" && fact.data.by === "sage");
  assert.equal(told.length, 1);
  assert.match(JSON.stringify(told[0]?.data), /the person refused it.*not now/);
  assert.equal(existsSync(here.path("ran.txt")), false);
  await host.close();
});

test("where nobody may be asked, they end as such; in a batch a person is needed; cancelled, nothing is left open", async () => {
  for (const [mode, status] of [
    [{ type: "nonInteractive", autoResponse: "default" }, "success"],
    [{ type: "batch" }, "needs-input"],
    [{ type: "interactive" }, "cancelled"],
  ] as const) {
    using here = workspace();
    const store = await left(here);
    const host = hostOn(store, here.dir, [{ text: "unused" }, { text: "done" }], { mode });
    await host.send({ type: "resume", session: "s" });
    const outcome = host.run("s");
    if (mode.type === "interactive") {
      await until(() => store.load("s").some(({ key }) => key === "t1"));
      await host.send({ type: "interrupt", session: "s", cancel: true, ...lin });
    }
    assert.equal((await outcome).status, status);
    assert.equal(store.pending("s").length, status === "needs-input" ? 2 : 0);
    await host.close();
  }
});

test("the turn that goes on is held to the limits of the one before", async () => {
  using here = workspace();
  const store = await left(here, { promptTimeout: 60_000, timeoutPolicy: "cancel" });
  const host = hostOn(store, here.dir, [again, { calls: [askUser(question("And now?"))] }, { text: "done" }]);
  await host.send({ type: "resume", session: "s" });
  await until(() => store.load("s").some(({ key }) => key === "t1"));
  await host.send({ type: "respond", response: answers, ...lin });
  await host.send({ type: "respond", response: { type: "denied", requestId: granted.requestId }, ...lin });
  await until(() => store.pending("s").length === 1);
  assert.equal(store.pending("s")[0]?.deadline?.timeoutMs, 60_000);
  await host.close();
});

test("a yes that was used is used up, also when the process is left before the next step", async () => {
  using here = workspace();
  const store = await left(here);
  const first = hostOn(store, here.dir, [{ text: "unused" }, again, { ...again, delayMs: 600_000 }]);
  await first.send({ type: "resume", session: "s" });
  await until(() => store.load("s").some(({ key }) => key === "t1"));
  await first.send({ type: "respond", response: answers, ...lin });
  await first.send({ type: "respond", response: granted, ...lin });
  const hasRun = (fact: Fact) => fact.type === "call.finished" && fact.key.startsWith("t1/0/0/");
  await until(() => store.load("s").some(hasRun));
  await first.close();

  const second = sqliteStore(here.path("journal.db"));
  const host = hostOn(second, here.dir, [{ text: "unused" }, again, again, { text: "done" }]);
  await host.send({ type: "resume", session: "s" });
  await until(() => second.pending("s").length > 0 || second.fact("s", "t1.ended"), "it neither asks nor ends");
  assert.deepEqual(
    second.pending("s").map(({ id }) => id),
    ["s/t1/1/0/permit0"],
  );
  assert.equal(readFileSync(here.path("ran.txt"), "utf8"), "ran\n");
  await host.close();
});

test("a yes that was given before an update holds for what was shown, and not where a link leads by now", async () => {
  using here = workspace();
  using elsewhere = workspace();
  mkdirSync(here.path("lib"));
  const copy = { calls: [bash("echo ran > lib/ran.txt")] };
  const store = await leftWith(here, copy);
  renameSync(here.path("lib"), here.path("lib.was"));
  symlinkSync(elsewhere.dir, here.path("lib"));
  const host = hostOn(store, here.dir, [copy, copy, { text: "done" }]);
  await host.send({ type: "resume", session: "s" });
  const outcome = host.run("s");
  await until(() => store.load("s").some(({ key }) => key === "t1"));
  const yes = { type: "granted", requestId: "s/t0/0/0/permit0" } as const;
  assert.equal((await host.send({ type: "respond", response: yes, ...lin })).ok, true);
  await until(() => store.pending("s").length === 1 || existsSync(elsewhere.path("ran.txt")));
  assert.equal(existsSync(elsewhere.path("ran.txt")), false);
  const [again] = store.pending("s");
  await host.send({ type: "respond", response: { type: "denied", requestId: again?.id ?? "" }, ...lin });
  await outcome;
  await host.close();
});

for (const [name, loop] of [
  ["of this version", undefined],
  ["of another version, whose requests are carried on", 0],
] as const)
  test(`a turn ${name}: a yes to a request that showed another call than the one that would run is none`, async () => {
    using here = workspace();
    const call = bash("echo ran >> ran.txt");
    const shown = (fact: Fact): Fact => {
      if (fact.type === "turn.begun" && loop !== undefined) return { ...fact, data: { ...fact.data, loop } };
      if (fact.type !== "input.requested" || fact.data.kind !== "permission") return fact;
      return { ...fact, data: { ...fact.data, input: { command: "ls" } } };
    };
    const store = await leftWith(here, { calls: [call] }, undefined, shown);
    const host = hostOn(store, here.dir, [{ calls: [call] }, { calls: [call] }, { text: "over" }]);
    await host.send({ type: "resume", session: "s" });
    void host.run("s").catch(() => {});
    const yes = { type: "granted", requestId: "s/t0/0/0/permit0" } as const;
    assert.equal((await host.send({ type: "respond", response: yes, ...lin })).ok, true);
    await until(() => store.pending("s").length === 1 && store.pending("s")[0]?.id !== yes.requestId);
    const [next] = store.pending("s");
    assert.ok(next?.kind === "permission");
    assert.equal(next.input["command"], "echo ran >> ran.txt");
    assert.ok(!existsSync(here.path("ran.txt")));
    await host.close();
  });

const asks: Rule = { behavior: "ask", text: "Bash(echo:*)", source: "user" };
const two: Rule = { ...asks, consent: { approvals: 2 } };
/** The request does not say how many have to approve. */
const shownWithoutConsent = (fact: Fact): Fact => {
  if (fact.type !== "input.requested" || fact.data.kind !== "permission") return fact;
  const { consent: _, ...data } = fact.data;
  return { ...fact, data };
};

for (const [name, { before, after, change }] of Object.entries({
  "the rules ask for two people by now": { before: [asks], after: [two], change: undefined },
  "the rules ask for two people by now, after an update": { before: [asks], after: [two], change: begunByAnother },
  "the rules asked for two people, and the request did not show it": {
    ...{ before: [two], after: [two] },
    change: shownWithoutConsent,
  },
}))
  test(`the yes of one person to a request that wanted no more runs nothing: ${name}`, async () => {
    using here = workspace();
    const call = bash("echo ran >> ran.txt");
    const store = await leftWith(here, { calls: [call] }, undefined, change ?? ((fact) => fact), before);
    const host = hostOn(store, here.dir, [{ calls: [call] }, { calls: [call] }, { text: "over" }], { rules: after });
    const yes = { type: "granted", requestId: "s/t0/0/0/permit0" } as const;
    await host.send({ type: "resume", session: "s" });
    const outcome = host.run("s");
    if (change === begunByAnother) await until(() => store.load("s").some(({ key }) => key === "t1"));
    assert.equal((await host.send({ type: "respond", response: yes, ...lin })).ok, true);
    const isOver = () => store.load("s").some(({ type, key }) => type === "turn.ended" && key !== "t0.ended");
    await until(() => store.pending("s").length === 1 || existsSync(here.path("ran.txt")) || isOver());
    const [next] = store.pending("s");
    assert.ok(next?.kind === "permission" && next.consent?.approvals === 2, JSON.stringify(next));
    assert.equal(existsSync(here.path("ran.txt")), false);
    await host.send({ type: "respond", response: { type: "denied", requestId: next.id }, ...lin });
    await outcome;
    await host.close();
  });
