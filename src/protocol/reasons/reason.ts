import type { Drift, RuleBehavior, RuleSource } from "../decision.ts";
import type { Changes, TurnReasonArgs } from "./turn.ts";
import { canonicalJson } from "../../base/canonical-json.ts";
import type { ConfineReasonArgs } from "../confine.ts";
import type { CallReasonArgs, ConsentReasonArgs } from "./call.ts";
import type { FileReasonArgs } from "./file.ts";
import type { GuestReasonArgs, OutsideReasonArgs } from "./guest.ts";
import type { JournalReasonArgs } from "./journal.ts";
import type { McpReasonArgs } from "./mcp.ts";
import type { ModelReasonArgs } from "./model.ts";
import type { PermissionReasonArgs } from "./permission.ts";
import type { LinkReasonArgs, RemoteReasonArgs, WebReasonArgs } from "./remote.ts";
import type { StartReasonArgs } from "./start.ts";
import type { UseReasonArgs } from "./use.ts";

/** Arguments by code. `sentence` makes sentences in the reader's language; its tables do not compile without every code. */
export type ReasonArgs = PermissionReasonArgs &
  CallReasonArgs &
  ConsentReasonArgs &
  FileReasonArgs &
  GuestReasonArgs &
  JournalReasonArgs &
  LinkReasonArgs &
  McpReasonArgs &
  ModelReasonArgs &
  OutsideReasonArgs &
  RemoteReasonArgs &
  StartReasonArgs &
  TurnReasonArgs &
  UseReasonArgs &
  WebReasonArgs &
  ConfineReasonArgs &
  NestedReasonArgs["file"] &
  NestedReasonArgs["guest"] &
  NestedReasonArgs["journal"] &
  NestedReasonArgs["mcp"] &
  NestedReasonArgs["model"] &
  NestedReasonArgs["permission"] &
  NestedReasonArgs["start"] &
  NestedReasonArgs["turn"] &
  NestedReasonArgs["use"] & {
    /** Free text of embedders, hooks, models and people, in their own words. Also how facts of version 0.1.0 are read. */
    said: { text: string };
  };

/** Reasons that carry other reasons, by the table that has their neighbours: a table that named `Reason` would import this file. */
export type NestedReasonArgs = {
  file: {
    "rule-not-read": { rule: string; problem: Reason | string; behavior?: RuleBehavior; source?: RuleSource };
    "rule-ignored": { rule: string; source: RuleSource; problem: Reason };
    misfits: { misfits: readonly Misfit[] };
  };
  guest: {
    /** Started before, and its end is unknown or the agent lost that conversation. `why`: a person would have been asked anyway. */
    "guest-may-have-run": { agent: string; before: "unknown" | "forgotten"; why?: Reason };
  };
  journal: {
    "not-recorded-yet": { problem: Reason };
  };
  mcp: {
    "server-given-up": { times: number; problem: Reason };
    "server-unreachable": { problem: Reason | string };
    "servers-failed": { server: string; problem: Reason };
  };
  model: {
    /** The server's breaker is open, after this many failures in a row. */
    "server-rests": { failures: number; problem?: Reason };
    "tries-again": { problem: Reason; waitMs: number; attempt: number; of: number };
    /** Given up. `again`: the same request may work later, after `waitMs` where the server has said so. */
    "model-failed": { model: string; problem: Reason; again: boolean; waitMs?: number; at?: number };
    /** Code of an embedder returned something else than a reply. */
    "reply-unfit": { model: string; problem: Reason };
    "fallback-goes-on": { problem: Reason; model: string };
    "fallback-failed": { problem: Reason; fallback: Reason };
    "not-summarised": { problem: Reason };
  };
  permission: {
    "not-judged": { error: Reason | string };
    "check-failed": { error: Reason | string };
    "input-unusable": { tool: string; why: Reason };
    "repository-unsafe": { why: Reason };
    /** Two notes on one rule. */
    "offer-both": { first: Reason; second: Reason };
  };
  start: {
    "server-left-out": { server: string; problem: Reason };
    "answers-unfit": { path: string; problem: Reason | string };
    "module-left-out": { path: string; problem: Reason };
    "module-threw": { problem: Reason };
    /** Options that an embedder gave to one of the doors of the SDK, by the name of the door. */
    "options-unfit": { door: string; problem: Reason };
  };
  turn: {
    "unfit-input": { tool: string; problem: Reason | string };
    /** `why`: what is decided about it now. */
    "changed-since-approval": { changes: readonly Drift[]; why?: Reason };
    "hooks-broken": { problems: readonly Reason[] };
    "hook-broken": { command: string; problem: Reason };
    "hook-not-started": { problem: Reason | string };
    "hook-misspoke": { problem: Reason | string };
    "tool-unfit": { tool: string; problem: Reason | string };
    "responder-failed": { problem: Reason | string };
    "lost-call": { known: Reason; changes: Changes };
  };
  use: {
    "in-file": { path: string; problem: Reason };
    "file-unfit": { path: string; problem: Reason | string };
    "file-left-out": { path: string; problem: Reason };
  };
};

