import type { SessionLog } from "../../journal/session/session.ts";
import type { Model } from "../../models/model.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import type { Call, ToolResult } from "../../protocol/facts/message.ts";
import type { AgentOutcome } from "../../protocol/facts/outcome.ts";

/** Records what an agent does, while it does it. It changes nothing, and is not there where nobody records. */
export type Traces = {
  /** An attempt at a turn, from the facts before it. */
  turn(
    about: { log: SessionLog; facts: readonly Fact[]; model: Model },
    run: () => Promise<AgentOutcome>,
  ): Promise<AgentOutcome>;
  /** Names what is being recorded here (`traceparent`), for attempts after this one. */
  current(): string | undefined;
  /** The same model, recorded. */
  model(model: Model): Model;
  tool(about: { call: Call; agent: readonly string[] }, run: () => Promise<ToolResult>): Promise<ToolResult>;
};
