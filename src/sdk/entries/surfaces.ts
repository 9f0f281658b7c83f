// ## Hosts and surfaces
export type { GivenImage } from "../../protocol/image.ts";

// ## What is seen
export type { Hunk } from "../../view/items/change.ts";
export type { Danger } from "../../view/request/danger.ts";
export type { ChangedLine } from "../../view/items/difference.ts";
export type {
  FollowedSession,
  FollowOptions,
  OpenRequest,
  RunState,
  SessionChange,
  SessionOptions,
} from "../../view/session.ts";
export type {
  AskedItem,
  CallItem,
  InquiryItem,
  ReplyHead,
  SaidItem,
  TextItem,
  ThoughtItem,
} from "../../view/transcript/item.ts";
export { createProgress, type Progress } from "../../view/transcript/progress.ts";
export type { Lang } from "../../texts/language.ts";
export {
  neededOf,
  offersOf,
  type Block,
  type DescribedPart,
  type Description,
  type Offer,
} from "../../view/request/describe.ts";
export { oneLine, prose, visible } from "../../base/visible.ts";
export type { TaskEnd } from "../../protocol/facts/call.ts";
export type { Compaction, FactData, FactType, InjectedSkill, Summary } from "../../protocol/facts/fact.ts";
export type { Heard } from "../../protocol/facts/message.ts";
export type { RestoreProblem, Restoring } from "../../protocol/facts/rewind.ts";
export type { AttachedKind, ImagePart } from "../../protocol/image.ts";
