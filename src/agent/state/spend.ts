import { costOf } from "../../models/prices.ts";
import { addUsage, type Usage } from "../../protocol/facts/message.ts";
import type { Models, Tree } from "./context.ts";

/** Counts what replies took. One without a known price leaves the cost of the turn unknown: half a sum is a wrong one. */
export function spend(
  { tree, config }: Models & Tree,
  { usage, model, modelCalls = 1 }: { usage: Usage; model: string; modelCalls?: number },
): void {
  tree.modelCalls += modelCalls;
  tree.usage = addUsage(tree.usage, usage);
  const usd = costOf(usage, model, config.prices);
  tree.usd = tree.usd === undefined || usd === undefined ? undefined : tree.usd + usd;
}
