import type { Confined } from "../confine.ts";
import type { RuleDestination } from "../decision.ts";
import type { Effect, TaskEnd } from "./call.ts";
import type { Heard, Reply, ToolResult, Usage } from "./message.ts";
import type { TimeMoved } from "./moved.ts";
import type { AgentState, StateTransition, TurnEnd } from "./outcome.ts";
import type { Verdict } from "./permission.ts";
import type { Approval, Draft, InputRequest, InquiryMade, InquiryReplied, Resolution } from "./request.ts";
import type { RestoreProblem, Restoring, RewindWhat } from "./rewind.ts";
import type { TurnLimits } from "./silence.ts";
import type { ImagePart } from "../image.ts";
import type { SessionMode } from "../mode.ts";
import type { Reason } from "../reasons/reason.ts";

/** A matching skill whose text Sage added to the prompt by itself. */
export type InjectedSkill = { name: string; text: string };

/** Data of each kind of fact. */
export type FactData = {
  "session.opened": {
    cwd: string;
    version: string;
    /** The model it was begun with, if one was named. */ model?: string;
    /** The guest that runs its turns. Fixed: a guest's conversation is its own. */ agent?: string;
    /** The session it was copied from, up to this fact. */ forkedFrom?: { session: string; seq: number };
  };
  /** The session was opened on a remote: its clone is this folder, and it works there from now on. */
  "workspace.made": { cwd: string; /** The same as in `session.opened`. */ from: string; commit: string };
  /** A person named the place to which the folder of the session was moved: it works there from now on. */
  "session.moved": { cwd: string; was: string; by: string; surface: string };
  /** Receipts of a deleted session, kept until their retention ends. */
  "session.removed": {
    session: string;
    cwd: string;
    title: string;
    by: string;
    surface: string;
    receipts: unknown[];
  };
  /** Title of the session from now on. */
  "session.titled": {
    title: string;
    by: string;
    surface: string;
    /** Cost of writing it, if a model did. */ usage?: Usage;
    model?: string;
  };
  /** The model that answers from the next turn on. */
  "model.chosen": { model: string; by: string; surface: string };
  /** How much the agent may do without asking, from the next call on. */
  "mode.chosen": {
    mode: SessionMode;
    by: string;
    surface: string;
    /** The grant that this undoes: its call, or the key of a change by hand. */ undoes?: string;
  };
  /**
   * The session went back to before a turn. Earlier facts stay: whoever folds the conversation leaves out what was taken back.
   * `heard`: messages up to this seq are older than that turn. `next`: turns are counted on from here. `files`: to be put back.
   * `upTo`: the newest fact that was known then; messages after it stay. Earlier versions did not write it.
   */
  "session.rewound": {
    turn: number;
    heard: number;
    next: number;
    upTo?: number;
    what: RewindWhat;
    files: Restoring[];
    by: string;
    surface: string;
  };
  /** All files of a rewind were looked at. */
  "rewind.ended": { restored: string[]; problems: { path: string; problem: RestoreProblem }[] };
  /** The messages that it has heard start the turn. */
  "turn.begun": Heard & {
    loop: number;
    maxSteps: number;
    /** Requests of a turn that another version of the loop had begun: they stay open under their ids, and this turn waits for them. */
    carries?: string[];
    /** Nobody said anything: background commands with these ids have ended. */ cause?: { tasks: readonly string[] };
    /** Span of the attempt that began the turn (`traceparent`): attempts after it link to it. */
    trace?: string;
  };
  /**
   * A guest runs the turn: its own session, by which it is resumed. Written before anything is said to it, and again where the session
   * or the version is another one. `keeps`: its prompts outlive Sage without being parked. `delivers`: facts tell which answers it has
   * read; those of earlier versions do not.
   */
  "guest.joined": { agent: string; session: string; version: string; model?: string; keeps?: true; delivers?: true };
  /** The guest was left with calls that wait for a person, by their ids. It keeps them, and meets them again when it is resumed. */
  "guest.parked": {
    calls: string[];
    /** Totals of its conversation as it tells them, and what they are `more` than was known; then there may be no calls. */
    spent?: { total?: { usage?: Usage; usd?: number }; more: { usage?: Usage; usd?: number } };
  };
  /** The guest's model has read the answer, by the guest's own record. */
  "answer.delivered": { requestId: string };
  /** It has not read it, and is told in words; or nobody can know. */
  "answer.undelivered": { requestId: string; unknown?: true };
  "user.said": {
    text: string;
    by: string;
    surface: string;
    /** Name in the settings, where that is not what `by` says; null for somebody whom they do not name. */
    name?: string | null;
    /** Pictures that came with it, kept beside the journal. */ images?: readonly ImagePart[];
    /** Text that the model reads instead: the message with a word on the skill that it calls or may need. */ expanded?: string;
    /** Limits of the turn that it begins, if it begins one. */ limits?: TurnLimits;
  };
  /** Somebody withdrew a message, by its seq. If a prompt already contained it, it counts as read. */
  "message.withdrawn": { message: number; by: string; surface: string };
  "model.replied": Reply &
    Heard & {
      /** Background commands whose end the prompt reported. */ ended?: readonly TaskEnd[];
      /** Skill added to the prompt of this step, with its text at that time. */ skill?: InjectedSkill;
      /** Inquiries about a question of Sage's own and their replies, as worded in the prompt. */ talk?: string;
    };
  "calls.judged": { verdicts: Verdict[] };
  "input.requested": InputRequest;
  /** A yes, where a request takes several. The one that completes them is written together with `input.resolved`. */
  "input.approved": Approval;
  /** Nobody has answered yet: those who were asked are reminded, for the `n`th time; or somebody else is called. Written once each. */
  "input.reminded": { requestId: string; n: number };
  "input.escalated": { requestId: string; to: string };
  /** Nobody enforced deadlines for a while: what was to happen to open requests later happens as much later. */
  "time.moved": TimeMoved;
  "input.resolved": Resolution;
  /** A person asks about an open request, and the agent replies; the request stays as it is. */
  "inquiry.made": InquiryMade;
  "inquiry.replied": InquiryReplied;
  "call.started": {
    tool: string;
    effect: Effect;
    digest: string;
    /** sha-256 of the file to be changed, as it was. */ before?: string;
    /** The confines in which it runs. */ confined?: Confined;
    /** Its command outlives this process: id of the entries among which whoever has the session next finds it. */ runner?: string;
  };
  "call.finished": ToolResult;
  "call.unknown": { reason: Reason };
  "state.changed": StateTransition;
  "context.compacted": Compaction;
  "rule.added": {
    /** The grant that this undoes: its call, or the key of a change by hand. */ undoes?: string;
    /** Absent in facts of earlier versions. */ surface?: string;
    /** The file it was saved to, or why it was not. */ saved?: string;
    problem?: Reason;
    rule: string;
    behavior: "allow" | "deny" | "ask";
    destination: RuleDestination;
    by: string;
  };
  /** A rule was taken back: from the next call on it means nothing. Without a place it was one of this session. */
  "rule.removed": {
    /** The grant that this undoes: its call, or the key of a change by hand. */ undoes?: string;
    rule: string;
    by: string;
    surface: string;
    destination?: RuleDestination;
    /** Without it, whatever the rule said. */ behavior?: "allow" | "deny" | "ask";
    /** It said this. */ was?: "allow" | "deny" | "ask";
    /** It demanded more of an answer than its text says, so nothing but a person can write it again. */ demanding?: true;
    /** The file it was removed from, or why it is still there. */ saved?: string;
    problem?: Reason;
  };
  "draft.saved": { requestId: string; draft: Draft; by: string; surface: string };
  /** `now`: the turn goes on at once, with this message (its key and first words) and all others that wait. */
  "turn.interrupted": { by: string; surface: string } & (
    | { to: "pause" | "cancel" }
    | { to: "now"; message: { key: string; text: string } }
  );
  /** An interrupt ended the request for a reply: the part that had come, and names of calls that were not whole. It takes a step of its own. */
  "reply.interrupted": Heard & { text: string; calls: string[]; model: string; by: string };
  "turn.ended": TurnEnd;
};

