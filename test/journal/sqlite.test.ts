// What only the journal on disk promises: other processes, leases, damage, a full disk.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { DatabaseSync, StatementSync, type SQLInputValue } from "node:sqlite";
import { createInterface } from "node:readline";
import { suite, test } from "node:test";
import { groupLives, uptime, startOf } from "../../src/journal/process.ts";
import { openSession } from "../../src/journal/session.ts";
import { sqliteStore } from "../../src/journal/sqlite.ts";
import type { LocalStore } from "../../src/journal/store.ts";
import {
  messageOf,
  SageError,
  said as inWords,
  type InputResponse,
  type NewRequest,
} from "../../src/protocol/index.ts";
import { answer, asked, fact, folder, keys, opened, plain, question, resolved, said, state } from "./journals.ts";
import { peer } from "./peers.ts";
import { until } from "../support/until.ts";

const unknown = (key: string, why = "") => fact(key, "call.unknown", { reason: inWords(why) });
const blue: InputResponse = {
  type: "answers",
  requestId: "s/t0/0/0/ask0",
  answers: { "Which colour?": { selected: ["Blue"] } },
};

const colour: NewRequest = {
  kind: "question",
  questions: [question("Which colour?")],
  source: "tool",
  agent: [],
  why: inWords(""),
  digest: "",
};

type Here = ReturnType<typeof folder> & {
  readonly store: LocalStore;
  readonly journal: string;
  raw(sql: string): unknown[];
  /** Something happens to the files while nobody has them open. */
  meanwhile<T>(act: () => T): T;
};

/** A journal on disk with one session. */
function disk(here = folder()): Here {
  const journal = here.path("journal.db");
  let store = sqliteStore(journal);
  store.create("s", opened);
  return {
    ...here,
    journal,
    get store() {
      return store;
    },
    raw(sql) {
      const db = new DatabaseSync(journal, { timeout: 2_000 });
      try {
        return db.prepare(sql).all();
      } finally {
        db.close();
      }
    },
    meanwhile(act) {
      store.close();
      const value = act();
      store = sqliteStore(journal);
      return value;
    },
    [Symbol.dispose]() {
      store.close();
      here[Symbol.dispose]();
    },
  };
}

function problem(fn: () => unknown): { code: string; message: string } {
  try {
    fn();
  } catch (error) {
    assert.ok(error instanceof SageError, `a SageError was expected, and ${String(error)} came`);
    return { code: error.code, message: error.message };
  }
  return assert.fail("nothing was refused");
}

