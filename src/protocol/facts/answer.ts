import type { RuleDestination } from "../decision.ts";
import type { ToolInput } from "./call.ts";
import type { SessionMode } from "../mode.ts";

/** An answer to one question: labels of its options, own words, or both. */
export type Answer = { selected: string[]; other?: string };

/** Answers by the text of their question. */
export type Answers = Record<string, Answer>;

/** Answers in short form: a label or several, or own words where no label fits. */
export type LooseAnswers = Record<string, string | readonly string[] | Answer>;

/** An `InputResponse` as code may write it, with answers in short form. */
export type LooseResponse =
  | InputResponse
  | { type: "answers"; requestId: string; answers: LooseAnswers; remark?: string; partial?: boolean };

/** A response that need not name its request: that is the one which was shown. */
export type WholeAnswer = LooseResponse extends infer R
  ? R extends LooseResponse
    ? Omit<R, "requestId"> & { requestId?: string }
    : never
  : never;

/** A reply to a request. `persona`: no person gave it; it counts in test journals only, and in that persona's name. */
export type InputResponse = { persona?: string } &
  /** Unanswered questions are refused unless `partial` is set. */
  (
    | { type: "answers"; requestId: string; answers: Answers; remark?: string; partial?: boolean }
    | {
        type: "granted";
        requestId: string;
        input?: ToolInput;
        comment?: string;
        rules?: RuleGrant[];
        /** Rules to take back with this answer. With one in `rules`, that one takes the place of the other. */
        removeRules?: RuleRemoval[];
        /** Runs it outside of the sandbox, this once; only where the request offers it. */ outside?: true;
        /** With a yes to a plan: the mode to carry it out in; `ask` by default. */ mode?: PlanEnd;
      }
    /** On a question: the person chooses not to answer it. */
    | { type: "denied"; requestId: string; reason?: string }
    | { type: "text"; requestId: string; text: string }
    /** Stops the turn, not only this request. */
    | { type: "cancelled"; requestId: string; reason?: string }
  );

/** The modes in which an approved plan may be carried out. */
export type PlanEnd = Exclude<SessionMode, "plan">;

/** A rule to keep together with a grant, and where. */
export type RuleGrant = { rule: string; behavior: "allow" | "deny" | "ask"; destination: RuleDestination };

/** A rule to take back with a grant, and from where; `session`: given in this session. Without `behavior`, whatever it said. */
export type RuleRemoval = { rule: string; destination: RuleDestination; behavior?: "allow" | "deny" | "ask" };
