// ## Hosts and surfaces
export type { AgentParts, RunSettings } from "../../host/assembly/agent-parts.ts";
export { assemble, type HostParts } from "../host.ts";
export type { Parts } from "../../host/assembly/assemble.ts";
export type { LocalHost } from "../../host/host.ts";
export type {
  Command,
  CommandReplies,
  CommandReply,
  FoundReceipts,
  InboxEvent,
  PendingRequest,
  Place,
  Refused,
  Responded,
  SessionState,
  SessionSummary,
  WatchEvent,
  WatchOptions,
} from "../../protocol/host/host.ts";

// ## Replies of a host
export type { Inquired } from "../../protocol/facts/inquiry.ts";
export type { RewindWhat } from "../../protocol/facts/rewind.ts";
export type { PlannedFile, RestoreDoubt, RewindPlan, RewindPoint } from "../../protocol/facts/rewound.ts";
export type { HostAbout, Named, RuleInForce, SessionAbout, WorkFolder } from "../../protocol/host/about.ts";
export type { OutsideAsk, OutsideBody, OutsideEnd } from "../../protocol/host/outside.ts";
export type { PastCall, RulePreview, RuleTrial, Stats, Tally } from "../../protocol/host/past.ts";
export type { Asked, CallRun, Delivery, Integrity, Receipt, Standing } from "../../protocol/host/receipt.ts";
