import { uptime } from "node:os";
import { machineBoot } from "../processes/identity.ts";
import { andThen, type Awaitable, type Beat, type Store } from "../journal/store/store.ts";
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
};

const createEnforcer = (): Enforcer => ({ anchor: undefined, looked: 0, beat: -Infinity, ready: false });
const enforcerOf = (store: Store) => store.member(createEnforcer);

/**
 * The time that deadlines go by: the server's of a shared journal. On one machine it goes on from the newest heartbeat by the machine's
 * uptime, so that no process minds how a wall clock is set; after another start of the machine it is wall time, and never goes back.
 */
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
  const now = enforcedNow(store);
  const isCounted = store.now !== undefined || enforcerOf(store).anchor !== undefined;
  if (!isCounted) writeBeat(store, now);
  return now;
}

/** The same for a request that nobody may be enforcing: time stands still from the newest heartbeat on. */
export function isOverdue(store: Store, request: InputRequest): boolean {
  if (!request.deadline) return false;
  const to = enforcedNow(store);
  const beat = store.lastBeat?.();
  const gap = beat ? gapOf(request, { from: beat.at, to }) : 0;
  return to - gap > request.deadline.at;
}

/** May this process end requests of the store now? Otherwise it has to `resume` first. */
export function mayEnforce(store: Store): boolean {
  const enforcer = enforcerOf(store);
  const now = machineNow();
  if (now - enforcer.looked >= MIN_GAP_MS) enforcer.ready = false; // frozen, or the machine slept
  enforcer.looked = now;
  if (enforcer.ready && now - enforcer.beat >= BEAT_MS) beatNow(store);
  return enforcer.ready;
}

/** Records, before anything expires, for how long nobody enforced deadlines. Throws, or rejects, where that cannot be recorded. */
export function resume(store: Store): Awaitable<void> {
  const enforcer = enforcerOf(store);
  const beat = store.lastBeat?.();
  const to = enforcedFrom(store, beat);
  const sessions = new Set(
    beat
      ? store
          .pending()
          .flatMap((request) => (hasDue(request) && gapOf(request, { from: beat.at, to }) > 0 ? [request.session] : []))
      : [],
  );
  const data = { from: Math.round(beat?.at ?? 0), to: Math.round(to) };
  const facts = [...sessions].map((session) => ({
    session,
    fact: { key: movedKey(data.to), type: "time.moved" as const, at: Date.now(), data },
  }));
  return andThen(facts.length > 0 ? store.appendAll(facts) : [], (written) => {
    for (const result of written) if (!("won" in result)) throw result;
    enforcer.looked = machineNow();
    enforcer.ready = beatNow(store);
  });
}

function enforcedFrom(store: Store, beat: Beat | undefined): number {
  if (store.now) return store.now();
  const at = nowSince(store, beat);
  enforcerOf(store).anchor = { at, uptime: machineNow() };
  return at;
}

/** Nothing here has a deadline any more: the next one begins with the clock on the wall. */
export function rest(store: Store): void {
  Object.assign(enforcerOf(store), createEnforcer());
}

/** Heartbeat: deadlines are enforced now. False where it cannot be written. */
export function beatNow(store: Store): boolean {
  return writeBeat(store, enforcedNow(store));
}

function writeBeat(store: Store, at: number): boolean {
  const enforcer = enforcerOf(store);
  try {
    store.beat?.({ at, boot: machineBoot(), uptime: Math.round(machineNow()) });
    enforcer.beat = machineNow();
    return true;
  } catch {
    return false; // the disk is full: the next look tries again
  }
}
