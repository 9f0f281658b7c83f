import { SageError } from "../../protocol/reasons/reason.ts";
import type { Awaitable } from "./store.ts";

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

type Retry = {
  /** Ends the trying; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Called after each failure that can be retried; returning false stops, and the error is thrown. */
  failed?(error: SageError): boolean | void;
};

/** Writes until it is written. A busy journal and a full disk pass; any other error is thrown. */
export async function untilWritten<T>(write: () => Awaitable<T>, { signal, failed }: Retry = {}): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await write();
    } catch (error) {
      if (!isRetryable(error) || failed?.(error) === false) throw error;
    }
    await pause(Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS), signal);
    signal?.throwIfAborted();
  }
}

/** A busy journal or a full disk: the same write may succeed later. */
export function isRetryable(error: unknown): error is SageError {
  return error instanceof SageError && error.retryable;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const over = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal?.addEventListener("abort", over, { once: true });
  });
}

/** Marks a promise as handled: its rejection reaches the code that awaits it, or the next barrier. */
export function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
