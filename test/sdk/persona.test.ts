// A persona answers in the place of a person, in tests and nowhere else.
import assert from "node:assert/strict";
import { test } from "node:test";
import { persona } from "../../src/sdk/persona.ts";
import { answersOf, replayAnswers } from "../../src/archive/recording.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Store } from "../../src/journal/store/store.ts";
import { scripted, type ScriptedTurns } from "../../src/models/scripted.ts";
import type { ModelRequest } from "../../src/models/model.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { AutoResponder } from "../../src/protocol/host/options.ts";
import { askUser, bash, question, sageWith, workspace } from "../support/sage.ts";

const respond = (input: Record<string, unknown>) => ({ calls: [{ tool: "respond", input }] });
const playedBy = (turns: ScriptedTurns, name = "impatient") =>
  persona({
    name,
    description: "An impatient maintainer who refuses network access.",
    model: scripted({ persona: turns }),
  });
const yes = playedBy([respond({ decision: "allow", words: "go on" })]);

async function run(
  dir: string,
  autoResponse: AutoResponder,
  store?: Store,
  script: ScriptedTurns = [{ calls: [bash("touch ran")] }, { text: "done" }],
) {
  await using sage = await sageWith({
    script,
    dir,
    ...(store && { store }),
    options: { mode: { type: "nonInteractive", autoResponse } },
  });
  await sage.say("go");
  const outcome = await sage.outcome();
  return { outcome, facts: sage.facts(), result: sage.result(0, 0) };
}

const ends = ({ facts }: { facts: Awaited<ReturnType<typeof run>>["facts"] }) =>
  facts.flatMap((fact) => (fact.type === "input.resolved" ? [fact.data] : []));

test("it sees the request and who it is, answers in its own name, and remembers what it said", async () => {
  using here = workspace();
  const seen: ModelRequest[] = [];
  const strict = playedBy([
    (request) => {
      seen.push(request);
      const last = request.messages.at(-1);
      const now = last?.role === "user" ? (last.text.split("Now you are asked:")[1] ?? "") : "";
      if (now.includes("Which colour?"))
        return respond({ answers: [{ question: "Which colour?", selected: ["Blue"] }] });
      return respond(now.includes("curl") ? { decision: "deny", words: "no network" } : { decision: "allow" });
    },
  ]);
  const calls = [bash("curl http://example.com"), bash("touch ran"), askUser(question("Which colour?"))];
  const done = await run(here.dir, strict, memoryStore(), [
    ...calls.map((call) => ({ calls: [call] })),
    { text: "done" },
  ]);
  assert.equal(done.outcome.status, "success");
  assert.deepEqual(
    ends(done).map(({ by, surface, outcome }) => [by, surface, outcome]),
    Array.from({ length: 3 }, () => ["persona impatient", "persona", "answered"]),
  );
  assert.match(done.result, /refused it\. Their reason: "no network"/);
  assert.match(seen[0]?.system ?? "", /An impatient maintainer who refuses network access\./);
  const second = seen[1]?.messages[0];
  assert.match(
    second?.role === "user" ? second.text : "",
    /Earlier you were asked:[^]*curl[^]*You answered: .*no network/,
  );
  assert.doesNotMatch(JSON.stringify(done.facts), /Symbol|requestId":"x/);
});

test("a persona without a usable answer refuses, and never grants by accident", async () => {
  using here = workspace();
  for (const turn of [
    { text: "allow" },
    respond({ decision: "yes" }),
    respond({ type: "granted" }),
    { calls: [{ tool: "allow", input: { decision: "allow" } }] },
  ]) {
    const done = await run(here.dir, playedBy([turn]));
    assert.deepEqual(
      ends(done).map(({ outcome }) => outcome),
      ["no_surface"],
    );
  }
});

test("a journal becomes one for tests only when it is made as one, and stays one", () => {
  using here = workspace();
  const path = here.path("journal.db");
  const real = sqliteStore(path);
  assert.equal(real.test, false);
  real.create("s", { cwd: here.dir, version: "test" });
  real.close();
  assert.throws(() => sqliteStore(path, { test: true }), { code: "config-invalid" });
  const again = sqliteStore(path);
  assert.equal(again.test, false);
  again.close();
  const made = sqliteStore(here.path("test.db"), { test: true });
  assert.equal(made.test, true);
  made.close();
  const opened = sqliteStore(here.path("test.db"));
  assert.equal(opened.test, true, "whoever opens it");
  opened.close();
  assert.equal(memoryStore().test, true);
});

