/** A turn that is traced, cut where Sage waits for the person. */
export type Side = {
  name: string;
  /** Moments on its way, in their order. It ends with the last one. */
  milestones: readonly string[];
};

/** Printed by the command of the turn. */
export const result = "traced-result";
export const command = "node traced.mjs";

const toJudgement = ["user.said written", "turn.begun written", "model asked", "call judged"];
const toResult = ["command started", "call.finished written", "result told", "result seen", "result drawn"];

export const turns = {
  /** A rule allows the command. */
  allowed: [{ name: "message typed → result drawn", milestones: [...toJudgement, ...toResult] }],
  /** A person allows the command. */
  asked: [
    {
      name: "message typed → request drawn",
      milestones: [...toJudgement, "input.requested written", "request told", "request seen", "request drawn"],
    },
    {
      name: "answer typed → result drawn",
      milestones: ["input.resolved written", "answer taken", "call judged", ...toResult],
    },
  ],
} satisfies Record<string, Side[]>;

export type Turn = keyof typeof turns;

export type Recording = {
  side: string;
  /** Files with a function that ran. */
  touched: string[];
  /** Files on the call stack at each milestone, outermost first. */
  stacks: { milestone: string; files: string[] }[];
};
