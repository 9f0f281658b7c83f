// Time with a shared journal: it stands still while nobody enforces the deadlines of a place.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { watchEscalations } from "../../src/host/recovery.ts";
import { enforcedNow, isOverdue } from "../../src/input/enforce.ts";
import { openObserver } from "../../src/host/cluster/observer.ts";
import { begin, lin, openRequest, place } from "../support/cluster.ts";
import { hasPostgres } from "../support/postgres.ts";
import { workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Heartbeats before the worker comes: of which place, and how long ago. */
type Row = { what: string; beats: Record<string, number>; movedBy: number };
const rows: Row[] = [
  { what: "everybody was away for three hours", beats: { here: 3 * HOUR }, movedBy: 3 * HOUR },
  { what: "a worker of another place lived", beats: { here: 2.5 * HOUR, there: 0 }, movedBy: 2.5 * HOUR },
  { what: "a gateway lived, which ends none of these", beats: { here: 2.5 * HOUR, "": 0 }, movedBy: 2.5 * HOUR },
  { what: "a worker of the same place lived", beats: { here: 20_000 }, movedBy: 0 },
  { what: "nobody has counted before, as in version 0.2.0", beats: {}, movedBy: 0 },
];

suite("time with a shared journal", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  for (const { what, beats, movedBy } of rows)
    test(`${what}: ${movedBy > 0 ? "what was still to come comes as much later" : "the deadline has passed"}`, async () => {
      using here = workspace();
      const options = { promptTimeout: HOUR, timeoutPolicy: "deny" } as const;
      await using team = await place(here.dir, { options });
      const { ledger } = team.cluster;
      const first = await team.worker("here", { behindMs: 3 * HOUR });
      const session = await begin(team.host, here.dir, "run 1");
      const id = await openRequest(team.host, session);
      await until(async () => (await ledger.beats()).has("here"), "no heartbeat");
      await first.stop();
      const asked = (await ledger.open())[0]!.data;
      await team.asOwner(["DELETE FROM sage.enforcer", ...Object.entries(beats).map(beatAt)].join(";"));

      await team.worker();
      await team.cluster.wake(session); // at the time that it was set to; the first worker took that for hours ago
      const facts = await until(async () => {
        const all = await ledger.read(session, 0);
        return all.some(({ type }) => type === (movedBy > 0 ? "time.moved" : "input.resolved")) && all;
      }, "nobody looks at it");
      const moves = facts.flatMap((fact) => (fact.type === "time.moved" ? [fact.data.to - fact.data.from] : []));
      assert.deepEqual(moves.map(nearest), movedBy > 0 ? [movedBy] : []);
      if (movedBy === 0) return;
      // Whoever looks on shows the new time: a gateway that does not hold the session, and one that comes later.
      const observer = await openObserver(team.url);
      assert.ok("replica" in observer);
      for (const store of [team.cluster.replica.store, observer.replica.store]) {
        const { deadline } = await until(
          () => store.pending().find((one) => one.moved !== undefined),
          "it is not moved",
        );
        assert.equal(nearest(deadline!.at - asked.deadline!.at), movedBy);
      }
      await observer.close();
      assert.ok(!facts.some(({ type }) => type === "input.resolved"), "nothing has expired");
      const reply = await team.host.send({ type: "respond", response: { type: "denied", requestId: id }, ...lin });
      assert.ok(reply.ok, JSON.stringify(reply));
    });

  test("a gateway calls further people while no worker lives: that time counts, for them alone", async () => {
    using here = workspace();
    const timeoutPolicy = { escalate: ["Wang", "Zhao"], end: "deny" as const };
    await using team = await place(here.dir, { options: { promptTimeout: HOUR, timeoutPolicy } });
    const { ledger, replica } = team.cluster;
    const first = await team.worker("here", { behindMs: 1.5 * HOUR });
    const session = await begin(team.host, here.dir, "run 1");
    const id = await openRequest(team.host, session);
    await first.stop();
    await team.asOwner(["DELETE FROM sage.enforcer", beatAt(["here", 1.5 * HOUR]), beatAt(["", 0])].join(";"));
    const leave = watchEscalations(replica.store);
    const told = async () =>
      (await ledger.read(session, 0)).flatMap(({ type, data }) => (type === "input.escalated" ? [data.to] : []));
    await until(async () => (await told()).length > 0, "nobody is called");
    await team.worker();
    assert.deepEqual(await told(), ["Wang"]);
    assert.ok(!(await ledger.read(session, 0)).some(({ type }) => type === "time.moved"));
    assert.equal(isOverdue(replica.store, replica.store.find(id)!.request), false);
    leave();
  });

  test("an answer that comes while nobody enforces is in time, and time goes by the server's clock", async () => {
    using here = workspace();
    const options = { promptTimeout: HOUR, timeoutPolicy: "deny" } as const;
    await using team = await place(here.dir, { options });
    const first = await team.worker("here", { behindMs: 3 * HOUR });
    const session = await begin(team.host, here.dir, "run 1");
    const id = await openRequest(team.host, session);
    await first.stop();
    await team.asOwner(["DELETE FROM sage.enforcer", beatAt(["here", 3 * HOUR])].join(";"));
    const observer = await openObserver(team.url);
    assert.ok("replica" in observer);
    const { store } = observer.replica;
    const { request } = store.find(id)!;
    assert.ok(request.deadline!.at < enforcedNow(store) - HOUR);
    assert.equal(isOverdue(store, request), false);
    await observer.close();
  });

  test("no heartbeat while no request has a moment at which something happens, and none for another place", async () => {
    using here = workspace();
    await using team = await place(here.dir);
    const { cluster } = await team.worker();
    const session = await begin(team.host, here.dir, "run 1");
    await openRequest(team.host, session);
    await cluster.ledger.beat("here", false);
    assert.deepEqual([...(await cluster.ledger.beats())], []);
    await assert.rejects(cluster.ledger.beat("", true), /login-may-not/, "only a gateway speaks for gateways");
    await cluster.ledger.beat("there", false);
    assert.deepEqual([...(await cluster.ledger.beats())], []);
  });
});

const beatAt = ([name, ago]: [string, number]) =>
  `INSERT INTO sage.enforcer VALUES('${name}', (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${ago})`;

/** To five minutes: the test takes some time itself. */
const nearest = (ms: number) => Math.round(ms / (5 * MINUTE)) * 5 * MINUTE;
