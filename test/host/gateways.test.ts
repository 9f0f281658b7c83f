// Two gateways on one PostgreSQL: what surfaces remember is everybody's, and one of them holds each bot.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { after, suite, test } from "node:test";
import { Client, Pool } from "pg";
import type { HeldSurface } from "../../src/host/cluster/gateways/surface-lease.ts";
import { joinGateways, type Membership } from "../../src/host/cluster/gateways/membership.ts";
import { shareMemory } from "../../src/host/cluster/gateways/shared-memory.ts";
import { postgresLedger } from "../../src/journal/postgres/postgres-ledger.ts";
import { surfaceTable, type SurfaceTable } from "../../src/journal/postgres/surface-table.ts";
import { createDevices, createEntrance } from "../../src/surfaces/web/index.ts";
import { createDatabase, hasPostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";

const phone = { name: "phone", from: "10.0.0.7" };

type Gateway = {
  presence: Membership;
  table: SurfaceTable;
  /** Holds of the bot so far; the last one is open until its signal says otherwise. */
  holds: HeldSurface[];
  told: (string | undefined)[];
  hold(bot: string): void;
  /** As `kill -9` does it: nothing is said to anybody. */
  kill(): Promise<void>;
  /** Nothing of it reaches the server, and nothing is heard, until it is thawed. */
  freeze(): void;
  thaw(): void;
};

const database = hasPostgres ? createDatabase() : undefined;
const ends: (() => Promise<void>)[] = [];
after(async () => {
  for (const end of ends) await end();
  await (await database)?.drop();
});

async function gateway(
  id: string,
  { notified = true, leaseMs = 10_000, graceMs = 0 }: { notified?: boolean; leaseMs?: number; graceMs?: number } = {},
): Promise<Gateway> {
  const url = (await database)?.url ?? "";
  const pool = new Pool({ connectionString: url, max: 3 });
  pool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
  await postgresLedger(pool, { process: id }); // makes the tables
  const lines: Client[] = [];
  let isDead = false;
  let frozen = Promise.withResolvers<void>();
  frozen.resolve();
  const connect = async () => {
    if (isDead) throw new Error("this process is gone");
    const client = new Client(url);
    client.on("error", () => {});
    lines.push(client);
    await client.connect();
    return client;
  };
  const real = surfaceTable(pool);
  /** Each call waits while the process is frozen, and never returns once it is dead. */
  const table = Object.fromEntries(
    Object.entries(real).map(([name, ask]) => [
      name,
      async (...given: never[]) => {
        await frozen.promise;
        if (isDead) return new Promise(() => {});
        const answer: unknown = await (ask as (...all: never[]) => Promise<unknown>)(...given);
        await frozen.promise;
        return answer;
      },
    ]),
  ) as SurfaceTable;
  const presence = await joinGateways(table, { process: id, connect }, { notified, leaseMs, graceMs });
  const [holds, told]: [HeldSurface[], (string | undefined)[]] = [[], []];
  ends.push(async () => {
    frozen.resolve();
    if (!isDead) await presence.leave();
    await pool.end();
  });
  return {
    ...{ presence, table: real, holds, told },
    hold: (bot) =>
      presence.hold(bot, {
        async taken(hold) {
          holds.push(hold);
          await new Promise((resolve) => hold.signal.addEventListener("abort", resolve, { once: true }));
        },
        elsewhere: (holder) => void told.push(holder),
        failed: () => {},
      }),
    async kill() {
      const locked =
        "SELECT 1 FROM sage.gateway g JOIN pg_locks l ON l.classid=8 AND l.objid=g.lock AND l.granted WHERE id=$1";
      if (notified) await until(async () => (await pool.query(locked, [id])).rowCount === 1, "it has no lock");
      isDead = true;
      await Promise.all(lines.map((line) => line.end()));
    },
    freeze: () => void (frozen = Promise.withResolvers()),
    thaw: () => frozen.resolve(),
  };
}

const held = ({ holds }: Gateway) => holds.find(({ signal }) => !signal.aborted);
const takes = (one: Gateway, n = 1) => until(() => (one.holds.length >= n ? held(one) : undefined), "nobody takes it");

for (const notified of [true, false])
  suite(
    `two gateways ${notified ? "with" : "without"} notifications`,
    { skip: !hasPostgres && "no PostgreSQL is installed" },
    () => {
      test("a device let in at one comes in at the other; removed there, it is refused here; one invitation lets one in", async () => {
        const [a, b] = await Promise.all([
          gateway(`a${notified}`, { notified }),
          gateway(`b${notified}`, { notified }),
        ]);
        const [here, there] = [
          createDevices(await a.presence.share("web")),
          createDevices(await b.presence.share("web")),
        ];
        const { key } = await here.invite({ owner: "account:lin" });
        const taken = (await Promise.all([here, there, here, there].map((at) => at.take({ key }, phone)))).filter(
          Boolean,
        );
        assert.equal(taken.length, 1, "of four who race, one comes in");
        const own = taken[0]?.state === "paired" ? taken[0].paired : assert.fail();
        for (const at of [here, there]) await until(() => at.find(own.key), "it is not known here");
        assert.equal(here.find(own.key, "10.0.0.9")?.from, "10.0.0.9");
        await until(() => there.find(own.key)?.from === "10.0.0.9", "its use is not noted for everybody");
        assert.equal(await there.remove(own.device.id), true);
        await until(() => here.find(own.key) === undefined, "a removed device comes in");
        assert.equal(await here.remove(own.device.id), false);
      });

      test("wrong codes count wherever they are tried", async () => {
        const [a, b] = await Promise.all([
          gateway(`c${notified}`, { notified }),
          gateway(`d${notified}`, { notified }),
        ]);
        const [here, there] = [
          createDevices(await a.presence.share("web")),
          createDevices(await b.presence.share("web")),
        ];
        const { id } = await here.invite({ owner: "account:lin" });
        const code = await here.code(id);
        for (const at of [here, there, here, there, here])
          assert.equal(await at.take({ code: "wrong123" }, phone), undefined);
        assert.equal(await there.take({ code }, phone), undefined);
      });

      test("one holds the bot; when it leaves or is killed, the other goes on with everything that was kept", async () => {
        const leaseMs = notified ? 60_000 : 2_500; // without a lock, time alone tells
        const [a, b] = await Promise.all([
          gateway(`e${notified}`, { notified, leaseMs }),
          gateway(`f${notified}`, { notified, leaseMs }),
        ]);
        const bot = `feishu/${notified}`;
        a.hold(bot);
        const first = await takes(a);
        b.hold(bot);
        await until(() => b.told.includes(`e${notified}`), "nobody says where the bot is");
        assert.equal(held(b), undefined);
        first.store.set("card/1", { g: 1 });
        assert.equal(first.store.claim("seen/om_1", 60_000), true);
        await first.kept();
        await a.kill();
        const second = await takes(b);
        assert.deepEqual(second.store.get("card/1"), { g: 1 });
        assert.equal(second.store.claim("seen/om_1", 60_000), false, "a message that was claimed is claimed");
        const c = await gateway(`g${notified}`, { notified, leaseMs });
        c.hold(bot);
        second.store.set("last", "词");
        await b.presence.leave();
        assert.equal(
          (await takes(c)).store.get("last"),
          "词",
          "what was remembered last is written before it is given up",
        );
        assert.deepEqual(
          (await c.table.gateways()).filter(({ holds }) => holds.length > 0).map(({ id, holds }) => [id, holds]),
          [[`g${notified}`, [bot]]],
        );
        await c.presence.leave();
      });
    },
  );

suite("a gateway that stands still", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  test("frozen past its time, it has lost the bot: what it writes later is refused, and nothing of it counts", async () => {
    const [a, b] = await Promise.all([gateway("frozen", { leaseMs: 1_500 }), gateway("quick", { leaseMs: 1_500 })]);
    a.hold("feishu/frozen");
    const first = await takes(a);
    first.store.set("said", "first");
    await first.kept();
    b.hold("feishu/frozen");
    a.freeze();
    const second = await takes(b);
    assert.equal(first.signal.aborted, false, "it knows nothing yet");
    first.store.set("said", "late");
    const late = first.kept();
    a.thaw();
    await assert.rejects(late, /another gateway took it/);
    assert.equal(first.signal.aborted, true);
    assert.deepEqual([second.store.get("said"), held(b)], ["first", second]);
    assert.deepEqual(
      (await b.table.read("feishu/frozen")).entries.filter(({ key }) => key === "said").map(({ value }) => value),
      ['"first"'],
    );
    await b.presence.leave();
    assert.ok(await takes(a, 2), "and takes it up again when it is free");
    await a.presence.leave();
  });

  test("while the server cannot be asked, nobody is let in and nothing leaves; after that it goes on", async () => {
    const a = await gateway("cut", { leaseMs: 1_500 });
    const shared = await a.presence.share("web");
    a.hold("feishu/cut");
    const hold = await takes(a);
    a.freeze();
    await sleep(1_600);
    let isKept = false;
    const kept = hold.kept().then(() => (isKept = true));
    await sleep(20);
    assert.equal(isKept, false, "nobody can say that it is still ours");
    a.thaw();
    await kept;
    assert.equal(hold.signal.aborted, false, "nobody else wanted it");
    assert.equal(shared.isCurrent(), true);
    await a.presence.leave();
  });

  test("a bot that cannot be spoken for says why, and is tried again", async () => {
    const a = await gateway("refused");
    const [troubles, holds]: [unknown[], HeldSurface[]] = [[], []];
    a.presence.hold("feishu/refused", {
      async taken(hold) {
        if (holds.push(hold) === 1) throw new Error("no such app");
        await new Promise((resolve) => hold.signal.addEventListener("abort", resolve, { once: true }));
      },
      elsewhere: () => {},
      failed: (error) => void troubles.push(error),
    });
    await until(() => holds.length === 2, "nobody tries again");
    assert.deepEqual(troubles, [new Error("no such app")]);
    await a.presence.leave();
    assert.equal(troubles.length, 1, "leaving is no trouble");
  });

  test("a gateway that leaves while it connects is gone once the connection has come about", async () => {
    const { table } = await gateway("patient");
    const slow = Promise.withResolvers<void>();
    const line = new Client((await database)?.url ?? "");
    const connect = async () => {
      await slow.promise;
      await line.connect();
      return line;
    };
    const hasty = await joinGateways(table, { process: "hasty", connect });
    const ended = new Promise((resolve) => line.once("end", resolve));
    const left = hasty.leave();
    slow.resolve();
    await Promise.all([left, ended]);
  });

  test("a gateway that has not seen the devices for a while lets nobody in, and sends away who is there", async () => {
    const a = await gateway("blind");
    let time = 0;
    const shared = await shareMemory(a.table, "web", { clock: () => time });
    const devices = createDevices(shared);
    const taken = await devices.take({ key: (await devices.invite({ owner: "account:lin" })).key }, phone);
    const { key } = taken?.state === "paired" ? taken.paired : assert.fail();
    const visitor = { by: "Lin", person: "account:lin", may: ["talk"] } as const;
    const away = { ...devices, refresh: () => Promise.reject(new Error("the server is away")) };
    const { enter } = createEntrance({ devices: away, visitorOf: () => visitor, everyMs: 5 });
    const entered = await enter(key, { address: "10.0.0.7" });
    assert.ok(typeof entered === "object");
    time = 4_999;
    assert.ok(typeof (await enter(key, { address: "10.0.0.7" })) === "object");
    time = 5_000;
    assert.equal(await enter(key, { address: "10.0.0.7" }), "unsure");
    assert.equal(await enter("sagekey_wrong", { address: "10.0.0.7" }), "unsure", "nobody is told that a key is over");
    await until(() => entered.ended.aborted, "it stays");
    assert.equal(entered.ended.reason, "unsure");
    await shared.refresh();
    assert.ok(typeof (await enter(key, { address: "10.0.0.7" })) === "object");
    await a.presence.leave();
  });
});
