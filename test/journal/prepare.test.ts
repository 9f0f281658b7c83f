// `sage engine prepare` on a real server: roles, and functions of another version than the program.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import { Pool } from "pg";
import { MayNotMakeRoles, prepareEngine, queueMaker } from "../../src/host/cluster/prepare-engine.ts";
import { joinCluster } from "../../src/host/cluster/cluster.ts";
import { startWorker } from "../../src/host/cluster/worker/worker.ts";
import type { LocalHost } from "../../src/host/host.ts";
import { startDispatch } from "../../src/host/cluster/dispatch.ts";
import { grants, rolesOf } from "../../src/journal/postgres/schema/grants.ts";
import { postgresLedger } from "../../src/journal/postgres/postgres-ledger.ts";
import { REVISION, schema } from "../../src/journal/postgres/schema/schema.ts";
import { isSameReason, reason, said as inWords, type Reason, SageError } from "../../src/protocol/reasons/reason.ts";
import { asLogin, createDatabase, createPrepared, hasPostgres } from "../support/postgres.ts";
import { answer, fact, opened, requestFor, resolved, said } from "./journals.ts";
import { wordsOf } from "../support/worded.ts";

function poolAt(url: string, max = 3): Pool {
  const pool = new Pool({ connectionString: url, max });
  return pool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
}

test("whoever changes the SQL of a shared journal raises its revision", () => {
  const sql = schema + grants({ worker: "worker", gateway: "gateway" }) + queueMaker;
  const digest = createHash("sha256").update(sql).digest("hex").slice(0, 16);
  assert.deepEqual(
    { revision: REVISION, digest },
    { revision: 6, digest: "3ff694602c202b13" },
    "raise REVISION in schema.ts, and write both here: databases that were prepared before have the older functions",
  );
});

