import type { Delta, Fact, Resolution, SageError } from "../protocol/index.ts";

export type Listener = {
  fact(fact: Fact): void;
  delta?(delta: Delta): void;
  /** This process may not go on with the session, and why: another one has taken it, or the journal is gone. */
  lost?(problem: SageError): void;
};

/** Everybody in this process who waits for news of a session. One registry for all: 10,000 blocked sessions cost a map entry each. */
export type Hub = {
  /** Calls `wake` once, when the request is resolved. */
  wait(requestId: string, wake: (resolution: Resolution) => void): () => void;
  subscribe(session: string, listener: Listener): () => void;
  fact(fact: Fact): void;
  delta(delta: Delta): void;
  lost(session: string, problem: SageError): void;
  /** True when somebody here listens to the session or waits for the request. */
  cares(session: string, requestId: string): boolean;
};

/** `onInterest` hears when the first listener comes and when the last one leaves. */
export function createHub(onInterest: (interested: boolean) => void = () => {}): Hub {
  // Lists are replaced, never changed: smaller than sets, and safe to walk while somebody joins or leaves.
  const waiting = new Map<string, readonly ((resolution: Resolution) => void)[]>();
  const listeners = new Map<string, readonly Listener[]>();
  let interested = false;
  const review = () => {
    const now = waiting.size > 0 || listeners.size > 0;
    if (now !== interested) onInterest((interested = now));
  };
  const join = <T>(groups: Map<string, readonly T[]>, name: string, one: T) => {
    groups.set(name, [...(groups.get(name) ?? []), one]);
    review();
    return () => {
      const left = groups.get(name)?.filter((other) => other !== one) ?? [];
      if (left.length > 0) groups.set(name, left);
      else groups.delete(name);
      review();
    };
  };
  return {
    wait: (id, wake) => join(waiting, id, wake),
    subscribe: (session, listener) => join(listeners, session, listener),
    fact(fact) {
      for (const listener of listeners.get(fact.session) ?? []) aside(() => listener.fact(fact));
      if (fact.type !== "input.resolved") return;
      const woken = waiting.get(fact.data.requestId);
      if (!woken) return;
      waiting.delete(fact.data.requestId);
      for (const wake of woken) wake(fact.data);
      review();
    },
    delta(delta) {
      for (const listener of listeners.get(delta.session) ?? []) aside(() => listener.delta?.(delta));
    },
    lost(session, problem) {
      for (const listener of listeners.get(session) ?? []) aside(() => listener.lost?.(problem));
    },
    cares: (session, id) => listeners.has(session) || waiting.has(id),
  };
}

/** Keeps a listener's mistake to itself: the fact has happened, and neither its writer nor other listeners may fail by it. */
function aside(tell: () => void): void {
  try {
    tell();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
