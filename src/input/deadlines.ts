import { uptime } from "node:os";
import { attempt } from "../base/attempt.ts";
import { andThen, isPromised, type InboundFact, type Store } from "../journal/store/store.ts";
import { countedFrom } from "../protocol/facts/moved.ts";
import type { InputRequest } from "../protocol/facts/request.ts";
import type { Deadline } from "../protocol/facts/silence.ts";
import { escalatedKey, remindedKey, splitRequestId } from "../protocol/key.ts";
import { duesOf } from "./due.ts";
import { enforcedNow, mayEnforce, rest, resume } from "./enforce.ts";
import { expired, settle } from "./respond.ts";

/** Timers stand still while the machine sleeps: somebody looks this often, and late after a sleep by no more than that. */
const MAX_TIMER_MS = 30_000;
const RETRY_MS = 1_000;
/** The system's uptime is told in hundredths of a second, and a busy machine lets time pass between two looks: less than this is no sleep. */
const SHORTEST_SLEEP_MS = 1_000;
let asleep = 0;

/** `due` is unknown until gaps before it are recorded. */
type Armed = { due: number | undefined; request: InputRequest; store: Store; calls: Call[] };

/** Something that is due before the end: a fact of its own, written once whoever comes to write it. */
type Call = { due: number; fact: InboundFact & { type: "input.reminded" | "input.escalated" } };

// All requests of the process share a timer, set for the nearest deadline.
const armed = new Set<Armed>();
/** Entries whose time is not counted yet. */
const uncounted = new Set<Armed>();
let timer: NodeJS.Timeout | undefined;
let nearest = Infinity;

/** Counts down from now on a clock that nobody can set, and that keeps running while the machine sleeps. */
export function arm(store: Store, request: InputRequest): () => void {
  const entry: Armed = { due: undefined, request, store, calls: [] };
  armed.add(entry);
  uncounted.add(entry);
  count(store);
  return () => {
    disarm(entry);
    if (!isOver(store, request.id)) return;
    const dues = duesOf(store);
    for (const name of dues.keys()) if (name === request.id || name.startsWith(`${request.id} `)) dues.delete(name);
  };
}

/** Begins to count the entries of a store that are not counted yet, once the time in which nobody did is recorded. */
function count(store: Store): void {
  const begin = () => {
    let next = nearest;
    for (const entry of uncounted) if (entry.store === store) next = Math.min(next, measure(entry));
    if (next < nearest || timer === undefined) schedule(next);
  };
  const later = () => schedule(Math.min(nearest, bootNow() + RETRY_MS)); // a full disk, a busy journal
  try {
    const counted = mayEnforce(store) ? undefined : andThen(resume(store), begin);
    if (!counted) begin();
    else if (isPromised(counted)) counted.catch(later);
  } catch {
    later();
  }
}

function measure(entry: Armed): number {
  uncounted.delete(entry);
  const { store, request: armedWith } = entry;
  const dues = duesOf(store);
  const request = found(store, armedWith.id) ?? armedWith;
  const now = enforcedNow(store);
  entry.due = dues.get(request.id) ?? bootNow() + remaining(request.deadline, now);
  dues.set(request.id, entry.due);
  entry.calls = dueCalls(store, request, now);
  return nextOf(entry);
}

/** Of a process that was frozen, or a machine that slept: others may have counted meanwhile, or nobody. */
function countAgain(store: Store): void {
  duesOf(store).clear();
  for (const entry of armed)
    if (entry.store === store) {
      [entry.due, entry.calls] = [undefined, []];
      uncounted.add(entry);
    }
  count(store);
}

function nextOf({ due = Infinity, calls }: Armed): number {
  return Math.min(due, ...calls.map((call) => call.due));
}

