import type { InputChange, ToolInput } from "../../protocol/facts/call.ts";
import type { Compaction, FactData } from "../../protocol/facts/fact.ts";
import type { Inquired } from "../../protocol/facts/inquiry.ts";
import type { Call, ToolResult } from "../../protocol/facts/message.ts";
import type { TurnEnd } from "../../protocol/facts/outcome.ts";
import type { Verdict } from "../../protocol/facts/permission.ts";
import type { Approval, InputRequest, Resolution } from "../../protocol/facts/request.ts";
import type { Asked, CallRun, Standing } from "../../protocol/host/receipt.ts";
import type { ImagePart } from "../../protocol/image.ts";
import type { SessionMode } from "../../protocol/mode.ts";
import type { Reason } from "../../protocol/reasons/reason.ts";
import type { Sender } from "../../protocol/sender.ts";

/** An event of a session, as people see it. Items keep their identity while they change. */
export type Item =
  | SaidItem
  | TextItem
  | ThoughtItem
  | CallItem
  | AskedItem
  | InquiryItem
  /** A yes to a request that takes several. The last one is shown as the request's end. */
  | { type: "approved"; at: number; request: InputRequest; approvals: Approval[]; needed: number }
  /** Nobody has answered a request yet: those who were asked were reminded, or somebody else was asked. */
  | { type: "silence"; at: number; requestId: string; to?: string }
  | ({ type: "rule"; at: number } & Pick<FactData["rule.added"], "rule" | "saved" | "problem" | "destination" | "by">)
  | ({ type: "ruleRemoved"; at: number; rule: string } & Sender)
  | { type: "compacted"; at: number; tokens: Compaction["tokens"] }
  | ({ type: "interrupted"; at: number; to: "pause" | "cancel" | "now" } & Sender)
  | ({ type: "model"; at: number; model: string } & Sender)
  | ({ type: "rewound"; at: number } & Pick<FactData["session.rewound"], "turn" | "what" | "files"> & Sender)
  | ({ type: "restored"; at: number } & FactData["rewind.ended"])
  /** A message was withdrawn. `late`: the agent had already read it. */
  | ({ type: "withdrawn"; at: number; text: string; late: boolean } & Sender)
  | ({ type: "mode"; at: number; mode: SessionMode } & Sender)
  /** A call that was started and has no known end. */
  | { type: "lost"; at: number; call: CallItem | undefined; reason: Reason }
  /** A word about what is happening, such as a retry. Never journaled. */
  | { type: "notice"; text: string; reason?: Reason }
  | { type: "end"; at: number; end: TurnEnd };

/** A message of a person. */
export type SaidItem = {
  type: "said";
  key: string;
  at: number;
  sender: Sender;
  text: string;
  images: readonly ImagePart[];
  /** False until a turn begins with it or a reply has seen it. */
  read: boolean;
  /** It is in the request to the model that is under way. */
  asked?: true;
  /** Taken back before anything has read it. */
  withdrawn?: Sender;
};

/** It waits for the next request to the model: until then it can be taken back, or read now. */
export function isQueued({ read, asked, withdrawn }: SaidItem): boolean {
  return !read && !asked && !withdrawn;
}

/** The reply that a text, a thought or a call belongs to, once it is complete. */
export type ReplyHead = { key: string; at: number; model: string };

/** Text of a model's reply. */
export type TextItem = {
  type: "text";
  key: string;
  /** The calls that run the subagents around it, outermost first; empty for the root agent. */
  within: readonly string[];
  text: string;
  done: boolean;
  /** Number of times that the text was thrown away and began again. */
  restarts: number;
  reply?: ReplyHead;
};

/** Thoughts of a model, before its reply. */
export type ThoughtItem = {
  type: "thought";
  key: string;
  within: readonly string[];
  text: string;
  done: boolean;
  /** Known only where it was seen while it happened. */
  since?: number;
  until?: number;
  reply?: ReplyHead;
};

/** A call of a tool, from the reply that asked for it to its result. */
export type CallItem = {
  type: "call";
  /** `t0/3/1` */
  key: string;
  within: readonly string[];
  /** Names of the agents from the root's child down to the one that called. */
  agent: readonly string[];
  reply: ReplyHead;
  /** The call as the model sent it. */
  call: Call;
  /** The input that runs, ran or would have run. */
  input: ToolInput;
  /** Set when `input` is not what the model sent. */
  changed?: InputChange;
  standing: Standing;
  verdict?: Verdict;
  /** When it was judged first. */
  judgedAt?: number;
  /** Everything a person was asked about it, with the answers. */
  asked: Asked[];
  rules: FactData["rule.added"][];
  runs: CallRun[];
  result?: ToolResult;
  /** It did not run or was cut short because its turn was stopped: its result tells a person nothing new. */
  turnStopped?: true;
  turnEnded?: true;
  since?: number;
  until?: number;
  /** The end of what it has printed so far. */
  output: string;
  /** How many lines it printed before that. */
  outputBefore?: number;
  attempt: number;
  /** All calls of the subagents below it, in order. */
  inner: CallItem[];
};

/** A person asked about an open request. The request stays as it is. */
export type InquiryItem = {
  type: "inquiry";
  /** Key of the inquiry. */
  key: string;
  at: number;
  within: readonly string[];
  /** The request that it is about. */
  request: InputRequest;
} & Inquired;

/** A request that no call of this turn has made: a question of Sage's own, or one carried over from an earlier turn. */
export type AskedItem = {
  type: "asked";
  key: string;
  at: number;
  within: readonly string[];
  request: InputRequest;
  approvals?: Approval[];
  resolution?: Resolution;
  /** The call of an earlier turn that asked it. */
  call?: CallItem;
};
