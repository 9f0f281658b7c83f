import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { FactData, FactType } from "../../src/protocol/facts/fact.ts";
import { noUsage, type Heard } from "../../src/protocol/facts/message.ts";
import { unseenMessages } from "../../src/protocol/facts/unseen.ts";
import { firstSubReplyKey, replyKey, saidKey, turnEndedKey, turnKey, withdrawnKey } from "../../src/protocol/key.ts";
import { seeded } from "../support/flaky.ts";
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

test("a message waits for a turn exactly when no turn has taken it up, no reply has seen it and nobody has taken it back", () => {
  using here = folder();
  const store = sqliteStore(here.path("journal.db"));
  const random = seeded(11);
  const below = (n: number) => Math.floor(random() * n);
  const end = {
    status: "success" as const,
    text: "",
    usage: noUsage,
    stats: { steps: 0, modelCalls: 0, toolCalls: 0, durationMs: 0 },
  };
  const reply = (heard: Heard) => ({ parts: [], usage: noUsage, finish: "stop" as const, model: "test", ...heard });
  for (let round = 0; round < 60; round++) {
    const session = `s${round}`;
    store.create(session, opened);
    const epoch = store.claim(session);
    const seen: number[] = [0];
    const takenBack: number[] = [];
    let [turn, step] = [0, 0];
    let isOpen = false;
    for (let n = 0; n < 12; n++) {
      const write = <T extends FactType>(key: string, type: T, data: FactData[T]) =>
        store.commit(session, epoch, [fact(key, type, data, session)]);
      const last = seen.at(-1) ?? 0;
      // Now and then an owner that has not heard of it yet.
      const without = takenBack.filter(() => below(3) > 0);
      const heard = { sawUpTo: last, ...(without.length > 0 && { without }) };
      const act = below(6);
      if (act === 0) {
        const said = { text: "hello", by: "me", surface: "test" };
        seen.push(store.append(session, { key: saidKey(`${n}`), type: "user.said", at: 0, data: said }).fact.seq);
      } else if (act === 1 && !isOpen) {
        isOpen = true;
        write(turnKey(turn), "turn.begun", { loop: 1, maxSteps: 9, ...heard });
      } else if (act === 2 && isOpen) write(`${turnKey(turn)}/${replyKey(step++)}`, "model.replied", reply(heard));
      else if (act === 3 && isOpen)
        write(`${turnKey(turn)}/${step++}/0/${firstSubReplyKey}`, "model.replied", reply({ sawUpTo: 0 }));
      else if (act === 4 && isOpen) {
        isOpen = false;
        write(turnEndedKey(turnKey(turn++)), "turn.ended", below(4) === 0 ? { ...end, ...heard } : end);
      } else if (act === 5 && last > 0) {
        const message = seen[1 + below(seen.length - 1)] as number;
        const key = withdrawnKey(`${message}`);
        store.append(session, { key, type: "message.withdrawn", at: 0, data: { message, by: "me", surface: "test" } });
        takenBack.push(message);
      }
      const { open: isListed, unheard } = store.session(session)!;
      const waits: boolean = !isOpen && unseenMessages(store.load(session)).length > 0;
      assert.deepEqual({ isListed, unheard }, { isListed: isOpen, unheard: waits }, `round ${round}, after fact ${n}`);
    }
    store.release(session, epoch);
  }
  const listed = store.sessions();
  store.rebuildIndexes();
  assert.deepEqual(store.sessions(), listed);
  store.close();
});
