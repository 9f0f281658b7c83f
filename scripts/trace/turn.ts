/** The turn that is traced, and what is noted about it. */
export const command = "node traced.mjs";
export const result = "traced-result";
export const done = "all-is-traced";

/** Moments on the way of one turn, in their order. */
export const milestones = [
  "user.said written",
  "turn.begun written",
  "model asked",
  "call judged",
  "command started",
  "call.finished written",
  "result told",
  "result seen",
  "result drawn",
] as const;

export type Milestone = (typeof milestones)[number];

export type Recording = {
  /** Files with a function that ran. */
  touched: string[];
  /** Files on the call stack at each milestone, outermost first. */
  stacks: { milestone: Milestone; files: string[] }[];
};
