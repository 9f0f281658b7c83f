import type { Store } from "../journal/store.ts";
import type { Deadline, InputRequest } from "../protocol/index.ts";
import { bootNow } from "./boot-clock.ts";
import { duesOf } from "./due.ts";
import { expired, settle } from "./respond.ts";

/** Timers stand still while the machine sleeps: somebody looks this often, and late after a sleep by no more than that. */
const LONGEST_TIMER = 30_000;
const RETRY_MS = 1_000;

type Armed = { due: number; request: InputRequest; store: Store };

// All requests of the process share a timer, set for the nearest deadline.
const armed = new Set<Armed>();
let timer: NodeJS.Timeout | undefined;
let nearest = Infinity;

/** Counts down from now on a clock that nobody can set, and that goes on while the machine sleeps; wall time says only how much was left after a restart. */
export function arm(store: Store, request: InputRequest): () => void {
  const dues = duesOf(store);
  const due = dues.get(request.id) ?? bootNow() + remaining(request.deadline);
  dues.set(request.id, due);
  const one = { due, request, store };
  armed.add(one);
  if (one.due < nearest) schedule(one.due);
  return () => {
    disarm(one);
    if (isOver(store, request.id)) dues.delete(request.id);
  };
}

/** The timer may come too early now, which costs a look and nothing else; the last one out stops it. */
function disarm(one: Armed): void {
  if (armed.delete(one) && armed.size === 0) schedule(Infinity);
}

function isOver(store: Store, id: string): boolean {
  try {
    return store.resolution(id) !== undefined;
  } catch {
    return false; // a journal that cannot be read now: a number is kept for nothing
  }
}

/** A wall clock that was set back must not make anybody wait longer than was said. */
function remaining(deadline: Deadline | undefined): number {
  if (!deadline) return Infinity;
  const { at, timeoutMs } = deadline;
  return Math.min(Math.max(0, at - Date.now()), timeoutMs);
}

function schedule(due: number): void {
  clearTimeout(timer);
  nearest = due;
  timer = due === Infinity ? undefined : setTimeout(expire, Math.min(Math.max(0, due - bootNow()), LONGEST_TIMER));
}

function expire(): void {
  const now = bootNow();
  const late = [...armed].filter(({ due }) => due <= now).sort((a, b) => a.due - b.due);
  for (const one of late) {
    const { request, store } = one;
    one.due = now + RETRY_MS; // a full disk, a busy journal: it expires when it can be recorded
    // An answer that came first has won already, and that is fine.
    settle(store, request, expired(request)).then(
      () => disarm(one),
      () => {},
    );
  }
  let next = Infinity;
  for (const { due } of armed) next = Math.min(next, due);
  schedule(next);
}