suite("preparing a database", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  test("can be repeated, keeps what is there, and tells who may not", async () => {
    const { url, drop } = await createDatabase();
    const pool = poolAt(url);
    const login = asLogin(url, "plain");
    await pool.query("DO $$ BEGIN CREATE ROLE plain LOGIN; EXCEPTION WHEN duplicate_object THEN END $$");
    const stranger = poolAt(login, 1);
    const isUnprepared = (error: unknown) => error instanceof SageError && /sage engine prepare/.test(wordsOf(error));
    await assert.rejects(postgresLedger(stranger, { process: "x" }), isUnprepared);
    const { roles, made } = await prepareEngine(url, pool);
    assert.deepEqual(made, []);
    await assert.rejects(postgresLedger(stranger, { process: "x" }), isUnprepared, "it has neither role");
    await assert.rejects(startDispatch(login, stranger, { notified: true, graceMs: 10_000 }), isUnprepared);
    const first = await postgresLedger(pool, { process: "o" });
    await first.create("s", opened, "here");
    await first.append("s", said("said/1", "hello"));
    assert.deepEqual((await prepareEngine(url, pool, { worker: "plain" })).roles, roles);
    const as = await postgresLedger(stranger, { process: "x", as: "worker" });
    assert.equal(as.journal, first.journal);
    assert.equal((await as.read("s", 0)).length, 2);
    assert.equal(await as.verify("s"), undefined);

    // The owner of a database who may make no roles is told what an administrator has to run.
    const other = await createDatabase();
    const admin = poolAt(other.url);
    await admin.query("DO $$ BEGIN CREATE ROLE holder LOGIN; EXCEPTION WHEN duplicate_object THEN END $$");
    await admin.query(`ALTER DATABASE ${other.name} OWNER TO holder`);
    const holder = poolAt(asLogin(other.url, "holder"));
    const told = await prepareEngine(asLogin(other.url, "holder"), holder).catch((error: unknown) => error);
    assert.ok(told instanceof MayNotMakeRoles);
    assert.deepEqual(told.roles, rolesOf(other.name));
    await admin.query(`CREATE ROLE "${told.roles.worker}" NOLOGIN; CREATE ROLE "${told.roles.gateway}" NOLOGIN`);
    await prepareEngine(asLogin(other.url, "holder"), holder);
    await Promise.all([first.close(), as.close(), admin.end(), holder.end()]);
    await Promise.all([drop(), other.drop()]);
  });

  test("names of roles differ between databases, whatever those are called", () => {
    assert.deepEqual(rolesOf("sage"), { worker: "sage_worker_sage", gateway: "sage_gateway_sage" });
    const long = "数据".repeat(10);
    assert.ok(Buffer.byteLength(rolesOf(long).gateway) <= 63);
    assert.notEqual(rolesOf(long).worker, rolesOf(`${long}x`).worker);
    assert.ok(grants({ worker: `a"b'c`, gateway: "d" }).includes(`"a""b''c"`));
  });

  test("functions of an older version are refused with what to do, and made anew under running workers", async () => {
    const base = await createPrepared();
    const [owner, workerPool, gatewayPool] = [poolAt(base.url), poolAt(base.worker), poolAt(base.gateway)];
    const gateway = await postgresLedger(gatewayPool, { process: "g" });
    const worker = await postgresLedger(workerPool, { process: "w", as: "worker" });
    await gateway.create("s", opened, "here");
    const { epoch } = await worker.take("s");
    // The database as a version without revisions left it: no column, a function that does something else, and one that is not there yet.
    await owner.query("ALTER TABLE sage.journal DROP COLUMN revision");
    await owner.query("DROP FUNCTION sage.gateway_leaves");
    await owner.query("CREATE OR REPLACE FUNCTION sage.unregister(process_id text) RETURNS void LANGUAGE sql AS ''");
    const isOlder = (error: unknown) =>
      error instanceof SageError &&
      /prepared by an older Sage \(revision 0, this one needs \d+\).*`sage engine prepare`/.test(wordsOf(error));
    await assert.rejects(postgresLedger(workerPool, { process: "x", as: "worker" }), isOlder);
    await assert.rejects(postgresLedger(gatewayPool, { process: "x" }), isOlder);
    await assert.rejects(postgresLedger(owner, { process: "x" }), isOlder, "grants are made by prepare alone");

    // Meanwhile one writes: a turn that asks, is answered, and goes on.
    const over = new AbortController();
    let number = 0;
    const working = (async () => {
      while (!over.signal.aborted) {
        const key = `t0/${++number}/0/permit0`;
        const facts = [fact(key, "input.requested", { ...requestFor(key), id: `s/${key}` })];
        await worker.commit("s", epoch, { number, facts, unheard: false, knew: 0 });
        await gateway.append("s", resolved(key, answer(`s/${key}`)));
      }
    })();
    for (let n = 0; n < 3; n++) await prepareEngine(base.url, owner);
    over.abort();
    await working;
    assert.equal(await gateway.verify("s"), undefined);
    await postgresLedger(workerPool, { process: "x", as: "worker" });
    await gatewayPool.query("SELECT sage.gateway_leaves('nobody')");
    await assert.rejects(workerPool.query("SELECT sage.gateway_leaves('nobody')"), { code: "42501" });
    const { rows } = await owner.query("SELECT prosecdef FROM pg_proc WHERE oid = 'sage.unregister'::regproc");
    assert.deepEqual(rows, [{ prosecdef: true }], "it is the function of this version again");

    // A newer Sage was here: this one works on, says so, and puts no older functions there.
    await owner.query("UPDATE sage.journal SET revision = 1000");
    const noted: Reason[] = [];
    await postgresLedger(workerPool, { process: "x", as: "worker", note: (why) => noted.push(why) });
    assert.deepEqual(
      noted.map(({ code }) => code),
      ["functions-newer"],
    );
    await assert.rejects(
      prepareEngine(base.url, owner),
      (error) => error instanceof SageError && /prepared by a newer Sage.*update Sage/.test(wordsOf(error)),
    );
    await Promise.all([owner.end(), worker.close(), gateway.close()]);
    await base.drop();
  });

  test("where one login owns everything, older functions are made anew by whoever comes first", async () => {
    const { url, drop } = await createDatabase();
    const pool = poolAt(url);
    await postgresLedger(pool, { process: "first" });
    await pool.query("UPDATE sage.journal SET revision = 0");
    await pool.query("DROP FUNCTION sage.take");
    await Promise.all(["a", "b"].map((process) => postgresLedger(pool, { process })));
    const { rows } = await pool.query("SELECT revision, to_regproc('sage.take') IS NOT NULL AS made FROM sage.journal");
    assert.deepEqual(rows, [{ revision: REVISION, made: true }]);
    await pool.end();
    await drop();
  });

  test("a login with places takes, writes and lets go of no session of another", async () => {
    const { url, name, drop } = await createDatabase();
    const owner = poolAt(url);
    const at = (part: string) => `${part}_${name.slice(0, 8)}`;
    await prepareEngine(url, owner, { worker: at("build"), places: ["build", "test"], gateway: at("front") });
    await prepareEngine(url, owner, { worker: at("other"), places: ["other"] });
    await prepareEngine(url, owner, { worker: at("any") });
    await prepareEngine(url, owner, { worker: at("other") }); // as after an update: it keeps its places
    const [buildPool, otherPool, anyPool, frontPool] = ["build", "other", "any", "front"].map((part) =>
      poolAt(asLogin(url, at(part))),
    ) as [Pool, Pool, Pool, Pool];
    const gateway = await postgresLedger(frontPool, { process: "g" });
    const [build, other, any] = await Promise.all(
      [buildPool, otherPool, anyPool].map((pool, n) => postgresLedger(pool, { process: `w${n}`, as: "worker" })),
    );
    assert.ok(build && other && any);
    await gateway.create("s", opened, "build");
    await gateway.append("s", said("said/1", "go"));
    const notServed = (error: unknown) =>
      error instanceof SageError &&
      error.code === "not-permitted" &&
      isSameReason(error.reason, reason("place-not-served", { place: "build" }));
    const batch = (key: string) => ({ facts: [unknown(key)], unheard: false, knew: 99 });

    // Nobody runs it: its epoch can be read by all, and is no secret.
    const { epoch } = await build.take("s");
    await build.release("s", epoch, 99);
    const title = { key: "title/auto", type: "session.titled", at: 1 } as const;
    const titled = { ...title, data: { title: "x", by: "auto", surface: "runtime" } };
    await assert.rejects(other.take("s"), { code: "session-owned" });
    await assert.rejects(other.take("s", { place: "build" }), { code: "session-owned" });
    await assert.rejects(other.commit("s", epoch, { number: 1, ...batch("t0/0/0") }), notServed);
    await assert.rejects(other.append("s", titled), notServed);
    await assert.rejects(otherPool.query("SELECT sage.register('x',1,'build',1,NULL,NULL,false)"), { code: "SG005" });
    await assert.rejects(otherPool.query("INSERT INTO sage.login VALUES(session_user,'build')"), { code: "42501" });
    assert.equal((await gateway.read("s", 0)).length, 2, "nothing came of it");

    // Neither while a worker of its place has it.
    const held = await build.take("s");
    await assert.rejects(other.commit("s", held.epoch, { number: 1, ...batch("t0/0/0") }), notServed);
    assert.deepEqual(await other.release("s", held.epoch, 99), { again: true });
    await build.commit("s", held.epoch, { number: 1, ...batch("t0/0/0") });
    await build.release("s", held.epoch, 99);

    // Moved, it is the other's; and a login without places is everybody's.
    await gatewayMoves(frontPool, "s", "other");
    await assert.rejects(build.take("s"), { code: "session-owned" });
    const moved = await other.take("s");
    await other.commit("s", moved.epoch, { number: 1, ...batch("t0/1/0") });
    await other.release("s", moved.epoch, 99);
    await any.release("s", (await any.take("s")).epoch, 99);
    assert.equal(await gateway.verify("s"), undefined);

    const local = { noteChild() {}, children: () => [], callOf: () => undefined, place: undefined };
    const joins = { url: asLogin(url, at("other")), as: "worker", local, place: () => "build" } as const;
    const cluster = await joinCluster(joins);
    await assert.rejects(startWorker({ cluster, place: "build", host: {} as LocalHost }), notServed);
    await cluster.close();

    await prepareEngine(url, owner, { worker: at("other"), places: [] });
    await gatewayMoves(frontPool, "s", "build");
    await other.take("s");
    await Promise.all([owner.end(), ...[gateway, build, other, any].map((one) => one.close())]);
    await drop();
  });
});

const unknown = (key: string) => fact(key, "call.unknown", { reason: inWords("x") });

async function gatewayMoves(pool: Pool, session: string, place: string): Promise<void> {
  assert.deepEqual((await pool.query("SELECT sage.move_session($1,$2) AS done", [session, place])).rows, [
    { done: true },
  ]);
}
