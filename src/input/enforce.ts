import { uptime } from "node:os";
import { machineBoot } from "../processes/identity.ts";
import { andThen, isPromised, type Awaitable, type Beat, type Store } from "../journal/store/store.ts";
import { BEAT_MS, MIN_GAP_MS, countedFrom, gapOf, hasDue } from "../protocol/facts/moved.ts";
import type { InputRequest } from "../protocol/facts/request.ts";
import { movedKey } from "../protocol/key.ts";

/** Clocks of one machine that differ by less are the same. */
const MAX_SKEW_MS = 1_000;
/** The machine's own clock: nobody sets it, all processes share it, and it keeps running while the machine sleeps. */
const machineNow = () => uptime() * 1_000;

/** Deadlines of one journal in this process: the clock by which they go, and whether it may end anything yet. */
type Enforcer = {
  /** A moment on the clock of deadlines, and the machine's uptime then. */
  anchor: { at: number; uptime: number } | undefined;
  /** The machine's uptime at the last look, and at the last heartbeat. */
  looked: number;
  beat: number;
  /** Gaps are recorded: from now on something may expire. */
  ready: boolean;
  /** When it last wrote one for a request that it was about to open. */
  opened: number;
  /** A look at a store elsewhere, which all who ask meanwhile wait for. */
  resuming: Promise<void> | undefined;
};

const createEnforcer = (): Enforcer => ({
  anchor: undefined,
  looked: 0,
  beat: -Infinity,
  ready: false,
  opened: -Infinity,
  resuming: undefined,
});
const enforcerOf = (store: Store) => store.member(createEnforcer);

/** Time of deadlines: a shared journal's server, or the newest heartbeat plus uptime, which no wall clock moves; wall time after a reboot. */
export function enforcedNow(store: Store): number {
  if (store.now) return store.now();
  const { anchor } = enforcerOf(store);
  return anchor ? Math.round(anchor.at + machineNow() - anchor.uptime) : nowSince(store, store.lastBeat?.());
}

function nowSince(store: Store, beat: Beat | undefined): number {
  const wall = Date.now();
  if (!beat) return wall;
  // Systems that do not name their boots tell by the uptime, which began anew.
  const isOfThisBoot = beat.boot === machineBoot() && beat.uptime <= machineNow() + MAX_SKEW_MS;
  const now = isOfThisBoot ? Math.round(beat.at + machineNow() - beat.uptime) : Math.max(wall, beat.at);
  if (isOfThisBoot && Math.abs(now - wall) <= MAX_SKEW_MS) return wall;
  return store.pending().some((request) => hasDue(request) && countedFrom(request) <= beat.at) ? now : wall;
}

/** The moment of opening. Where no heartbeat counts, one is written first: the wall clock may have been set since the last. */
export function openingNow(store: Store): number {
  const enforcer = enforcerOf(store);
  const now = enforcedNow(store);
  if (store.now ? machineNow() - enforcer.opened < BEAT_MS : enforcer.anchor) return now;
  enforcer.opened = machineNow();
  void writeBeat(store, now, true);
  return now;
}

/** The same for a request that nobody may be enforcing: time stands still from the newest heartbeat on. */
export function isOverdue(store: Store, request: InputRequest): boolean {
  if (!request.deadline) return false;
  const to = enforcedNow(store);
  const beat = store.lastBeat?.(request);
  const gap = beat ? gapOf(request, { from: beat.at, to }) : 0;
  return to - gap > request.deadline.at;
}

/** May this process end requests of the store now? Otherwise it has to `resume` first. */
export function mayEnforce(store: Store): boolean {
  const enforcer = enforcerOf(store);
  const now = machineNow();
  // Frozen, or the machine slept; or nothing could be recorded, no answer either.
  if (now - Math.min(enforcer.looked, enforcer.beat) >= MIN_GAP_MS) enforcer.ready = false;
  enforcer.looked = now;
  // A look may come a moment early, and the next one is as far away as two heartbeats.
  if (enforcer.ready && now - enforcer.beat >= BEAT_MS - MAX_SKEW_MS) void beatNow(store);
  return enforcer.ready;
}

/** Records, before anything expires, for how long nobody enforced deadlines. Throws, or rejects, where that cannot be recorded. */
export function resume(store: Store): Awaitable<void> {
  const enforcer = enforcerOf(store);
  if (enforcer.resuming) return enforcer.resuming;
  const resumed = andThen(
    store.enforced?.() ?? (store.lastBeat?.() ? store.pending() : []),
    (requests): Awaitable<void> => {
      const to = Math.round(enforcedFrom(store, store.lastBeat?.()));
      const facts = gapsOf(store, requests, to);
      return andThen(facts.length > 0 ? store.appendAll(facts) : [], (written) => {
        for (const result of written) if (!("won" in result)) throw result;
        enforcer.looked = machineNow();
        return andThen(beatNow(store), (hasBeaten) => void (enforcer.ready = hasBeaten));
      });
    },
  );
  if (!isPromised(resumed)) return;
  return (enforcer.resuming = resumed.finally(() => (enforcer.resuming = undefined)));
}

/** A fact for each session: of several requests, the gap of those that were left alone for longest. */
function gapsOf(store: Store, requests: readonly InputRequest[], to: number) {
  const begins = new Map<string, number>();
  const common = store.enforced ? undefined : store.lastBeat?.();
  for (const request of requests.filter(hasDue)) {
    const from = Math.round((common ?? store.lastBeat?.(request))?.at ?? to);
    if (gapOf(request, { from, to }) === 0) continue;
    begins.set(request.session, Math.min(from, begins.get(request.session) ?? from));
  }
  return [...begins].map(([session, from]) => ({
    session,
    fact: { key: movedKey(to), type: "time.moved" as const, at: Date.now(), data: { from, to } },
  }));
}

function enforcedFrom(store: Store, beat: Beat | undefined): number {
  if (store.now) return store.now();
  const at = nowSince(store, beat);
  enforcerOf(store).anchor = { at, uptime: machineNow() };
  return at;
}

/** Nothing here has a deadline any more: the next one begins with the clock on the wall. */
export function rest(store: Store): void {
  if (!store.now) Object.assign(enforcerOf(store), createEnforcer());
}

/** Enforces from now on, also what is asleep, until the returned function is called. */
export async function keepTime(store: Store): Promise<() => void> {
  await resume(store);
  const look = async () => void (mayEnforce(store) || (await resume(store)));
  const timer = setInterval(() => void look().catch(() => {}), BEAT_MS / 2).unref(); // the server is away: with the next look
  return () => clearInterval(timer);
}

/** Heartbeat: deadlines are enforced now. False where it cannot be written. */
export function beatNow(store: Store): Awaitable<boolean> {
  return writeBeat(store, enforcedNow(store));
}

function writeBeat(store: Store, at: number, opens = false): Awaitable<boolean> {
  const enforcer = enforcerOf(store);
  const written = () => {
    enforcer.beat = machineNow();
    return true;
  };
  try {
    const beaten = store.beat?.({ at, boot: machineBoot(), uptime: Math.round(machineNow()) }, opens);
    return isPromised(beaten) ? beaten.then(written, () => false) : written();
  } catch {
    return false; // the disk is full: the next look tries again
  }
}
