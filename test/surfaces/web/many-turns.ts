import type { Fact } from "../../../src/protocol/facts/fact.ts";
import { fact } from "./examples.ts";

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** A session with this many messages, each with its reply, in a turn of its own: three items each. */
export function manyTurns(count: number): Fact[] {
  return Array.from({ length: count }, (_, n): Fact[] => [
    fact("s1", `said/${n}`, "user.said", { text: `message ${n}`, by: "you", surface: "web" }),
    fact("s1", `t${n}`, "turn.begun", { loop: 1, maxSteps: 9, sawUpTo: 0 }),
    fact("s1", `t${n}/0/model`, "model.replied", {
      ...{ parts: [{ type: "text", text: `reply **${n}**` }], usage, finish: "stop", model: "m", sawUpTo: 0 },
    }),
    fact("s1", `t${n}.ended`, "turn.ended", {
      ...{ status: "success", text: "", usage, stats: { steps: 1, toolCalls: 0, modelCalls: 1, durationMs: 1 } },
    }),
  ]).flat();
}
