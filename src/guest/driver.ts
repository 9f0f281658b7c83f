import type { Answers } from "../protocol/facts/answer.ts";
import type { ToolInput } from "../protocol/facts/call.ts";
import type { Call, Part, Usage } from "../protocol/facts/message.ts";
import type { Question } from "../protocol/facts/request.ts";

/** A prompt of a guest: it would like to run a call, or to know something. */
export type GuestAsk = {
  /** The guest's own name of this prompt. Another one after a restart: a call is met again by its id and its input. */
  id: string;
  /** The call, with the names that the guest and its model use. */
  call: Call;
  /** In Sage's tools and fields, for its rules; each of several has to be allowed. Empty: no rule can speak about it, a person is asked. */
  judged: readonly { tool: string; input: ToolInput }[];
  /** Set where it is a question to the person, and no permission. */
  questions?: readonly Question[];
  /** Subagents of the guest around it, outermost first; empty for the guest itself. */
  agent: readonly string[];
  /** The guest's own words on why it asks. */
  why?: string;
  /** The guest does not tell what the call would do. */
  untold?: true;
  /** The guest asks although a rule of Sage allowed this call: a person decides. */
  insists?: true;
};

/** Answer to a guest's prompt. `words` are for its model. */
export type GuestAnswer =
  /** `input` replaces the call's own; `words` tell so, and what the person said beside the yes. `by`: a rule let it through, or a person did. */
  | { type: "allowed"; by: "rule" | "person"; input?: ToolInput; words?: string }
  /** `reason`: the person's own words among them, if they gave any. */
  | { type: "refused"; by: "rule" | "person"; words: string; reason?: string }
  | { type: "answers"; answers: Answers; remark?: string };

/** Tokens and dollars, as far as they are told. */
export type Spending = { usage?: Usage; usd?: number };

export type GuestEvent =
  /** A message of its model, or a piece of one. `usage` once per message. */
  | { type: "said"; parts: readonly Part[]; usage?: Usage; model: string; agent: readonly string[] }
  /** Something happening: a token, or a line of output of the call that is named. */
  | { type: "delta"; kind: "text" | "reasoning" | "output"; text: string; call?: string }
  | { type: "asks"; ask: GuestAsk }
  /** The guest withdrew the prompt: answered elsewhere, or the call is gone. */
  | { type: "withdrawn"; id: string }
  | { type: "result"; call: string; ok: boolean; text: string }
  /** The last event. `parked`: keeps a waiting call. `failed`: cannot continue. `died`: gone without a word; started once more. */
  | { type: "ended"; how: "done" | "interrupted" | "parked"; spent?: Spending }
  | { type: "ended"; how: "failed" | "died"; words: string; spent?: Spending };

/** A guest that runs, from its start to its end. It has joined when `start` returns, and does nothing before it is spoken to or listened to. */
export type Guest = {
  /** Its own name of the conversation; not the one that was to be resumed where that could not be found. */
  session: string;
  version: string;
  /** Set if it reports calls before any message. */
  model?: string;
  /** It has something to do without being spoken to: a parked call, or a turn that continued. */
  goesOn: boolean;
  /** It says that it has something to do, and did not begin in time: it is told in words. */
  silent?: true;
  /** Ends with `ended`, and always does. Read once. */
  events: AsyncIterable<GuestEvent>;
  /** Starts a turn, or adds to the running one. Resolves once the guest has the message. */
  say(text: string): Promise<void>;
  answer(ask: GuestAsk, answer: GuestAnswer): void;
  /** Leaves it with these prompts, to be met again on resume: `ended` follows. False: they are held as long as this run lasts. */
  park(asks: readonly GuestAsk[]): Promise<boolean>;
  /** Stops the turn; `ended` follows. */
  interrupt(): void;
  /** It does something else than to wait for answers. Absent where it does not tell. */
  works?(): boolean;
  /**
   * Which of these answers its model has read, by the guest's own records: `undefined` for one that was not sent yet. Without it, or
   * where it returns nothing, nobody knows.
   */
  read?(told: readonly Told[]): (boolean | undefined)[] | undefined;
  /** Ends the run at once. Safe to call twice. */
  close(): Promise<void>;
};

/** An answer as it was given to a guest: with the result of the call, or in words that name the request. */
export type Told = {
  request: string;
  call: string;
  /** Words that must have come along: a reason, an edit, a remark. */
  words: readonly string[];
};

export type GuestStart = {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The guest's own session to continue. One that is not found begins anew, under another name. */
  resume?: string;
  /** Told of each process group that must not outlive Sage's hold on the session. */
  spawned(pid: number): void;
  signal: AbortSignal;
};

/** Speaks one guest's protocol. */
export type GuestDriver = {
  /** Name in the settings and of `--agent`. */
  name: string;
  /** `at once`: held nowhere while a person thinks. `on leaving`: the guest keeps it when Sage leaves. `never`: carried by Sage. */
  parks: "at once" | "on leaving" | "never";
  /** It runs an input that a person or a hook has changed. Any other would run its own in spite of that, and is refused. */
  edits?: true;
  start(options: GuestStart): Promise<Guest>;
};
