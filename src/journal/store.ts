import type { Housekeeping } from "./housekeeping.ts";
import type { IndexState, LeftBehind } from "./indexes.ts";
import type { SageError, Delta, Draft, Fact, FactData, FactType, InputRequest, Resolution } from "../protocol/index.ts";

export type NewFact = { [K in FactType]: { key: string; type: K; at: number; data: FactData[K] } }[FactType];

export type InboundType =
  | "user.said"
  | "input.resolved"
  | "turn.interrupted"
  | "draft.saved"
  | "session.titled"
  | "model.chosen";

export type InboundFact = Extract<NewFact, { type: InboundType }>;

export type SessionRow = {
  id: string;
  cwd: string;
  title: string;
  at: number;
  lastAt: number;
  /** A turn was begun and has not ended. */
  open: boolean;
  /** A living process holds the lease. */
  owned: boolean;
  pending: number;
};

export type Appended = { won: boolean; fact: Fact };

export type Page = { limit: number; /** The id of the last request of the page before. */ after?: string };

/** Where facts are kept. Synchronous: one call is one transaction, and a fact is durable before anyone hears of it. */
export interface Store {
  readonly hub: Hub;
  /** What others on the same journal find this process by, until it leaves. Undefined where there are no others. */
  readonly place: { journal: string; process: string; over: AbortSignal } | undefined;
  /** Creates the session with its first fact; false when it is there already. */
  create(session: string, opened: FactData["session.opened"]): boolean;
  /** Takes the lease: the epoch to commit under. Refused while another living process holds it. */
  claim(session: string): number;
  release(session: string, epoch: number): void;
  /** The process that holds the session, if that is another one and lives. */
  owner(session: string): string | undefined;
  /** `proven`: refuses a session whose records are not as they were written. */
  load(session: string, options?: { proven?: boolean }): Fact[];
  /** Execution facts, fenced by the epoch. Sets each fact's seq. */
  commit(session: string, epoch: number, facts: Fact[]): void;
  /** Inbound facts: any process may write them, the key is the fence. The winning fact, ours or not. */
  append(session: string, fact: InboundFact): Appended;
  /** The same for many that came at once, in one transaction. One that cannot be written says why and disturbs no other. */
  appendAll(facts: readonly { session: string; fact: InboundFact }[]): (Appended | SageError)[];
  /** Open requests, oldest first; a page of them begins after one of them. */
  pending(session?: string, page?: Page): InputRequest[];
  resolution(requestId: string): Resolution | undefined;
  find(requestId: string): { request: InputRequest; resolution: Resolution | undefined } | undefined;
  /** The latest half-filled answer to a request. */
  draft(requestId: string): Draft | undefined;
  session(id: string): SessionRow | undefined;
  sessions(): SessionRow[];
  /** Facts after a seq, for those who watch. */
  since(session: string, after: number): Fact[];
  noteChild(session: string, key: string, pid: number): void;
  /** Process groups noted under a key that still live. */
  children(session: string, key: string): number[];
  /** Without reading its facts. */
  leftBehind(session: string): LeftBehind;
  /** How far the index of open requests is from the facts. Reads all of them. */
  lookAtIndexes(): IndexState;
  /** Makes the indexes again from the facts, in one transaction. */
  rebuildIndexes(): void;
  readonly housekeeping: Housekeeping;
  /** The first record whose hash does not follow from the one before, if any. */
  verify(session: string): { seq: number; key: string } | undefined;
  close(): void;
}

export type Listener = {
  fact(fact: Fact): void;
  delta?(delta: Delta): void;
  /** Another process has taken the session. */
  lost?(): void;
};

/** Who in this process waits for what. One registry for all sessions: 10,000 blocked ones cost a map entry each. */
export type Hub = {
  /** Called once, when the request is resolved. */
  wait(requestId: string, wake: (resolution: Resolution) => void): () => void;
  subscribe(session: string, listener: Listener): () => void;
  fact(fact: Fact): void;
  delta(delta: Delta): void;
  lost(session: string): void;
  /** Does anyone here care for facts of this session or for the end of this request? */
  cares(session: string, requestId: string): boolean;
};

export const requestId = (session: string, key: string): string => `${session}/${key}`;

export function splitRequestId(id: string): { session: string; key: string } {
  const slash = id.indexOf("/");
  return slash < 0 ? { session: id, key: "" } : { session: id.slice(0, slash), key: id.slice(slash + 1) };
}

export const resolvedKey = (key: string): string => `${key}.resolved`;

/** Drafts of one request lie side by side, so that the latest is found without reading the session. */
export const draftKeys = (requestKey: string): { prefix: string; end: string } => ({
  prefix: `draft/${requestKey}/`,
  end: `draft/${requestKey}0`,
});

export function createHub(onInterest: (interested: boolean) => void = () => {}): Hub {
  // Lists that are replaced, not changed: smaller than sets, and safe while somebody walks them.
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
    lost(session) {
      for (const listener of listeners.get(session) ?? []) aside(() => listener.lost?.());
    },
    cares: (session, id) => listeners.has(session) || waiting.has(id),
  };
}

/** A listener's mistake is its own: what it was told of has happened, and neither the writer nor the others may fail by it. */
function aside(tell: () => void): void {
  try {
    tell();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
