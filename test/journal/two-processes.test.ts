// A journal on disk that several processes use at once: news, leases, clocks.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { once } from "node:events";
import { DatabaseSync, StatementSync, type SQLInputValue } from "node:sqlite";
import { suite, test } from "node:test";
import { uptime } from "../../src/processes/identity.ts";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { said as inWords, SageError } from "../../src/protocol/reasons/reason.ts";
import { answer, asked, folder, keys, opened, plain, resolved, said, state } from "./journals.ts";
import { peer } from "./peers.ts";
import { until } from "../support/until.ts";
import { blue, disk, problem, disposable } from "./disks.ts";
import { colour } from "./sessions.ts";

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
    log.commits.add("a", "call.unknown", { reason: inWords("") });
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
    log.commits.add("b", "call.unknown", { reason: inWords("by the new owner") });
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
      import { sqliteStore } from ${JSON.stringify(new URL("../../src/journal/sqlite/sqlite.ts", import.meta.url))};
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
