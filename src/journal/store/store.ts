import type { Housekeeping, LocalHousekeeping } from "./housekeeping.ts";
import type { IndexState } from "../database/indexes.ts";
import type { Hub } from "./hub.ts";
import type { Fact, FactData, FactType } from "../../protocol/facts/fact.ts";
import type { InquiryFact } from "../../protocol/facts/inquiry.ts";
import type { Approval, Draft, InputRequest, Resolution } from "../../protocol/facts/request.ts";
import type { Place } from "../../protocol/host/host.ts";
import type { SageError } from "../../protocol/reasons/reason.ts";

/** A fact before it has a seq. */
export type NewFact = { [K in FactType]: { key: string; type: K; at: number; data: FactData[K] } }[FactType];

/** Types of facts that any process may write. */
export type InboundType =
  | "user.said"
  | "message.withdrawn"
  | "input.requested"
  | "input.approved"
  | "input.reminded"
  | "input.escalated"
  | "time.moved"
  | "input.resolved"
  | "inquiry.made"
  | "turn.interrupted"
  | "draft.saved"
  | "session.titled"
  | "session.moved"
  | "model.chosen"
  | "mode.chosen"
  | "rule.added"
  | "rule.removed";

/** A fact that any process may write. */
export type InboundFact = Extract<NewFact, { type: InboundType }>;

/** A session as a store lists it. */
export type SessionRow = {
  id: string;
  cwd: string;
  title: string;
  at: number;
  lastAt: number;
  /** A turn was begun and has not ended. */
  open: boolean;
  /** No turn is open and a message waits for one: its process was killed before the turn began, or is about to begin it. */
  unheard: boolean;
  /** A living process holds the lease. */
  owned: boolean;
  pending: number;
  /** Set on a shared journal. */
  place?: Place;
};

/** A value now, or a promise of it: see `Store`. */
export type Awaitable<T> = T | Promise<T>;

/** Goes on at once with a value that is there, and later with one that is promised: most of them are there, and waiting costs. */
export function andThen<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return isPromised(value) ? Promise.resolve(value).then(next) : next(value);
}

/**
 * Tells a promise by `then`, and not by its class: the store of an embedder may promise in a way of its own, and where a program has
 * put another `Promise` in the place of the engine's, none of ours is of that class. A promise that is taken for a value is a fact that
 * is not on disk.
 */
export function isPromised<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

/** When a process enforced deadlines last: on their own clock, and by the uptime of the machine, which was started so. */
export type Beat = { at: number; boot: string; uptime: number };

/** `won`: the fact is new. Otherwise `fact` is the one that was there under its key. */
export type Appended = { won: boolean; fact: Fact };

/** `won`: this yes is new. `ended`: how the request ended, by this yes or before it. */
export type Consented = { won: boolean; approvals: Approval[]; ended?: Resolution };

/** A page of a long list. */
export type Page = { limit: number; /** The id of the last one of the page before. */ after?: string };

/**
 * Keeper of the facts: one call is one transaction, and a fact is durable before anyone hears of it. Reading is synchronous.
 * Writing is so too where the journal is on this machine (`LocalStore`); a store elsewhere returns promises.
 */