suite("two processes", () => {
  test("an answer given by another process wakes whoever waits here", async () => {
    using here = disk();
    await using other = peer(here.journal);
    const log = openSession(here.store, "s");
    const opened = log.branch("t0/0/0").open("ask0", colour);
    const waiting = opened.wait();
    assert.deepEqual(
      await other.call("pending", "s"),
      plain([opened.request]),
      "it is listed elsewhere before it is answered",
    );
    assert.equal(await state(waiting), "waits");
    await other.call("respond", blue, "Ann");
    const resolution = await waiting;
    assert.deepEqual([resolution.by, resolution.surface, resolution.outcome], ["Ann", "peer", "answered"]);
    log.release();
  });

  test("an answer that came before anybody waited is found, also when it was told long ago", async () => {
    using here = disk();
    await using other = peer(here.journal);
    const log = openSession(here.store, "s");
    const opened = log.branch("t0/0/0").open("ask0", colour);
    log.flush();
    let told = false;
    here.store.hub.subscribe("s", { fact: ({ type }) => void (told ||= type === "input.resolved") });
    await other.call("respond", blue, "Ann");
    await until(() => told);
    assert.equal((await opened.wait()).by, "Ann");
    log.release();
  });

  test("whatever another process says while this one opens the session is heard exactly once, in order", async () => {
    using here = disk();
    await using other = peer(here.journal);
    await other.call("open");
    const talking = other.call("chatter", "s", 150);
    await until(() => here.store.since("s", 0).length > 20);
    for (let round = 0; round < 10; round++) {
      openSession(here.store, "s").release();
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    const log = openSession(here.store, "s");
    await talking;
    await until(() => log.said.at(-1)?.key === "said/149");
    assert.deepEqual(
      keys(log.said),
      Array.from({ length: 150 }, (_, n) => `said/${n}`),
    );
    log.release();
  });

  test("what was known when the session was opened is not heard as new when it is told late", async () => {
    using here = disk();
    using other = disposable(sqliteStore(here.journal));
    const told: string[] = [];
    here.store.hub.subscribe("s", { fact: ({ key }) => told.push(key) });
    const sender = { by: "Ann", surface: "other" };
    other.append("s", { key: "interrupt/1", type: "turn.interrupted", at: 1, data: { to: "cancel", ...sender } });
    other.append("s", said("said/1", "go on"));
    const log = openSession(here.store, "s");
    await until(() => told.includes("said/1"));
    assert.deepEqual([keys(log.said), log.stopped], [["said/1"], undefined]);
    log.release();
  });

  test("what is written here while another process writes is told once, also when it is written in answer", async () => {
    using here = disk();
    await using other = peer(here.journal);
    const heard: string[] = [];
    here.store.hub.subscribe("s", {
      fact({ key }) {
        heard.push(key);
        if (key === "said/0") here.store.append("s", said("reply", "at once"));
      },
    });
    await other.call("chatter", "s", 1);
    await until(() => heard.includes("reply"));
    here.store.append("s", said("later", "by myself"));
    await other.call("append", "s", said("said/last", "the end"));
    await until(() => heard.includes("said/last"));
    assert.deepEqual(heard, ["said/0", "reply", "later", "said/last"]);
  });

  test("what could not be read for a moment is told a moment later, also what was written here meanwhile", async (t) => {
    using here = disk();
    const other = sqliteStore(here.journal);
    const heard: string[] = [];
    here.store.hub.subscribe("s", { fact: ({ key }) => heard.push(key) });
    let broken = 0;
    const { all } = StatementSync.prototype;
    t.mock.method(StatementSync.prototype, "all", function (this: StatementSync, ...values: SQLInputValue[]) {
      if (broken === 0 || !this.sourceSQL.includes("seq=?")) return Reflect.apply(all, this, values) as unknown[];
      broken--;
      throw new SageError("disk-full", inWords("the disk fails"));
    });
    broken = 1;
    other.append("s", said("said/1", "from elsewhere"));
    await until(() => heard.length === 1);
    broken = 1;
    other.append("s", said("said/2", "from elsewhere"));
    assert.equal(here.store.append("s", said("said/3", "from here")).won, true, "it is on disk");
    assert.equal(broken, 0, "it failed while this process looked what came before its own");
    await until(() => heard.length === 3);
    assert.deepEqual(heard, ["said/1", "said/2", "said/3"]);
    other.close();
  });

  test("what was let go of while nothing could be written is free here at once, and soon for others", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    using here = folder();
    let full = false;
    const store = sqliteStore(here.path("journal.db"), {
      onCommit: (side) => assert.ok(!full || side === "after", "no space"),
    });
    store.create("s", opened);
    const other = sqliteStore(here.path("journal.db"));
    const epoch = store.claim("s");
    full = true;
    store.release("s", epoch);
    full = false;
    assert.equal(store.session("s")?.owned, false);
    assert.equal(problem(() => other.claim("s")).code, "session-owned");
    t.mock.timers.tick(2_500);
    assert.equal(typeof other.claim("s"), "number");
    for (const one of [store, other]) one.close();
  });

  test("a session belongs to the living process that claimed it, and at once to the next when that is killed", async () => {
    using here = disk();
    await using other = peer(here.journal);
    await other.call("hold", "s");
    await other.call("add", "a", "by the peer");
    const refused = problem(() => here.store.claim("s"));
    assert.equal(refused.code, "session-owned");
    assert.match(refused.message, new RegExp(`run by process ${other.pid}\\b`));
    assert.equal(here.store.session("s")?.owned, true);
    here.store.append("s", said("said/1", "anyone may speak"));

    await other.kill("SIGKILL");
    assert.equal(here.store.session("s")?.owned, false);
    const log = openSession(here.store, "s");
    assert.deepEqual(keys(log.loaded), ["session", "a", "said/1"]);
    log.release();
  });

  test("a session that was let go may be had by anyone, and a store that closes lets go of all", async () => {
    using here = disk();
    await using other = peer(here.journal);
    const log = openSession(here.store, "s");
    assert.equal((await other.try("claim", "s")).code, "session-owned");
    log.add("a", "call.unknown", { reason: inWords("") });
    log.release();
    assert.equal((await other.try("claim", "s")).code, undefined);
    await other.call("close");
    assert.equal(typeof here.store.claim("s"), "number");
  });

  test("a process that was frozen too long loses its session to whoever wants it, and can write nothing more", async () => {
    using here = disk();
    await using other = peer(here.journal);
    await other.call("hold", "s");
    await other.call("add", "a", "before");
    process.kill(other.pid, "SIGSTOP");
    here.raw(`UPDATE process SET beat = ${uptime() - 5_000}`);
    assert.equal(problem(() => here.store.claim("s")).code, "session-owned", "five seconds of silence are not enough");
    here.raw(`UPDATE process SET beat = ${uptime() - 10_000}`);
    const log = openSession(here.store, "s");
    log.add("b", "call.unknown", { reason: inWords("by the new owner") });
    log.flush();
    const late = other.try("add", "c", "after");
    process.kill(other.pid, "SIGCONT");
    assert.equal((await late).code, "lease-lost");
    assert.equal((await other.try("add", "d", "after")).code, "lease-lost", "and its log stays closed");
    assert.equal((await other.try("wait", "s/t0")).code, "lease-lost", "nor does it wait for anything");
    assert.deepEqual(keys(here.store.load("s")), ["session", "a", "b"]);
    assert.equal(here.store.verify("s"), undefined);
    log.release();
  });

  test("sleeping past the lease loses nothing while nobody else is interested", async () => {
    using here = disk();
    await using other = peer(here.journal);
    await other.call("hold", "s");
    here.raw("UPDATE process SET beat = 0");
    await other.call("add", "a", "good morning");
    assert.deepEqual(keys(here.store.load("s")), ["session", "a"]);
  });

  for (const [which, hours] of [
    ["forward", 3],
    ["back", -3],
  ] as const)
    test(`a wall clock that is set ${which} takes no session from a living process, and leaves none with a frozen one`, async (t) => {
      using here = disk();
      await using other = peer(here.journal);
      await other.call("hold", "s");
      t.mock.method(Date, "now", () => new Date().getTime() + hours * 3_600_000);
      assert.equal(problem(() => here.store.claim("s")).code, "session-owned");
      here.raw(`UPDATE process SET beat = ${uptime() - 10_000}`);
      assert.equal(typeof here.store.claim("s"), "number");
    });

  test("what is claimed after a long sleep does not look abandoned", async () => {
    using here = disk();
    await using other = peer(here.journal);
    here.store.create("z", opened);
    here.store.claim("z");
    here.raw("UPDATE process SET beat = 0");
    here.store.claim("s");
    assert.equal((await other.try("claim", "s")).code, "session-owned");
  });

  test("a process that only waits for an answer stays until it has come, and then may end", async () => {
    using here = disk();
    here.store.commit("s", here.store.claim("s"), [asked("t0/0/0/ask0")]);
    const script = `
      import { sqliteStore } from ${JSON.stringify(new URL("../../src/journal/sqlite.ts", import.meta.url))};
      const store = sqliteStore(${JSON.stringify(here.journal)});
      store.hub.wait("s/t0/0/0/ask0", ({ by }) => console.log("woken by " + by));
      console.log("waiting");`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    const gone = once(child, "exit");
    await until(() => out.includes("waiting"));
    await new Promise((resolve) => setTimeout(resolve, 100)); // long enough to end by mistake
    here.store.append("s", resolved("t0/0/0/ask0", answer("s/t0/0/0/ask0", "Red", "Ann")));
    assert.deepEqual([await gone, out], [[0, null], "waiting\nwoken by Ann\n"]);
  });

  test("a process that keeps the journal to itself makes the others say so, and nothing is half written", () => {
    using here = disk();
    const db = new DatabaseSync(here.journal);
    db.exec("BEGIN IMMEDIATE");
    try {
      const { code, message } = problem(() => here.store.append("s", said("said/1", "hello")));
      assert.equal(code, "journal-locked");
      assert.match(message, /^not recorded: another process keeps .*journal\.db busy; try again/);
      assert.deepEqual(keys(here.store.load("s")), ["session"], "reading goes on");
    } finally {
      db.close();
    }
    assert.equal(here.store.append("s", said("said/1", "hello")).won, true);
  });

  test("a process number that was given to another program since does not hold a session", async () => {
    using here = disk();
    await using other = peer(here.journal);
    await other.call("hold", "s");
    here.raw(`UPDATE process SET pid = ${process.pid}`);
    assert.equal(typeof here.store.claim("s"), "number");
  });

  test("processes that create the same new journal at once all end up in the same one", async () => {
    using here = folder();
    const path = here.path("new/journal.db");
    const others = Array.from({ length: 4 }, () => peer(path));
    try {
      await Promise.all(others.map((other) => other.call("ready")));
      await Promise.all(others.map((other) => other.call("open")));
      const won = await Promise.all(others.map((other) => other.call("create", "s", opened)));
      assert.equal(won.filter(Boolean).length, 1);
      await Promise.all(others.map((other, n) => other.call("append", "s", said(`said/${n}`, `${n}`))));
      using store = disposable(sqliteStore(path));
      assert.deepEqual(keys(store.load("s")).sort(), ["said/0", "said/1", "said/2", "said/3", "session"]);
      assert.equal(store.verify("s"), undefined);
    } finally {
      await Promise.all(others.map((other) => other.kill()));
    }
  });
});

