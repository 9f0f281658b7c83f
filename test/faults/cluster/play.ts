// Gateways, workers and a database that are killed, frozen, cut off and told to leave, while people answer; and what must hold after it.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client, Pool } from "pg";
import { prepareEngine } from "../../../src/host/cluster/prepare-engine.ts";
import { postgresLedger } from "../../../src/journal/postgres/postgres-ledger.ts";
import { schema } from "../../../src/journal/postgres/schema/schema.ts";
import type { Ledger } from "../../../src/journal/replica/ledger.ts";
import { startPostgres, type Postgres } from "../../../scripts/postgres.ts";
import { folderOfServer } from "../../support/postgres.ts";
import { show } from "../checker.ts";
import type { Observation } from "../history.ts";
import { judge } from "./judge.ts";
import { observer } from "./observe.ts";
import { attendRound } from "./people.ts";
import type { ClusterMutant } from "./mutants.ts";
import { planOf, type Fault, type RoundPlan } from "./plan.ts";
import { takeSeat, type Role, type Seat } from "./seat.ts";
import { describeStandstill } from "./still.ts";
import { openWire } from "./wire.ts";

const kinds = ["worker killed", "gateway killed", "database killed", "frozen", "left", "cut", "silenced"] as const;
type Kind = (typeof kinds)[number];

export type Played = {
  rounds: number;
  /** Processes and databases that were ended by kill -9. */
  kills: number;
  counts: Record<Kind, number>;
  sessions: number;
  answers: number;
  facts: number;
  longestCalmMs: number;
  found: string[];
};

export type PlayOptions = {
  seed: number;
  rounds: number;
  /** Plays until so many were killed, however many rounds that takes. */
  kills?: number;
  /** The first round to play. */
  from?: number;
  gateways: number;
  workers: number;
  sessions: number;
  faults: number;
  paceMs: number;
  /** Leaves the database alone. */
  sparesDatabase?: boolean;
  /** A Sage with a mistake in it, under these faults instead of those of the seed. */
  mutant?: Pick<ClusterMutant, "changes" | "faults">;
  /** How long nothing may happen in the end. */
  patienceMs?: number;
  tell?(line: string): void;
};

const PATIENCE_MS = 120_000;
const STILL_MS = 20_000;
/** Enough to look at. */
const MOST_FOUND = 20;

