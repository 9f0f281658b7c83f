// T1: the story is broken off before and after every commit, every effect and every request to the model; and so is its recovery.
import assert from "node:assert/strict";
import { test } from "node:test";
import { workspace } from "../support/sage.ts";
import { check, show } from "./checker.ts";
import { eventsOf, requestsOf, type History } from "./history.ts";
import { dice, roundsOf, seed, thorough } from "./rounds.ts";
import { story, tell, type Telling } from "./story.ts";
import { createWorld, type Fault, type Point, type Process } from "./world.ts";

const points = ["commit", "spawn", "model"] as const;
const done = ["act-0", "act-1", "deep-0", "save-0", "save-1", "save-2"];

async function told(telling: Telling): Promise<{ passed: Process["passed"]; crashes: number; history: History }> {
  using here = workspace();
  using world = createWorld({ dir: here.dir, script: () => story });
  const { process, crashes } = await tell(world, telling);
  const history = world.history();
  const where = telling.faults.map(({ point, nth, side }) => `${point}:${nth}:${side}`).join(" then ");
  const violations = check(history);
  assert.deepEqual(violations, [], `killed at ${where}\n${show(violations)}`);
  const marks = new Set(eventsOf(history, "executed").map(({ mark }) => mark));
  const questions = [...requestsOf(history).values()].flatMap(({ request }) =>
    request.source === "recovery" && request.kind === "question" ? request.questions : [],
  );
  const lost = questions.length;
  // Save looks at the world and Look runs again: a person is asked about Act alone, and how to go on with it.
  for (const { question, options } of questions) {
    assert.match(question, /^Act was interrupted/);
    assert.deepEqual(
      options.map(({ label }) => label),
      ["rerun", "done", "stop"],
    );
  }
  // A call that a person calls done was perhaps not begun; everything else was, and nothing that was refused.
  assert.ok(marks.size >= done.length - lost && ![...marks].some((mark) => !done.includes(mark)), `killed at ${where}`);
  return { passed: process.passed, crashes, history };
}

/** The ids of everything that was asked, apart from what only a crash makes necessary. */
const idsOf = (history: History) =>
  [...requestsOf(history)].filter(([, { request }]) => request.source !== "recovery").map(([id]) => id);

function* boundaries(passed: Record<Point, number>): Generator<Fault> {
  for (const point of points)
    for (let nth = 1; nth <= passed[point]; nth++)
      for (const side of ["before", "after"] as const) yield { point, nth, side };
}

test("killed at every boundary of a story with a mixed batch and subagents at depth two, it goes on under the same ids", async (t) => {
  const clean = await told({ faults: [] });
  let asked = 0;
  let kills = 0;
  const all = [...boundaries(clean.passed)];
  // A third of them each day, another third with another seed; all of them when there is time.
  for (const fault of thorough ? all : all.filter((_, n) => (n + seed) % 3 === 0)) {
    const { history, crashes } = await told({ faults: [fault], lost: fault.nth % 2 === 0 ? "rerun" : "done" });
    assert.deepEqual(idsOf(history).toSorted(), idsOf(clean.history).toSorted(), JSON.stringify(fault));
    asked += [...requestsOf(history).values()].filter(({ request }) => request.source === "recovery").length;
    kills += crashes;
  }
  t.diagnostic(`${kills} kills, ${asked} interrupted calls asked about`);
  assert.ok(kills > all.length / 4 && asked > 0, `${kills} kills, ${asked} asked about`);
});

test("killed while it recovers, once and again: what was recovered is the same each time", async (t) => {
  const { passed } = await told({ faults: [] });
  const first = [...boundaries(passed)];
  const all = first.flatMap((one) => [...boundaries({ commit: 24, spawn: 4, model: 3 })].map((two) => [one, two]));
  const roll = dice(seed);
  const chosen = thorough ? all : Array.from({ length: 12 }, () => roll.pick(all));
  let kills = 0;
  for (const [n, faults] of chosen.entries()) {
    const more = n % 4 === 0 ? [roll.pick(first)] : [];
    const { crashes } = await told({
      faults: [...faults, ...more],
      lost: n % 2 === 0 ? "rerun" : "done",
      recoverTwice: n % 3 === 0,
    });
    kills += crashes;
  }
  t.diagnostic(`${chosen.length} of ${all.length} pairs, ${kills} kills (${roundsOf(0)} rounds asked for)`);
  assert.ok(kills > chosen.length, "some were killed while they recovered");
});