test("processes that begin at once make one journal, and leave nothing beside it", async () => {
  using here = folder();
  const path = here.path("journal.db");
  const others = Array.from({ length: 4 }, () => peer(path));
  try {
    await Promise.all(others.map((other) => other.call("ready")));
    await Promise.all(others.map((other, n) => other.call("create", `s${n}`, opened)));
    using store = disposable(sqliteStore(path));
    assert.deepEqual(
      store
        .sessions()
        .map(({ id }) => id)
        .toSorted(),
      ["s0", "s1", "s2", "s3"],
    );
    assert.deepEqual(
      readdirSync(here.dir).filter((name) => !/^journal\.db(-wal|-shm)?$/.test(name)),
      [],
    );
  } finally {
    await Promise.all(others.map((other) => other.kill()));
  }
});

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
    log.add("after", "call.unknown", { reason: inWords("") });
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
    log.add("t0/big", "call.unknown", { reason: inWords("x".repeat(100_000)) });
    void log.flush();
    assert.equal(problem(() => here.store.noteChild("s", "t0/0/0/run0", process.pid)).code, "disk-full");
    log.close();
    await log.release();
    await assert.rejects(waiting, { name: "Stopped", why: "leaving" });
    here.free();
    assert.equal(keys(here.store.since("s", 0)).includes("t0/big"), false);
  });
});

