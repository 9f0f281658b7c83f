// The database file itself: long facts, older formats, files that vanish, disks that may only be read.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { startOf, uptime } from "../../src/processes/identity.ts";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { until } from "../support/until.ts";
import { fact, folder, opened, plain, said } from "./journals.ts";
import { peer } from "./peers.ts";
import { worded } from "../support/worded.ts";

const long = "长输出 and words; ".repeat(10_000);

function raw(path: string, sql: string): Record<string, unknown>[] {
  using db = new DatabaseSync(path);
  return db.prepare(sql).all();
}

/** A journal with a session `s` that has one long fact and one short. */
function journal(path: string): void {
  const store = sqliteStore(path);
  store.create("s", opened);
  store.append("s", said("said/long", long));
  store.append("s", said("said/short", "short"));
  store.close();
}

suite("a fact over 32 kB", () => {
  test("lies beside the fact table, and reads, searches, copies and goes like any other", () => {
    using here = folder();
    const path = here.path("journal.db");
    journal(path);
    const [row] = raw(path, "SELECT length(data) n FROM fact WHERE key='said/long'");
    assert.ok(Number(row?.["n"]) < 100);
    const store = sqliteStore(path);
    const text = (facts: Fact[]) => facts.flatMap((one) => (one.type === "user.said" ? [one.data.text] : []));
    assert.deepEqual(text(store.load("s", { verified: true })), [long, "short"]);
    assert.deepEqual(text(store.since("s", 1)), [long, "short"]);
    assert.equal(store.verify("s"), undefined);
    assert.deepEqual(
      plain(store.append("s", said("said/long", "another")).fact.data),
      said("", long).data,
      "the first stays",
    );
    assert.deepEqual(
      store.housekeeping.search("长输出 and", ["user.said"]).map(({ session }) => session),
      ["s"],
    );
    store.housekeeping.copy("t", store.load("s"));
    assert.deepEqual([text(store.load("t", { verified: true })), store.verify("t")], [[long, "short"], undefined]);
    const last = { session: "s", cwd: "", title: "", by: "Lin", surface: "test", receipts: [long] };
    store.housekeeping.remove("s", store.load("s").at(-1)?.seq ?? 0, last);
    assert.deepEqual(store.housekeeping.removed()[0]?.data.receipts, [long]);
    assert.equal(store.housekeeping.verifyRemoved(), undefined);
    store.create("newest", opened);
    assert.equal(store.housekeeping.forget(Date.now() + 1), 1);
    store.close();
    assert.deepEqual(raw(path, "SELECT session FROM long"), [{ __proto__: null, session: "t" }]);
  });

  test("is told to whoever listens, here and in another process", async () => {
    using here = folder();
    const path = here.path("journal.db");
    journal(path);
    const [store, other] = [sqliteStore(path), sqliteStore(path)];
    const heard: string[] = [];
    for (const one of [store, other])
      one.hub.subscribe("s", { fact: ({ data }) => heard.push((data as { text: string }).text) });
    store.append("s", said("said/more", `${long}!`));
    await until(() => heard.length === 2);
    assert.deepEqual(heard, [`${long}!`, `${long}!`]);
    store.close();
    other.close();
  });

  for (const [what, sql] of [
    ["changed", "UPDATE long SET data=replace(data, 'words', 'lies')"],
    ["gone", "DELETE FROM long"],
  ] as const)
    test(`whose data was ${what} is found out, and the session is not gone on with`, () => {
      using here = folder();
      const path = here.path("journal.db");
      journal(path);
      raw(path, sql);
      const store = sqliteStore(path);
      assert.equal(store.verify("s")?.key, "said/long");
      assert.throws(
        () => openSession(store, "s"),
        worded({
          code: "journal-damaged",
          message: /record said\/long of session s/,
        }),
      );
      store.close();
    });
});

suite("a journal of version 0.1.0", () => {
  const old = (path: string) => {
    using db = new DatabaseSync(path);
    db.exec(readFileSync(join(import.meta.dirname, "../fixtures/journals/0.1.0.sql"), "utf8"));
  };

  test("is taken over once no process of that version runs any more", () => {
    using here = folder();
    const path = here.path("journal.db");
    old(path);
    const running = spawn("sleep", ["600"]);
    const pid = running.pid ?? 0;
    raw(path, `INSERT INTO process VALUES('old', ${pid}, '${startOf(pid)}', ${uptime()})`);
    assert.throws(
      () => sqliteStore(path),
      worded({
        code: "journal-locked",
        message: new RegExp(`in use by an older Sage \\(process ${pid}\\)`),
      }),
    );
    assert.equal(Number(raw(path, "PRAGMA user_version")[0]?.["user_version"]), 1, "nothing was changed");
    const looks = sqliteStore(path, { looks: true });
    assert.equal(looks.session("s")?.pending, 1, "it can be looked at");
    looks.close();
    raw(path, "UPDATE process SET started='another boot'");
    running.kill("SIGKILL");
    sqliteStore(path).close();
    assert.equal(Number(raw(path, "PRAGMA user_version")[0]?.["user_version"]), 2);
  });
});

