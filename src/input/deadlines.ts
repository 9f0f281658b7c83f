import { uptime } from "node:os";
import { attempt } from "../base/attempt.ts";
import { type InboundFact, type Store, storeNow } from "../journal/store/store.ts";
import type { InputRequest } from "../protocol/facts/request.ts";
import type { Deadline } from "../protocol/facts/silence.ts";
import { escalatedKey, remindedKey, splitRequestId } from "../protocol/key.ts";
import { duesOf } from "./due.ts";
import { expired, settle } from "./respond.ts";

/** Timers stand still while the machine sleeps: somebody looks this often, and late after a sleep by no more than that. */
const MAX_TIMER_MS = 30_000;
const RETRY_MS = 1_000;
/** The system's uptime is told in hundredths of a second, and a busy machine lets time pass between two looks: less than this is no sleep. */
const SHORTEST_SLEEP_MS = 1_000;
let asleep = 0;

type Armed = { due: number; request: InputRequest; store: Store; calls: Call[] };

/** Something that is due before the end: a fact of its own, written once whoever comes to write it. */
type Call = { due: number; fact: InboundFact & { type: "input.reminded" | "input.escalated" } };

// All requests of the process share a timer, set for the nearest deadline.
const armed = new Set<Armed>();
let timer: NodeJS.Timeout | undefined;
let nearest = Infinity;

/** Counts down from now on a clock that nobody can set, and that keeps running while the machine sleeps; wall time says only how much was left after a restart. */
export function arm(store: Store, request: InputRequest): () => void {
  const dues = duesOf(store);
  const due = dues.get(request.id) ?? bootNow() + remaining(request.deadline, storeNow(store));
  dues.set(request.id, due);
  const entry = { due, request, store, calls: dueCalls(store, request) };
  armed.add(entry);
  const next = nextOf(entry);
  if (next < nearest) schedule(next);
  return () => {
    disarm(entry);
    if (!isOver(store, request.id)) return;
    for (const name of dues.keys()) if (name === request.id || name.startsWith(`${request.id} `)) dues.delete(name);
  };
}

function nextOf({ due, calls }: Armed): number {
  return Math.min(due, ...calls.map((call) => call.due));
}

/** Reminders and further people, by the clock of this process. Those that came while nobody counted are due at once. */
function dueCalls(store: Store, { id, at: opened, deadline, remind = [] }: InputRequest): Call[] {
  const { key } = splitRequestId(id);
  const dues = duesOf(store);
  const due = (at: number) => {
    const name = `${id} ${at}`;
    const known = dues.get(name) ?? bootNow() + Math.min(Math.max(0, at - storeNow(store)), Math.max(0, at - opened));
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
  if (armed.delete(entry) && armed.size === 0) schedule(Infinity);
}

function isOver(store: Store, id: string): boolean {
  // A journal that cannot be read now: a number is kept for nothing.
  return attempt(() => store.resolution(id) !== undefined) ?? false;
}

function isKnown(store: Store, id: string): boolean {
  return attempt(() => store.find(id) !== undefined) ?? false; // a journal that cannot be read now
}

/** A wall clock that was set back must not make anybody wait longer than was said. */
function remaining(deadline: Deadline | undefined, now: number): number {
  if (!deadline) return Infinity;
  const { at, timeoutMs } = deadline;
  return Math.min(Math.max(0, at - now), timeoutMs);
}

function schedule(due: number): void {
  clearTimeout(timer);
  nearest = due;
  timer = due === Infinity ? undefined : setTimeout(expire, Math.min(Math.max(0, due - bootNow()), MAX_TIMER_MS));
}

function expire(): void {
  const now = bootNow();
  const late = [...armed].filter(({ due }) => due <= now).sort((a, b) => a.due - b.due);
  for (const entry of late) {
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

/**
 * Milliseconds on a clock that nobody can set and that keeps running while the machine sleeps. On Linux Node's clock stands still then, and
 * the machine's uptime does not; on other systems Node's clock keeps running by itself, and the uptime follows the clock on the wall.
 */
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
