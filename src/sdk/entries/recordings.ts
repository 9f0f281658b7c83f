// ## Recordings
export { stepsOf, type StepOptions, type StepResult } from "../../archive/steps.ts";
export { persona, type Persona } from "../persona.ts";
export type { Redaction } from "../../config/secrets/redact.ts";
export {
  answersOf,
  replayAnswers,
  scriptOf,
  type RecordedAnswer,
  type RecordedRequest,
  type RecordedResponse,
} from "../../archive/recording.ts";
export type { InquiryFact } from "../../protocol/facts/inquiry.ts";