/** Codes of reasons. */
export type ReasonCode = keyof ReasonArgs;

/** A reason as data: a code and its arguments. */
export type Reason<C extends ReasonCode = ReasonCode> = { [K in C]: { code: K; args: ReasonArgs[K] } }[C];

/** A sentence for each code; `say` writes a reason that is part of another one. */
export type Sentences<Args> = { [C in keyof Args]: (args: Args[C], say: (inner: Reason | string) => string) => string };

/** Makes a reason. `reason("said", { text })` carries your own words. */
export function reason<C extends ReasonCode>(code: C, args: ReasonArgs[C]): Reason<C> {
  return { code, args };
}

/** Free text as a reason. */
export function said(text: string): Reason<"said"> {
  return reason("said", { text });
}

/** Text beside a reason, for programs without sentences: free text, else the code; in an embedder's process an English sentence. */
export function plainText(why: Reason): string {
  return why.code === "said" ? why.args.text : write(why);
}

let write = ({ code }: Reason): string => code;

/** Puts sentences in the place of codes, in this process. The SDK alone calls it: its users read messages of errors. */
export function writeWith(sentence: (why: Reason) => string): void {
  write = sentence;
}

/** A notice as the part of a delta. Its readers make the sentence from the reason. */
export function noticeOf(why: Reason): { kind: "notice"; text: string; reason: Reason } {
  return { kind: "notice", text: plainText(why), reason: why };
}

export function isSameReason(left: Reason | string, right: Reason | string): boolean {
  return canonicalJson(reasonFrom(left)) === canonicalJson(reasonFrom(right));
}

/** Facts of version 0.1.0 hold English sentences where there is a reason today. */
export function reasonFrom(stored: Reason | string): Reason {
  return typeof stored === "string" ? reason("said", { text: stored }) : stored;
}

/** A place in a value that does not fit its schema. `at` is its path, such as `permissions.deny[0]`; "" is the whole value. */
export type Misfit = { at: string } & (
  | { kind: "missing"; expected: readonly string[] }
  /** Names of types, such as "string", "int" or "array". */
  | { kind: "type"; expected: readonly string[]; came: string }
  /** Values as JSON. */
  | { kind: "value"; expected: readonly string[]; came: string }
  | { kind: "size"; of: "number" | "string" | "list"; bound: "least" | "most" | "above" | "below"; limit: number }
  /** `meant`: known keys that are nearly the unknown ones. `known`: all there are, where none is. */
  | { kind: "keys"; unknown: readonly string[]; meant?: readonly string[]; known?: readonly string[] }
  /** A name from the table in `texts/file-reasons.ts`, a format of zod's, or somebody's own words. */
  | { kind: "format"; expected: string }
  | { kind: "pattern"; pattern: string }
  | { kind: "because"; why: Reason }
  | { kind: "unfit" }
);

/** Codes of `SageError`, for programs that decide by them. */
export type SageErrorCode =
  | "config-invalid"
  | "disk-full"
  | "host-gone"
  | "input-invalid"
  | "journal-damaged"
  | "journal-locked"
  | "key-unknown"
  | "lease-lost"
  | "model-unavailable"
  | "no-surface"
  | "not-permitted"
  | "queue-full"
  | "request-invalid"
  | "request-pending"
  | "request-resolved"
  | "request-unknown"
  | "session-owned"
  | "session-unknown"
  | "timeout"
  | "turn-failed"
  | "usage";

/** The one error class. A tool that fails is a result and a person's no is an answer: neither throws. */
export class SageError extends Error {
  override readonly name = "SageError";
  readonly code: SageErrorCode;
  readonly retryable: boolean;
  /** Why, as data: the sentence is made where somebody reads it. `said(text)` carries your own words. */
  readonly reason: Reason;
  constructor(code: SageErrorCode, reason: Reason, options: { retryable?: boolean; cause?: unknown } = {}) {
    const { retryable = false, cause } = options;
    super(plainText(reason), cause === undefined ? {} : { cause });
    this.code = code;
    this.reason = reason;
    this.retryable = retryable;
  }
}

/** Message of whatever was thrown. Where the SDK is not loaded, that of a `SageError` is a code. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An error as a reason: the one it carries, or its message in its own words. */
export function reasonOf(error: unknown): Reason {
  return error instanceof SageError ? error.reason : said(messageOf(error));
}
