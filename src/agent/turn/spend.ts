import { costOf } from "../../models/prices.ts";
import { addUsage, type Reply } from "../../protocol/index.ts";
import type { ExecutionContext } from "../state/context.ts";

/** Counts what a reply took. One reply without a known price leaves the cost of the turn unknown: half a sum is a wrong one. */
export function spend({ tree, config }: ExecutionContext, { usage, model }: Pick<Reply, "usage" | "model">): void {
  tree.modelCalls++;
  tree.usage = addUsage(tree.usage, usage);
  const usd = costOf(usage, model, config.prices);
  tree.usd = tree.usd === undefined || usd === undefined ? undefined : tree.usd + usd;
}
