import { randomInt } from "node:crypto";
import { hostname } from "node:os";
import type { Client } from "pg";
import { stayConnected } from "../../../journal/postgres/stay-connected.ts";
import { GATEWAY_LIVES } from "../../../journal/postgres/schema/surface-schema.ts";
import type { SurfaceTable } from "../../../journal/postgres/surface-table.ts";
import type { SharedStore } from "../../../protocol/host/surface-store.ts";
import type { Cluster } from "../cluster.ts";
import { createSurfaceLease, type SurfaceLease, type SurfaceLeaseWatch } from "./surface-lease.ts";
import { shareMemory, type SharedMemory } from "./shared-memory.ts";

const HEARTBEAT_MS = 1_000;
/** A gateway without a heartbeat for this long has lost its holds. */
const LEASE_MS = 10_000;

export type Membership = {
  /** A memory that all gateways write. */
  share(surface: string): Promise<SharedStore>;
  /** Takes the surface whenever it is free. `taken` runs until the hold's signal; what it remembered is written before it is given up. */
  hold(surface: string, watch: SurfaceLeaseWatch): void;
  /** Releases everything; other gateways take over at once. */
  leave(): Promise<void>;
};

type MembershipOptions = {
  /** False: no notifications, and only timeouts detect dead gateways. */
  notified?: boolean;
  leaseMs?: number;
  /** How long nobody is judged after the connection came about. */
  graceMs?: number;
  failed?(error: unknown): void;
};

/**
 * This gateway among the others. It says each second that it lives, and learns how surfaces stand; by the server's clock it keeps what it
 * holds for ten seconds more. A lock on a connection of its own makes it quicker when it is killed. Safety is neither: every write to a
 * held memory carries the number of the hold.
 */
export async function joinGateways(
  table: SurfaceTable,
  { process, connect }: Pick<Cluster, "process" | "connect">,
  { notified = true, leaseMs = LEASE_MS, graceMs = LEASE_MS, failed = () => {} }: MembershipOptions = {},
): Promise<Membership> {
  /** Nothing more is taken up, and what is held ends; while it does, this gateway lives on. */
  const leaving = new AbortController();
  const over = new AbortController();
  const shared = new Map<string, SharedMemory>();
  const leases = new Map<string, SurfaceLease>();
  const leaseGuard = createLeaseGuard();
  const gateway = { id: process, host: hostname(), leaseMs };
  /** True once the outage was reported: each is reported once. */
  let isReported = false;
  const reportProblem = (error: unknown) => {
    if (!isReported) failed(error);
    isReported = true;
  };

  const beatOnce = async (): Promise<void> => {
    const at = performance.now();
    const byLock = at - connection.since >= graceMs;
    const names = [...shared.keys(), ...leases.keys()];
    const standings = await table.look({ ...gateway, lock: connection.lock, byLock, names });
    isReported = false;
    for (const standing of standings) leases.get(standing.name)?.judge(standing);
    leaseGuard.extend(at + leaseMs);
    if (leaving.signal.aborted) return;
    await Promise.all([
      ...standings.map(({ name, version }) => shared.get(name)?.seen(version, at)),
      ...standings.map((standing) => leases.get(standing.name)?.take(standing, byLock)),
    ]);
  };
  let beating: Promise<void> | undefined;
  let again = false;
  /** A look that is asked for while one runs follows it. */
  const heartbeat = (): Promise<void> => {
    again = beating !== undefined;
    beating ??= beatOnce()
      .catch(reportProblem)
      .finally(() => {
        beating = undefined;
        if (again && !leaving.signal.aborted) void heartbeat();
      });
    return beating;
  };

  await table.look({ ...gateway, lock: null, byLock: false, names: [] });
  const connection = openLockConnection({
    connect,
    notified,
    signal: over.signal,
    heard: (name) => void ((name === "" || shared.has(name) || leases.has(name)) && heartbeat()),
    changed: () => void heartbeat(),
  });
  const timer = setInterval(() => void heartbeat(), HEARTBEAT_MS).unref();
  return {
    async share(name) {
      const memory = await shareMemory(table, name);
      shared.set(name, memory);
      return memory;
    },
    hold(name, watch) {
      const ended = () => void (leaving.signal.aborted || heartbeat());
      const parts = {
        name,
        watch,
        table,
        process,
        sure: leaseGuard.reached,
        leaving: leaving.signal,
        writeFailed: reportProblem,
        ended,
      };
      leases.set(name, createSurfaceLease(parts));
      void heartbeat();
    },
    async leave() {
      leaving.abort(new Error("this gateway leaves"));
      await beating;
      await Promise.allSettled([...leases.values()].flatMap(({ done }) => done ?? []));
      clearInterval(timer);
      over.abort();
      await beating;
      await table.gatewayLeaves(process).catch(() => {});
      await connection.closed;
    },
  };
}

/** Knows until when nobody else can have taken what is held here. */
function createLeaseGuard(): { extend(until: number): void; reached(lost: AbortSignal): Promise<void> } {
  let until = -Infinity;
  const waiting: (() => void)[] = [];
  return {
    extend(to) {
      until = to;
      for (const resolve of waiting.splice(0)) resolve();
    },
    async reached(lost) {
      while (!lost.aborted && performance.now() >= until)
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          lost.addEventListener("abort", () => resolve(), { once: true });
        });
      lost.throwIfAborted();
    },
  };
}

type LockConnection = {
  /** Number of the lock, while its connection is open. */
  readonly lock: number | null;
  /** Moment from which it has stood; later than any other while it does not. */
  readonly since: number;
  readonly closed: Promise<void>;
};

type LockConnectionParts = Pick<Cluster, "connect"> & {
  notified: boolean;
  signal: AbortSignal;
  /** A surface has changed, or all may have: "". */
  heard(surface: string): void;
  /** The lock is held from now on, or no longer. */
  changed(): void;
};

/** Connection that the server sees closing when this process is killed. It also carries notifications about surfaces. */
function openLockConnection({ connect, notified, signal, heard, changed }: LockConnectionParts): LockConnection {
  const number = randomInt(2 ** 31 - 1);
  let since = Infinity;
  const begin = async (client: Client): Promise<void> => {
    client.on("notification", ({ payload = "" }) => heard(payload));
    await client.query("SELECT pg_advisory_lock($1, $2)", [GATEWAY_LIVES, number]);
    await client.query("LISTEN sage_surface");
    since = performance.now();
    changed();
  };
  const lost = () => {
    since = Infinity;
    if (!signal.aborted) changed();
  };
  return {
    closed: notified ? stayConnected({ connect, begin, lost, signal, ref: false }) : Promise.resolve(),
    get lock() {
      return since === Infinity ? null : number;
    },
    get since() {
      return since;
    },
  };
}
