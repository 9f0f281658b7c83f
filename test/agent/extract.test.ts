// The person's words and decisions outlive every compaction, to the letter.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { extractOf } from "../../src/context/extract.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { ModelRequest } from "../../src/models/model.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { startRunner } from "../support/process.ts";
import { allow, askUser, bash, question, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const whole = { within: undefined, shown: [], maxTokens: 5_000 };
const compactions = (facts: readonly Fact[]) => facts.filter((fact) => fact.type === "context.compacted");

const TASKS = 5;
const TURNS = 12;
const conditions = (task: number) =>
  Array.from(
    { length: 6 },
    (_, n) => `condition ${task}.${n}: 不要 use ${"semicolon loop class regex await any".split(" ")[n]} ${task}`,
  );
const message = (task: number) => `Task ${task}.\n${conditions(task).join("\n")}`;
const work = (task: number, n: number) => ({
  text: `part ${task}.${n}: ${"some words about it ".repeat(60)}`,
  calls: [bash(`printf 'word %.0s' $(seq 100)`)],
});

test("thirty conditions in five tasks, three compactions, two kills: all thirty are in the request", async () => {
  using here = workspace();
  const turns = Array.from({ length: TASKS }, (_, task) => [
    ...Array.from({ length: TURNS }, (_, n) => work(task, n)),
    { text: `task ${task} is done` },
  ]).flat();
  const run = (task: number, slow = -1) => {
    const script = turns.map((turn, n) => (n === slow ? { ...turn, delayMs: 60_000 } : turn));
    writeFileSync(
      here.path("script.json"),
      JSON.stringify({ "": script, summary: [{ text: "Some things were done." }] }),
    );
    const env = {
      ANSWER: "self",
      OPTIONS: JSON.stringify({ maxContextTokens: 9_000 }),
      SAY: message(task),
      SAY_ID: `m${task}`,
    };
    return startRunner([here.dir, "s"], { env });
  };
  for (let task = 0; task < TASKS - 1; task++) {
    if (task === 1 || task === 3) {
      const at = task * (TURNS + 1) + 7;
      const killed = run(task, at);
      await killed.until(new RegExp(`call.finished t${task}/6/0/run0`));
      killed.child.kill("SIGKILL");
      assert.equal((await killed.ended).signal, "SIGKILL");
    }
    const { out, err } = await run(task).ended;
    assert.match(out, new RegExp(`task ${task} is done`), err);
  }
  let last: ModelRequest | undefined;
  const script = { "": [], summary: [{ text: "Some things were done." }] };
  const store = sqliteStore(here.path("journal.db"));
  const reply = (request: ModelRequest) => {
    if (request.agent.length === 0) last = request;
    const number = request.messages.length;
    const text = request.agent.length > 0 ? "Some things were done." : `all done ${number}`;
    return {
      parts: [{ type: "text" as const, text }],
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      finish: "stop" as const,
      model: "m",
    };
  };
  await using sage = await sageWith({
    ...{ dir: here.dir, store, session: "s", script, rules: [allow("Bash")], options: { maxContextTokens: 9_000 } },
    wrap: (model) => ({ id: model.id, reply: async (request) => reply(request) }),
  });
  await sage.say(message(TASKS - 1));
  await sage.outcome();
  await until(() => !sage.store.session("s")?.owned);
  assert.deepEqual(await sage.host.send({ type: "compact", session: "s" }), { ok: true });
  await sage.say("What holds?");
  await sage.outcome();
  const read = JSON.stringify(last?.messages);
  const missing = Array.from({ length: TASKS }, (_, task) => conditions(task))
    .flat()
    .filter((condition) => !read.includes(condition));
  assert.deepEqual(missing, []);
  const done = compactions(sage.facts());
  assert.ok(done.filter(({ data }) => data.summary).length >= 3, `${done.length} compactions`);
  assert.equal(store.verify("s"), undefined);
});

test("refusals, remarks, changes and answers are told in the person's words; a plain yes and a message taken back are not", async () => {
  using here = workspace();
  const script = [
    { calls: [bash("rm -r dist")] },
    { calls: [bash("make a")] },
    { calls: [bash("make b")] },
    { calls: [bash("touch c")] },
    { calls: [askUser(question("Which database?", ["Postgres", "SQLite"]))] },
    { text: "done" },
  ];
  await using sage = await sageWith({ dir: here.dir, script });
  await sage.say("set it up\nin two lines");
  const next = async () => {
    const [request] = await sage.open();
    assert.ok(request);
    return request.id;
  };
  await sage.answer({ type: "denied", requestId: await next(), reason: "never delete, 用 trash" });
  await sage.answer({ type: "granted", requestId: await next(), comment: "only this once" });
  await sage.answer({ type: "granted", requestId: await next(), input: { command: "true b" } });
  await sage.answer({ type: "granted", requestId: await next() });
  const answers = { "Which database?": { selected: ["SQLite"] } };
  await sage.answer({ type: "answers", requestId: await next(), answers, remark: "it is small" });
  await sage.outcome();
  assert.equal(
    extractOf(sage.facts(), whole),
    `The person's messages, word for word, oldest first:
[message 1]
set it up
in two lines

The person's other words and decisions:
- Refused: Bash rm -r dist; the person said: "never delete, 用 trash"
- Approved: Bash make a; the person said: "only this once"
- Approved, changed to true b: Bash make b
- Which database? Answered: "SQLite"; the person said: "it is small"

Calls that were to change something:
- refused by the person: Bash rm -r dist
- failed: Bash make a
- done: Bash true b
- done: Bash touch c`,
  );
  const shown = { ...whole, shown: ["set it up\nin two lines"] };
  assert.doesNotMatch(extractOf(sage.facts(), shown), /word for word/, "it still stands in the conversation");
});

test("where room is short the newest messages stay whole, older ones keep their beginning, and the oldest are counted", async () => {
  const said = (n: number): Fact => ({
    ...{ session: "s", seq: n, key: `said/${n}`, at: 0, type: "user.said" },
    data: { text: `${n}: ${"字".repeat(300)} end ${n}`, by: n % 2 === 0 ? "Lin" : "Ada", surface: "test" },
  });
  const begun: Fact = {
    ...{ session: "s", seq: 100, key: "t0", at: 0, type: "turn.begun" },
    data: { loop: 1, maxSteps: 1, sawUpTo: 90, without: [19] },
  };
  const facts = [...Array.from({ length: 20 }, (_, n) => said(n + 1)), begun];
  const text = extractOf(facts, { ...whole, maxTokens: 1_600 });
  const [head, first] = text.split("\n");
  assert.equal(head, "The person's messages, word for word, oldest first:");
  assert.match(first ?? "", /^\[\d+ earlier messages are left out to save room\]$/);
  assert.match(text, /\[message 19 from Lin\]\n20: 字{300} end 20$/);
  assert.doesNotMatch(text, /end 19/, "taken back before it was read");
  assert.match(text, /characters left out/);
});
