// Gateway and workers on one PostgreSQL: each with a replica, connections and jobs of its own, as processes have them.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { moveSession } from "../../src/host/cluster/cluster.ts";
import { startLiveness } from "../../src/host/cluster/worker/worker.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { begin, lin, openRequest, place, watching } from "../support/cluster.ts";
import { hasPostgres } from "../support/postgres.ts";
import { workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { worded } from "../support/worded.ts";

test(
  "a message or a turn whose run ends in an error is tried again by itself",
  { skip: !hasPostgres && "no PostgreSQL is installed" },
  async () => {
    using here = workspace();
    let fails = 2;
    await using team = await place(here.dir, {
      prepares() {
        if (fails > 0 && fails-- > 0) throw new Error("the model is not there");
      },
    });
    await team.worker();
    const session = await begin(team.host, here.dir, "run 1");
    const id = await openRequest(team.host, session);
    assert.equal(fails, 0);
    await until(async () => (await team.cluster.ledger.standing(session))[0]?.owned === false, "nobody lets go of it");
    fails = 2;
    const { facts, stop } = watching(team.host, session);
    await team.host.send({ type: "respond", response: { type: "granted", requestId: id }, ...lin });
    await until(() => facts.some(({ type }) => type === "turn.ended"), "the turn does not end");
    assert.equal(fails, 0);
    assert.equal(readFileSync(join(here.dir, "ran.txt"), "utf8"), "0\n");
    stop();
  },
);

for (const notified of [true, false])
  suite(
    `a cluster ${notified ? "with" : "without"} notifications`,
    { skip: !hasPostgres && "no PostgreSQL is installed" },
    () => {
      test("a message said at the gateway is run by a worker, which lets go while a person is asked and goes on with the answer", async () => {
        using here = workspace();
        await using team = await place(here.dir, { notified });
        await team.worker();
        const session = await begin(team.host, here.dir, "run 2");
        const { facts, stop } = watching(team.host, session);
        for (let n = 0; n < 2; n++) {
          const id = await openRequest(team.host, session);
          await until(
            async () => (await team.cluster.ledger.standing(session))[0]?.owned === false,
            "nobody lets go of it",
          );
          assert.equal(
            existsSync(join(here.dir, "ran.txt")) ? readFileSync(join(here.dir, "ran.txt"), "utf8") : "",
            ["", "0\n"][n],
          );
          const reply = await team.host.send({ type: "respond", response: { type: "granted", requestId: id }, ...lin });
          assert.ok(reply.ok, JSON.stringify(reply));
          await until(
            () =>
              facts.some(({ key, type }) => type === "input.resolved" && id.endsWith(key.replace(/\.resolved$/, ""))),
            "it was not told",
          );
          await until(async () => (await team.host.send({ type: "request", id })).ok, "gone");
          await until(
            () =>
              existsSync(join(here.dir, "ran.txt")) &&
              readFileSync(join(here.dir, "ran.txt"), "utf8").startsWith(["0\n", "0\n1\n"][n] ?? ""),
            "it did not run",
          );
        }
        await until(() => facts.some(({ type }) => type === "turn.ended"), "the turn does not end");
        assert.equal(readFileSync(join(here.dir, "ran.txt"), "utf8"), "0\n1\n");
        assert.deepEqual(
          facts.map(({ seq }) => seq),
          facts.map((_, n) => n + 1),
          "each fact once, in order",
        );
        assert.equal(await team.cluster.ledger.verify(session), undefined);
        stop();
      });

      if (!notified) return; // notifications have no part in the rest
      test("a session that was moved is run by a worker of its new place, and one that runs stays", async () => {
        using here = workspace();
        await using team = await place(here.dir, { notified });
        const { cluster, host } = team;
        const session = await begin(host, here.dir, "run 1");
        assert.deepEqual(await moveSession(cluster, "nobody", "there"), { how: "unknown" });
        await cluster.pool.query("SELECT sage.register('living',1,'here',1,NULL,NULL,false)");
        await cluster.pool.query("SELECT sage.take($1,'living',NULL,NULL,NULL,NULL)", [session]);
        assert.deepEqual(await moveSession(cluster, session, "there"), { how: "runs", at: "here" });
        await cluster.pool.query("SELECT sage.release($1,1,99)", [session]);
        assert.deepEqual(await moveSession(cluster, session, "there"), { how: "moved" });
        await team.worker("there");
        await openRequest(host, session);
      });

      test("a turn that a newer version of the loop has begun is left to a worker that knows it", async () => {
        using here = workspace();
        await using team = await place(here.dir, { notified });
        const { cluster, host } = team;
        const session = await begin(host, here.dir, "run 1");
        const { ledger } = cluster;
        const { epoch } = await ledger.take(session);
        const data = { loop: 7, maxSteps: 9, sawUpTo: 2 };
        const begun: Fact = { session, seq: 0, key: "t0", type: "turn.begun", at: 1, data };
        await ledger.commit(session, epoch, { number: 1, facts: [begun], unheard: false, knew: 9 });
        await ledger.release(session, epoch, 9);
        const old = await team.worker();
        const putOff = "SELECT 1 FROM pgboss.job WHERE name='due.here' AND singleton_key=$1";
        await until(async () => (await cluster.pool.query(putOff, [session])).rowCount, "it does not look at it");
        await assert.rejects(old.cluster.ledger.take(session, { loop: 6 }), worded(/another process/));
        assert.equal((await ledger.read(session, 0)).at(-1)?.key, "t0", "nothing was done with it");
        await team.worker("here", { loop: 7 });
        await openRequest(host, session);
        const facts = await ledger.read(session, 0);
        assert.ok(
          facts.some((fact) => fact.type === "turn.begun" && fact.data.loop !== 7),
          "it carries the turn on",
        );
      });

      test("a deadline that passes while nobody runs anything ends the request when a worker is back, without a message or an answer", async () => {
        using here = workspace();
        const options = { promptTimeout: 1_500, timeoutPolicy: "deny" } as const;
        await using team = await place(here.dir, { notified, options });
        const { stop } = await team.worker();
        const session = await begin(team.host, here.dir, "run 1");
        const id = await openRequest(team.host, session);
        await stop();
        const { ledger } = team.cluster;
        const ended = async () =>
          (await ledger.read(session, 0)).find((fact) => fact.type === "input.resolved" && fact.data.requestId === id);
        const { deadline } = (await ledger.open())[0]?.data ?? {};
        await until(() => Date.now() > (deadline?.at ?? Infinity), "the time does not pass");
        assert.equal(await ended(), undefined);
        await team.worker();
        const fact = await until(ended, "it does not end");
        assert.ok(fact.type === "input.resolved" && fact.data.outcome === "timed_out");
        await until(
          async () => (await ledger.read(session, 0)).some(({ type }) => type === "turn.ended"),
          "the turn does not end",
        );
        assert.ok(!existsSync(join(here.dir, "ran.txt")));
      });

      test("a worker that others took for dead gives back what it ran, and whoever is free goes on", async () => {
        using here = workspace();
        await using team = await place(here.dir, { notified });
        const { cluster, host } = team;
        await team.worker();
        const session = await begin(host, here.dir, "run 1, slowly");
        const id = await openRequest(host, session);
        await host.send({ type: "respond", response: { type: "granted", requestId: id }, ...lin });
        await until(() => existsSync(join(here.dir, "ran.txt")), "it does not run");
        // Somebody took it out of the list, and was killed before it gave the job to another.
        await team.asOwner("DELETE FROM sage.process");
        const next = await until(
          async () => (await cluster.ledger.open()).find(({ data }) => data.id !== id),
          "nobody goes on with it",
        );
        assert.match(next.data.id, /lost/);
        assert.equal(readFileSync(join(here.dir, "ran.txt"), "utf8"), "0\n");
      });

      test("a worker whose connection is slow to come waits for no lock of its own, and finds out who is dead", async () => {
        await using team = await place("/", { notified });
        const { pool, connect } = (await team.worker("elsewhere")).cluster;
        await team.asOwner("INSERT INTO sage.process(id,lock,place,loop) VALUES('dead',1,'here',1)");
        const slowly = async () => {
          await pause(600); // twice as long as between two looks
          return connect();
        };
        const living = startLiveness({
          ...{ process: "slow", place: "here", loop: 1, streamServer: undefined, pool, graceMs: 0, locks: true },
          ...{
            connect: slowly,
            isInGracePeriod: () => false,
            expired: () => assert.fail("it lives"),
            orphaned: async () => {},
          },
        });
        const listed = async () => (await pool.query<{ id: string }>("SELECT id FROM sage.process")).rows;
        await until(async () => (await listed()).every(({ id }) => id !== "dead"), "the dead one is listed still");
        const { rows } = await pool.query("SELECT 1 FROM pg_locks WHERE locktype='advisory' AND NOT granted");
        assert.deepEqual(rows, []);
        await living.stop();
      });

      test("a worker that leaves gives what it runs to another at once", async () => {
        using here = workspace();
        await using team = await place(here.dir, { notified });
        const first = await team.worker();
        const session = await begin(team.host, here.dir, "run 1, slowly");
        const id = await openRequest(team.host, session);
        await team.host.send({ type: "respond", response: { type: "granted", requestId: id }, ...lin });
        await until(() => existsSync(join(here.dir, "ran.txt")), "it does not run");
        await first.stop();
        const { rows } = await team.cluster.pool.query<{ state: string }>(
          "SELECT state FROM pgboss.job WHERE singleton_key=$1 AND state<>'completed'",
          [session],
        );
        const states = rows.map(({ state }) => state);
        assert.ok(
          states.includes("retry"),
          `whoever is free has it now, and nobody waits for a heart to stop: ${states.join()}`,
        );
        await team.worker();
        const next = await until(
          async () => (await team.cluster.ledger.open()).find(({ data }) => data.id !== id),
          "nobody goes on with it",
        );
        assert.match(next.data.id, /lost/, "nobody saw the end of the command: a person is asked");
        assert.equal(readFileSync(join(here.dir, "ran.txt"), "utf8"), "0\n");
      });
    },
  );
