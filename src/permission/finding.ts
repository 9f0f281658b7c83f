import type { CallPart, PermissionResult, Rule } from "../protocol/index.ts";
import { firstOf, governs } from "./compile.ts";
import type { CompiledRule } from "./compile.ts";

/** What the rules and the tool have to say about a call, before the order of steps decides. */
export type Finding = {
  deny?: Rule;
  ask?: Rule;
  /** The tool's own view. */
  view: PermissionResult;
  /** Rules that together cover every part. */
  allow?: readonly Rule[];
  parts?: CallPart[];
};

/** An input that cannot be understood: any rule against the tool may be about it. */
export function unusable(rules: readonly CompiledRule[], tool: string, why: string): Finding {
  const hit = (behavior: Rule["behavior"]) =>
    firstOf(rules.filter((rule) => rule.rule.behavior === behavior && governs(rule, tool)));
  const [deny, ask] = [hit("deny"), hit("ask")];
  return {
    ...(deny && { deny }),
    ...(ask && { ask }),
    view: { behavior: "ask", hard: true, reason: `The input of ${tool} cannot be judged: ${why}.` },
  };
}
