import type { Blocked, Confined } from "../confine.ts";
import type { RuleSource } from "../decision.ts";
import type { CallEnd, Effect, InputChange, ToolInput } from "../facts/call.ts";
import type { FactData } from "../facts/fact.ts";
import type { Inquired } from "../facts/inquiry.ts";
import type { Approval, InputRequest, Resolution } from "../facts/request.ts";
import type { Reason } from "../reasons/reason.ts";
import type { Sender } from "../sender.ts";

/** Status of a call: the one definition for every surface, the export and receipts. */
export type Standing =
  /** Not judged yet, or allowed and waiting for its turn. */
  | "new"
  /** A person is asked about it. */
  | "waiting"
  | "running"
  /** No such tool, or an input that its schema rejects: nobody was asked, and nothing ran. */
  | "invalid"
  | CallEnd;

/** `approvals`: of a request that takes more than one yes, everybody who gave one. */
export type Asked = {
  request: InputRequest;
  approvals?: Approval[];
  /** Questions about it, and the replies. */
  inquiries?: Inquired[];
  resolution?: Resolution;
  /** Of a guest's request: has its model read the answer? */
  delivery?: Delivery;
};

/** `waiting`: not yet; `told`: what got lost is told to it in words; `unknown`: it tells nobody. */
export type Delivery = "waiting" | "read" | "told" | "unknown";

/** The run of a call: its times, its confines and its end. */
export type CallRun = {
  startedAt?: number;
  /** The confines it ran in. */
  confined?: Confined;
  endedAt?: number;
  ok?: boolean;
  /** Sage was stopped while it ran. */
  unknown?: true;
  /** The turn had been stopped when it ended. */
  stopped?: true;
};

/** The decision about one call, by whom or by which rule, and its consequences. */
export type Receipt = {
  /** Session, turn, step and call: `k7f3q2mz/t0/3/1`. */
  id: string;
  session: string;
  /** When it was judged. */
  at: number;
  /** Names of the agents from the root's child down to the one that called. */
  agent: string[];
  tool: string;
  /** The input that ran, or would have. */
  input: ToolInput;
  /** Set when that is not what the model sent. */
  changed?: InputChange;
  /** Status of the call. Missing in receipts that version 0.1.0 kept of deleted sessions. */
  standing?: Standing;
  effect: Effect;
  decision: "allowed" | "refused" | "answered" | "open";
  reason: Reason;
  rule?: {
    text: string;
    source: RuleSource;
    /** Path of the settings file, or who gave it in this session. */ from?: string;
  };
  /** Everything a person was asked on the way, with how it ended. */
  asked: Asked[];
  rulesAdded: FactData["rule.added"][];
  /** Rules that were taken back with the answer. Receipts of earlier versions do not say it. */
  rulesRemoved?: FactData["rule.removed"][];
  /** Everything that the answer changed was taken back later. */
  undone?: Sender & { at: number };
  /** Hash of the input that the approval was bound to. */
  digest: string;
  /** Files it changes, by their real paths. */
  files: string[];
  runs: CallRun[];
  /** Things that the sandbox kept it from. */
  blocked?: readonly Blocked[];
  /** sha-256 of the files as it left them. */
  left: Record<string, string>;
};

/** How far the record of a session can be relied on. */
export type Integrity =
  /** The record up to the end of the turn at `at` is the one that Sage wrote; `since`: records after it, which are chained only. */
  | { state: "anchored"; at: number; since: number }
  /** Every hash follows from the previous one. This detects damage, not somebody who rewrites the whole chain. */
  | { state: "chained" }
  /** A record does not follow from the one before it. */
  | { state: "broken"; seq: number; key: string }
  /** The chain holds, and is not the one that was there at the end of the turn at `at`: it was written anew, or cut off. */
  | { state: "rewritten"; at: number };