/** A compaction: shortened results, or a summary in place of the beginning. Earlier facts stay as they are. */
export type Compaction = {
  /** Results among the first `upTo` messages that are longer than this many characters are shortened. */
  trim?: { upTo: number; longest: number };
  summary?: Summary;
  /** Tokens of the whole prompt, estimated. */
  tokens: { before: number; after: number };
  /** Cost of the summary, and the model that wrote it. */
  usage: Usage;
  model?: string;
};

/** A summary in place of the first `upTo` messages. */
export type Summary = {
  upTo: number;
  /** The message that began the conversation; empty where the extract has it. */
  task: string;
  /** The person's words and decisions, and what became of calls, made from the facts. Earlier versions did not write it. */
  extract?: string;
  /** The agent's list, if something on it is still open. */
  todos: string;
  /** Empty when it could not be written. */
  text: string;
};

/** Kinds of facts. */
export type FactType = keyof FactData;

/** Something that happened. A key is a path from position (turn / step / call / what) and is written once per session. */
export type Fact<T extends FactType = FactType> = {
  [K in T]: { session: string; seq: number; key: string; type: K; at: number; data: FactData[K] };
}[T];

/** Something happening: never journaled. A higher attempt clears the block that an earlier one had drawn. */
export type Delta = {
  session: string;
  key: string;
  attempt: number;
  n: number;
  kind: "text" | "reasoning" | "output" | "notice" | "state";
  text: string;
  /** All of the text so far, not only what is new: it replaces what was drawn before. */
  whole?: true;
  /** Of a notice: the text as data, for readers of another language. */
  reason?: Reason;
  /**
   * Of a `state`: what an agent does now, and which one: names from the root's child down, empty for the root. `key` is that of the
   * turn, or of the call that runs the subagent. How the root begins and ends is a fact.
   */
  state?: AgentState;
  agent?: readonly string[];
  /** Of a `state`: messages up to this seq are in the request to the model that is under way. */
  sawUpTo?: number;
};
