import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Worker } from "node:worker_threads";
import { z } from "zod";
import { replayAnswers } from "../../src/archive/recording.ts";
import { receiptsOf } from "../../src/archive/receipts.ts";
import { createHost } from "../../src/host/host.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { InputRequest, PermissionRequest } from "../../src/protocol/facts/request.ts";
import type { CommandReply } from "../../src/protocol/host/host.ts";
import { resolvedKey, splitRequestId } from "../../src/protocol/key.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { consentLines } from "../../src/view/request/consent.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { bash, sageWith, workspace, type TestSage } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { wordsOf } from "../support/worded.ts";

const two: Rule = { behavior: "ask", text: "Bash(touch:*)", source: "project", consent: { approvals: 2 } };
const other: Rule = { ...two, consent: { approvals: 1, notAsker: true } };
const script = [{ calls: [bash("touch done")] }, { text: "over" }];

const yes = ({ id }: InputRequest) => ({ type: "granted", requestId: id }) as const;
const outcomeOf = (reply: CommandReply<"respond">) =>
  reply.ok ? (reply.resolution?.outcome ?? "approved") : `${reply.code}: ${wordsOf(reply)}`;
const facts = (sage: TestSage) =>
  sage.facts().flatMap(({ type }) => (type.startsWith("input.") || type.startsWith("call.") ? [type] : []));

async function asked(rules: Rule[], more: Partial<Parameters<typeof sageWith>[0]> = {}) {
  const here = workspace();
  const sage = await sageWith({ script, dir: here.dir, rules, ...more });
  await sage.say("go");
  const [request] = (await sage.open()) as [PermissionRequest];
  return { here, sage, request };
}

/** The end of a request as another process writes it, which did not look at who may give it. */
function record({ store, session }: TestSage, { id }: InputRequest, signed?: { by: string; digest: string }[]) {
  const frame = { requestId: id, surface: "old", at: Date.now() };
  return store.append(session, {
    ...{ key: resolvedKey(splitRequestId(id).key), type: "input.resolved", at: frame.at },
    data: {
      ...{ ...frame, by: "Wang", outcome: "answered", response: { type: "granted", requestId: id } },
      ...(signed && { approvals: signed.map((approval) => ({ ...frame, ...approval })) }),
    },
  });
}

/** The answer that was recorded counts for nothing: nothing runs, and the call is asked about anew. */
async function untilAskedAgain(sage: TestSage): Promise<InputRequest> {
  const ran = () => facts(sage).includes("call.started");
  await until(() => sage.store.pending(sage.session).length > 0 || ran(), "it neither asks again nor runs");
  const [next] = sage.store.pending(sage.session);
  assert.ok(next !== undefined && !ran());
  return next;
}

