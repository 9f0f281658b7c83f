// Promises of a journal that lies elsewhere: replies that get lost, owners that pass each other, a server that goes away.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Client, Pool } from "pg";
import { postgresLedger } from "../../src/journal/postgres/postgres-ledger.ts";
import type { Batch, Ledger } from "../../src/journal/replica/ledger.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { createReplica } from "../../src/journal/replica/replica.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { approvalKey } from "../../src/protocol/key.ts";
import { said as inWords, SageError } from "../../src/protocol/reasons/reason.ts";
import { createDatabase, hasPostgres, openReplica, serverOf } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { roundsOf } from "../faults/rounds.ts";
import { answer, asked, fact, keys, opened, plain, resolved, said } from "./journals.ts";

const unknown = (key: string) => fact(key, "call.unknown", { reason: inWords(key) });
const hasCode = (code: string) => (error: unknown) => error instanceof SageError && error.code === code;
const batch = (number: number, ...facts: Fact[]): Batch => ({ number, facts, unheard: false, knew: 0 });

type Here = AsyncDisposable & { url: string; ledger: Ledger; process(name: string): Promise<Ledger> };

/** A database with one session, and ledgers of as many processes as are named. */
async function database(): Promise<Here> {
  const { url, drop } = await createDatabase();
  const ledgers: Ledger[] = [];
  const process = async (name: string) => {
    const pool = new Pool({ connectionString: url, max: 3 });
    pool.on("error", () => {});
    const ledger = await postgresLedger(pool, { process: name });
    ledgers.push(ledger);
    return ledger;
  };
  const ledger = await process("first");
  await ledger.create("s", opened, "here");
  const end = async () => {
    await Promise.all(ledgers.map((one) => one.close()));
    await drop();
  };
  return { url, ledger, process, [Symbol.asyncDispose]: end };
}

suite("a ledger on PostgreSQL", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  test("a commit whose reply got lost is written once, and gives the same numbers again", async () => {
    await using here = await database();
    const { epoch } = await here.ledger.take("s");
    const first = await here.ledger.commit("s", epoch, batch(1, unknown("a"), unknown("b")));
    assert.deepEqual(await here.ledger.commit("s", epoch, batch(1, unknown("a"), unknown("b"))), first);
    await here.ledger.commit("s", epoch, batch(2, unknown("c")));
    assert.deepEqual(keys(await here.ledger.read("s", 0)), ["session", "a", "b", "c"]);
    assert.equal(await here.ledger.verify("s"), undefined);
  });

  test("whoever was passed by a later owner writes nothing more, not even what it had written", async () => {
    await using here = await database();
    const second = await here.process("second");
    const { epoch } = await here.ledger.take("s");
    await here.ledger.commit("s", epoch, batch(1, unknown("a")));
    // The first is in no list of living processes: its session may be taken.
    const later = await second.take("s");
    assert.ok(later.epoch > epoch);
    await assert.rejects(here.ledger.commit("s", epoch, batch(2, unknown("b"))), hasCode("lease-lost"));
    await assert.rejects(here.ledger.commit("s", epoch, batch(1, unknown("a"))), hasCode("lease-lost"));
    assert.deepEqual(
      await here.ledger.release("s", epoch, 99),
      { again: false },
      "nothing of its own is left to release",
    );
    await second.commit("s", later.epoch, batch(1, unknown("b")));
    assert.deepEqual(keys(await second.read("s", 0)), ["session", "a", "b"]);
  });

  test("a yes with a long name in it is read again when the next one comes", async () => {
    await using here = await database();
    const requestId = "s/t0/0/0/ask";
    const approve = (by: string) => {
      const approval = { requestId, by, surface: "test", at: 1, digest: "d" };
      const key = approvalKey("t0/0/0/ask", by.slice(0, 8));
      return here.ledger.approve("s", { key, type: "input.approved", at: 1, data: approval }, () => undefined);
    };
    const long = "李".repeat(40_000);
    await approve(long);
    const { approvals } = await approve("Lin");
    assert.deepEqual(
      approvals.map(({ by }) => by),
      [long, "Lin"],
    );
  });

  test("an owner does not let go of a session with something in it that it has not seen", async () => {
    await using here = await database();
    const { epoch } = await here.ledger.take("s");
    const { fact: message } = await here.ledger.append("s", said("said/1", "hello"));
    assert.deepEqual(await here.ledger.release("s", epoch, message.seq - 1), { again: true });
    assert.deepEqual(await here.ledger.release("s", epoch, message.seq), { again: false });
  });

  test("letting go and saying something at once: the message is seen by the owner, or finds none", async () => {
    await using here = await database();
    const other = await here.process("other");
    for (let n = 0; n < roundsOf(150); n++) {
      const { epoch } = await here.ledger.take("s");
      const knew = (await here.ledger.read("s", 0)).at(-1)?.seq ?? 0;
      const [{ again }, { fact: message }] = await Promise.all([
        here.ledger.release("s", epoch, knew),
        other.append("s", said(`said/${n}`, "now")),
      ]);
      const [row] = await other.standing("s");
      if (again) assert.deepEqual(await here.ledger.release("s", epoch, message.seq), { again: false });
      else assert.deepEqual([row?.owned, row?.unheard], [false, true], "nobody has it, and somebody should");
    }
  });

  test("three answers at once: one wins, and the others are given it", async () => {
    await using here = await database();
    const others = await Promise.all(["b", "c"].map(here.process));
    const { epoch } = await here.ledger.take("s");
    await here.ledger.commit("s", epoch, batch(1, asked("t0/0/0/ask0")));
    const names = ["Lin", "Ann", "Bo"];
    const all = await Promise.all(
      [here.ledger, ...others].map((one, n) =>
        one.append("s", resolved("t0/0/0/ask0", answer("s/t0/0/0/ask0", "Red", names[n]))),
      ),
    );
    assert.equal(all.filter(({ won }) => won).length, 1);
    assert.equal(new Set(all.map(({ fact: { data } }) => JSON.stringify(data))).size, 1);
    assert.deepEqual(await here.ledger.open(), []);
    // The loop ends it too, from what it knew: the person's answer stands.
    const late = fact("t0/0/0/ask0.resolved", "input.resolved", answer("s/t0/0/0/ask0", "Blue", "sage"));
    const { numbers } = await here.ledger.commit("s", epoch, batch(2, unknown("x"), late));
    assert.equal(numbers[1], 0);
  });

  test("a record that somebody has changed is found out", async () => {
    await using here = await database();
    const { epoch } = await here.ledger.take("s");
    await here.ledger.commit(
      "s",
      epoch,
      batch(1, unknown("a"), fact("long", "call.unknown", { reason: inWords("x".repeat(40_000)) }), unknown("b")),
    );
    assert.equal(await here.ledger.verify("s"), undefined);
    const client = new Client(here.url);
    await client.connect();
    await client.query("UPDATE sage.long SET data = replace(data, 'xxx', 'yyy')");
    assert.equal((await here.ledger.verify("s"))?.key, "long");
    await client.query("UPDATE sage.long SET data = replace(data, 'yyy', 'xxx')");
    await client.query("UPDATE sage.fact SET data = replace(data, 'a', 'o') WHERE key = 'a'");
    assert.equal((await here.ledger.verify("s"))?.key, "a");
    await client.end();
  });
});

