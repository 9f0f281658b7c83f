import type { ToolInput } from "../facts/call.ts";

/** A call of the past, with the decision about it. */
export type PastCall = {
  /** Session, turn, step and call: the id of its receipt. */
  id: string;
  session: string;
  /** Folder that its relative paths start from. */
  cwd: string;
  at: number;
  tool: string;
  /** The input that was judged. */
  input: ToolInput;
  decision: "allowed" | "refused" | "asked";
  /** The rule that decided, if one did. */
  rule?: string;
  /** Set where a person was asked. `none`: nobody answered in person. */
  asked?: { answer: "yes" | "no" | "none"; by?: string; surface?: string; waitedMs?: number };
};

/** The effect that a rule would have had on the calls of the past. */
export type RuleTrial = {
  rule: string;
  /** All of them, where several were tried together: each alone may have allowed nothing. */
  rules?: string[];
  behavior: "allow" | "deny" | "ask";
  /** Calls examined, and the time of the first. */
  calls: number;
  since?: number;
  /** Calls that it would have decided otherwise: allowed without a question, refused, or asked about. */
  changed: number;
  /** The ones among them that a person had decided the other way. */
  against: number;
  /** The most surprising of them, the contrary ones first. */
  surprising: PastCall[];
};

/** Meaning of rules that are held together: for the past, and for open requests of the session, which they would answer. */
export type RulePreview = { trials: RuleTrial[]; opens: string[] };

/** Rules that would have spared questions and allowed nothing that a person refused, with the calls that speak for them. */
export type RuleIdea = { rules: string[]; spared: number; examples: PastCall[] };

/** How people were asked, and how they answered. Times are in milliseconds, of those who answered. */
export type Tally = {
  asked: number;
  yes: number;
  no: number;
  /** Ended without an answer. */
  none: number;
  /** Still waits for one. */
  open: number;
  medianMs?: number;
  p90Ms?: number;
};

/** How often people were asked, and how they answered, by tool and by day. */
export type Stats = Tally & {
  calls: number;
  sessions: number;
  since?: number;
  tools: ({ tool: string } & Tally)[];
  people: ({ by: string; surface: string } & Tally)[];
  /** Calls that a rule allowed: without it a person would have been asked. */
  rules: { rule: string; spared: number }[];
};
