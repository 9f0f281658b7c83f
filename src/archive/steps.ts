import { costOf, type Prices } from "../models/prices.ts";
import type { Fact } from "../protocol/facts/fact.ts";
import { callsOf, textOf, type Finish, type ToolResult, type Usage } from "../protocol/facts/message.ts";
import type { Cost, ToolUse } from "../protocol/facts/outcome.ts";
import { callKey, callOfKey, isInSubagent, requestId, stepOfKey } from "../protocol/key.ts";
import { receiptsOf } from "./receipts.ts";

/** A step of a session: a reply of the model, and its calls with their results. */
export type StepResult = {
  /** Turn and step, such as `t0/3`; below a call where a subagent took it. */
  step: string;
  at: number;
  model: string;
  text: string;
  reasoning: string;
  /** The input of a call is the one that ran. A call without a result has not ended. */
  calls: (Omit<ToolUse, "result"> & { result?: ToolResult })[];
  usage: Usage;
  /** Absent where the price of the model is not known. */
  cost?: Cost;
  finish: Finish;
};

/** Which steps of a session are told, and with which prices. */
export type StepOptions = {
  /** Dollars for a million tokens, by provider/name. */
  prices?: Prices;
  subagents?: boolean;
};

/** The steps of a session, in the order of their replies. */
export function stepsOf(facts: readonly Fact[], { prices, subagents = false }: StepOptions = {}): StepResult[] {
  const results = new Map(
    facts.flatMap((fact) => (fact.type === "call.finished" ? [[callOfKey(fact.key), fact.data] as const] : [])),
  );
  const receipts = new Map(receiptsOf(facts, () => undefined).map((receipt) => [receipt.id, receipt]));
  return facts.flatMap((fact) => {
    if (fact.type !== "model.replied" || (isInSubagent(fact.key) && !subagents)) return [];
    const { data, at, session } = fact;
    const step = stepOfKey(fact.key) ?? fact.key;
    const usd = costOf(data.usage, data.model, prices);
    const calls = callsOf(data).map(({ tool, input }, n) => {
      const key = callKey(step, n);
      const result = results.get(key);
      const ran = receipts.get(requestId(session, key))?.input ?? input;
      return { tool, input: ran, ...(result && { result }) };
    });
    const reasoning = data.parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join("");
    return [
      {
        step,
        at,
        model: data.model,
        text: textOf(data),
        reasoning,
        calls,
        usage: data.usage,
        ...(usd !== undefined && { cost: { usd } }),
        finish: data.finish,
      },
    ];
  });
}
