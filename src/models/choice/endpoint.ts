import { type Breaker, createBreaker } from "../breaker.ts";
import { type Limiter, type Limits, createLimiter } from "../limiter.ts";
import type { Model } from "../model.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { CircuitOpen, backOff, classify, giveUp, longestWaitMs } from "../failure.ts";
import { sleep as realSleep } from "../sleep.ts";

/** A model server: all sessions and subagents of this process share its breaker and its limits. */
const breakers = new Map<string, Breaker>();
const limiters = new Map<string, Limiter>();

type Endpoint = {
  provider: string;
  baseURL: string | undefined;
  limits: Limits;
} & RetryOptions;

/** The model, asked with patience: retries outside, so that each of them is counted and paced. */
export function throughEndpoint(model: Model, endpoint: Endpoint): Model {
  const { provider, baseURL = "", limits, secret } = endpoint;
  const name = `${provider} ${baseURL}`;
  const { requestsPerMinute, tokensPerMinute } = limits;
  // The breaker is outermost: a request it rejects does not count against the limit.
  const paced =
    requestsPerMinute === undefined && tokensPerMinute === undefined
      ? model
      : kept(limiters, `${name} ${requestsPerMinute} ${tokensPerMinute}`, () => createLimiter(limits)).pace(model);
  return withRetry(kept(breakers, name, createBreaker).guard(paced, secret), endpoint);
}

function kept<T>(all: Map<string, T>, name: string, make: () => T): T {
  const existing = all.get(name);
  if (existing !== undefined) return existing;
  const made = make();
  all.set(name, made);
  return made;
}

export type RetryOptions = {
  retries?: number;
  /** Rejects with the signal's reason when it is aborted. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Never repeated in a message, even when the server does. */
  secret?: string | undefined;
  /** There is a fallback model, so do not wait for a server whose breaker is open. */
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
