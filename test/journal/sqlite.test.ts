// The journal on disk as a file: who may read it, damage, a full disk.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { said as inWords, messageOf } from "../../src/protocol/reasons/reason.ts";
import { answer, asked, fact, folder, keys, opened, resolved, said, state } from "./journals.ts";
import { peer } from "./peers.ts";
import { unknown, blue, type Here, disk, problem, disposable } from "./disks.ts";
import { colour } from "./sessions.ts";

suite("the file", () => {
  test("is readable by its owner only, in a folder of theirs, whatever the umask", () => {
    using here = folder();
    const before = process.umask(0);
    try {
      using store = disposable(sqliteStore(here.path("home/deep/journal.db")));
      store.create("s", opened);
      const mode = (name: string) => (statSync(here.path(name)).mode & 0o777).toString(8);
      for (const folder of ["home", "home/deep"]) assert.equal(mode(folder), "700");
      for (const file of ["journal.db", "journal.db-wal", "journal.db-shm"])
        assert.equal(mode(`home/deep/${file}`), "600");
    } finally {
      process.umask(before);
    }
  });

  const database = (path: string, sql: string) => {
    const db = new DatabaseSync(path);
    db.exec(sql);
    db.close();
  };
  const strangers: Record<string, { make(path: string): void; says: RegExp }> = {
    "a database of another program": {
      make: (path) => database(path, "CREATE TABLE note(text); INSERT INTO note VALUES('precious')"),
      says: /belongs to another program; move it away/,
    },
    "a database of another program that has versions": {
      make: (path) => database(path, "CREATE TABLE note(text); PRAGMA user_version=1; PRAGMA application_id=7"),
      says: /belongs to another program; move it away/,
    },
    "a journal of a newer Sage": {
      make(path) {
        const store = sqliteStore(path);
        store.create("s", opened);
        store.close();
        database(path, "PRAGMA user_version=99");
      },
      says: /written by a newer Sage \(format 99, this one knows 2\); update Sage/,
    },
    "a text": {
      make: (path) => writeFileSync(path, "These are my notes.\n".repeat(500)),
      says: /not a journal .*keep a copy/,
    },
    "a file of 0 bytes": { make: (path) => writeFileSync(path, ""), says: /is empty: its content is lost/ },
    "a few bytes": { make: (path) => writeFileSync(path, "hello"), says: /not a journal .*keep a copy/ },
    "a journal whose head is torn": {
      make(path) {
        const store = sqliteStore(path);
        store.create("s", opened);
        store.close();
        const bytes = readFileSync(path);
        bytes.fill(0xaa, 0, 64);
        writeFileSync(path, bytes);
      },
      says: /not a journal .*keep a copy/,
    },
  };
  for (const [what, { make, says }] of Object.entries(strangers))
    test(`${what} in its place is refused and left as it was`, () => {
      using here = folder();
      const path = here.path("journal.db");
      make(path);
      const before = readFileSync(path);
      for (let tries = 0; tries < 2; tries++) {
        const { code, message } = problem(() => sqliteStore(path));
        assert.equal(code, "journal-damaged");
        assert.match(message, says);
        assert.ok(message.includes(path), `${message} names the file`);
      }
      assert.ok(readFileSync(path).equals(before), "not a byte was changed");
    });

  test("cannot be a folder", () => {
    using here = folder();
    mkdirSync(here.path("journal.db"));
    const { code, message } = problem(() => sqliteStore(here.path("journal.db")));
    assert.equal(code, "journal-damaged");
    assert.match(message, /should be a file, but .*journal\.db is a directory/);
  });

  test("cannot lie below something that is no folder", () => {
    using here = folder();
    writeFileSync(here.path("home"), "");
    const { code, message } = problem(() => sqliteStore(here.path("home/journal.db")));
    assert.equal(code, "config-invalid");
    assert.match(message, /home\/journal\.db cannot be opened for writing.*SAGE_HOME/);
  });

  const stranger = process.getuid?.() === 0 ? { uid: 65_534 } : {};
  test("that may only be read, or not even that, is refused with what to do", async () => {
    using here = folder();
    const path = here.path("journal.db");
    const store = sqliteStore(path);
    store.create("s", opened);
    store.close();
    const before = readFileSync(path);
    const attempt = async () => {
      await using other = peer(path, stranger);
      const { code, error = "" } = await other.try("create", "other", opened);
      assert.equal(code, "config-invalid", error);
      assert.match(error, /journal\.db cannot be opened for writing; check its permissions, or set SAGE_HOME/);
    };
    chmodSync(path, 0o444);
    chmodSync(here.dir, 0o555);
    await attempt();
    chmodSync(path, 0o000);
    await attempt();
    chmodSync(here.dir, 0o000);
    await attempt();
    chmodSync(here.dir, 0o755);
    chmodSync(path, 0o600);
    assert.ok(readFileSync(path).equals(before), "not a byte was changed");
    rmSync(path);
    chmodSync(here.dir, 0o555);
    await attempt();
    chmodSync(here.dir, 0o755);
  });

  test("may be cut off anywhere: what is read is what was committed up to some point, and its chain holds", () => {
    using here = disk();
    const epoch = here.store.claim("s");
    for (let n = 0; n < 8; n++) here.store.commit("s", epoch, [unknown(`${n}.a`), asked(`${n}.b`)]);
    const whole = keys(here.store.load("s"));
    const wal = statSync(`${here.journal}-wal`).size;
    const frame = 8_192 + 24;
    const seen = new Set<number>();
    const cuts = Array.from({ length: Math.floor(wal / frame) }, (_, n) => [
      32 + n * frame,
      32 + n * frame + ((n * 997) % frame),
    ]).flat();
    for (const cut of cuts) {
      using there = folder();
      const path = there.path("journal.db");
      copyFileSync(here.journal, path);
      copyFileSync(`${here.journal}-wal`, `${path}-wal`);
      truncateSync(`${path}-wal`, Math.min(cut, wal));
      using store = disposable(sqliteStore(path));
      const session = store.session("s");
      if (!session) continue;
      const facts = keys(store.load("s"));
      assert.deepEqual(facts, whole.slice(0, facts.length), `cut at ${cut}`);
      assert.equal(facts.length % 2, 1, "no half of a commit");
      assert.equal(session.pending, (facts.length - 1) / 2);
      assert.equal(store.verify("s"), undefined);
      seen.add(facts.length);
    }
    assert.ok(seen.size > 4, `cuts hit ${seen.size} different states`);
  });

  test("that is damaged inside is named, with what to do", () => {
    using here = disk();
    const epoch = here.store.claim("s");
    for (let n = 0; n < 40; n++) here.store.commit("s", epoch, [unknown(`${n}`, "x".repeat(2_000))]);
    here.meanwhile(() => {
      const bytes = readFileSync(here.journal);
      const page = bytes.lastIndexOf("xxxxxxxx") & ~8_191;
      bytes.fill(0xaa, page, page + 8_192);
      writeFileSync(here.journal, bytes);
    });
    for (const read of [() => here.store.load("s"), () => here.store.since("s", 0), () => here.store.verify("s")]) {
      const { code, message } = problem(read);
      assert.equal(code, "journal-damaged");
      assert.match(message, /journal\.db is damaged .*keep a copy/);
    }
  });
});

