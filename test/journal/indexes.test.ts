import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openSession } from "../../src/journal/session.ts";
import { sqliteStore } from "../../src/journal/sqlite.ts";
import { answer, asked, fact, folder, opened, resolved } from "./journals.ts";

/** Two sessions: of the first one request is answered and one open, of the second one is open. */
function journal(path: string): void {
  const store = sqliteStore(path);
  for (const session of ["a", "b"]) {
    store.create(session, opened);
    const epoch = store.claim(session);
    store.commit(session, epoch, [
      fact("t0", "turn.begun", { loop: 1, maxSteps: 9, sawUpTo: 0 }, session),
      asked("t0/0/0/ask0", session),
      asked("t0/0/1/ask0", session),
    ]);
  }
  store.append("a", resolved("t0/0/0/ask0", answer("a/t0/0/0/ask0")));
  store.append("b", resolved("t0/0/1/ask0", answer("b/t0/0/1/ask0")));
  store.close();
}

function sql(path: string, text: string): void {
  const db = new DatabaseSync(path);
  db.exec(text);
  db.close();
}

const open = ["a/t0/0/1/ask0", "b/t0/0/0/ask0"];

test("a list of open requests that is gone is made again when the journal is opened", () => {
  using here = folder();
  const path = here.path("journal.db");
  journal(path);
  sql(path, "DROP TABLE ask");
  const store = sqliteStore(path);
  assert.deepEqual(
    store.pending().map(({ id }) => id),
    open,
  );
  assert.deepEqual(store.lookAtIndexes(), { missing: 0, stale: 0 });
  store.close();
});

test("a list that does not fit the facts is found out, and made again from them", () => {
  using here = folder();
  const path = here.path("journal.db");
  journal(path);
  sql(
    path,
    "DELETE FROM ask WHERE session='a'; INSERT INTO ask SELECT seq, session, key FROM fact WHERE session='b' AND key='t0/0/1/ask0'; UPDATE session SET open=0",
  );
  const store = sqliteStore(path);
  assert.deepEqual(store.lookAtIndexes(), { missing: 1, stale: 1 });
  store.rebuildIndexes();
  assert.deepEqual(store.lookAtIndexes(), { missing: 0, stale: 0 });
  assert.deepEqual(
    store.pending().map(({ id }) => id),
    open,
  );
  assert.deepEqual(
    store
      .sessions()
      .toSorted((x, y) => x.id.localeCompare(y.id))
      .map(({ id, open: turn, pending }) => [id, turn, pending]),
    [
      ["a", true, 1],
      ["b", true, 1],
    ],
  );
  store.close();
});

test("whoever goes on with a session has its requests listed, whatever the list said", () => {
  using here = folder();
  const path = here.path("journal.db");
  journal(path);
  sql(path, "DELETE FROM ask");
  const store = sqliteStore(path);
  assert.deepEqual(store.pending(), []);
  openSession(store, "a").release();
  assert.deepEqual(
    store.pending().map(({ id }) => id),
    ["a/t0/0/1/ask0"],
  );
  store.close();
});
