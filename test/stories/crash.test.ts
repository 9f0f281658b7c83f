import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { respond } from "../../src/input/respond.ts";
import { thorough } from "../faults/rounds.ts";
import { killAtCommit } from "../support/kill.ts";
import { startRunner, type Ended } from "../support/process.ts";
import { askUser, bash, question, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";

type Here = ReturnType<typeof workspace>;

const lines = (here: Here, name: string) =>
  existsSync(here.path(name)) ? readFileSync(here.path(name), "utf8").trim().split("\n").length : 0;

function run(here: Here, env: Record<string, string> = {}): Promise<Ended> {
  return startRunner([here.dir, "s"], { env }).ended;
}

function facts(here: Here): Fact[] {
  const store = sqliteStore(here.path("journal.db"));
  try {
    assert.equal(store.verify("s"), undefined, "the hash chain holds");
    return store.load("s");
  } finally {
    store.close();
  }
}

/** An approval, a question, a read and two writers in one reply. */
function mixedBatch(): Here {
  const here = workspace();
  writeFileSync(here.path("notes.txt"), "some notes");
  const script = [
    {
      calls: [
        bash("echo a >> a.txt"),
        askUser(question("Which colour?")),
        { tool: "Read", input: { file_path: here.path("notes.txt") } },
        { tool: "Write", input: { file_path: here.path("w.txt"), content: "written\n" } },
        bash("echo b >> b.txt"),
      ],
    },
    { text: "all done" },
  ];
  writeFileSync(here.path("script.json"), JSON.stringify(script));
  return here;
}

/** Invariants that hold whatever was killed, and when. */
function check(here: Here, ids: string[] | undefined): { interrupted: number; ids: string[] } {
  const all = facts(here);
  const of = (type: Fact["type"]) => all.filter((fact) => fact.type === type);
  const requested = of("input.requested").map((fact) => (fact.type === "input.requested" ? fact.data : assert.fail()));
  const asked = requested.filter(({ source }) => source !== "recovery").map(({ id }) => id);
  const lost = requested.filter(({ source }) => source === "recovery").length;
  assert.equal(new Set(asked).size, asked.length, "each request once");
  assert.equal(of("input.resolved").length, requested.length, "each answered once");
  if (ids) assert.deepEqual(asked, ids, "under the same ids");
  assert.equal(of("turn.ended").length, 1);
  const ran = ["a.txt", "b.txt"].map((name) => lines(here, name));
  assert.ok(
    ran.every((n) => n <= 1 + lost),
    `ran ${ran.join(" and ")}, asked about ${lost}`,
  );
  assert.ok(ran.reduce((sum, n) => sum + Math.abs(n - 1), 0) <= lost, `ran ${ran.join(" and ")}, asked about ${lost}`);
  assert.equal(readFileSync(here.path("w.txt"), "utf8"), "written\n");
  return { interrupted: lost, ids: asked };
}

// test/faults kills at every boundary without a process each; here real ones are killed, at every commit when asked to be thorough.
const step = thorough ? 1 : 8;

test("kill -9 before and after commits of a mixed batch, restarted each time", { timeout: 110_000 }, async (t) => {
  using clean = mixedBatch();
  const whole = await run(clean, { ANSWER: "self" });
  assert.match(whole.out, /all done/, whole.err);
  const { ids } = check(clean, undefined);
  let kills = 0;
  let interrupted = 0;
  const killAt = async (nth: number, side: "before" | "after"): Promise<boolean> => {
    using here = mixedBatch();
    const lost = nth % 2 === 0 ? "done" : "rerun";
    const first = await run(here, { ANSWER: "self", ...killAtCommit(nth, side), LOST: lost });
    if (first.signal !== "SIGKILL") return false;
    kills++;
    const second = await run(here, { ANSWER: "self", LOST: lost });
    assert.match(second.out, /all done/, `${nth} ${side}: ${second.err}`);
    const result = check(here, ids);
    if (lost === "done") assert.ok(["a.txt", "b.txt"].every((name) => lines(here, name) <= 1));
    interrupted += result.interrupted;
    return true;
  };
  for (let nth = 1; ; nth += step) {
    const killed = await Promise.all([killAt(nth, "before"), killAt(nth, "after")]);
    if (!killed.includes(true)) break;
  }
  t.diagnostic(`${kills} kills, ${interrupted} interrupted calls asked about`);
  assert.ok(kills > 16 / step, `${kills} kills`);
  if (step === 1) assert.ok(interrupted > 0, "some kill hit a running command");
});

test("killed while a question is open, answered by another process while it is dead, finished by a third", async () => {
  using here = workspace();
  const script = [
    { calls: [askUser(question("Which colour?")), bash("echo once >> ran.txt")] },
    { text: "blue it is" },
  ];
  writeFileSync(here.path("script.json"), JSON.stringify(script));

  const first = startRunner([here.dir, "s"]);
  await first.until(/input.requested t0\/0\/1\/permit0/);
  first.child.kill("SIGKILL");
  assert.equal((await first.ended).signal, "SIGKILL");

  const store = sqliteStore(here.path("journal.db"));
  const open = store.pending("s");
  assert.deepEqual(
    open.map(({ id }) => id),
    ["s/t0/0/0/ask0", "s/t0/0/1/permit0"],
  );
  const answers: InputResponse = {
    type: "answers",
    requestId: "s/t0/0/0/ask0",
    answers: { "Which colour?": { selected: ["Blue"] } },
  };
  assert.equal((await respond(store, answers, { by: "Lin", surface: "other" })).won, true);
  const late = await respond(
    store,
    { ...answers, answers: { "Which colour?": { selected: ["Red"] } } },
    { by: "Ann", surface: "late" },
  );
  assert.deepEqual([late.won, late.resolution.by], [false, "Lin"]);
  store.close();

  const third = await run(here, { ANSWER: "self" });
  assert.match(third.out, /blue it is/, third.err);
  assert.equal(lines(here, "ran.txt"), 1);
  const said = facts(here).find((fact) => fact.key === "t0/0/0/done");
  assert.match(said?.type === "call.finished" ? said.data.text : "", /Blue/);
});

test("a command that outlived a killed Sage is found, and rerun is not offered beside it", async () => {
  using here = workspace();
  const command = "echo started >> ran.txt; while [ ! -e stop ]; do sleep 0.05; done; echo ended >> ran.txt";
  writeFileSync(here.path("script.json"), JSON.stringify([{ calls: [bash(command)] }, { text: "over" }]));

  const first = startRunner([here.dir, "s"], { env: { ANSWER: "self" } });
  await first.until(/call.started/);
  await until(() => lines(here, "ran.txt") !== 0);
  first.child.kill("SIGKILL");
  await first.ended;

  const second = startRunner([here.dir, "s"]);
  await second.until(/input.requested t0\/0\/0\/lost0.running/);
  const store = sqliteStore(here.path("journal.db"));
  const [request] = store.pending("s");
  if (request?.kind !== "question") throw new Error("expected a question");
  assert.equal(request.source, "recovery");
  assert.match(sentence(request.why, "en"), /still running/);
  assert.deepEqual(
    request.questions[0]?.options.map(({ label }) => label),
    ["wait", "kill", "leave"],
  );
  const pick = (id: string, label: string) =>
    respond(
      store,
      { type: "answers", requestId: id, answers: { [request.questions[0]?.question ?? ""]: { selected: [label] } } },
      { by: "Lin", surface: "test" },
    );
  await pick(request.id, "wait");
  writeFileSync(here.path("stop"), "");
  await second.until(/input.requested t0\/0\/0\/lost0$/m);
  await pick("s/t0/0/0/lost0", "done");
  store.close();
  assert.match((await second.ended).out, /over/);
  assert.deepEqual(readFileSync(here.path("ran.txt"), "utf8"), "started\nended\n");
});
