import { judge } from "../../../permission/decide.ts";
import { isSameSite } from "../../../permission/web.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { Verdict } from "../../../protocol/facts/permission.ts";
import { isSameReason, type Reason } from "../../../protocol/reasons/reason.ts";
import type { Tool, ToolScope } from "../../../tools/definition/tool.ts";
import type { Judging } from "../../state/context.ts";
import { decisionInput } from "../judge/decision-input.ts";

/** The rules, for a running call that follows a redirect. Nobody can be asked in its midst, so an "ask" is an objection. */
export function webScope(
  context: Judging,
  tool: Tool,
  input: ToolInput,
  { addresses }: Verdict,
): NonNullable<ToolScope["web"]> {
  const resultOf = (url: unknown, known: readonly string[] | undefined) =>
    judge({ ...decisionInput(context, tool, { ...input, url }), addresses: known }).result;
  return {
    addresses,
    objection(url, known): Reason | undefined {
      const hop = resultOf(url, known);
      if (hop.behavior === "allow") return undefined;
      if (hop.behavior === "deny" || !isSameSite(String(input["url"]), url)) return hop.reason;
      // The call was allowed to go to this site. Only a concern that was not known then stands in the way.
      if (hop.hard !== true || isSameReason(hop.reason, resultOf(input["url"], addresses).reason)) return undefined;
      return hop.reason;
    },
  };
}
