import { reason, type Reason } from "../protocol/reasons/reason.ts";
import { CircuitOpen, classify } from "./failure.ts";
import type { Model, ModelScope } from "./model.ts";
import { realClock, type Clock } from "./sleep.ts";

type BreakerOptions = {
  /** Failures in a row that open it. */
  failures?: number;
  /** Time for which it lets no request through; then it lets one. */
  restMs?: number;
  clock?: Pick<Clock, "now">;
};

export type Breaker = { guard(model: Model, secret?: string): Model };

/** Shared by everybody who asks one server. Closed: all pass. Open: none. After the rest one probes, and the others wait for what it finds. */
export function createBreaker(options: BreakerOptions = {}): Breaker {
  const { failures: limit = 10, restMs = 30_000, clock = realClock } = options;
  let failures = 0;
  let openUntil = 0;
  let probe: { done: Promise<void>; end(): void } | undefined;

  const open = (problem?: Reason) =>
    new CircuitOpen(
      reason("server-rests", { failures, ...(problem && { problem }) }),
      Math.max(0, openUntil - clock.now()),
    );

  /** Passes, or becomes the probe, or throws. */
  const enter = async (signal: AbortSignal): Promise<typeof probe> => {
    if (failures < limit) return undefined;
    if (probe) {
      await unlessAborted(probe.done, signal);
      return enter(signal);
    }
    if (clock.now() < openUntil) throw open();
    const { promise, resolve } = Promise.withResolvers<void>();
    return (probe = { done: promise, end: resolve });
  };

  const guard = (model: Model, secret?: string): Model => ({
    id: model.id,
    async reply(request, scope) {
      const probing = await enter(scope.signal);
      let answered = false;
      const alive = () => {
        if (answered) return;
        answered = true;
        failures = 0;
        if (!probing) return;
        scope.retry(reason("server-answers-again", { model: model.id }));
        leave();
      };
      const leave = () => {
        if (probe === probing) probe = undefined;
        probing?.end();
      };
      try {
        const reply = await model.reply(request, listening(scope, alive));
        alive();
        return reply;
      } catch (error) {
        if (scope.signal.aborted) throw error; // it says nothing about the server
        const failure = classify(error, secret);
        if (!failure.serversFault) {
          alive();
          throw error;
        }
        if (++failures < limit) throw error;
        if (failures === limit || probing) openUntil = clock.now() + restMs;
        throw open(failure.problem);
      } finally {
        leave();
      }
    },
  });
  return { guard };
}

/** A reply may take minutes; its first word shows that the server is there. */
function listening(scope: ModelScope, alive: () => void): ModelScope {
  return {
    get signal() {
      return scope.signal;
    },
    text(delta) {
      alive();
      scope.text(delta);
    },
    reasoning(delta) {
      alive();
      scope.reasoning(delta);
    },
    calling: (tool) => scope.calling?.(tool),
    retry: (why) => scope.retry(why),
  };
}

/** Waits for another request's attempt, but no longer than the caller's signal allows. */
export function unlessAborted(waited: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    void waited.then(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
  });
}
