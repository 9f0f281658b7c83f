import { randomInt } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { GATEWAY_LIVES } from "../../journal/postgres/surface-schema.ts";
import type { SurfaceStanding, SurfaceTable } from "../../journal/postgres/surfaces.ts";
import type { SharedStore } from "../../protocol/index.ts";
import type { Cluster } from "./cluster.ts";
import { holdMemory, type HeldMemory } from "./held-memory.ts";
import { shareMemory, type SharedMemory } from "./shared-memory.ts";

const LOOK_MS = 1_000;
/** A gateway that was not heard of for so long has lost what it held. */
const LEASE_MS = 10_000;
const PAUSE_MS = 200;

/** A surface that this gateway holds, until the signal is aborted: another one has it, or this one leaves. */
export type Hold = Pick<HeldMemory, "store" | "kept"> & { signal: AbortSignal };

export type Presence = {
  /** A memory that all gateways write. */
  share(surface: string): Promise<SharedStore>;
  /**
   * Takes the surface up whenever nobody else holds it. `taken` runs each time, until the signal of the hold says so; what it has remembered
   * by then is written before the hold is given up.
   */
  hold(surface: string, watch: HoldWatch): void;
  /** Gives up everything; others go on at once. */
  leave(): Promise<void>;
};

export type HoldWatch = {
  taken(hold: Hold): Promise<void>;
  /** Another gateway holds it, or nobody does any more. */
  elsewhere(holder: string | undefined): void;
  /** `taken` rejected while the hold was this gateway's. It is tried again. */
  failed(error: unknown): void;
};

export type PresenceOptions = {
  /** False: nobody hears, and nobody is taken for dead but by time. */
  notified?: boolean;
  leaseMs?: number;
  /** How long nobody is judged after the connection came about. */
  graceMs?: number;
  failed?(error: unknown): void;
};

type Watched = HoldWatch & {
  name: string;
  held?: { number: number; lost: AbortController; done: Promise<void> };
  /** The holder that `elsewhere` was told of. */
  told?: string | undefined;
};

/**
 * This gateway among the others. It says each second that it lives, and learns how surfaces stand; by the server's clock it keeps what it
 * holds for ten seconds more. A lock on a connection of its own makes it quicker when it is killed. Safety is neither: every write to a
 * held memory carries the number of the hold.
 */
