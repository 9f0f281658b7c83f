import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { thorough } from "../faults/rounds.ts";
import { killAtCommit } from "../support/kill.ts";
import { startRunner } from "../support/process.ts";
import { bash, workspace } from "../support/sage.ts";

type Here = ReturnType<typeof workspace>;

function facts(here: Here): Fact[] {
  const store = sqliteStore(here.path("journal.db"));
  try {
    assert.equal(store.verify("s"), undefined, "the hash chain holds");
    return store.load("s");
  } finally {
    store.close();
  }
}

/** A command that runs and one that waits for a person; then the reply to the message. */
function world(): Here {
  const here = workspace();
  const script = [
    {
      text: "Two things.",
      calls: [{ tool: "Read", input: { file_path: here.path("notes.txt") } }, bash("echo x >> ran")],
    },
    { text: "heard you" },
  ];
  writeFileSync(here.path("notes.txt"), "notes");
  writeFileSync(here.path("script.json"), JSON.stringify(script));
  return here;
}

const commits = (thorough ? Array.from({ length: 14 }, (_, n) => n + 1) : [4, 5, 6, 7, 8]) as readonly number[];

test(
  "kill -9 around a message that is to be read now: it is there with its interrupt, or neither is, and no turn is paused",
  { timeout: 110_000 },
  async () => {
    for (const nth of commits)
      for (const side of ["before", "after"] as const) {
        using here = world();
        const env = { NOW: "input.requested", ...killAtCommit(nth, side) };
        await startRunner([here.dir, "s"], { env }).ended;
        const then = facts(here);
        const said = then.filter(({ key }) => key === "said/now").length;
        const interrupts = then.filter(({ type }) => type === "turn.interrupted").length;
        assert.equal(said, interrupts, `commit ${nth} ${side}`);
        if (said === 0) continue;
        const again = await startRunner([here.dir, "s"]).ended;
        assert.match(again.out, /"success".*heard you/, `commit ${nth} ${side}: ${again.out}${again.err}`);
        assert.equal(existsSync(here.path("ran")), false, "nothing was allowed by it");
        const all = facts(here);
        assert.equal(
          all.some((fact) => fact.type === "state.changed" && fact.data.to.state === "paused"),
          false,
        );
        assert.equal(all.filter(({ type }) => type === "turn.ended").length, 1);
      }
  },
);

test("kill -9 in mid-reply leaves nothing of it: the step is asked again", async () => {
  using here = workspace();
  writeFileSync(
    here.path("script.json"),
    JSON.stringify([{ text: "a long reply that is still coming", delayMs: 20_000 }]),
  );
  const first = startRunner([here.dir, "s"]);
  await first.until(/state.changed/);
  first.child.kill("SIGKILL");
  await first.ended;
  assert.equal(
    facts(here).some(({ type }) => type === "reply.interrupted"),
    false,
  );
  writeFileSync(here.path("script.json"), JSON.stringify([{ text: "whole" }]));
  assert.match((await startRunner([here.dir, "s"]).ended).out, /"success".*whole/);
});