test("whatever way a persona's yes takes, it grants nothing in a journal of people, and in one for tests it is told as the persona's", async () => {
  using here = workspace();
  const recorded = answersOf((await run(here.dir, yes)).facts);
  assert.deepEqual(
    recorded.map(({ by }) => by),
    ["persona impatient"],
  );
  const ways: Record<string, AutoResponder> = {
    itself: yes,
    wrapped: (request) => yes(request),
    copied: async (request) => ({ ...(await yes(request)) }),
    changed: async (request) => ({ ...(await yes(request)), comment: "another word" }) as InputResponse,
    assigned: async (request) => Object.assign({}, await yes(request)),
    sent: async (request) => JSON.parse(JSON.stringify(await yes(request))) as InputResponse,
    recorded: replayAnswers(recorded),
  };
  let n = 0;
  for (const [name, way] of Object.entries(ways))
    for (const isTest of [false, true])
      for (const by of name === "itself" ? [undefined, { by: "Lin", surface: "terminal" }] : [undefined]) {
        const store = sqliteStore(here.path(`${n++}.db`), { test: isTest });
        await using sage = await sageWith({
          ...{ script: [{ calls: [bash("touch ran")] }, { text: "done" }], dir: here.dir, store },
          options: {
            mode: {
              type: "nonInteractive",
              autoResponse: name === "recorded" ? replayAnswers(recorded) : way,
              ...(by && { sender: by }),
            },
          },
        });
        await sage.say("go");
        await sage.outcome();
        const [end] = sage.facts().flatMap((fact) => (fact.type === "input.resolved" ? [fact.data] : []));
        const where = `${name}, ${isTest ? "for tests" : "of people"}`;
        assert.deepEqual([end?.by, end?.surface], ["persona impatient", "persona"], where);
        assert.equal(end?.outcome, isTest ? "answered" : "no_surface", where);
        if (!isTest) assert.match(sage.result(0, 0), /answers only in a test journal/, where);
        if (!isTest) assert.ok(!sage.facts().some(({ type }) => type === "call.started"), where);
      }
});

test("a surface that hands a persona's answer on is refused as well", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  await using sage = await sageWith({
    script: [{ calls: [bash("touch ran")] }, { text: "done" }],
    dir: here.dir,
    store,
  });
  await sage.say("go");
  const [request] = await sage.open();
  const given = await yes(request!);
  const list = { type: "respondAll", requestIds: [request!.id], by: "Lin", surface: "test" } as const;
  for (const refused of [
    await sage.answer(given),
    await sage.answer(JSON.parse(JSON.stringify(given)) as InputResponse),
    await sage.answer({ ...given, persona: "" }),
    await sage.host.send({ type: "respond", response: given, by: "Lin", surface: "persona" }),
    ...(await sage.host
      .send({ ...list, answer: { ...given, type: "granted" } })
      .then((all) => (all.ok ? all.results : [all]))),
  ])
    assert.ok(!refused.ok && refused.code === "not-permitted", JSON.stringify(refused));
  assert.equal(sage.store.resolution(request!.id), undefined, "it stays open for a person");
  assert.equal((await sage.answer({ type: "denied", requestId: request!.id })).ok, true);
  await sage.outcome();
});

test("in a test journal, too, a persona is none of the people who have to approve", async () => {
  using here = workspace();
  const demand = { text: "Bash(touch:*)", source: "project", consent: { approvals: 2 } } as const;
  const rules = [{ behavior: "ask", ...demand } as const];
  await using sage = await sageWith({
    script: [{ calls: [bash("touch ran")] }, { text: "done" }],
    dir: here.dir,
    rules,
  });
  await sage.say("go");
  const [request] = await sage.open();
  for (const response of [await yes(request!), JSON.parse(JSON.stringify(await yes(request!))) as InputResponse]) {
    const refused = await sage.answer(response);
    assert.ok(!refused.ok && refused.code === "request-invalid", JSON.stringify(refused));
  }
  assert.deepEqual(sage.store.approvals(request!.id), []);
  assert.equal((await sage.answer({ type: "denied", requestId: request!.id })).ok, true);
  await sage.outcome();
});