suite("two people", () => {
  test("half of two runs nothing; the second yes ends the request in the same commit, and both stand in the receipt", async () => {
    const { here, sage, request } = await asked([two]);
    using _ = here;
    await using __ = sage;
    assert.deepEqual(request.consent, { approvals: 2 });
    assert.deepEqual(request.suggestions, []);
    const half = await sage.answer(yes(request), "Wang");
    assert.equal(outcomeOf(half), "approved");
    assert.ok(half.ok && !half.resolution && half.approved.needed === 2 && !half.approved.again);
    const again = await sage.host.send({ type: "respond", response: yes(request), by: "Wang", surface: "feishu" });
    assert.ok(again.ok && !again.resolution && again.approved.again && again.approved.approvals.length === 1);
    assert.deepEqual(facts(sage), ["input.requested", "input.approved"]);
    const listed = await sage.host.send({ type: "pending" });
    assert.ok(listed.ok);
    const [{ approvals = [] } = {}] = listed.requests;
    assert.deepEqual(consentLines(request, approvals, texts("en")), [
      "2 people have to approve this.",
      "1 of 2: approved by Wang from test",
    ]);
    assert.equal(outcomeOf(await sage.answer({ ...yes(request), comment: "after lunch" }, "Zhao")), "answered");
    assert.equal((await sage.outcome()).status, "success");
    assert.deepEqual(facts(sage).slice(0, 5), [
      ...["input.requested", "input.approved", "input.approved", "input.resolved"],
      "call.started",
    ]);
    const [receipt] = receiptsOf(sage.facts(), () => undefined);
    const [only] = receipt?.asked ?? [];
    assert.deepEqual(
      only?.approvals?.map(({ by }) => by),
      ["Wang", "Zhao"],
    );
    assert.ok(only?.resolution?.outcome === "answered" && only.resolution.approvals?.length === 2);
    assert.match(sage.result(0, 0), /Zhao: after lunch/);
  });

  test("one no ends it, whoever said yes before; a yes after that is told who it was", async () => {
    const { here, sage, request } = await asked([two]);
    using _ = here;
    await using __ = sage;
    await sage.answer(yes(request), "Wang");
    assert.equal(outcomeOf(await sage.answer({ type: "denied", requestId: request.id }, "Wang")), "answered");
    const late = await sage.answer(yes(request), "Zhao");
    assert.ok(!late.ok && late.code === "request-resolved" && late.resolution?.by === "Wang");
    await sage.outcome();
    assert.ok(!facts(sage).includes("call.started"));
  });

  test("whoever asked may refuse and not approve; another may approve alone", async () => {
    const { here, sage, request } = await asked([other]);
    using _ = here;
    await using __ = sage;
    assert.deepEqual(request.consent, { approvals: 1, except: ["Lin"] });
    assert.equal(
      outcomeOf(await sage.answer(yes(request), " Lin ")),
      "not-permitted: Lin asked for this, and somebody else has to approve it",
    );
    assert.equal(outcomeOf(await sage.answer(yes(request), "Wang")), "answered");
    assert.equal((await sage.outcome()).status, "success");
  });

  test("the strictest of all rules that ask about a call holds, and no allow rule, mode or flag stands in for a person", async () => {
    const plainAsk: Rule = { behavior: "ask", text: "Bash(touch done)", source: "user" };
    const allows: Rule[] = [
      { behavior: "allow", text: "Bash", source: "session" },
      { behavior: "allow", text: "Bash(touch done)", source: "user" },
    ];
    const { here, sage, request } = await asked([plainAsk, other, two, ...allows], { permissionMode: "bypass" });
    using _ = here;
    await using __ = sage;
    assert.deepEqual(request.consent, { approvals: 2, except: ["Lin"] });
    const rules = [{ rule: "Bash", behavior: "allow" as const, destination: "session" as const }];
    assert.match(outcomeOf(await sage.answer({ ...yes(request), rules }, "Wang")), /keeps or takes back no rule/);
    await sage.answer(yes(request), "Wang");
    await sage.answer(yes(request), "Zhao");
    assert.equal((await sage.outcome()).status, "success");
  });

  test("an edit is asked about anew, by its own digest, and every yes counts from the beginning", async () => {
    const { here, sage, request } = await asked([two]);
    using _ = here;
    await using __ = sage;
    await sage.answer(yes(request), "Wang");
    const edited = await sage.answer({ ...yes(request), input: { command: "touch other" } }, "Zhao");
    assert.equal(outcomeOf(edited), "superseded");
    const [next] = (await sage.open()) as [PermissionRequest];
    assert.notEqual(next.id, request.id);
    assert.notEqual(next.digest, request.digest);
    assert.equal(next.input["command"], "touch other");
    assert.deepEqual(sage.store.approvals(next.id), []);
    assert.equal(outcomeOf(await sage.answer(yes(next), "Zhao")), "approved");
    assert.ok(!facts(sage).includes("call.started"));
    assert.equal(outcomeOf(await sage.answer(yes(next), "Wang")), "answered");
    await sage.outcome();
    const [receipt] = receiptsOf(sage.facts(), () => undefined);
    assert.deepEqual([receipt?.input["command"], receipt?.changed?.by], ["touch other", "person"]);
  });

  test("whoever edits a call has asked for it as well: where the asker may not approve, neither may the editor", async () => {
    const { here, sage, request } = await asked([other]);
    using _ = here;
    await using __ = sage;
    await sage.answer({ ...yes(request), input: { command: "touch other" } }, "Zhao");
    const [next] = (await sage.open()) as [PermissionRequest];
    assert.deepEqual(next.consent, { approvals: 1, except: ["Lin", "Zhao"] });
    assert.match(outcomeOf(await sage.answer(yes(next), "Zhao")), /^not-permitted: Zhao asked for this/);
    assert.ok(!facts(sage).includes("call.started"));
    assert.equal(outcomeOf(await sage.answer(yes(next), "Wang")), "answered");
    assert.equal((await sage.outcome()).status, "success");
  });

  test("the same input sent with a yes is no edit", async () => {
    const { here, sage, request } = await asked([two]);
    using _ = here;
    await using __ = sage;
    assert.equal(outcomeOf(await sage.answer({ ...yes(request), input: { ...request.input } }, "Wang")), "approved");
  });

  test("a call that cannot be judged takes as many people as any rule asks for: it may be about this call", async () => {
    // An embedder's tool that tells rules something else than text, once it was checked.
    let described = 0;
    const deploy: Tool = {
      ...{ name: "Deploy", description: "deploys", effect: "writes", inputSchema: z.object({}) },
      specifier: () => (described++ === 0 ? "prod" : ({} as string)),
      execute: async () => ({ ok: true, text: "deployed" }),
    };
    const rule: Rule = { ...two, text: "Deploy(prod*)" };
    const calls = [{ tool: "Deploy", input: {} }];
    const { here, sage, request } = await asked([rule], { script: [{ calls }, { text: "over" }], tools: [deploy] });
    using _ = here;
    await using __ = sage;
    assert.deepEqual([request.why.code, request.consent], ["not-judged", { approvals: 2 }]);
    assert.equal(outcomeOf(await sage.answer(yes(request), "Wang")), "approved");
    assert.ok(!facts(sage).includes("call.started"));
    await sage.answer(yes(request), "Zhao");
    assert.equal((await sage.outcome()).status, "success");
  });

  for (const [name, options] of [
    ["--yes", { mode: { type: "nonInteractive", autoResponse: "alwaysAllow" } }],
    [
      "a responder",
      {
        mode: {
          type: "nonInteractive",
          autoResponse: ({ id }: InputRequest) => ({ type: "granted" as const, requestId: id }),
          sender: { by: "Wang", surface: "custom" },
        },
      },
    ],
  ] as const)
    test(`${name} is no person`, async () => {
      using here = workspace();
      await using sage = await sageWith({ script, dir: here.dir, rules: [other], options });
      await sage.say("go");
      await sage.outcome();
      assert.ok(!facts(sage).includes("call.started") && !facts(sage).includes("input.approved"));
    });

  test("a recorded yes leaves it to people", async () => {
    using here = workspace();
    const recorded = [
      {
        asked: { kind: "permission" as const, tool: "Bash", input: { command: "touch done", timeout: 120_000 } },
        by: "Wang",
        response: { type: "granted" as const },
      },
    ];
    const mode = { type: "nonInteractive", autoResponse: replayAnswers(recorded) } as const;
    await using sage = await sageWith({ script, dir: here.dir, rules: [other], options: { mode } });
    await sage.say("go");
    assert.equal((await sage.outcome()).status, "needs-input");
    assert.equal(sage.store.pending(sage.session).length, 1);
  });

  for (const [name, rule, signed] of [
    ["without signatures, as an earlier version gives it", two, () => undefined],
    ["signed by one of two", two, ({ digest }) => [{ by: "Wang", digest }]],
    ["signed twice by one person", two, ({ digest }) => ["Wang", " Wang"].map((by) => ({ by, digest }))],
    ["signed for another input", two, () => ["Wang", "Zhao"].map((by) => ({ by, digest: "of another" }))],
    ["signed by whoever asked", other, ({ digest }) => [{ by: "Lin", digest }]],
  ] as [string, Rule, (request: PermissionRequest) => { by: string; digest: string }[] | undefined][])
    test(`an answer in the journal ${name} is asked about again`, async () => {
      const { here, sage, request } = await asked([rule]);
      using _ = here;
      await using __ = sage;
      await record(sage, request, signed(request));
      await untilAskedAgain(sage);
    });

  test("somebody whom the settings do not name may refuse, and their yes does not count", async () => {
    const { here, sage, request } = await asked([two]);
    using _ = here;
    await using __ = sage;
    const known: Record<string, string> = { "feishu:ou_1": "Wang", "account:wang": "Wang", "feishu:ou_2": "Zhao" };
    const host = createHost({
      ...{ store: sage.store, version: "test", executor: () => Promise.reject(new Error("runs nothing")) },
      elsewhere: { wake() {} }, // the other host runs the session
      personOf: ({ person = "" }) => known[person],
    });
    const send = (person: string | undefined, by: string) =>
      host.send({ type: "respond", response: yes(request), by, surface: "x", ...(person !== undefined && { person }) });
    assert.match(outcomeOf(await send(undefined, "Zhao")), /^not-permitted: Zhao is not in "people"/);
    assert.equal(outcomeOf(await send("feishu:ou_1", "王")), "approved");
    const same = await send("account:wang", "wang");
    assert.ok(same.ok && !same.resolution && same.approved.again, "one person by two surfaces is one person");
    assert.equal(outcomeOf(await send("feishu:ou_2", "赵")), "answered");
    await sage.outcome();
    const signed = sage.facts().flatMap((fact) => (fact.type === "input.approved" ? [fact.data.by] : []));
    assert.deepEqual(signed, ["Wang", "Zhao"]);
  });
});

