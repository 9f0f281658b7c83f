import { costOf } from "../../models/prices.ts";
import { addUsage, type Usage } from "../../protocol/facts/message.ts";
import type { Models, Tree } from "./context.ts";

/** Adds up usage and cost of replies. A single reply without a known price makes the turn's cost unknown: a partial sum would be wrong. */
export function spend(
  { tree, config }: Models & Tree,
  { usage, model, modelCalls = 1 }: { usage: Usage; model: string; modelCalls?: number },
): void {
  tree.modelCalls += modelCalls;
  tree.usage = addUsage(tree.usage, usage);
  const usd = costOf(usage, model, config.prices);
  tree.usd = tree.usd === undefined || usd === undefined ? undefined : tree.usd + usd;
}
