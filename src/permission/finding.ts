import type { CallPart, PermissionOpinion, Reason, Rule } from "../protocol/index.ts";
import type { RuleBook } from "./rules/book.ts";
import { firstOf } from "./rules/compile.ts";

/** What the rules and the tool have to say about a call, before the order of steps decides. */
export type Finding = {
  deny?: Rule;
  ask?: Rule;
  /** The tool's own view. */
  view: PermissionOpinion;
  /** Rules that together cover every part. */
  allow?: readonly Rule[];
  parts?: LoosePart[];
  /** False when the input is not even what the tool takes. */
  usable?: false;
};

export type LoosePart = Omit<CallPart, "reason"> & { reason: Reason | string };

/** An input that cannot be understood: any rule against the tool may be about it. */
export function unusable(book: RuleBook, tool: string, why: string): Finding {
  const { deny, ask } = book.about(tool);
  return {
    ...hits(firstOf(deny), firstOf(ask)),
    usable: false,
    view: { behavior: "ask", hard: true, reason: `The input of ${tool} cannot be judged: ${why}.` },
  };
}

export function hits(deny: Rule | undefined, ask: Rule | undefined): Pick<Finding, "deny" | "ask"> {
  return { ...(deny && { deny }), ...(ask && { ask }) };
}