suite("a replica", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  test("tells facts in their order, each once, whoever wrote them", async () => {
    await using here = await database();
    const [one, two] = await Promise.all(["one", "two"].map((name) => openReplica(here.url, name)));
    assert.ok(one && two);
    await one.replica.take("s");
    await two.replica.look("s");
    const heard: string[][] = [[], []];
    [one, two].forEach(({ replica }, n) =>
      replica.store.hub.subscribe("s", { fact: ({ key }) => heard[n]?.push(key) }),
    );
    const epoch = one.replica.store.claim("s");
    await Promise.all([
      ...Array.from({ length: 20 }, (_, n) => two.replica.store.append("s", said(`said/${n}`, "hello"))),
      (async () => {
        for (let n = 0; n < 20; n++) await one.replica.store.commit("s", epoch, [unknown(`k${n}`), unknown(`l${n}`)]);
      })(),
    ]);
    await until(
      () => heard.every((list) => list.length === 60),
      () => `heard ${heard.map(({ length }) => length).join(" and ")} of 60`,
    );
    const all = keys(await here.ledger.read("s", 1));
    assert.deepEqual(heard, [all, all]);
    await Promise.all([one.close(), two.close()]);
  });

  test("without notifications nothing is lost: it is read at the next look", async () => {
    await using here = await database();
    const { replica, close } = await openReplica(here.url, "deaf", { notified: false });
    await replica.look("s");
    await here.ledger.append("s", said("said/1", "hello"));
    assert.deepEqual(keys(replica.store.since("s", 1)), []);
    await replica.caughtUp();
    assert.deepEqual(keys(replica.store.since("s", 1)), ["said/1"]);
    await close();
  });

  test("a list of sessions knows the place of one that is looked at before the news of it comes, and loses one that was deleted while nobody heard of it", async () => {
    await using here = await database();
    const { noteChild, children, callOf, place } = memoryStore();
    const list = createReplica(here.ledger, { noteChild, children, callOf, place }, { roster: true });
    await here.ledger.create("other", opened, "here");
    await list.look("other");
    assert.deepEqual(list.store.session("other")?.place, { name: "here", works: false }, "no news of it has come");
    await list.caughtUp();
    const ids = () => list.store.sessions().map(({ id }) => id);
    assert.deepEqual(ids().sort(), ["other", "s"]);
    const last = { session: "s", cwd: "/", title: "", by: "Lin", surface: "cli", receipts: [] };
    await here.ledger.housekeeping.remove("s", 1, last);
    await list.caughtUp();
    assert.deepEqual(ids(), ["other"]);
    list.store.close();
  });

  test("a server that is killed and comes back: what was under way is written once, and what was missed is heard", async () => {
    await using here = await database();
    const server = await serverOf();
    const [owner, watcher] = await Promise.all(["owner", "watcher"].map((name) => openReplica(here.url, name)));
    assert.ok(owner && watcher);
    await owner.replica.take("s");
    await watcher.replica.look("s");
    const epoch = owner.replica.store.claim("s");
    await owner.replica.store.commit("s", epoch, [unknown("before")]);
    await server.kill();
    const facts = [unknown("during")];
    await assert.rejects(
      async () => owner.replica.store.commit("s", epoch, facts),
      (error) => error instanceof SageError && error.retryable,
    );
    await server.start();
    await until(async () => {
      try {
        await owner.replica.store.commit("s", epoch, facts);
        return true;
      } catch (error) {
        assert.ok(error instanceof SageError && error.retryable, String(error));
        return false;
      }
    }, "it cannot be written again");
    await until(() => keys(watcher.replica.store.since("s", 1)).length === 2, "the watcher has not heard of it");
    assert.deepEqual(plain(keys(watcher.replica.store.since("s", 1))), ["before", "during"]);
    await Promise.all([owner.close(), watcher.close()]);
  });
});
