import type { Fact, FactData, FactType } from "../../protocol/facts/fact.ts";
import type { Approval } from "../../protocol/facts/request.ts";
import type { Housekeeping } from "../store/housekeeping.ts";
import type { Appended, Consented, InboundFact, SessionRow } from "../store/store.ts";

/** A written fact and the number of the previous one, by which a reader notices gaps. */
export type Written = { fact: Fact; before: number };

/** A session's row in the ledger, without its facts. */
export type Standing = Omit<SessionRow, "pending" | "place"> & {
  /** Its newest fact. */ seq: number;
  /** The set of files that it works on. */ place: string;
  /** Version of the loop that began its open turn; 0 where none is open. */ loop: number;
};

/** New facts of one session, after `before` and up to `upTo`. */
export type News = { session: string; before: number; upTo: number };

/** The truth elsewhere. Numbers grow, with gaps after a migration. Safety is the epoch in each commit; a lease only decides how soon. */
export interface Ledger {
  readonly journal: string;
  create(session: string, opened: FactData["session.opened"], place: string): Promise<boolean>;
  /** Raises the epoch. Refused while another process lives, unless its `job` was given to us: then it is frozen or cut off. */
  take(session: string, options?: TakeOptions): Promise<{ epoch: number }>;
  /** Fenced by the epoch. The same batch twice is written once: a reply may get lost. A number of 0: somebody had answered before. */
  commit(session: string, epoch: number, batch: Batch): Promise<{ numbers: number[]; before: number }>;
  /** The key is the fence. Wakes a worker for the session. */
  append(session: string, fact: InboundFact): Promise<Appended & { before: number }>;
  /** The same in one transaction: all of them, or none. */
  appendAll(session: string, facts: readonly InboundFact[]): Promise<(Appended & { before: number })[]>;
  /** Records a yes of several, and the end that it may bring, in one transaction. */
  approve(
    session: string,
    approval: InboundFact & { type: "input.approved" },
    conclude: (approvals: Approval[]) => (InboundFact & { type: "input.resolved" }) | undefined,
  ): Promise<Consented & { written: Written[] }>;
  /** Releases the session, unless something was written that the owner has not seen: then it keeps it. */
  release(session: string, epoch: number, knew: number): Promise<{ again: boolean }>;
  /** Facts of a session after a number: all of them, those of some types, or those that are of other types. */
  read(
    session: string,
    after: number,
    options?: { types?: readonly FactType[] | undefined; without?: readonly FactType[]; limit?: number | undefined },
  ): Promise<Fact[]>;
  /** State of a session, or of all, the newest first. */
  standing(session?: string): Promise<Standing[]>;
  /** Open requests of a place, or of all, the oldest first. */
  open(place?: string): Promise<Fact<"input.requested">[]>;
  /** Gaps in the time of sessions with open requests. */
  moves(): Promise<Fact<"time.moved">[]>;
  /** When deadlines were enforced last, by place: there by its workers, and at "" by gateways. */
  beats(): Promise<ReadonlyMap<string, number>>;
  /** Writes that they are enforced now; of a place without any, only when a request that has one is about to be opened. */
  beat(place: string, opens: boolean): Promise<void>;
  /** The first record whose hash does not follow from the one before, if any. */
  verify(session: string): Promise<{ seq: number; key: string } | undefined>;
  /** The newest record up to a number, with its hash. */
  head(session: string, upTo?: number): Promise<{ seq: number; hash: string } | undefined>;
  /** Places at which a worker lives. */
  staffed(): Promise<string[]>;
  readonly housekeeping: Housekeeping;
  close(): Promise<void>;
}

/** The job under which a session is run, so that it can be handed on if its worker dies. */
export type TakeOptions = {
  job?: { id: string; attempt: number };
  /** Refused where the session was moved to another. */
  place?: string;
  /** Refused where a newer version of the loop has begun the open turn. */
  loop?: number;
};

/** Facts that are written together or not at all. */
export type Batch = {
  /** Counts the commits of one epoch, from 1. */ number: number;
  facts: readonly Fact[];
  /** True when the turn that these end leaves a message unread, as far as `knew`. */ unheard: boolean;
  knew: number;
};
