// T8: journals of every released version fold to what they meant then, and an open turn of one goes on.
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { LocalStore } from "../../src/journal/store/store.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { DatabaseSync } from "node:sqlite";
import { answer, resolved } from "../journal/journals.ts";
import { workspace } from "../support/sage.ts";
import { longOutput } from "./database-fixture.ts";
import { read, stateOf } from "./fixture.ts";
import { attend, reply, story } from "./story.ts";
import { open, waitings, waitingSage } from "./waiting-fixture.ts";
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

  const waiting = waitings.find((kind) => name.endsWith(`-${kind}.jsonl`));
  if (waiting)
    test(`everything that waits in ${name} is listed, and its turn continues with the answers`, async () => {
      using here = workspace();
      const store = sqliteStore(here.path("journal.db"));
      restore(store, facts, here.dir);
      await using sage = await waitingSage(waiting, { dir: here.dir, store });
      const ending = sage.outcome();
      const requests = await sage.open(open[waiting]);
      assert.equal(requests.length, open[waiting]);
      for (const request of requests) assert.ok((await sage.answer(reply(request, "done"), "Bo")).ok, request.id);
      assert.deepEqual([(await ending).text, sage.store.pending("s")], ["all done", []]);
      if (waiting === "plan") return;
      for (const file of ["one", "two", "three"]) assert.ok(existsSync(here.path(file)), file);
      const approved = sage.facts().find(({ key }) => key === "t0/1/1/permit0.resolved") as Fact<"input.resolved">;
      const { approvals = [] } = approved.data as { approvals?: { by: string }[] };
      assert.deepEqual(
        approvals.map(({ by }) => by),
        ["Ada", "Bo"],
      );
    });

  if (name.endsWith("-open.jsonl"))
    test(`the open turn of ${name} goes on under its keys`, async () => {
      using here = workspace();
      using world = createWorld({ dir: here.dir, script: () => story });
      const store = sqliteStore(world.path);
      restore(store, facts, here.dir);
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

/** Facts of a fixture as those of a session in this folder. */
function restore(store: LocalStore, facts: readonly Fact[], dir: string): void {
  const here = JSON.parse(JSON.stringify(facts).replaceAll('"/work', `"${dir}`)) as Fact[];
  const [opened, ...rest] = here;
  if (opened?.type !== "session.opened") throw new Error("a journal begins with session.opened");
  store.create("s", { ...opened.data, cwd: dir });
  store.commit("s", store.claim("s"), rest);
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
