// T8: journals of every released version fold to what they meant then, and an open turn of one goes on.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { DatabaseSync } from "node:sqlite";
import { answer, resolved } from "../journal/journals.ts";
import { workspace } from "../support/sage.ts";
import { longOutput } from "./database-fixture.ts";
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

const databases = globSync("*.sql", { cwd: folder });

test("there are whole databases of released versions to open", () => assert.ok(databases.length >= 1));

for (const name of databases)
  test(`the database ${name} is opened, read, answered and written to`, () => {
    using here = workspace();
    const path = here.path("journal.db");
    const raw = new DatabaseSync(path);
    raw.exec(readFileSync(join(folder, name), "utf8"));
    raw.close();
    const store = sqliteStore(path);
    assert.deepEqual([store.verify("s"), store.lookAtIndexes()], [undefined, { missing: 0, stale: 0 }]);
    const facts = store.load("s", { verified: true });
    const output = facts.find(({ key }) => key === "t0/0/0/run0.finished");
    assert.equal(output?.type === "call.finished" && output.data.text, longOutput);
    assert.deepEqual(
      store.sessions().map(({ id, title, open, owned, pending }) => ({ id, title, open, owned, pending })),
      [{ id: "s", title: "go", open: true, owned: false, pending: 1 }],
    );
    assert.deepEqual(
      store.pending().map(({ id }) => id),
      ["s/t0/0/2/ask0"],
    );
    assert.deepEqual(store.draft("s/t0/0/2/ask0"), { answers: { "Which colour?": { selected: ["Red"] } } });
    assert.deepEqual(
      store.housekeeping.removed().map(({ data }) => data.session),
      ["old"],
    );
    assert.equal(store.append("s", resolved("t0/0/2/ask0", answer("s/t0/0/2/ask0"))).won, true);
    assert.equal(store.append("s", resolved("t0/0/1/ask0", answer("s/t0/0/1/ask0", "Red"))).won, false);
    store.commit("s", store.claim("s"), [
      {
        session: "s",
        seq: 0,
        key: "t0/1/0/run0.finished",
        type: "call.finished",
        at: 1,
        data: { ok: true, text: longOutput },
      },
    ]);
    store.close();
    const again = sqliteStore(path);
    assert.deepEqual([again.verify("s"), again.pending()], [undefined, []]);
    assert.equal(again.load("s", { verified: true }).length, facts.length + 2);
    again.close();
  });
