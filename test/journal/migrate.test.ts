// A journal of one machine that is brought to a database: ids, numbers and hashes as they were.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Pool } from "pg";
import { postgresLedger } from "../../src/journal/postgres/postgres-ledger.ts";
import { migrate, type Brought } from "../../src/journal/postgres/migrate.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { LocalStore } from "../../src/journal/store/store.ts";
import { said as inWords } from "../../src/protocol/reasons/reason.ts";
import { createDatabase, hasPostgres, openReplica } from "../support/postgres.ts";
import { answer, asked, fact, folder, opened, plain, resolved, said } from "./journals.ts";

const unknown = (key: string, text = key) => fact(key, "call.unknown", { reason: inWords(text) });

/** Sessions `a` and `b`, taking turns so that their numbers have gaps; `a` waits for an answer, and one of its facts is long. */
function fill(path: string): LocalStore {
  const store = sqliteStore(path);
  for (const id of ["a", "b"]) store.create(id, { ...opened, cwd: "/工作" });
  store.append("a", said("1", "第一条\0"));
  const [a, b] = [store.claim("a"), store.claim("b")];
  store.commit("a", a, [{ ...unknown("t0/0/0/run0", "x".repeat(60_000)), session: "a" }]);
  store.commit("b", b, [{ ...unknown("t0/0/0/run0"), session: "b" }]);
  store.commit("a", a, [{ ...asked("t0/0/1/permit0", "a"), session: "a" }]);
  store.release("a", a);
  store.release("b", b);
  return store;
}

async function bring(url: string, path: string): Promise<Record<string, Brought["how"]>> {
  const pool = new Pool({ connectionString: url, max: 2 });
  const all: Record<string, Brought["how"]> = {};
  for await (const { session, how } of migrate(pool, path, "here")) all[session] = how;
  await pool.end();
  return all;
}

suite("a journal of one machine", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  test("comes over as it is, once, and goes on there", async () => {
    using here = folder();
    const path = here.path("journal.db");
    const { url, drop } = await createDatabase();
    const before = fill(path);
    assert.deepEqual(await bring(url, path), { a: "brought", b: "brought" });
    assert.deepEqual(await bring(url, path), { a: "there", b: "there" }, "and can be run again");
    const { replica, close } = await openReplica(url, "there");
    const pool = new Pool({ connectionString: url, max: 2 });
    const ledger = await postgresLedger(pool, { process: "judge" });
    for (const id of ["a", "b"]) {
      const unlook = await replica.look(id);
      assert.deepEqual(plain(replica.store.load(id)), plain(before.load(id)));
      assert.equal(await ledger.verify(id), undefined);
      unlook();
    }
    assert.deepEqual(
      (await ledger.open()).map(({ data }) => data.id),
      before.pending().map(({ id }) => id),
    );
    const [request] = before.pending();
    assert.ok(request);

    // News from here follow, for as long as nothing has happened there.
    before.append("b", said("2", "more"));
    assert.deepEqual(await bring(url, path), { a: "there", b: "grown" });
    assert.equal(await ledger.verify("b"), undefined);
    const { won } = await ledger.append("a", resolved("t0/0/1/permit0", answer(request.id)));
    assert.ok(won);
    assert.deepEqual(await ledger.open(), []);
    assert.equal(await ledger.verify("a"), undefined);
    before.append("a", said("3", "too late"));
    assert.deepEqual(await bring(url, path), { a: "differs", b: "there" });
    assert.equal((await ledger.read("a", 0)).length, before.load("a").length, "nothing of it was mixed in");

    before.close();
    await ledger.close();
    await close();
    await drop();
  });

  test("keeps a session that a living process runs, and one whose records do not hold", async () => {
    using here = folder();
    const path = here.path("journal.db");
    const { url, drop } = await createDatabase();
    const store = fill(path);
    store.claim("a");
    const { DatabaseSync } = await import("node:sqlite");
    const raw = new DatabaseSync(path);
    raw.exec("UPDATE fact SET data=replace(data, 'run0', 'run1') WHERE session='b' AND type='call.unknown'");
    raw.close();
    assert.deepEqual(await bring(url, path), { a: "owned", b: "damaged" });
    const pool = new Pool({ connectionString: url, max: 1 });
    pool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
    const ledger = await postgresLedger(pool, { process: "judge" });
    assert.deepEqual(await ledger.standing(), []);
    store.close();
    await ledger.close();
    await drop();
  });
});
