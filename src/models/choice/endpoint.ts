import { createBreaker, type Breaker } from "../breaker.ts";
import { createLimiter, type Limiter, type Limits } from "../limiter.ts";
import type { Model } from "../model.ts";
import { withRetry, type RetryOptions } from "../retry.ts";

/** A model server: all sessions and subagents of this process share its breaker and its limits. */
const breakers = new Map<string, Breaker>();
const limiters = new Map<string, Limiter>();

export type Endpoint = {
  provider: string;
  baseURL: string | undefined;
  limits: Limits;
} & RetryOptions;

/** The model, asked with patience: retries outside, so that each of them is counted and paced. */
export function throughEndpoint(model: Model, endpoint: Endpoint): Model {
  const { provider, baseURL = "", limits, secret } = endpoint;
  const name = `${provider} ${baseURL}`;
  const { requestsPerMinute, tokensPerMinute } = limits;
  // The breaker stands outside: who is turned away there has taken nothing from the limit.
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
