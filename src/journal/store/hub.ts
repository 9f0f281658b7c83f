import type { Delta, Fact, FactType } from "../../protocol/facts/fact.ts";
import type { Resolution } from "../../protocol/facts/request.ts";
import type { SageError } from "../../protocol/reasons/reason.ts";
import { isPromised } from "./store.ts";

/** A listener to the facts and deltas of a session. */
export type Listener = {
  /** Types of facts that it hears of; all types where none are named. Most listeners want a few. */
  readonly types?: ReadonlySet<FactType>;
  fact(fact: Fact): void;
  delta?(delta: Delta): void;
  /** This process may not continue the session, and why: another one has taken it, or the journal is gone. */
  lost?(problem: SageError): void;
};

/** Everybody in this process who waits for news of a session. One registry for all: 10,000 blocked sessions cost a map entry each. */
export type Hub = {
  /** Calls `wake` once, when the request is resolved. */
  wait(requestId: string, wake: (resolution: Resolution) => void): () => void;
  subscribe(session: string, listener: Listener): () => void;
  /** Facts of these types, of every session and every process. */
  overhear(types: ReadonlySet<FactType>, listener: (fact: Fact) => void): () => void;
  /** Publishes facts that were just committed here. Facts that a listener writes in response are published after them. */
  tell(facts: readonly Fact[]): void;
  delta(delta: Delta): void;
  lost(session: string, problem: SageError): void;
  /** True when somebody here listens to the session or to facts of this type, or waits for the request. */
  cares(session: string, requestId: string, type: FactType): boolean;
};

/** The way in which a hub hears of other processes. */
type Others = {
  /** The first listener has come, or the last one has left. */
  interest(interested: boolean): void;
  /** Facts of other processes that precede these. Undefined if they cannot be read now: then all are published later. */
  before(facts: readonly Fact[]): readonly Fact[] | undefined;
};

const nobody: Others = { interest() {}, before: () => [] };

/** Publishes facts in the order of their seq, without gaps. */
export function createHub({ interest, before }: Others = nobody): Hub {
  // Lists are replaced, never changed: smaller than sets, and safe to walk while somebody joins or leaves.
  const waiting = new Map<string, readonly ((resolution: Resolution) => void)[]>();
  const listeners = new Map<string, readonly Listener[]>();
  const overhearing = new Map<FactType, readonly ((fact: Fact) => void)[]>();
  let interested = false;
  const news: Fact[] = [];
  let telling = false;
  const review = () => {
    const now = waiting.size > 0 || listeners.size > 0 || overhearing.size > 0;
    if (now !== interested) interest((interested = now));
  };
  const join = <K, T>(groups: Map<K, readonly T[]>, name: K, member: T) => {
    groups.set(name, [...(groups.get(name) ?? []), member]);
    review();
    return () => {
      const left = groups.get(name)?.filter((other) => other !== member) ?? [];
      if (left.length > 0) groups.set(name, left);
      else groups.delete(name);
      review();
    };
  };
  const tellOne = (fact: Fact) => {
    tellEach(overhearing.get(fact.type), fact, overhears);
    tellEach(listeners.get(fact.session), fact, hears);
    if (fact.type !== "input.resolved") return;
    const woken = waiting.get(fact.data.requestId);
    if (!woken) return;
    waiting.delete(fact.data.requestId);
    for (const wake of woken) wake(fact.data);
    review();
  };
  return {
    wait: (id, wake) => join(waiting, id, wake),
    subscribe: (session, listener) => join(listeners, session, listener),
    overhear(types, listener) {
      const leave = [...types].map((type) => join(overhearing, type, listener));
      return () => leave.forEach((stop) => stop());
    },
    tell(facts) {
      const others = before(facts);
      if (!others) return;
      news.push(...others, ...facts);
      if (telling) return;
      telling = true;
      try {
        for (let fact = news.shift(); fact; fact = news.shift()) tellOne(fact);
      } finally {
        telling = false;
      }
    },
    delta: (delta) => tellEach(listeners.get(delta.session), delta, hearsDelta),
    lost: (session, problem) => tellEach(listeners.get(session), problem, isLost),
    cares: (session, id, type) => listeners.has(session) || waiting.has(id) || overhearing.has(type),
  };
}

// Made once: an approval tells some facts to some listeners each, and allocates nothing for it.
const overhears = (listener: (fact: Fact) => void, fact: Fact) => listener(fact);
const hears = (listener: Listener, fact: Fact): unknown =>
  listener.types === undefined || listener.types.has(fact.type) ? listener.fact(fact) : undefined;
const hearsDelta = (listener: Listener, delta: Delta) => listener.delta?.(delta);
const isLost = (listener: Listener, problem: SageError) => listener.lost?.(problem);

/** Contains a listener's exception: writer, other listeners and process must not fail by it. Node prints it as a warning. */
function tellEach<L, N>(listeners: readonly L[] | undefined, news: N, hear: (listener: L, news: N) => unknown): void {
  if (listeners === undefined) return;
  for (const listener of listeners)
    try {
      const heard = hear(listener, news);
      if (heard !== undefined && isPromised(heard)) Promise.resolve(heard).catch(warn); // of an async function
    } catch (error) {
      warn(error);
    }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
