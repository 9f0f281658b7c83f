// ## Models
export type { AiSdkLanguageModel } from "../../models/ai-sdk/model.ts";
export type { LoadImage } from "../../models/images.ts";
export type { ModelRequest, ModelScope, ToolOffer } from "../../models/model.ts";
export type { Price, Prices } from "../../models/prices.ts";
export type { Script, ScriptedCall, ScriptedTurn, ScriptedTurns } from "../../models/scripted.ts";
export {
  addUsage,
  callsOf,
  textOf,
  type Call,
  type Finish,
  type Message,
  type Part,
  type ProviderMetadata,
  type Reply,
} from "../../protocol/facts/message.ts";