suite("the hash chain", () => {
  const filled = (): Here => {
    const here = disk();
    const epoch = here.store.claim("s");
    here.store.commit("s", epoch, [unknown("a", "one"), unknown("b", "two"), asked("c")]);
    here.store.append("s", resolved("c", answer("s/c")));
    assert.equal(here.store.verify("s"), undefined);
    return here;
  };
  const changes: Record<string, { sql: string; found: string }> = {
    "one letter of a record": { sql: "UPDATE fact SET data = replace(data, 'two', 'twp') WHERE key = 'b'", found: "b" },
    "who answered": {
      sql: "UPDATE fact SET data = replace(data, 'Lin', 'Eve') WHERE key = 'c.resolved'",
      found: "c.resolved",
    },
    "a record's time": { sql: "UPDATE fact SET at = at + 1 WHERE key = 'a'", found: "a" },
    "a record's key": { sql: "UPDATE fact SET key = 'x' WHERE key = 'b'", found: "x" },
    "a record's type": { sql: "UPDATE fact SET type = 'call.finished' WHERE key = 'b'", found: "b" },
    "a record's own hash": { sql: "UPDATE fact SET hash = 'x' WHERE key = 'b'", found: "b" },
    "the first record": {
      sql: "UPDATE fact SET data = replace(data, '/w', '/x') WHERE key = 'session'",
      found: "session",
    },
    "a record in the middle that is gone": { sql: "DELETE FROM fact WHERE key = 'b'", found: "c" },
    "the first record that is gone": { sql: "DELETE FROM fact WHERE key = 'session'", found: "a" },
    "the last record that is gone": {
      sql: "DELETE FROM fact WHERE key = 'c.resolved'",
      found: "(the last records are missing)",
    },
    "all records that are gone": { sql: "DELETE FROM fact", found: "(the last records are missing)" },
    "the order": { sql: "UPDATE fact SET seq = 100 WHERE key = 'a'", found: "b" },
    "a record slipped in": {
      sql: "INSERT INTO fact SELECT 200, session, 'new', type, at, data, hash FROM fact WHERE key = 'b'",
      found: "new",
    },
  };
  for (const [what, { sql, found }] of Object.entries(changes))
    test(`finds out: ${what}`, () => {
      using here = filled();
      here.raw(sql);
      assert.equal(here.store.verify("s")?.key, found);
    });

  test("names the record whose bytes were changed on the disk", () => {
    using here = filled();
    here.meanwhile(() => {
      const bytes = readFileSync(here.journal);
      const at = bytes.indexOf('"text":"two"');
      assert.notEqual(at, -1);
      bytes.write("p", at + '"text":"tw'.length);
      writeFileSync(here.journal, bytes);
    });
    assert.deepEqual(here.store.verify("s"), { seq: 3, key: "b" });
  });

  test("is not needed to say which record cannot be read at all", () => {
    using here = filled();
    here.store.commit("s", here.store.claim("s"), [
      asked("d"),
      fact("t0", "turn.begun", { loop: 1, maxSteps: 1, sawUpTo: 0 }),
    ]);
    here.raw("UPDATE fact SET data = substr(data, 2) WHERE key IN ('d', 't0')");
    const reads = [
      () => here.store.load("s").map(({ data }) => data),
      () => here.store.pending(),
      () => here.store.find("s/d")?.request,
    ];
    for (const read of reads) {
      const { code, message } = problem(read);
      assert.equal(code, "journal-damaged");
      assert.match(message, /^record 6 \(d\) of session s is damaged and cannot be read; `sage doctor`/);
    }
    assert.match(
      problem(() => openSession(here.store, "s")).message,
      /^record d of session s in .* was changed after it was written/,
    );
  });

  test("says nothing about other sessions", () => {
    using here = filled();
    here.store.create("z", opened);
    here.raw("DELETE FROM fact WHERE key = 'b'");
    assert.equal(here.store.verify("z"), undefined);
  });
});