/** Reminders and further people, by the clock of this process. Those that came while nobody counted are due at once. */
function dueCalls(store: Store, request: InputRequest, now: number): Call[] {
  const { id, deadline, remind = [] } = request;
  const { key } = splitRequestId(id);
  const dues = duesOf(store);
  const due = (at: number) => {
    const name = `${id} ${at}`;
    const wait = Math.min(Math.max(0, at - now), Math.max(0, at - countedFrom(request)));
    const known = dues.get(name) ?? bootNow() + wait;
    dues.set(name, known);
    return known;
  };
  return [
    ...(deadline?.escalation ?? []).map(({ to, at }, n): Call => {
      const data = { requestId: id, to };
      return { due: due(at), fact: { key: escalatedKey(key, n), type: "input.escalated", at: 0, data } };
    }),
    ...remind.map((at, n): Call => {
      const data = { requestId: id, n };
      return { due: due(at), fact: { key: remindedKey(key, n), type: "input.reminded", at: 0, data } };
    }),
  ];
}

/** The key is the fence: a restart, or another process, neither repeats one nor loses one. Of a request that has ended nothing is written. */
async function call({ store, request }: Armed, { fact }: Call): Promise<void> {
  if (isOver(store, request.id)) return;
  if (!isKnown(store, request.id)) throw new Error("its request is not on disk yet");
  await store.append(splitRequestId(request.id).session, { ...fact, at: Date.now() });
}

/** The timer may come too early now, which costs a look and nothing else; the last one out stops it. */
function disarm(entry: Armed): void {
  uncounted.delete(entry);
  if (!armed.delete(entry)) return;
  if (armed.size === 0) schedule(Infinity);
  for (const { store } of armed) if (store === entry.store) return;
  rest(entry.store);
}

function isOver(store: Store, id: string): boolean {
  // A journal that cannot be read now: a number is kept for nothing.
  return attempt(() => store.resolution(id) !== undefined) ?? false;
}

function isKnown(store: Store, id: string): boolean {
  return found(store, id) !== undefined;
}

function found(store: Store, id: string): InputRequest | undefined {
  return attempt(() => store.find(id)?.request); // a journal that cannot be read now
}

/** A wall clock that was set back must not make anybody wait longer than was said. */
function remaining(deadline: Deadline | undefined, now: number): number {
  if (!deadline) return Infinity;
  const { at, timeoutMs } = deadline;
  return Math.min(Math.max(0, at - now), timeoutMs);
}

/** Somebody looks, and says so, for as long as anything is counted. */
function schedule(due: number): void {
  clearTimeout(timer);
  nearest = due;
  timer = armed.size === 0 ? undefined : setTimeout(expire, Math.min(Math.max(0, due - bootNow()), MAX_TIMER_MS));
}

function expire(): void {
  for (const store of new Set([...armed].map(({ store }) => store))) if (!mayEnforce(store)) countAgain(store);
  const now = bootNow();
  const late = [...armed].flatMap((entry) =>
    entry.due !== undefined && entry.due <= now ? [{ entry, due: entry.due }] : [],
  );
  for (const { entry } of late.sort((a, b) => a.due - b.due)) {
    const { request, store } = entry;
    entry.due = now + RETRY_MS; // a full disk, a busy journal: it expires when it can be recorded
    // Not on disk yet: whoever else takes the session would ask anew, and this end would be that one's.
    if (!isKnown(store, request.id)) continue;
    // An answer that came first has won already, and that is fine.
    settle(store, request, expired(request)).then(
      () => disarm(entry),
      () => {},
    );
  }
  for (const entry of armed)
    for (const due of entry.calls.filter((each) => each.due <= now)) {
      due.due = now + RETRY_MS; // until it is recorded
      void call(entry, due).then(
        () => void (entry.calls = entry.calls.filter((each) => each !== due)),
        () => {},
      );
    }
  let next = Infinity;
  for (const entry of armed) next = Math.min(next, nextOf(entry));
  schedule(next);
}

let seen: { ours: number; machine: number } | undefined;

/** Counts while the machine sleeps, and nobody can set it: uptime on Linux, where Node's clock stops; Node's clock elsewhere. */
function bootNow(): number {
  const ours = performance.now();
  if (process.platform !== "linux") return ours;
  const machine = uptime() * 1_000;
  const gap = seen ? machine - seen.machine - (ours - seen.ours) : 0;
  if (gap > SHORTEST_SLEEP_MS) asleep += gap;
  // Rounding would add up if every look began anew: the two are compared from the last sleep on.
  if (!seen || Math.abs(gap) > SHORTEST_SLEEP_MS) seen = { ours, machine };
  return ours + asleep;
}
