import type { Store } from "../journal/store.ts";
import type { Deadline, InputRequest, Resolution } from "../protocol/index.ts";
import { settle } from "./respond.ts";

const LONGEST_TIMER = 2 ** 31 - 1;
const RETRY_MS = 1_000;

type Armed = { due: number; request: InputRequest; store: Store };

// One timer for all requests of the process, set for the nearest deadline.
const armed = new Map<string, Armed>();
let timer: NodeJS.Timeout | undefined;

/** Counts down on the monotonic clock from now; wall time says only how much was left after a restart. */
export function arm(store: Store, request: InputRequest): () => void {
  armed.set(request.id, { due: performance.now() + remaining(request.deadline), request, store });
  schedule();
  return () => {
    if (armed.delete(request.id)) schedule();
  };
}

/** A wall clock that was set back must not make anybody wait longer than was said. */
function remaining(deadline: Deadline | undefined): number {
  if (!deadline) return Infinity;
  const { at, timeoutMs } = deadline;
  return Math.min(Math.max(0, at - Date.now()), timeoutMs);
}

function schedule(): void {
  clearTimeout(timer);
  timer = undefined;
  let nearest = Infinity;
  for (const { due } of armed.values()) nearest = Math.min(nearest, due);
  if (nearest === Infinity) return;
  timer = setTimeout(expire, Math.min(Math.max(0, nearest - performance.now()), LONGEST_TIMER));
}

function expire(): void {
  const now = performance.now();
  for (const [id, { due, request, store }] of armed) {
    if (due > now) continue;
    armed.delete(id);
    try {
      settle(store, request, expired(request)); // an answer that came first has won already, and that is fine
    } catch {
      armed.set(id, { due: now + RETRY_MS, request, store }); // a full disk, a busy journal: it expires when it can be recorded
    }
  }
  schedule();
}

function expired(request: InputRequest): Resolution {
  const { timeoutMs = 0, policy = "fail" } = request.deadline ?? {};
  const frame = { requestId: request.id, by: "deadline", surface: "deadline", at: Date.now() };
  const reason = `nobody answered within ${duration(timeoutMs)}`;
  return typeof policy === "object"
    ? { ...frame, outcome: "timed_out", reason, response: policy.default }
    : { ...frame, outcome: "timed_out", reason };
}

function duration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} seconds`;
  return `${Math.round(ms / 60_000)} minutes`;
}
