// T8: journals of every released version fold to what they meant then, and an open turn of one goes on.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite.ts";
import { workspace } from "../support/sage.ts";
import { read, stateOf } from "./fixture.ts";
import { attend, reply, story } from "./story.ts";
import { createWorld } from "./world.ts";

const folder = join(import.meta.dirname, "../fixtures/journals");
const kept = globSync("*.jsonl", { cwd: folder });

test("there are journals of released versions to read", () => assert.ok(kept.length >= 2));

for (const name of kept) {
  const { recorded, facts } = read(readFileSync(join(folder, name), "utf8"));
  test(`${name} folds to what it meant to Sage ${recorded.version}`, () => {
    assert.equal(facts.length, recorded.facts);
    assert.equal(stateOf(facts), recorded.state);
  });

  if (name.endsWith("-open.jsonl"))
    test(`the open turn of ${name} goes on under its keys`, async () => {
      using here = workspace();
      using world = createWorld({ dir: here.dir, script: () => story });
      const store = sqliteStore(world.path);
      const [opened, ...rest] = facts;
      if (opened?.type !== "session.opened") throw new Error("a journal begins with session.opened");
      store.create("s", { ...opened.data, cwd: here.dir });
      store.commit("s", store.claim("s"), rest);
      assert.deepEqual(
        store.load("s").map(({ seq }) => seq),
        facts.map(({ seq }) => seq),
        "messages are found by their place",
      );
      store.close();
      const process = world.boot();
      const person = attend(world, process, "s", (request) => reply(request, "done"));
      assert.equal((await process.host.run("s")).text, "all done");
      await person.leave();
      await process.bury();
    });
}
