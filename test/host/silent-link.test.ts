// Connections to the shared journal that the network has forgotten: neither side is told, and nothing comes through.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { Pool } from "pg";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { joinCluster } from "../../src/host/cluster/cluster.ts";
import { createGatewayHost } from "../../src/host/cluster/stream/gateway.ts";
import { startWorker } from "../../src/host/cluster/worker/worker.ts";
import { createHost } from "../../src/host/host.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { openWire } from "../faults/cluster/wire.ts";
import { createPrepared, hasPostgres } from "../support/postgres.ts";
import { bash, config, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const lin = { by: "Lin", surface: "test" };

suite("a silent link", { skip: !hasPostgres && "no PostgreSQL is installed" }, () => {
  test("is given up: answers are recorded, and the worker goes on, hears and lives", async () => {
    using here = workspace();
    const base = await createPrepared();
    const owner = new Pool({ connectionString: base.url, max: 1 });
    const folder = mkdtempSync(join(tmpdir(), "sage-wires-"));
    const server = new URLSearchParams(base.url.split("?")[1]).get("host") ?? "";
    const wires = await Promise.all(["g", "w"].map((name) => openWire(join(folder, name), server, [])));
    const joins = (as: "gateway" | "worker") => {
      const { noteChild, children, callOf, place } = memoryStore();
      const through = encodeURIComponent(join(folder, as === "gateway" ? "g" : "w"));
      return joinCluster({
        ...{ url: base[as].replace(/host=.*/, `host=${through}`), as, roster: as === "gateway", place: () => "here" },
        ...{ local: { noteChild, children, callOf, place }, silentMs: 2_500 },
      });
    };
    const [speaks, works] = await Promise.all([joins("gateway"), joins("worker")]);
    const refuse = async (): Promise<never> => assert.fail("a gateway runs nothing");
    const wake = (session: string) => void speaks.wake(session).catch(() => {});
    const parts = { store: speaks.replica.store, version: "test", executor: refuse, elsewhere: { wake } };
    const host = createGatewayHost(createHost(parts), speaks.replica);
    const script = [{ calls: [bash("echo 0 >> ran")] }, { calls: [bash("echo 1 >> ran")] }, { text: "done" }];
    const { store } = works.replica;
    const runs = createHost({
      ...{ store, version: "test", letsGo: true, sleepAfterMs: 50 },
      executor: async () => new TurnExecutor(config({ script, dir: here.dir, store }), { workingDirectory: here.dir }),
    });
    const worker = await startWorker({ cluster: works, place: "here", host: runs });
    const asked = (key: string) =>
      until(() => speaks.replica.store.pending().find(({ id }) => id === `s/${key}`), `nobody is asked for ${key}`);
    const locks = async () => (await owner.query<{ lock: number }>("SELECT lock FROM sage.process")).rows[0]?.lock;
    const allow = async (key: string) => {
      const response = { type: "granted", requestId: `s/${key}` } as const;
      assert.equal((await host.send({ type: "respond", response, ...lin })).ok, true);
    };

    await host.send({ type: "open", session: "s", cwd: here.dir });
    await host.send({ type: "say", session: "s", text: "go", ...lin });
    await asked("t0/0/0/permit0");
    const lock = await until(locks);
    for (const wire of wires) wire.forget();
    await allow("t0/0/0/permit0");
    await asked("t0/1/0/permit0");
    await until(async () => (await locks()) !== lock, "it holds no new lock");
    await allow("t0/1/0/permit0");
    await until(() => speaks.replica.store.session("s")?.open === false, "the turn does not end");
    assert.equal(readFileSync(here.path("ran"), "utf8"), "0\n1\n");
    assert.equal(await speaks.ledger.verify("s"), undefined);

    await Promise.all([worker.stop(), host.close()]);
    await Promise.all([works.close(), speaks.close(), owner.end()]);
    for (const wire of wires) wire.close();
    rmSync(folder, { recursive: true, force: true });
    await base.drop();
  });
});