test("whoever asks on one surface under another name is the same person when they approve", async () => {
  using here = workspace();
  await using sage = await sageWith({ script, dir: here.dir, rules: [other] });
  const host = createHost({
    ...{ store: sage.store, version: "test", executor: () => Promise.reject(new Error("runs nothing")) },
    elsewhere: { wake() {} }, // the other host runs the session
    personOf: ({ person = "" }) => ({ "feishu:ou_1": "Wang", "account:wang": "Wang" })[person],
  });
  const words = { type: "say", session: sage.session, text: "go" } as const;
  await host.send({ ...words, by: "王 (ou_1)", surface: "feishu", person: "feishu:ou_1" });
  const run = sage.host.run(sage.session);
  const [request] = (await sage.open()) as [PermissionRequest];
  assert.deepEqual(request.consent?.except, ["Wang"]);
  const own = { by: "wang", surface: "tui", person: "account:wang" };
  const reply = await host.send({ type: "respond", response: yes(request), ...own });
  assert.match(outcomeOf(reply), /^not-permitted: Wang asked for this/);
  await sage.answer({ type: "denied", requestId: request.id });
  await run;
});

test("somebody whom the settings do not name asks: nobody can tell who is somebody else, and nobody approves", async () => {
  using here = workspace();
  await using sage = await sageWith({ script, dir: here.dir, rules: [other] });
  const host = createHost({
    ...{ store: sage.store, version: "test", executor: () => Promise.reject(new Error("runs nothing")) },
    elsewhere: { wake() {} }, // the other host runs the session
    personOf: ({ person = "" }) => (person === "feishu:ou_1" ? "Lin" : null),
  });
  await host.send({ type: "say", session: sage.session, text: "go", by: "lin", surface: "tui" });
  const run = sage.host.run(sage.session);
  const [request] = (await sage.open()) as [PermissionRequest];
  assert.deepEqual(request.consent, { approvals: 1, except: ["lin"], unnamed: ["lin"] });
  const inChat = { by: "Lin (ou_1)", surface: "feishu", person: "feishu:ou_1" };
  assert.match(
    outcomeOf(await host.send({ type: "respond", response: yes(request), ...inChat })),
    /^not-permitted: lin asked for this and is not in "people"/,
  );
  // Nor where another process has written a yes of somebody.
  await record(sage, request, [{ by: "Lin", digest: request.digest }]);
  const next = await untilAskedAgain(sage);
  await sage.answer({ type: "denied", requestId: next.id });
  await run;
});