suite(
  "what outlives a process",
  { skip: process.platform !== "linux" && "process groups are looked up in /proc" },
  () => {
    /** A process group: its leader's words, and how to end the leader and the group. */
    const group = async (script: string) => {
      const child = spawn("sh", ["-c", script], { detached: true, stdio: ["pipe", "pipe", "inherit"] });
      const words = createInterface({ input: child.stdout });
      const [line] = (await new Promise((resolve) => words.once("line", (text: string) => resolve([text])))) as [
        string,
      ];
      const gone = new Promise((resolve) => child.once("exit", resolve));
      return {
        pid: child.pid as number,
        line,
        leave: async () => (child.stdin.end(), await gone),
        [Symbol.dispose]() {
          try {
            process.kill(-(child.pid as number), "SIGKILL");
          } catch {
            // gone already
          }
        },
      };
    };

    test("a group lives as long as anyone in it does, also when its leader is gone", async () => {
      using sleepers = await group("sleep 300 & echo $!; read line");
      const started = startOf(sleepers.pid);
      assert.notEqual(started, "");
      assert.equal(groupLives(sleepers.pid, started), true);
      assert.equal(groupLives(sleepers.pid, `${started}0`), false, "another one under the same number is not ours");
      await sleepers.leave();
      assert.equal(startOf(sleepers.pid), "");
      assert.equal(groupLives(sleepers.pid, started), true, "the child works on");
      assert.equal(groupLives(sleepers.pid, "anotherboot:1"), false, "nothing outlives a reboot");
      process.kill(-sleepers.pid, "SIGKILL");
      await until(() => !groupLives(sleepers.pid, started));
    });

    test("a process that ended and was not collected yet does not count as living", async () => {
      // The inner shell ends at once; its parent has become a sleep that never asks for it.
      using keeper = await group("setsid sh -c 'echo $$' & exec sleep 300");
      const dead = Number(keeper.line);
      await until(() => /\) Z /.test(readFileSync(`/proc/${dead}/stat`, "utf8")));
      assert.equal(startOf(dead), "");
      assert.equal(groupLives(dead), false);
      assert.equal(existsSync(`/proc/${dead}`), true, "it is still listed");
    });

    test("a call that was cut off is told of the command that still runs for it", async () => {
      using here = disk();
      using sleepers = await group("echo up; read line");
      const first = openSession(here.store, "s");
      const started = { tool: "Bash", effect: "writes", digest: "" } as const;
      const dying = first.branch("t0").once(
        "run0",
        async (scope) => {
          scope.spawned(sleepers.pid);
          first.close();
          return { ok: true, text: "" };
        },
        { started: () => started },
      );
      await assert.rejects(dying, { name: "Stopped" });
      const look = async () => {
        const log = openSession(here.store, "s");
        const found = await log.branch("t0").once("run0", () => assert.fail("ran again"), { started: () => started });
        log.release();
        return found;
      };
      const since = here.store.load("s").find(({ type }) => type === "call.started")?.at;
      assert.deepEqual(await look(), { ok: false, running: [sleepers.pid], since });
      assert.deepEqual(await look(), { ok: false, running: [sleepers.pid], since }, "as long as it runs");
      await sleepers.leave();
      assert.deepEqual(await look(), { ok: false, running: [], since });
    });

    test("a command's group is found under its key by the next process, and forgotten when the call has finished", async () => {
      using here = disk();
      here.store.create("z", opened);
      using sleepers = await group("echo up; read line");
      const epochs = [here.store.claim("s"), here.store.claim("z")] as const;
      here.store.noteChild("s", "t0/0/0/run0", sleepers.pid);
      here.store.noteChild("z", "t0/0/0/run0", sleepers.pid);
      using next = disposable(sqliteStore(here.journal));
      assert.deepEqual(next.children("s", "t0/0/0/run0"), [sleepers.pid]);
      assert.deepEqual(next.children("s", "t0/0/0/run1"), []);
      const finished = (session: string) =>
        fact("t0/0/0/run0.finished", "call.finished", { ok: true, text: "" }, session);
      here.store.commit("s", epochs[0], [finished("s")]);
      assert.deepEqual([next.children("s", "t0/0/0/run0"), next.children("z", "t0/0/0/run0")], [[], [sleepers.pid]]);
      here.store.commit("z", epochs[1], [finished("z")]);
      assert.deepEqual(here.raw("SELECT * FROM child"), []);
      await sleepers.leave();
    });
  },
);

function disposable(store: LocalStore): LocalStore & Disposable {
  return { ...store, [Symbol.dispose]: () => store.close() };
}