/** Plays rounds: in each, sessions begin, things are killed while people answer, and in the end everything must have ended. */
export async function play(options: PlayOptions): Promise<Played> {
  const { seed, rounds, kills = 0, from = 0, tell = () => {} } = options;
  const { dir: base, template } = folderOfServer();
  const wires = mkdtempSync(join(tmpdir(), "sage-wires-"));
  const settings = { track_commit_timestamp: "on" };
  const database = await startPostgres(base, { durable: false, settings, template });
  const counts = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>;
  const played: Played = {
    ...{ rounds: 0, kills: 0, counts, sessions: 0, answers: 0, facts: 0, longestCalmMs: 0, found: [] },
  };
  try {
    for (let round = from; round < from + rounds || played.kills < kills; round++) {
      const before = { kills: played.kills, facts: played.facts, found: played.found.length };
      const began = performance.now();
      const { notes, calmMs } = await playRound(options, { server: base, wires, database, round, played });
      played.rounds++;
      const took = Math.round((performance.now() - began) / 1_000);
      tell(
        `round ${round} (seed ${seed}): ${notes}, ${played.kills - before.kills} killed in ${took} s, calm after ${(calmMs / 1_000).toFixed(1)} s, ${played.facts - before.facts} facts; in all ${played.kills} killed, ${played.found.length} found`,
      );
      for (const one of played.found.slice(before.found)) tell(one);
      if (played.found.length >= MOST_FOUND) break;
    }
  } finally {
    await database.stop();
    for (const folder of [base, wires]) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
  return played;
}

/** One round at play: its processes, its database, and everything that was seen. */
type Table = {
  database: Postgres;
  seats: Seat[];
  played: Played;
};

type Ground = { server: string; wires: string; database: Postgres; round: number; played: Played };

async function playRound(options: PlayOptions, ground: Ground): Promise<{ notes: string; calmMs: number }> {
  const { server, wires, database, round, played } = ground;
  const { seed, tell = () => {} } = options;
  const dir = mkdtempSync(join(tmpdir(), "sage-cluster-"));
  const { sparesDatabase = false, faults, paceMs } = options;
  const drawn = planOf(seed, round, { faults, sparesDatabase, paceMs });
  const plan = options.mutant ? { ...drawn, faults: options.mutant.faults } : drawn;
  const name = `round${round}`;
  await createDatabase(database, name);
  const pool = new Pool({ connectionString: database.urlOf(name), max: 3 });
  pool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
  await prepareEngine(database.urlOf(name), pool, { worker: "worker", places: ["here"], gateway: "gateway" });
  const ledger = await postgresLedger(pool, { process: "judge" });
  if (options.mutant) await pool.query(changed(schema, options.mutant));
  const files = new Map<string, ReturnType<typeof observer>>();
  const observe = (process: string, what: Observation) => {
    const known = files.get(process) ?? observer(join(dir, "seen"), process);
    files.set(process, known);
    known(what);
  };
  const failed: string[] = [];
  const seats = await sit({
    ...options,
    plan,
    base: join(wires, `${round}`),
    server,
    name,
    dir,
    observe,
    failed,
  });
  const people = attendRound({
    seed,
    round,
    sessions: options.sessions,
    dir,
    ledger,
    observe: (what) => observe("people", what),
    gateways: seats.filter(({ role }) => role === "gateway"),
  });
  let found = true;
  const before = played.found.length;
  try {
    for (const fault of plan.faults) {
      await pause(fault.afterMs);
      await strike(fault, { database, seats, played });
    }
    await Promise.all(seats.map(({ settled }) => settled()));
    people.faultsAreOver();
    const calm = performance.now();
    if (plan.recoversTwice)
      await people.recoverTwice(async () => {
        const worker = seats.find(({ role }) => role === "worker");
        if (worker) kill(worker, 0, played);
        await worker?.settled();
      });
    const ended = await untilOver({ ...options, people, pool, ledger, tell });
    const calmMs = performance.now() - calm;
    if (ended) await people.watchAll();
    await people.leave();
    played.longestCalmMs = Math.max(played.longestCalmMs, calmMs);
    played.sessions += people.ids.length;
    played.answers += people.answers();
    for (const { session, violations, facts } of await judge(dir, people.ids, pool, ledger)) {
      played.facts += facts.length;
      const list = () => facts.map(({ seq, key, type }) => `  ${seq} ${key} ${type}`).join("\n");
      if (violations.length > 0)
        played.found.push(
          `round ${round}, ${session}\n${show(violations)}\n${list()}\n(everything that was seen: ${dir}/seen)`,
        );
    }
    for (const how of failed) played.found.push(`round ${round}: ${how}`);
    found = played.found.length > before;
    const notes = `${plan.notified ? "" : "without notifications and locks, "}${plan.graceMs === undefined ? "" : "short grace, "}${plan.skewMs === 0 ? "" : "a clock an hour off, "}${plan.recoversTwice ? "recovered twice, " : ""}${plan.outlives ? "commands go on, " : ""}${people.ids.length} sessions`;
    return { notes, calmMs };
  } finally {
    await people.leave();
    await Promise.all(seats.map(({ end }) => end()));
    await ledger.close().catch(() => {});
    if (!found) rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Functions of the database are the mutant's too. */
function changed(text: string, { changes }: Pick<ClusterMutant, "changes">): string {
  return changes.reduce((source, { from, to }) => source.replace(from, to), text);
}

async function createDatabase(database: Postgres, name: string): Promise<void> {
  const client = new Client(database.url);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
}

type Sitting = PlayOptions & {
  plan: RoundPlan;
  base: string;
  server: string;
  name: string;
  dir: string;
  observe(process: string, what: Observation): void;
  failed: string[];
};

async function sit({
  plan,
  base,
  server,
  name,
  dir,
  observe,
  failed,
  gateways,
  workers,
  mutant,
}: Sitting): Promise<Seat[]> {
  mkdirSync(base, { recursive: true });
  const roles: Role[] = [...Array<Role>(gateways).fill("gateway"), ...Array<Role>(workers).fill("worker")];
  const changes = mutant && { SAGE_CHANGES: JSON.stringify(mutant.changes) };
  const env = { NODE_COMPILE_CACHE: join(tmpdir(), "sage-compiled"), ...process.env, ...changes };
  const execArgv = mutant ? ["--import", join(import.meta.dirname, "../changed.ts")] : [];
  return Promise.all(
    roles.map(async (role, n) => {
      const wire = await openWire(join(base, `${n}`), server, commits[role]);
      const url = `postgres://${role}@/${name}?host=${encodeURIComponent(wire.folder)}`;
      const { notified, graceMs, skewMs, outlives } = plan;
      return takeSeat({
        ...{ seat: `${role}${n}`, role, url, dir, notified, outlives, wire, observe, env, execArgv },
        ...(graceMs !== undefined && { graceMs }),
        ...(n === roles.length - 1 && { skewMs }),
        ended: (process, how) => void failed.push(`${process} ended by itself: ${how}`),
      });
    }),
  );
}

/** A batch of facts of a worker, and the transaction of an answer. */
const commits: Record<Role, string[]> = { worker: ["sage.worker_commit"], gateway: ["sage.append_fact", "COMMIT"] };

function kill(seat: Seat, awayMs: number, played: Played): void {
  played.kills++;
  played.counts[seat.role === "worker" ? "worker killed" : "gateway killed"]++;
  seat.kill(awayMs);
}

/** Something goes wrong, and is mended after a while. */
async function strike(fault: Fault, { seats, database, played }: Table): Promise<void> {
  const { counts } = played;
  const living = (role: Role) => seats.filter((seat) => seat.role === role && seat.lives);
  const one = (role: Role): Seat | undefined => living(role)[fault.pick % Math.max(1, living(role).length)];
  switch (fault.kind) {
    case "kill": {
      const seat = one(fault.role);
      if (!seat) return;
      if (fault.at === "any") return kill(seat, fault.awayMs, played);
      // At its next commit, or now if there is none.
      const { name } = seat;
      const strikeOnce = () => void (seat.name === name && seat.lives && kill(seat, fault.awayMs, played));
      const disarm = seat.wire.arm(fault.at, strikeOnce);
      setTimeout(() => (disarm(), strikeOnce()), 1_000);
      return;
    }
    case "killDatabase":
      return killDatabase(database, fault.awayMs, played);
    case "killAll":
      for (const seat of [...living("worker"), ...living("gateway")]) kill(seat, fault.awayMs, played);
      return killDatabase(database, fault.awayMs, played);
    case "freeze": {
      const seat = one(fault.role);
      if (seat) counts.frozen++;
      return seat?.freeze(fault.awayMs);
    }
    case "leave": {
      const seat = one("worker");
      if (seat) counts.left++;
      return seat?.leave();
    }
    case "cut": {
      const seat = one(fault.role);
      if (!seat) return;
      if (fault.at === "any") counts.cut += seat.wire.cut() > 0 ? 1 : 0;
      else seat.wire.arm(fault.at, () => void counts.cut++);
      return;
    }
    case "silence": {
      const seat = one(fault.role);
      if (!seat) return;
      counts.silenced++;
      setTimeout(seat.wire.hold(), fault.awayMs);
      return;
    }
    default:
      return fault satisfies never;
  }
}

async function killDatabase(database: Postgres, awayMs: number, played: Played): Promise<void> {
  played.kills++;
  played.counts["database killed"]++;
  await database.kill();
  await pause(awayMs);
  for (let tries = 0; ; tries++) {
    const failure = await database.start().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (!failure) return;
    if (tries > 100) throw failure.error;
    await pause(100); // processes of the old one may not have ended yet
  }
}

type Waiting = {
  people: ReturnType<typeof attendRound>;
  pool: Pool;
  ledger: Ledger;
  patienceMs?: number;
  tell(line: string): void;
};

/** Every session has ended. Where nothing happens for long, everything that could hold it up is told. */
async function untilOver({ people, pool, patienceMs = PATIENCE_MS, tell }: Waiting): Promise<boolean> {
  let [newest, since, told] = [0, performance.now(), false];
  while (performance.now() - since < patienceMs) {
    const { over, facts } = await people.look();
    if (over) return true;
    if (facts !== newest) [newest, since, told] = [facts, performance.now(), false];
    if (!told && performance.now() - since > STILL_MS) {
      told = true;
      tell(`nothing has happened for ${STILL_MS / 1_000} s though everybody lives\n${await describeStandstill(pool)}`);
    }
    await pause(150);
  }
  return false;
}