export interface Store {
  readonly hub: Hub;
  /** State of this process that is no fact: deadlines, turns, the socket. One for each `make`, which is its key; gone with the store. */
  member<T>(make: (store: Store) => T): T;
  /** Journal path and id under which other processes reach this one's socket; `over` aborts when it leaves. Undefined in memory. */
  readonly place: { journal: string; process: string; over: AbortSignal } | undefined;
  /** Set where the journal lies on a server: sessions, and their files, belong to machines of their own. */
  readonly shared?: true;
  /** The clock by which deadlines go, where that is not this machine's: several machines have several. */
  now?(): number;
  /** The newest heartbeat of a process that enforces deadlines, or that of this request; and ours: on a server, its own clock stamps it. `opens`: a request is about to be opened. */
  lastBeat?(request?: InputRequest): Beat | undefined;
  beat?(beat: Beat, opens: boolean): Awaitable<void>;
  /** Requests whose deadlines this process enforces, and heartbeats, read anew: where neither lies here. */
  enforced?(): Promise<InputRequest[]>;
  /** Set on a journal for tests: in memory, or made as one. Personas answer there and nowhere else. */
  readonly test?: boolean;
  /** Creates the session with its first fact; false when it is there already. */
  create(session: string, opened: FactData["session.opened"]): Awaitable<boolean>;
  /** The first fact of a session, without reading the others. */
  opened(session: string): FactData["session.opened"] | undefined;
  /** Takes the lease: the epoch to commit under. Refused while another living process holds it. */
  claim(session: string): number;
  /** `knew` is the newest fact that whoever ran it has heard: where others write elsewhere, what came after it is looked at again. */
  release(session: string, epoch: number, knew?: number): Awaitable<void>;
  /** The process that holds the session, if that is another one and lives. */
  owner(session: string): string | undefined;
  /** `verified`: refuses a session whose records are not as they were written. */
  load(session: string, options?: { verified?: boolean }): Fact[];
  /** Execution facts, fenced by the epoch. Sets each fact's seq. A busy journal and a full disk are retryable errors. */
  commit(session: string, epoch: number, facts: Fact[]): Awaitable<void>;
  /** Inbound facts: any process may write them, the key is the fence. The winning fact, ours or not. */
  append(session: string, fact: InboundFact): Awaitable<Appended>;
  /** Appends many facts in one transaction. A fact that cannot be written yields its error and disturbs no other. */
  appendAll(facts: readonly { session: string; fact: InboundFact }[]): Awaitable<(Appended | SageError)[]>;
  /**
   * Records one yes of several. In the same transaction `conclude` is given every yes of the request, this one included, and the end
   * that it returns is written with it; so of two people who complete a request at once, one does, and of a request that has
   * ended nothing is written.
   */
  approve(
    session: string,
    approval: InboundFact & { type: "input.approved" },
    conclude: (approvals: Approval[]) => (InboundFact & { type: "input.resolved" }) | undefined,
  ): Awaitable<Consented>;
  /** Everybody who approved a request so far, in order. */
  approvals(requestId: string): Approval[];
  /** Open requests, oldest first; a page begins after the request it names. */
  pending(session?: string, page?: Page): InputRequest[];
  resolution(requestId: string): Resolution | undefined;
  find(requestId: string): { request: InputRequest; resolution: Resolution | undefined } | undefined;
  /** The latest half-filled answer to a request. */
  draft(requestId: string): Draft | undefined;
  /** Inquiries about a request and the replies to them, oldest first. */
  inquiries(requestId: string): InquiryFact[];
  /** Facts of a session, held by this process or not: all of them, those of some types, or the first ones after a seq. */
  read(session: string, options?: ReadOptions): Awaitable<Fact[]>;
  session(id: string): SessionRow | undefined;
  /** Newest first; a page begins after the session it names. */
  sessions(page?: Page): SessionRow[];
  /** Facts of a session after a seq; `limit` makes a page of them. */
  since(session: string, after: number, limit?: number): Fact[];
  /** The fact under a key. */
  fact(session: string, key: string): Fact | undefined;
  /** Why nothing can be recorded any more, if the journal was removed or another one is in its place. */
  gone?(): SageError | undefined;
  /** A random id, made with the journal and kept for as long as it. */
  journalId(): string;
  /** Notes a process group that a call has started. */
  noteChild(session: string, key: string, pid: number): void;
  /** Process groups noted under a key that still live. */
  children(session: string, key: string): number[];
  /** May one run under this key in a container, or on a machine, into which this process cannot look? */
  runsElsewhere?(session: string, key: string): boolean;
  /** The running call that one of these processes, or process groups, belongs to. */
  callOf(processes: readonly number[]): { session: string; key: string } | undefined;
  /** Was a call started whose end is not recorded? A killed process leaves such calls. */
  leftCalls(session: string): boolean;
  /** Compares the index of open requests with all facts. */
  lookAtIndexes(): IndexState;
  /** Makes the indexes again from the facts, in one transaction. */
  rebuildIndexes(): void;
  readonly housekeeping: Housekeeping;
  /** The newest record of a session, or the newest up to a seq, with its hash. Undefined where nothing is hashed. */
  head(session: string, upTo?: number): Awaitable<{ seq: number; hash: string } | undefined>;
  /** The first record whose hash does not follow from the one before, if any. */
  verify(session: string): Awaitable<{ seq: number; key: string } | undefined>;
  /** An instance of the SDK waits for a promise that this returns. */
  close(): void;
}

/** Facts to read: of these types, after a seq, so many. */
export type ReadOptions = { types?: readonly FactType[]; after?: number; limit?: number };

/** A store on this machine: it has written when it returns. A busy journal and a full disk are retryable errors. */
export interface LocalStore extends Store {
  create(session: string, opened: FactData["session.opened"]): boolean;
  release(session: string, epoch: number): void;
  commit(session: string, epoch: number, facts: Fact[]): void;
  append(session: string, fact: InboundFact): Appended;
  appendAll(facts: readonly { session: string; fact: InboundFact }[]): (Appended | SageError)[];
  approve(...yes: Parameters<Store["approve"]>): Consented;
  read(session: string, options?: ReadOptions): Fact[];
  head(session: string, upTo?: number): { seq: number; hash: string } | undefined;
  verify(session: string): { seq: number; key: string } | undefined;
  readonly housekeeping: LocalHousekeeping;
}

/** The time that deadlines go by. */
export function storeNow(store: Pick<Store, "now">): number {
  return store.now?.() ?? Date.now();
}

/** The newest record of a session in a journal of this machine. Undefined where the journal is shared, or nothing is hashed. */
export function localHead(store: Pick<Store, "head" | "shared">, session: string) {
  const head = store.shared ? undefined : store.head(session);
  return head && "seq" in head ? head : undefined;
}

/** Keeps the members of one store: see `Store.member`. */
export function createMembers(): <T>(store: Store, make: (store: Store) => T) => T {
  const members = new Map<unknown, unknown>();
  return <T>(store: Store, make: (store: Store) => T) => {
    if (!members.has(make)) members.set(make, make(store));
    return members.get(make) as T;
  };
}
