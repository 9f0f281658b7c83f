import type { CallReasonArgs } from "./call-reason.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { ConsentReasonArgs } from "./consent-reason.ts";
import type { ConfineReasonArgs } from "./confine.ts";
import type { FileReasonArgs } from "./file-reason.ts";
import type { GuestReasonArgs } from "./guest-reason.ts";
import type { JournalReasonArgs } from "./journal-reason.ts";
import type { LinkReasonArgs } from "./link-reason.ts";
import type { McpReasonArgs } from "./mcp-reason.ts";
import type { ModelReasonArgs } from "./model-reason.ts";
import type { OutsideReasonArgs } from "./outside-reason.ts";
import type { PermissionReasonArgs } from "./permission-reason.ts";
import type { RemoteReasonArgs } from "./remote-reason.ts";
import type { TurnReasonArgs } from "./turn-reason.ts";
import type { UseReasonArgs } from "./use-reason.ts";
import type { WebReasonArgs } from "./web-reason.ts";

/**
 * Arguments of each reason, by its code. Sentences are made from them where they are read, in the reader's language, by
 * `sentence`; its tables do not compile without every code.
 */
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
  TurnReasonArgs &
  UseReasonArgs &
  WebReasonArgs &
  ConfineReasonArgs & {
    /** Free text of embedders, hooks, models and people, in their own words. Also how facts of version 0.1.0 are read. */
    said: { text: string };
  };

/** Codes of reasons. */
export type ReasonCode = keyof ReasonArgs;

/** A reason as data: a code and its arguments. */
export type Reason<C extends ReasonCode = ReasonCode> = { [K in C]: { code: K; args: ReasonArgs[K] } }[C];

/** Makes a reason. `reason("said", { text })` carries your own words. */
export function reason<C extends ReasonCode>(code: C, args: ReasonArgs[C]): Reason<C> {
  return { code, args };
}

/** Free text as a reason. */
export function said(text: string): Reason<"said"> {
  return reason("said", { text });
}

export function isSameReason(left: Reason | string, right: Reason | string): boolean {
  return canonicalJson(reasonFrom(left)) === canonicalJson(reasonFrom(right));
}

/** Facts of version 0.1.0 hold English sentences where there is a reason today. */
export function reasonFrom(stored: Reason | string): Reason {
  return typeof stored === "string" ? reason("said", { text: stored }) : stored;
}
