import { SageError } from "../protocol/reasons/error.ts";
import { reason } from "../protocol/reasons/reason.ts";
import { backOff, CircuitOpen, classify, giveUp, longestWaitMs } from "./failure.ts";
import type { Model } from "./model.ts";
import { sleep as realSleep } from "./sleep.ts";

export type RetryOptions = {
  retries?: number;
  /** Rejects with the signal's reason when it is aborted. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Never repeated in a message, even when the server does. */
  secret?: string | undefined;
  /** Another model stands by: there is no point in waiting for a server that nobody asks for a while. */
  standby?: boolean;
};

/** Tries again what may work the next time, and says why it gave up. */
export function withRetry(model: Model, options: RetryOptions = {}): Model {
  const { retries = 5, sleep = realSleep, secret, standby = false } = options;
  return {
    id: model.id,
    async reply(request, scope) {
      const { signal } = scope;
      for (let retry = 0; ; retry++) {
        try {
          return await model.reply(request, scope);
        } catch (error) {
          // An aborted request fails in many ways, some of which look like a broken connection.
          if (signal.aborted) throw signal.reason;
          if (error instanceof SageError && !error.retryable) throw error;
          const failure = classify(error, secret);
          const waitMs = failure.retryAfterMs ?? backOff(retry);
          const pointless = !failure.retryable || (standby && error instanceof CircuitOpen);
          if (pointless || retry === retries || waitMs > longestWaitMs) throw giveUp(model.id, failure);
          const { problem } = failure;
          scope.retry(reason("tries-again", { problem, waitMs, attempt: retry + 1, of: retries }));
          await sleep(waitMs, signal);
        }
      }
    },
  };
}
