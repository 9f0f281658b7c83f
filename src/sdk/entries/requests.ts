// ## Running an agent
export type { TimeMoved } from "../../protocol/facts/moved.ts";
export { executionOptions } from "../../agent/state/options.ts";
export type { ConfineMode } from "../../protocol/confine.ts";
export type { Cost, ExecutionStats, ToolUse, TurnEnd, TurnError } from "../../protocol/facts/outcome.ts";
export type { SilentEnd, TurnLimits } from "../../protocol/facts/silence.ts";
export type { Effort, LlmOptions, Quiet, QuietHours } from "../../protocol/host/options.ts";
export { reason, type Reason, type ReasonArgs, type ReasonCode } from "../../protocol/reasons/reason.ts";

// ## Asking and answering
export type { Confined } from "../../protocol/confine.ts";
export type {
  Answer,
  Answers,
  LooseAnswers,
  WholeAnswer,
  PlanEnd,
  RuleGrant,
  RuleRemoval,
} from "../../protocol/facts/answer.ts";
export type { Preview, PreviewLine } from "../../protocol/facts/call.ts";
export type { Consent } from "../../protocol/facts/permission.ts";
export type {
  Approval,
  Approved,
  Draft,
  InquiryMade,
  InquiryReplied,
  NewRequest,
  RequestOrigin,
  RequestBody,
  RequestConsent,
  RequestSource,
  Signature,
} from "../../protocol/facts/request.ts";
export type {
  AskerPolicy,
  Deadline,
  DeadlinePolicy,
  DefaultAnswer,
  RequestTimeout,
} from "../../protocol/facts/silence.ts";

// ## Turns that return
export type { InterruptOptions, SayOptions } from "../run.ts";
export type { AnswerToAll, Confirmation, TurnAnswer, TurnEvent, TurnOptions } from "../turns.ts";
export type { RespondedEach, SharedAnswer } from "../../protocol/host/host.ts";

// ## Hosts and surfaces
export type { Assertion, PasskeyProof, Sender, Signing } from "../../protocol/sender.ts";
