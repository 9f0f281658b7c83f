import type { FieldForm } from "./mcp-reason.ts";
import type { Confined } from "./confine.ts";
import type { ToolInput } from "./message.ts";
import type { CallPart, PermissionSuggestion, RuleDestination } from "./permission.ts";
import type { SessionMode } from "./mode.ts";
import type { Reason } from "./reason.ts";
import type { OwnQuestionArgs } from "./turn-reason.ts";

/** A choice of a question. Answers name it by its label. */
export type QuestionOption = { label: string; description: string };

/** A question of a request, with the choices it offers. */
export type Question = {
  question: string;
  header: string;
  options: QuestionOption[];
  multiSelect: boolean;
  /** Of a form: it may be left open, and a text has to have this form. */
  field?: { optional?: true; form?: FieldForm };
  /**
   * Set on questions of Sage's own: people read them in their language (`questionIn` in `texts/questions.ts`), and the labels are fixed
   * words that stand for the options in every language.
   */
  own?: Reason<keyof OwnQuestionArgs>;
};

/**
 * The asker: a tool of the agent, the check of a call, Sage itself (an agent repeats itself), the model, an MCP server, or the
 * recovery after a crash; or a program outside of Sage.
 */
export type RequestSource = "tool" | "approval" | "sage" | "model" | "mcp" | "recovery" | "outside";

/** When the deadline passes, the turn fails, the turn is cancelled, the request is refused, or this answer is used. */
export type DeadlinePolicy = "fail" | "cancel" | "deny" | { default: InputResponse };

/**
 * Deadline of a request. `at` is wall time and counts only across restarts; a living process measures `timeoutMs` on the
 * monotonic clock.
 */
export type Deadline = {
  at: number;
  timeoutMs: number;
  policy: DeadlinePolicy;
  /** Further people who are called before it passes, by the names of the settings, and when. */
  escalation?: { to: string; at: number }[];
};

/** The three kinds of requests: questions to choose answers for, a call to allow or refuse, a text to write. */
export type RequestBody =
  | { kind: "question"; questions: Question[] }
  | {
      kind: "permission";
      tool: string;
      /** The canonical input that will run, whole. */
      input: ToolInput;
      /** The agent's own words about the call, if it gave any. */
      description?: string;
      parts?: CallPart[];
      /** The change to the file, when the tool can tell. */
      preview?: Preview;
      /** Confines that the command will run in, or that it can only work outside; set where commands are confined. */
      confined?: Confined | "outside";
      /** It may also be run outside of the sandbox, this once. */
      mayLeave?: true;
      /** Confined, it would have run without asking: that could be switched on. */
      spared?: true;
      suggestions: PermissionSuggestion[];
      hard: boolean;
      /** It runs as it is or not at all: the agent that asks takes no edited input. */
      fixed?: true;
      /** Set where one yes of anybody is not enough. */
      consent?: RequestConsent;
    }
  | { kind: "text"; prompt: string; lastResponse?: string };

/**
 * Number of people who have to approve. `except` names those who may not be among them: they asked for it. `unnamed` are those of them
 * whom the settings do not name: nobody can tell whether somebody who approves is one of them, so nobody's yes counts.
 */
export type RequestConsent = { approvals: number; except?: string[]; unnamed?: string[] };

/** A change to a file, whole; or to the definition of a tool, under its name. */
export type Preview = {
  of?: "tool";
  /** The file after every link. */
  path: string;
  /** Not in any folder that the session works in. */
  outside?: true;
  lines: PreviewLine[];
  /** The number of the first line shown, in the file as it is. */
  firstLine: number;
  /** Why there are no lines. */
  omitted?: "binary" | "huge" | "same";
};

/** A line of a change. */
export type PreviewLine = {
  mark: " " | "+" | "-";
  text: string;
  /** Set where lines were passed over: the number of this one in the file as it is. */
  line?: number;
  /** The file ends after this line, without a line break. */
  open?: true;
};

/** A request to a person. Plain data: it survives the process that asked. */
export type InputRequest = NewRequest & {
  /** Session and key: the same after every restart. */ id: string;
  session: string;
  at: number;
  /**
   * Secrets that were taken out for a reader who is elsewhere; never in the journal. The input that they see is not the one that will
   * run, so it cannot be edited there.
   */
  masked?: number;
};