suite("a journal that is gone", () => {
  for (const how of ["removed", "replaced"] as const)
    test(`${how} under a process that has it open: nothing is called recorded any more, and its session ends`, async () => {
      using here = folder();
      const [path, spare] = [here.path("journal.db"), here.path("spare.db")];
      for (const one of [spare, path]) journal(one);
      const store = sqliteStore(path);
      const log = openSession(store, "s");
      const told: (string | undefined)[] = [];
      store.hub.subscribe("s", { fact() {}, delta: ({ reason }) => told.push(reason?.code) });
      const running = log
        .branch("")
        .once(
          "run0",
          ({ signal }) => new Promise((_, stop) => signal.addEventListener("abort", () => stop(signal.reason))),
          { started: () => ({ tool: "Bash", effect: "writes", digest: "" }) },
        );
      if (how === "removed") rmSync(path);
      else renameSync(spare, path);
      const gone = { code: "journal-damaged", message: /was removed or replaced while Sage had it open/ };
      assert.throws(() => store.append("s", said("said/void", "into the void")), worded(gone));
      await assert.rejects(running, worded(gone)); // at the next beat, though nobody writes
      assert.deepEqual(told, ["journal-gone"]);
      assert.throws(() => log.flush(), worded(gone));
      store.close();
      if (how === "replaced") assert.equal(raw(path, "SELECT 1 FROM fact WHERE key='said/void'").length, 0);
    });

  test("without its log is not made anew", () => {
    using here = folder();
    const path = here.path("journal.db");
    const store = sqliteStore(path);
    store.create("s", opened);
    copyFileSync(`${path}-wal`, here.path("kept"));
    store.close();
    rmSync(path);
    copyFileSync(here.path("kept"), `${path}-wal`);
    assert.throws(
      () => sqliteStore(path),
      worded({ code: "journal-damaged", message: /is gone, but .*-wal is still there/ }),
    );
    assert.equal(existsSync(path), false);
  });
});

test("a process with other process numbers is judged by its heartbeat alone", async () => {
  using here = folder();
  const path = here.path("journal.db");
  journal(path);
  const store = sqliteStore(path);
  store.claim("s");
  // As a process in another container that shares the folder would have written it: its pid is nobody here.
  raw(path, `UPDATE process SET namespace='pid:[1]', pid=4194304, started='${startOf(process.pid).split(":")[0]}:1'`);
  await using other = peer(path);
  assert.equal((await other.try("claim", "s")).code, "session-owned");
  raw(path, "UPDATE process SET started='another1:1'");
  assert.equal((await other.try("claim", "s")).code, undefined, "nothing outlives a boot");
  store.close();
});

test("a process with other process numbers that is silent for too long has lost its session", async () => {
  using here = folder();
  const path = here.path("journal.db");
  journal(path);
  const store = sqliteStore(path);
  store.claim("s");
  await using other = peer(path);
  await other.call("session", "s"); // it is up: the living store must not beat between the next two lines
  raw(path, `UPDATE process SET namespace='pid:[1]', pid=4194304, beat=${uptime() - 10_000}`);
  assert.equal((await other.try("claim", "s")).code, undefined);
  store.close();
});

test("a journal on a disk that may only be read is looked at all the same, with what its log holds", async () => {
  const stranger = process.getuid?.() === 0 ? { uid: 65_534 } : {};
  using here = folder();
  const path = here.path("journal.db");
  const store = sqliteStore(path);
  store.create("s", opened);
  store.append("s", said("said/0", "only in the log"));
  store.commit("s", store.claim("s"), [fact("t0", "turn.begun", { loop: 1, maxSteps: 1, sawUpTo: 0 })]);
  for (const name of [path, `${path}-wal`]) chmodSync(name, 0o444);
  chmodSync(`${path}-shm`, 0o000);
  chmodSync(here.dir, 0o555);
  try {
    await using other = peer(path, { ...stranger, looks: true });
    assert.equal(((await other.call("session", "s")) as { title: string }).title, "only in the log");
    assert.equal((await other.try("create", "t", opened)).code, "config-invalid");
  } finally {
    chmodSync(here.dir, 0o755);
    chmodSync(`${path}-shm`, 0o600);
    store.close();
  }
});
