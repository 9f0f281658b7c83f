import type { CallPart, PermissionResult, Rule } from "../protocol/facts/permission.ts";
import { reason, type Reason } from "../protocol/reasons/reason.ts";
import type { RuleBook } from "./rules/book.ts";
import { firstOf } from "./rules/compile.ts";
import type { ShellFinding } from "./shell/judge/shell-finding.ts";

/** Everything that rules and tables say about a call, before the order of steps decides. */
export type Finding = {
  deny?: Rule;
  ask?: Rule;
  /** The tool's own view. */
  view: PermissionResult;
  /** Rules that together cover every part. */
  allow?: readonly Rule[];
  /** It only changes files of the workspace that are neither protected nor run later. */
  edits?: true;
  parts?: CallPart[];
  /** The command as it was read and judged, for offers of rules. */
  shell?: ShellFinding;
};

/** Finding on an input that cannot be understood: any rule against the tool may be about it. */
export function unusable(book: RuleBook, tool: string, why: Reason): Finding {
  const { deny, ask } = book.about(tool);
  return {
    ...hits(firstOf(deny), firstOf(ask)),
    view: { behavior: "ask", hard: true, reason: reason("input-unusable", { tool, why }) },
  };
}

export function hits(deny: Rule | undefined, ask: Rule | undefined): Pick<Finding, "deny" | "ask"> {
  return { ...(deny && { deny }), ...(ask && { ask }) };
}
