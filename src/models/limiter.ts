import { reason } from "../protocol/reasons/reason.ts";
import { unlessAborted } from "./breaker.ts";
import type { Model, ModelRequest } from "./model.ts";
import { realClock, type Clock } from "./sleep.ts";

export type Limits = { requestsPerMinute?: number; tokensPerMinute?: number };

export type Limiter = { pace(model: Model): Model };

const MINUTE = 60_000;
/** Shorter waits are not reported. */
const QUIET_MS = 1_000;

/** Keeps everybody who asks one server within what the person allows it a minute, first come first served. */
export function createLimiter(limits: Limits, clock: Clock = realClock): Limiter {
  const { requestsPerMinute = Infinity, tokensPerMinute = Infinity } = limits;
  let spent: { at: number; tokens: number }[] = [];
  let queue = Promise.resolve();

  /** How long until a request of this size fits into the minute behind it; one that never would goes alone. */
  const waitMs = (tokens: number): number => {
    const now = clock.now();
    spent = spent.filter(({ at }) => now - at < MINUTE);
    let requests = spent.length;
    let sum = spent.reduce((total, request) => total + request.tokens, 0);
    for (const { at, tokens: gone } of spent) {
      if (requests < requestsPerMinute && sum + tokens <= tokensPerMinute) break;
      requests--;
      sum -= gone;
      if (requests < requestsPerMinute && (sum + tokens <= tokensPerMinute || requests === 0)) return at + MINUTE - now;
    }
    return 0;
  };

  const admit = async (tokens: number, signal: AbortSignal): Promise<{ tokens: number }> => {
    const before = queue;
    const { promise, resolve } = Promise.withResolvers<void>();
    queue = promise;
    try {
      await unlessAborted(before, signal);
      for (let ms = waitMs(tokens); ms > 0; ms = waitMs(tokens)) await clock.sleep(ms, signal);
      const entry = { at: clock.now(), tokens };
      spent.push(entry);
      return entry;
    } finally {
      // A caller that gave up while waiting must not let the next one past those who were there before.
      void before.then(resolve);
    }
  };

  const pace = (model: Model): Model => ({
    id: model.id,
    async reply(request, scope) {
      const admitted = new AbortController();
      clock.sleep(QUIET_MS, AbortSignal.any([scope.signal, admitted.signal])).then(
        () => scope.retry(reason("waits-for-limit", { model: model.id, ...limits })),
        () => {}, // admitted before anybody had to know
      );
      const tokens = tokensPerMinute === Infinity ? 0 : estimate(request);
      const entry = await admit(tokens, scope.signal).finally(() => admitted.abort());
      const reply = await model.reply(request, scope);
      entry.tokens = reply.usage.inputTokens + reply.usage.outputTokens;
      return reply;
    },
  });
  return { pace };
}

/** Estimate before a reply reports its usage: by characters, with more tokens for Chinese. */
function estimate({ system, messages, tools }: ModelRequest): number {
  const text = system + JSON.stringify(messages) + JSON.stringify(tools);
  let tokens = 0;
  for (let n = 0; n < text.length; n++) tokens += text.charCodeAt(n) < 0x2e80 ? 0.27 : 0.75;
  return Math.ceil(tokens);
}
