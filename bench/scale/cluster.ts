import { fork, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { joinCluster } from "../../src/host/cluster/cluster.ts";
import { createGatewayHost } from "../../src/host/cluster/stream/gateway.ts";
import { createHost, type LocalHost } from "../../src/host/host.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { startPostgres } from "../../scripts/postgres.ts";
import { percentile } from "../measure.ts";
import { workOf } from "./works.ts";

type Figure = (what: string, unit: string, value: number | undefined, goal: number, floor: number) => void;

const bench = { by: "bench", surface: "bench" };
const now = () => performance.timeOrigin + performance.now();
const AWAY_MS = 15_000;
/** Nobody who has just come judges others. */
const GRACE_MS = 11_000;

/** A gateway in this process, two workers in processes of their own, and a PostgreSQL with its defaults. */
export async function measureCluster(dir: string, blocked: number, figure: Figure): Promise<void> {
  // Beside the folder: where this runs as root, the server is another user.
  const folder = mkdtempSync(join(tmpdir(), "sage-pg-"));
  const database = await startPostgres(folder);
  const { noteChild, children, callOf, place } = memoryStore();
  const local = { noteChild, children, callOf, place };
  const cluster = await joinCluster({ url: database.url, as: "gateway", local, place: () => "bench", roster: true });
  const { ledger } = cluster;
  const executor = () => Promise.reject(new Error("a gateway runs nothing"));
  const wake = (session: string) => void cluster.wake(session).catch(() => {});
  const made = createHost({ store: cluster.replica.store, version: "bench", executor, elsewhere: { wake } });
  const host = createGatewayHost(made, cluster.replica);
  const begun = new Map<string, number>();
  const workers = new Set<ChildProcess>();
  const work = async (sleepAfterMs: number): Promise<ChildProcess> => {
    const argv = [database.url, dir, String(sleepAfterMs)];
    const child = fork(join(import.meta.dirname, "cluster-worker.ts"), argv, { execArgv: ["--expose-gc"] });
    workers.add(child);
    child.on("message", (said: "ready" | { session?: string; at: number }) => {
      if (said !== "ready" && said.session !== undefined) begun.set(said.session, said.at);
    });
    await new Promise((resolve) => child.once("message", resolve));
    return child;
  };
  const endAll = async () => {
    const all = [...workers];
    workers.clear();
    await Promise.all(all.map((child) => ended(child)));
  };
  const until = async (what: () => Promise<boolean> | boolean) => {
    while (!(await (async () => what())().catch(() => false))) await pause(10); // the database may be away
  };
  const count = async (text: string, values: string[] = []) =>
    Number((await cluster.pool.query<{ n: string }>(text, values)).rows[0]?.n);
  const waiting = (name: string) =>
    count("SELECT count(*) AS n FROM sage.ask WHERE starts_with(session, $1)", [`${name}-`]);
  const openFor = (session: string) => ledger.open().then((all) => all.find((one) => one.session === session)?.data);
  /** Read alone: a list of all that waits would be measured too. */
  const requestOf = async (session: string) => {
    const asked = (await ledger.read(session, 0)).find((fact) => fact.type === "input.requested");
    return asked?.type === "input.requested" ? asked.data.id : "";
  };
  const hasEnded = async (session: string) => isOver((await ledger.standing(session))[0]);

  const answered = async (name: string, sleeps: boolean) => {
    const [acknowledged, effects]: [number[], number[]] = [[], []];
    for (let n = 0; n < 20; n++) {
      const session = await begin(host, `${name}-${n}`, "ask", dir);
      await until(async () => (await openFor(session)) !== undefined);
      if (sleeps) await until(async () => (await ledger.standing(session))[0]?.owned === false);
      await pause(100); // people are not quicker than the end of its job
      const request = await openFor(session);
      const at = now();
      await host.send({ type: "respond", response: { type: "granted", requestId: request?.id ?? "" }, ...bench });
      acknowledged.push(now() - at);
      await until(() => begun.has(session));
      effects.push((begun.get(session) ?? 0) - at);
    }
    return { acknowledged: percentile(acknowledged, 50), effect: percentile(effects, 50) };
  };

  try {
    await Promise.all([work(60_000), work(60_000)]);
    const live = await answered("live", false);
    figure("answer acknowledged, p50", "ms", live.acknowledged, 10, 150);
    figure("answer → effect, turn live, p50", "ms", live.effect, 10, 150);
    await endAll();
    const [first, second] = await Promise.all([work(200), work(200)]);
    figure("answer → effect, turn asleep, p50", "ms", (await answered("asleep", true)).effect, 25, 300);

    for (const [sessions, steps] of [
      [1, 200],
      [20, 20],
      [100, 5],
    ] as const) {
      const perStep = await timed(host, `steps-${sessions}`, { sessions, steps, dir, hasEnded });
      figure(`a step with its barrier, ${sessions} at once`, "ms", perStep, sessions === 1 ? 4 : 3, 30);
      const store = sqliteStore(join(dir, `steps-${sessions}.db`));
      const one = createHost({ store, version: "bench", executor: async ({ id }) => workOf(store, id, dir, () => {}) });
      const over = async (session: string) => isOver(store.session(session));
      const beside = await timed(one, "s", { sessions, steps, dir, hasEnded: over });
      await one.close();
      figure(`… on SQLite, in one process`, "ms", beside, 3, 30);
    }

    const numbers = Array.from({ length: blocked }, (_, n) => n).values();
    const beginAll = async () => {
      for (const n of numbers) await begin(host, `blocked-${n}`, "ask", dir);
    };
    await Promise.all(Array.from({ length: 20 }, beginAll));
    while ((await waiting("blocked")) < blocked) await pause(250);
    while ((await count("SELECT count(*) AS n FROM sage.session WHERE process IS NOT NULL")) > 0) await pause(250);
    const heaps = await Promise.all([first, second].map(heapOf));
    figure(`worker heap with ${blocked} blocked`, "MB", Math.max(...heaps.map(({ heapMb }) => heapMb)), 30, 60);
    figure("sessions held by workers", "", Math.max(...heaps.map(({ held }) => held)), 0, 0);
    const some = Math.min(200, blocked);
    const among: number[] = [];
    for (let n = 0; n < some; n++) {
      const session = `blocked-${Math.floor((n * blocked) / some)}`;
      const id = await requestOf(session);
      const at = now();
      await host.send({ type: "respond", response: { type: "granted", requestId: id }, ...bench });
      await until(() => begun.has(session));
      among.push((begun.get(session) ?? 0) - at);
      await pause(20); // people are not quicker than the end of its job
    }
    figure(`answer → effect with ${blocked} blocked, p50`, "ms", percentile(among, 50), 25, 300);
    figure(`answer → effect with ${blocked} blocked, p99`, "ms", percentile(among, 99), 150, 1_000);

    const taken = async (name: string, strike: (child: ChildProcess) => void) => {
      await pause(GRACE_MS);
      const ids = await Promise.all(
        Array.from({ length: 10 }, (_, n) => begin(host, `${name}-${n}`, "slow 600000", dir)),
      );
      await until(() => ids.every((id) => begun.has(id)));
      const child = [...workers][0];
      if (!child) throw new Error("nobody works");
      workers.delete(child);
      const { rows } = await cluster.pool.query<{ process: string; runs: string }>(
        "SELECT process, count(*) AS runs FROM sage.session WHERE process IS NOT NULL GROUP BY process",
      );
      const at = now();
      strike(child);
      const least = Math.min(...rows.map(({ runs }) => Number(runs)));
      await until(async () => (await waiting(name)) >= least);
      const took = now() - at;
      await ended(child);
      await endAll();
      await Promise.all([work(200), work(200)]);
      return took;
    };
    figure("takeover of a killed worker", "ms", await taken("killed", (child) => child.kill("SIGKILL")), 1_000, 12_000);
    figure(
      "takeover of a frozen worker",
      "ms",
      await taken("frozen", (child) => child.kill("SIGSTOP")),
      12_000,
      20_000,
    );

    const ids = await Promise.all(Array.from({ length: 5 }, (_, n) => begin(host, `away-${n}`, "slow 8000", dir)));
    await until(() => ids.every((id) => begun.has(id)));
    await database.kill();
    await pause(AWAY_MS);
    await until(() => database.start().then(() => true));
    await until(async () => (await Promise.all(ids.map(hasEnded))).every(Boolean));
    const facts = (await Promise.all(ids.map((id) => ledger.read(id, 0)))).flat();
    const unsure = facts.filter(({ type }) => type === "call.unknown").length;
    figure("of 5 tools that ran while the database was away for 15 s, asked about", "", unsure, 0, 0);
  } finally {
    await endAll();
    await host.close();
    await cluster.close();
    await database.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function isOver(row: { open: boolean; unheard: boolean } | undefined): boolean {
  return row !== undefined && !row.open && !row.unheard;
}

async function begin(host: LocalHost, session: string, text: string, cwd: string): Promise<string> {
  await host.send({ type: "open", session, cwd });
  await host.send({ type: "say", session, text, ...bench });
  return session;
}

type Steps = { sessions: number; steps: number; dir: string; hasEnded(session: string): Promise<boolean> };

/** Milliseconds for each step, all of them together. */
async function timed(host: LocalHost, name: string, { sessions, steps, dir, hasEnded }: Steps): Promise<number> {
  const at = performance.now();
  const ids = Array.from({ length: sessions }, (_, n) => `${name}-${n}`);
  await Promise.all(ids.map((id) => begin(host, id, `steps ${steps}`, dir)));
  for (const id of ids) while (!(await hasEnded(id))) await pause(5);
  return (performance.now() - at) / (sessions * steps);
}

function heapOf(child: ChildProcess): Promise<{ heapMb: number; held: number }> {
  return new Promise((resolve) => {
    const heard = (said: { heapMb?: number; held: number }) => {
      if (said.heapMb === undefined) return;
      child.off("message", heard);
      resolve({ heapMb: said.heapMb, held: said.held });
    };
    child.on("message", heard);
    child.send("heap");
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}