/** A request to allow a call. */
export type PermissionRequest = InputRequest & { kind: "permission" };

/**
 * Sage's own questions offer everything that can follow; only questions of an agent may be answered in other words, and fields of a
 * form that offer nothing to choose.
 */
export function takesOwnWords({ source }: Pick<NewRequest, "source">): boolean {
  return source === "tool" || source === "mcp" || source === "outside";
}

/** A request before it has a place in the journal. */
export type NewRequest = RequestBody & {
  source: RequestSource;
  /** Names of the agents from the root's child down to the asker; empty for the root. */
  agent: readonly string[];
  why: Reason;
  digest: string;
  deadline?: Deadline;
  /** Wall times at which those who were asked are reminded, while it waits. */
  remind?: number[];
};

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

/**
 * A reply to a request, which it names by its id. `persona` marks a reply that no person gave: it counts in test journals alone, in the
 * name of that persona, whoever sends it.
 */
export type InputResponse = { persona?: string } &
  /** Leaving out a question is refused unless `partial` says it is meant. */
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
        /** With a yes to a plan: the mode in which it is carried out; `ask` when nothing is said. */ mode?: PlanEnd;
      }
    /** On a question: the person chooses not to answer it. */
    | { type: "denied"; requestId: string; reason?: string }
    | { type: "text"; requestId: string; text: string }
    /** Stops the turn, not only this request. */
    | { type: "cancelled"; requestId: string; reason?: string }
  );

/** A yes in a person's name. */
export type Signature = {
  by: string;
  surface: string;
  /** Name of the device it was given on, where the surface knows it. */
  device?: string;
  at: number;
  comment?: string;
  /** With a yes to a plan. */
  mode?: PlanEnd;
};

/** A person's yes to a request that takes more than one, or a particular one. `digest` is that of the request. */
export type Approval = Signature & { requestId: string; digest: string };

/** A yes was recorded, and the request waits for more people. `again`: the same person had approved it before, which counts once. */
export type Approved = Approval & { outcome: "approved"; approvals: Approval[]; needed: number; again: boolean };

/** The modes in which an approved plan may be carried out. */
export type PlanEnd = Exclude<SessionMode, "plan">;

/** A rule to keep together with a grant, and where. */
export type RuleGrant = { rule: string; behavior: "allow" | "deny" | "ask"; destination: RuleDestination };

/** A rule to take back together with a grant, and from where; `session` is what was given in this session. */
export type RuleRemoval = { rule: string; destination: RuleDestination };

/** The ways in which a request ends. Only `answered` and `partial` carry a person's reply. */
export type Outcome = "answered" | "partial" | "declined" | "cancelled" | "timed_out" | "superseded" | "no_surface";

/** The end of a request: its outcome, by whom, and on which surface. Every request has exactly one. */
export type Resolution = {
  requestId: string;
  /** A person's name, or `auto`, `deadline`, a rule's text. */
  by: string;
  surface: string;
  /** Name of the device it was given on, where the surface knows it. */
  device?: string;
  at: number;
} &
  /** `reason`: of an answer that nobody gave in person. */
  (
    | {
        outcome: "answered" | "partial";
        response: InputResponse;
        reason?: Reason;
        /** Of a request with `consent`: everybody who approved, in order. */
        approvals?: Approval[];
      }
    | { outcome: "timed_out"; reason: Reason; response?: InputResponse }
    | { outcome: "declined"; reason?: Reason }
    | { outcome: "cancelled" | "no_surface"; reason: Reason }
    | {
        outcome: "superseded";
        reason: Reason;
        /** A person changed the input of a request with `consent`: it is asked again, and every yes counts anew. */
        edited?: { input: ToolInput; comment?: string };
      }
  );

/** A half-filled answer, kept for the person's next attempt on any surface. */
export type Draft = {
  answers?: Answers;
  remark?: string;
  text?: string;
  /** Of a permission: why not, a word with a yes, and the input as it was edited, in text. */
  reason?: string;
  comment?: string;
  edit?: string;
};

/** The option that was chosen where a request offers one choice. */
export function choiceOf(resolution: Resolution): string | undefined {
  if (resolution.outcome !== "answered" || resolution.response.type !== "answers") return undefined;
  return Object.values(resolution.response.answers)[0]?.selected[0];
}