suite("a full disk", () => {
  /** A small disk of its own. */
  const small = (): (Here & { fill(): void; free(): void }) | string => {
    if (process.platform !== "linux" || process.getuid?.() !== 0) return "only root can mount a small disk";
    const outer = folder();
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", outer.dir], { stdio: "pipe" });
    } catch (error) {
      outer[Symbol.dispose]();
      return `a small disk cannot be mounted here: ${messageOf(error)}`;
    }
    const unmounting = {
      ...outer,
      [Symbol.dispose]() {
        execFileSync("umount", [outer.dir]);
        outer[Symbol.dispose]();
      },
    };
    return Object.assign(disk(unmounting), {
      fill() {
        try {
          writeFileSync(outer.path("filler"), Buffer.alloc(2_000_000));
        } catch {
          // as much as fits
        }
      },
      free: () => rmSync(outer.path("filler")),
    });
  };

  test("refuses an answer with “not recorded”, still reads, and goes on when there is space", async (t) => {
    const made = small();
    if (typeof made === "string") return t.skip(made);
    using here = made;
    const { store } = here;
    const log = openSession(store, "s");
    const opened = log.branch("t0/0/0").open("ask0", colour);
    const waiting = opened.wait();
    here.fill();
    const recorded: string[] = [];
    const speak = () => {
      for (let n = 0; n < 100; n++) {
        store.append("s", said(`said/${n}`, "x".repeat(4_000)));
        recorded.push(`said/${n}`);
      }
    };
    const refused = problem(speak);
    assert.equal(refused.code, "disk-full");
    assert.match(refused.message, /^not recorded: writing to .*journal\.db failed .*free some space/);
    const big = { ...answer(blue.requestId), outcome: "cancelled", reason: inWords("x".repeat(10_000)) } as const;
    assert.equal(problem(() => store.append("s", resolved("t0/0/0/ask0", big))).code, "disk-full");

    assert.equal(await state(waiting), "waits", "an answer that was not recorded wakes nobody");
    assert.deepEqual(keys(store.since("s", 2)), recorded, "what was acknowledged is there, and nothing else");
    assert.deepEqual(
      store.pending().map(({ id }) => id),
      [blue.requestId],
    );
    assert.equal(store.session("s")?.pending, 1);
    assert.equal(store.verify("s"), undefined);

    here.free();
    assert.equal(store.append("s", resolved("t0/0/0/ask0", answer(blue.requestId, "Blue", "Ann"))).won, true);
    assert.equal((await waiting).by, "Ann");
    log.commits.add("after", "call.unknown", { reason: inWords("") });
    log.release();
    assert.deepEqual(keys(store.since("s", 2)), [...recorded, "t0/0/0/ask0.resolved", "after"]);
    assert.equal(store.verify("s"), undefined);
  });

  test("makes no journal, and leaves nothing that is in the way of one later", (t) => {
    const made = small();
    if (typeof made === "string") return t.skip(made);
    using here = made;
    const path = here.path("new.db");
    here.fill();
    assert.equal(problem(() => sqliteStore(path)).code, "disk-full");
    here.free();
    using store = disposable(sqliteStore(path));
    assert.equal(store.create("s", opened), true);
  });

  test("starts no effect that it cannot record, runs it once there is room, and holds nobody up who leaves", async (t) => {
    const made = small();
    if (typeof made === "string") return t.skip(made);
    using here = made;
    const log = openSession(here.store, "s");
    const line = log.branch("t0/0/0");
    const waiting = line.open("ask0", colour).wait();
    here.fill();
    let ran = false;
    const started = { tool: "Bash", effect: "writes", digest: "x".repeat(100_000) } as const;
    const running = line.once("run0", async () => ((ran = true), { ok: true, text: "ran" }), {
      started: () => started,
    });
    await new Promise((resolve) => setTimeout(resolve, 300)); // some tries
    assert.deepEqual([ran, await state(waiting)], [false, "waits"]);
    here.free();
    assert.deepEqual([await running, ran], [{ ok: true, value: { ok: true, text: "ran" } }, true]);

    here.fill();
    log.commits.add("t0/big", "call.unknown", { reason: inWords("x".repeat(100_000)) });
    void log.flush();
    assert.equal(problem(() => here.store.noteChild("s", "t0/0/0/run0", process.pid)).code, "disk-full");
    log.close();
    await log.release();
    await assert.rejects(waiting, { name: "Stopped", why: "leaving" });
    here.free();
    assert.equal(keys(here.store.since("s", 0)).includes("t0/big"), false);
  });
});
