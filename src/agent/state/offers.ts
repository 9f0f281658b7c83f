import { PLAN_TOOL } from "../../protocol/mode.ts";
import type { OfferedTool } from "../../tools/registry.ts";
import type { ExecutionContext, Models, Tools } from "./context.ts";

const withoutPlan = new WeakMap<readonly OfferedTool[], readonly OfferedTool[]>();

/** Tools in a request to the model: without the one that ends plan mode, until the session is in plan mode for the first time. */
export function offeredTools({ config, planned, memory }: Models & Tools): readonly OfferedTool[] {
  const offers = config.tools.offers(memory.loaded);
  if (planned()) return offers;
  let fewer = withoutPlan.get(offers);
  if (!fewer) withoutPlan.set(offers, (fewer = offers.filter(({ name }) => name !== PLAN_TOOL)));
  return fewer;
}

/** A subagent's conversation has a beginning of its own, an inquiry's that of its agent. */
export function cacheKeyOf({ session, agent }: Pick<ExecutionContext, "session" | "agent">): string {
  return [session, ...agent].join("/");
}
