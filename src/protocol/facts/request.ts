import type { Confined } from "../confine.ts";
import type { Answers, InputResponse, PlanEnd } from "./answer.ts";
import type { Preview, ToolInput } from "./call.ts";
import type { Usage } from "./message.ts";
import type { CallPart, PermissionSuggestion } from "./permission.ts";
import type { Deadline } from "./silence.ts";
import type { FieldForm } from "../reasons/mcp.ts";
import type { Reason } from "../reasons/reason.ts";
import type { Signing } from "../sender.ts";
import type { OwnQuestionArgs } from "../reasons/turn.ts";

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
  /** Of Sage's own questions: read in the person's language (`questionIn`); labels are fixed words that stand for the options. */
  own?: Reason<keyof OwnQuestionArgs>;
};

/** The asker: a tool, the check of a call, Sage (it repeats itself), the model, an MCP server, recovery, or a program outside. */
export type RequestSource = "tool" | "approval" | "sage" | "model" | "mcp" | "recovery" | "outside";

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
      /** The input cannot be edited: the asking agent runs it as it is or not at all. */
      fixed?: true;
      /** A yes counts only from where no code of this account can give it: see `Signing`. */
      signed?: true;
      /** Set where one yes of anybody is not enough. */
      consent?: RequestConsent;
    }
  | { kind: "text"; prompt: string; lastResponse?: string };

/**
 * Number of people who have to approve. `except` names those who may not be among them: they asked for it. `unnamed` are those of them
 * whom the settings do not name: nobody can tell whether somebody who approves is one of them, so nobody's yes counts.
 */
export type RequestConsent = { approvals: number; except?: string[]; unnamed?: string[] };

/** A request to a person. Plain data: it survives the process that asked. */
export type InputRequest = NewRequest & {
  /** Session and key: the same after every restart. */ id: string;
  session: string;
  at: number;
  /** Secrets taken out for a reader elsewhere; never in the journal. Their input is not the one that runs, so it cannot be edited. */
  masked?: number;
  /** Its moments count the time up to this one in which nobody enforced deadlines; never in the journal. */
  moved?: number;
};

/** A request to allow a call. */
export type PermissionRequest = InputRequest & { kind: "permission" };

/** Sage's own questions offer everything that can follow. Others take own words, except a form's fields that offer choices. */
export function takesOwnWords({ source }: Pick<NewRequest, "source">): boolean {
  return source === "tool" || source === "mcp" || source === "outside";
}

/** Where and for which task a request was opened, for people. Not part of its id or digest; absent in earlier versions. */
export type RequestOrigin = {
  /** Whole path, with `~` for the home folder of the user who runs the session. */
  folder: string;
  branch?: string;
  machine: string;
  /** In a shared journal: the name for the machines that have these files. */
  place?: string;
  /** The person whose message began the task, and the beginning of the message. */
  by?: string;
  task?: string;
};

/** A request before it has a place in the journal. */
export type NewRequest = RequestBody & {
  origin?: RequestOrigin;
  source: RequestSource;
  /** Names of the agents from the root's child down to the asker; empty for the root. */
  agent: readonly string[];
  why: Reason;
  digest: string;
  /** Set by a program outside of Sage: `attached` waits in a process and is gone with it, `returning` comes back by the id. */
  asker?: "attached" | "returning";
  deadline?: Deadline;
  /** Wall times at which those who were asked are reminded, while it waits. */
  remind?: number[];
};

/** A yes in a person's name. */
export type Signature = {
  by: string;
  surface: string;
  /** Name of the device it was given on, where the surface knows it. */
  device?: string;
  /** Proof that it was given elsewhere. */
  signed?: Signing;
  at: number;
  comment?: string;
  /** With a yes to a plan. */
  mode?: PlanEnd;
};

/** A person's yes to a request that takes more than one, or a particular one. `digest` is that of the request. */
export type Approval = Signature & { requestId: string; digest: string };

/** A yes was recorded, and the request waits for more people. `again`: the same person had approved it before, which counts once. */
export type Approved = Approval & { outcome: "approved"; approvals: Approval[]; needed: number; again: boolean };

/** The end of a request: its outcome, by whom, and on which surface. Every request has exactly one. */
export type Resolution = {
  requestId: string;
  /** A person's name, or `auto`, `deadline`, a rule's text. */
  by: string;
  surface: string;
  /** Name of the device it was given on, where the surface knows it. */
  device?: string;
  /** Proof that it was given elsewhere. */
  signed?: Signing;
  /** Typed on the terminal of `sage answer`, as it was shown there. Says nothing of code that plays a terminal. */
  typed?: true;
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

/** A person asks about an open request instead of answering it. The request stays open, and so does its deadline. */
export type InquiryMade = {
  requestId: string;
  /** Id of this inquiry, below its request: the same message that arrives twice is one inquiry. */
  inquiry: string;
  text: string;
  by: string;
  surface: string;
};

/** The agent's reply to an inquiry. Nothing in it answers the request: only a person does. */
export type InquiryReplied = {
  requestId: string;
  inquiry: string;
  /** Empty when there is none. */
  text: string;
  /** Why there is no reply. */
  problem?: Reason;
  /** Files and folders that it looked at for the reply, in order; `ok` is false for a look that was refused or failed. */
  looks: { tool: string; input: ToolInput; ok: boolean }[];
  model: string;
  usage: Usage;
  /** Replies of the model that it took. */
  modelCalls: number;
  /** The list price, where it is known. */
  cost?: { usd: number };
  /** The agent takes its request back, and why: the request ends as superseded. */
  withdraws?: string;
};
