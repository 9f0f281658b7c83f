// T3 and T5: real processes, really killed and really stopped. What they did is read off a file that only they write to.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { killAtCommit } from "../support/kill.ts";
import { startRunner } from "../support/process.ts";
import { askUser, bash, question, workspace } from "../support/sage.ts";
import { check, show } from "./checker.ts";
import { historyIn, witnessed } from "./witness.ts";
import { dice, roundsOf, seed } from "./rounds.ts";
import { until } from "../support/until.ts";

/** Commands that leave a mark, one of which ends by a kill -9 of its own; a question; and a subagent that does the same. */
const task = { tool: "Task", input: { agent: "GeneralPurpose", description: "work", prompt: "work" } };
const script = {
  "": [
    {
      calls: [bash("echo one >> witness"), askUser(question("Which colour?")), bash("echo two >> witness; kill -9 $$")],
    },
    { calls: [task, bash("echo three >> witness")] },
    { text: "all done" },
  ],
  GeneralPurpose: [{ calls: [bash("echo below >> witness")] }, { text: "done below" }],
};

for (let round = 0; round < roundsOf(3); round++)
  test(`kill -9 at any moment (seed ${seed + round})`, { timeout: 60_000 }, async () => {
    using here = workspace();
    const roll = dice(seed + round);
    writeFileSync(here.path("script.json"), JSON.stringify(script));
    const lost = roll.pick(["done", "rerun"]);
    for (let lives = 0; ; lives++) {
      assert.ok(lives < 8, "it comes to an end");
      const deadly = lives < 1 + roll.below(3);
      const timed = roll.chance(0.5);
      const fault = killAtCommit(1 + roll.below(25), roll.pick(["before", "after"]));
      const env = { ANSWER: "self", LOST: lost, ...(deadly && !timed && fault) };
      const { child, ended, until } = startRunner([here.dir, "s"], { env });
      if (deadly && timed) {
        const from = roll.pick([/user.said/, /call.started/, /input.resolved/, /sub\/0\/model/]);
        await until(from).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, roll.below(50)));
        child.kill("SIGKILL");
      }
      const { out, signal, err } = await ended;
      if (signal === "SIGKILL") continue;
      assert.match(out, /all done/, err);
      break;
    }
    const violations = check(historyIn(here.dir));
    assert.deepEqual(violations, [], show(violations));
  });

test(
  "a frozen owner is taken over from; thawed, it writes nothing more and ends what it runs",
  { timeout: 60_000 },
  async () => {
    using here = workspace();
    const command = "echo begun >> witness; sleep 40; echo never >> witness";
    writeFileSync(here.path("script.json"), JSON.stringify([{ calls: [bash(command)] }, { text: "all done" }]));
    const first = startRunner([here.dir, "s"], { env: { ANSWER: "self" } });
    await first.until(/call.started/);
    await until(() => witnessed(here.dir).length !== 0);
    first.child.kill("SIGSTOP");
    const db = new DatabaseSync(here.path("journal.db"));
    db.exec("PRAGMA busy_timeout=5000; UPDATE process SET beat=0"); // as if it had been so for long
    db.close();
    const second = startRunner([here.dir, "s"], { env: { ANSWER: "self", LOST: "done" } });
    await second.until(/input.requested t0\/0\/0\/lost0.running/);
    first.child.kill("SIGCONT");
    assert.match((await second.ended).out, /all done/);
    await first.ended;
    assert.deepEqual(witnessed(here.dir), ["begun"]);
    const history = historyIn(here.dir);
    const violations = check(history);
    assert.deepEqual(violations, [], show(violations));
    const epochs = history.journal.get("s")!.flatMap(({ key }) => /^state\/(\d+)/.exec(key)?.[1] ?? []);
    assert.deepEqual(
      epochs,
      epochs.toSorted((a, b) => Number(a) - Number(b)),
      "facts of two owners do not interleave",
    );
    assert.ok(new Set(epochs).size > 1, "there were two owners");
  },
);