export async function joinGateways(
  table: SurfaceTable,
  { process, connect }: Pick<Cluster, "process" | "connect">,
  { notified = true, leaseMs = LEASE_MS, graceMs = LEASE_MS, failed = () => {} }: PresenceOptions = {},
): Promise<Presence> {
  const lock = randomInt(2 ** 31 - 1);
  /** Nothing more is taken up, and what is held ends; while it does, this gateway lives on. */
  const leaving = new AbortController();
  const over = new AbortController();
  const shared = new Map<string, SharedMemory>();
  const watched = new Map<string, Watched>();
  const line = { stands: false, since: 0 };
  /** Moment until which nobody else can have taken what is held here. */
  let sureUntil = -Infinity;
  const sureAgain: (() => void)[] = [];
  let looking: Promise<void> | undefined;
  let again = false;
  let troubled = false;
  /** Once for each outage. */
  const inTrouble = (error: unknown) => {
    if (!troubled) failed(error);
    troubled = true;
  };

  /** A look that is asked for while one runs follows it. */
  const look = (): Promise<void> => {
    again = looking !== undefined;
    looking ??= lookOnce()
      .catch(inTrouble)
      .finally(() => {
        looking = undefined;
        if (again && !leaving.signal.aborted) void look();
      });
    return looking;
  };
  const lookOnce = async (): Promise<void> => {
    const at = performance.now();
    const byLock = line.stands && at - line.since >= graceMs;
    const names = [...shared.keys(), ...watched.keys()];
    const own = { id: process, lock: line.stands ? lock : null, host: hostname(), leaseMs };
    const standings = await table.look({ ...own, byLock, names });
    troubled = false;
    for (const standing of standings) {
      const one = watched.get(standing.name);
      if (one) judge(one, standing);
    }
    sureUntil = at + leaseMs;
    for (const resolve of sureAgain.splice(0)) resolve();
    if (leaving.signal.aborted) return;
    await Promise.all([
      ...standings.map(({ name, version }) => shared.get(name)?.seen(version, at)),
      ...standings.map(async (standing) => {
        const one = watched.get(standing.name);
        if (one && !one.held) await take(one, standing, byLock);
      }),
    ]);
  };
  /** Somebody took it while this process stood still, or could not reach the server. */
  const judge = ({ held }: Watched, { holder, number }: SurfaceStanding): void => {
    if (held && (holder !== process || number !== held.number)) held.lost.abort(new Error("another gateway took it"));
  };
  const take = async (one: Watched, { holder, free }: SurfaceStanding, byLock: boolean): Promise<void> => {
    const number = free || holder === process ? await table.hold(one.name, process, byLock) : undefined;
    if (leaving.signal.aborted) return; // it is given up in a moment
    if (number === undefined) {
      if (one.told !== holder) one.elsewhere((one.told = holder));
      return;
    }
    one.told = undefined;
    const lost = new AbortController();
    // Under way: the next looks go on meanwhile.
    one.held = { number, lost, done: begin(one, number, lost) };
  };
  const begin = async (one: Watched, number: number, lost: AbortController): Promise<void> => {
    const lose = () => lost.abort(new Error("another gateway took it"));
    try {
      const { entries } = await table.read(one.name);
      const memory = holdMemory({
        ...{ entries, lose, lost: lost.signal, failed: inTrouble },
        write: (changes) => table.write(one.name, number, changes),
        sure: () => sure(lost.signal),
      });
      const { store, kept } = memory;
      await one.taken({ store, kept, signal: AbortSignal.any([lost.signal, leaving.signal]) });
      await memory.close();
    } catch (error) {
      if (!lost.signal.aborted && !leaving.signal.aborted) one.failed(error);
      await sleep(LOOK_MS, undefined, { signal: leaving.signal }).catch(() => {}); // it would fail again at once
    } finally {
      lose();
      delete one.held;
      await table.leave(one.name, number).catch(() => {}); // its time runs out, then
      if (!leaving.signal.aborted) void look();
    }
  };
  const sure = async (lost: AbortSignal): Promise<void> => {
    while (!lost.aborted && performance.now() >= sureUntil)
      await new Promise<void>((resolve) => {
        sureAgain.push(resolve);
        lost.addEventListener("abort", () => resolve(), { once: true });
      });
    lost.throwIfAborted();
  };

  /** The connection whose end the server notices when this process is killed. */
  const stay = async (): Promise<void> => {
    while (!over.signal.aborted) {
      try {
        const client = await connect();
        const gone = new Promise<void>((resolve) => client.once("end", resolve).once("error", () => resolve()));
        const leave = () => void client.end().catch(() => {});
        if (over.signal.aborted) return leave(); // it left while it connected
        over.signal.addEventListener("abort", leave, { once: true });
        await announce(client);
        void look();
        await gone;
        line.stands = false;
        over.signal.removeEventListener("abort", leave);
        leave();
        if (!over.signal.aborted) void look(); // the lock counts no longer
      } catch {
        // The server is away: try again.
      }
      await sleep(PAUSE_MS, undefined, { signal: over.signal, ref: false }).catch(() => {});
    }
  };
  const announce = async (client: Client): Promise<void> => {
    client.on("notification", ({ payload = "" }) => {
      if (payload === "" || shared.has(payload) || watched.has(payload)) void look();
    });
    await client.query("SELECT pg_advisory_lock($1, $2)", [GATEWAY_LIVES, lock]);
    await client.query("LISTEN sage_surface");
    Object.assign(line, { stands: true, since: performance.now() });
  };

  await table.look({ id: process, lock: null, host: hostname(), leaseMs, byLock: false, names: [] });
  const staying = notified ? stay() : undefined;
  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return {
    async share(name) {
      const memory = await shareMemory(table, name);
      shared.set(name, memory);
      return memory;
    },
    hold(name, watch) {
      watched.set(name, { ...watch, name });
      void look();
    },
    async leave() {
      leaving.abort(new Error("this gateway leaves"));
      await looking;
      await Promise.allSettled([...watched.values()].flatMap(({ held }) => held?.done ?? []));
      clearInterval(timer);
      over.abort();
      await looking;
      await table.gatewayLeaves(process).catch(() => {});
      await staying;
    },
  };
}