test("two people say yes in the same moment from two threads with a journal each: every request ends once, by both", async () => {
  using here = workspace();
  const path = here.path("journal.db");
  const calls = Array.from({ length: 12 }, (_, n) => bash(`touch file${n}`));
  await using sage = await sageWith({
    script: [{ calls }, { text: "over" }],
    dir: here.dir,
    rules: [two],
    store: sqliteStore(path),
  });
  await sage.say("go");
  const ids = (await sage.open(12)).map(({ id }) => id);
  const code = `
    import { workerData, parentPort } from "node:worker_threads";
    const { sqliteStore } = await import(workerData.journal);
    const { createHost } = await import(workerData.host);
    const store = sqliteStore(workerData.path);
    const host = createHost({ store, version: "test", executor: () => Promise.reject(new Error("runs nothing")) });
    parentPort.postMessage("ready");
    Atomics.wait(workerData.gate, 0, 0);
    const replies = [];
    for (const requestId of workerData.ids)
      replies.push(await host.send({ type: "respond", response: { type: "granted", requestId }, by: workerData.by, surface: "test" }));
    parentPort.postMessage(replies.map((reply) => (reply.ok ? (reply.resolution ? "ended" : "approved") : reply.code)));
    await host.close();
  `;
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const url = (file: string) => new URL(`../../src/${file}`, import.meta.url).href;
  const workers = ["Wang", "Zhao"].map((by) => {
    const data = { path, ids, by, gate, journal: url("journal/sqlite/sqlite.ts"), host: url("host/host.ts") };
    return new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), { workerData: data });
  });
  const next = (worker: Worker) =>
    new Promise<unknown>((done, fail) => worker.once("message", done).once("error", fail));
  await Promise.all(workers.map(next));
  const replies = workers.map(next);
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  const [left, right] = (await Promise.all(replies)) as [string[], string[]];
  for (const [n, one] of left.entries()) assert.equal(right[n], one === "ended" ? "approved" : "ended", `request ${n}`);
  assert.equal((await sage.outcome()).status, "success");
  const ends = sage.facts().filter(({ type }) => type === "input.resolved");
  assert.equal(ends.length, 12);
});
