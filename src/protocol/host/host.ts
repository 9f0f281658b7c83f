import type { RuleDestination } from "../decision.ts";
import type { LooseResponse } from "../facts/answer.ts";
import type { Delta, Fact, FactData } from "../facts/fact.ts";
import type { Inquired } from "../facts/inquiry.ts";
import type { Approval, Approved, Draft, InputRequest, Resolution } from "../facts/request.ts";
import type { RewindWhat } from "../facts/rewind.ts";
import type { RewindPlan, RewindPoint } from "../facts/rewound.ts";
import type { TurnLimits } from "../facts/silence.ts";
import type { HostAbout, RuleInForce } from "./about.ts";
import type { OutsideAsk, OutsideEnd } from "./outside.ts";
import type { RulePreview, Stats } from "./past.ts";
import type { Integrity, Receipt } from "./receipt.ts";
import type { GivenImage } from "../image.ts";
import type { SessionMode } from "../mode.ts";
import type { Reason, SageErrorCode } from "../reasons/reason.ts";
import type { Sender } from "../sender.ts";

/** The commands that a host takes. */
export type Command =
  /** Opens or finds a session. A new one uses `model` where nobody names another; a named `agent` runs its turns, for good. */
  | { type: "open"; session?: string; cwd: string; model?: string; agent?: string }
  /**
   * `id` makes a redelivered message harmless. `limits` are those of the turn that this message begins. `when`: before the `next` request
   * to the model, if left out, or `now`, which interrupts the step under way; sent again under its id, a message that waits is read now.
   */
  | ({
      type: "say";
      session: string;
      text: string;
      images?: readonly GivenImage[];
      id?: string;
      limits?: TurnLimits;
      when?: "now" | "next";
    } & Sender)
  /** Takes back a message that nothing has read, by its fact's key. The owner may be asking the model with it now: the facts tell. */
  | ({ type: "withdraw"; session: string; message: string } & Sender)
  | ({ type: "respond"; response: LooseResponse } & Sender)
  /** The same answer to several requests that are alike, after their list was seen whole. */
  | ({ type: "respondAll"; requestIds: readonly string[]; answer: SharedAnswer } & Sender)
  /** Opens a request for a program outside, or finds it by id. No socket takes it. `timeoutMs` and policy count from the first time. */
  | ({ type: "ask" } & OutsideAsk)
  /** The asker's own end of a request that it opened with `ask`. `by` and `surface` say who answered it where, if somebody did. */
  | ({ type: "unask"; requestId: string; end: OutsideEnd } & Sender)
  /** Asks about an open request instead of answering it. The session's owner replies. `id` makes redelivery harmless. */
  | ({ type: "inquire"; requestId: string; text: string; id?: string } & Sender)
  /**
   * Pauses a running turn; cancels one that is paused or waits for a person. `cancel: true` cancels in any case, `cancel: false` pauses
   * also where no surface is attached, for a caller that will continue the turn. `to` is the effect that the person saw coming: a pause
   * that arrives when the turn waits or is paused already does nothing, and neither does one that arrives between a message that is to
   * be read now and the reply to it. `now`: goes on at once with the messages that wait. `id` makes a redelivered one harmless.
   */
  | ({ type: "interrupt"; session: string; cancel?: boolean; to?: "pause" | "cancel" | "now"; id?: string } & Sender)
  /** Goes on with an open turn, or with a message that no turn has taken up, in this process. */
  | { type: "resume"; session: string }
  /** How much the agent may do without asking, from its next call on. */
  | ({ type: "chooseMode"; session: string; mode: SessionMode } & Sender)
  /** Makes room in the conversation of an idle session. */
  | { type: "compact"; session: string }
  | ({ type: "saveDraft"; requestId: string; draft: Draft } & Sender)
  /** All sessions, newest first, or the one that is named; a page of them where there may be many. */
  | {
      type: "sessions";
      session?: string;
      limit?: number;
      /** The id of the last one of the page before. */ after?: string;
    }
  /** A request by its id, open or ended, with what people asked about it. */
  | { type: "request"; id: string }
  /** Holds the rules that are offered with a permission, or these, against past calls of its project, together: would they have allowed too much? */
  | { type: "past"; requestId: string; rules?: readonly string[] }
  /** Open requests, of one session or of all, oldest first; a page of them where there may be many. */
  | {
      type: "pending";
      session?: string;
      limit?: number;
      /** The id of the last one of the page before. */ after?: string;
    }
  /** The model of a session, from its next turn on. `checked`: refused where its provider says that it has no such model. */
  | ({ type: "choose"; session: string; model: string; checked?: boolean } & Sender)
  | ({ type: "rename"; session: string; title: string } & Sender)
  /** A new session that begins where another is, or was at `at`: the end of a turn (`t2`), of a step (`t2/5`), or a fact by its number. */
  | ({ type: "fork"; session: string; at?: string } & Sender)
  /** Adds a rule to a session or to a settings file. */
  | ({
      type: "addRule";
      session: string;
      rule: string;
      behavior: RuleInForce["behavior"];
      destination: RuleDestination;
    } & Sender)
  | ({
      type: "removeRule";
      session: string;
      rule: string;
      /** Any, if it is left out. */ behavior?: RuleInForce["behavior"];
      destination: RuleDestination;
    } & Sender)
  /** Takes back the newest change of rules, or to a mode that asks less, that came with an answer or by hand. */
  | ({ type: "undo"; session: string } & Sender)
  /** Messages before which a session may go back to. Refused while its turn runs. */
  | { type: "rewindPoints"; session: string }
  /** Everything that going back to before a turn would change. Nothing is changed. */
  | { type: "planRewind"; session: string; turn: number; what: RewindWhat }
  /** Rewinds; a paused turn is cancelled first. `overwrite`: modified files to restore anyway, with the content the person saw. */
  | ({
      type: "rewind";
      session: string;
      turn: number;
      what: RewindWhat;
      overwrite?: Readonly<Record<string, string>>;
    } & Sender)
  /** The folders of this host, and the surroundings of a session: model, skills, subagents, own commands, rules. */
  | {
      type: "about";
      session?: string;
      /** Also prompts of MCP servers, which are started for it. */ prompts?: boolean;
    }
  /** Providers that are set up; with one of them, the models that it has. */
  | { type: "models"; provider?: string }
  /** Files of a session's folder that fit a few letters, best first. */
  | { type: "files"; session: string; query: string }
  /** A page of a call's whole output, where its result is not all of it. `call` is the call's key. Pages count from 0. */
  | { type: "output"; session: string; call: string; page?: number }
  /** A page of a session's history, oldest first: the facts after a seq, or the last ones before it. */
  | { type: "facts"; session: string; after?: number; before?: number; limit?: number }
  /** Receipts of a session, call or file (id, or path from `cwd`); with `cwd` alone of its last session; with neither the latest. */
  | { type: "receipts"; of?: string; cwd?: string; before?: number; limit?: number }
  /** How often people were asked, and how they answered. */
  | { type: "stats"; session?: string; /** And below it. */ folder?: string; since?: number };

/** `waiting`: a person is asked. `stopped`: a turn is open and no process runs it. */
export type SessionState = "idle" | "running" | "waiting" | "stopped";

/** A session as a list shows it. */
export type SessionSummary = {
  id: string;
  cwd: string;
  title: string;
  at: number;
  lastAt: number;
  /** stopped: a turn is open and no process runs it. */
  state: SessionState;
  pending: number;
  /** The files that it works on, where several machines share a journal. */
  place?: Place;
};

/** Receipts that were asked for, and how far their sessions' records can be relied on. */
export type FoundReceipts = {
  receipts: Receipt[];
  /** The sessions they are from. */
  sessions: SessionSummary[];
  records: (Integrity & { session: string })[];
  /** Changes of a session's mode. */
  modes?: Fact<"mode.chosen">[];
  /** The file that they are about, after every link; `same`: it is as the last of these calls left it. */
  file?: { path: string; now: "same" | "changed" | "gone" | "unknown" };
  /** Set for a session that was deleted. */
  deleted?: true;
  /** There are older ones. */
  more?: true;
};

/** A set of files, by its name: a machine, or several that mount the same folders. */
export type Place = {
  name: string;
  /** False while no worker of it lives: its sessions wait for one. */
  works: boolean;
};

/** The reply to a command that was not carried out. */
export type Refused = {
  ok: false;
  code: SageErrorCode;
  message: string;
  /** The message as data, for readers of another language. */ reason?: Reason;
  /** The winning answer, when somebody else answered first. */ resolution?: Resolution;
};

/** Replies to commands that were carried out; to the others it is `ok` alone. */
export type CommandReplies = {
  open: { session: string; created: boolean };
  say: { seq: number };
  respond: Responded;
  respondAll: { results: RespondedEach[] };
  /** `resolution`: how it ended, if it has. */
  ask: { request: InputRequest; resolution?: Resolution };
  unask: { resolution: Resolution };
  inquire: {
    inquiry: string;
    /** False: recorded, and nothing runs this session now that could reply. */ running: boolean;
  };
  interrupt: { to: "pause" | "cancel" | "now" | "nothing" };
  sessions: { sessions: SessionSummary[] };
  pending: { requests: PendingRequest[] };
  request: { resolution?: Resolution; inquiries?: Inquired[] } & PendingRequest;
  fork: { session: string };
  addRule: { /** Path of the file that was written. */ file?: string };
  /** Rules that were taken back, rules that count again, and the mode that the session is back in. */
  undo: { removed: string[]; restored: string[]; mode?: SessionMode };
  rewindPoints: { points: RewindPoint[]; /** A turn is open, and no process runs it. */ paused: boolean };
  planRewind: { plan: RewindPlan };
  rewind: FactData["rewind.ended"];
  about: HostAbout;
  models: { providers: string[]; models?: string[] };
  files: { files: string[] };
  output: { text: string; page: number; pages: number; /** Of all of it. */ bytes: number };
  facts: { facts: Fact[]; /** There are others beyond the page. */ more: boolean };
  receipts: FoundReceipts;
  stats: { stats: Stats };
  past: RulePreview;
};

/** The reply to each command: `ok`, or the code and the message of a refusal. */
export type CommandReply<C extends Command["type"] = Command["type"]> =
  | Refused
  | (C extends keyof CommandReplies ? { ok: true } & CommandReplies[C] : { ok: true });

/** The answer was recorded. It ended the request, or it was one yes of several. */
export type Responded = {
  ok: true;
  /** False: nothing runs this session now. */ running: boolean;
  /** The very answer that this person gave before: it was recorded once. */ again?: true;
} & ({ resolution: Resolution } | { resolution?: undefined; approved: Approved });

/** An answer that several requests may be given at once. Rules are kept with an answer to one of them. */
export type SharedAnswer = { type: "granted"; comment?: string } | { type: "denied"; reason?: string };

/** The result for one request of several: answered, or the reason why not. */
export type RespondedEach = { requestId: string } & ({ ok: true; resolution: Resolution; running: boolean } | Refused);

/** A request as a list shows it. `carried`: its agent was stopped since, and hears the answer when it continues. */
export type PendingRequest = { request: InputRequest; draft?: Draft; approvals?: Approval[]; carried?: true };

/** Events of one session, in order: its facts, `ready` once, then what happens. */
export type WatchEvent =
  | { type: "fact"; fact: Fact }
  /** All facts so far are told, once; the first request is to be shown. `live`: deltas follow, too. `owned`: a process runs it. */
  | { type: "ready"; requests: PendingRequest[]; live: boolean; owned: boolean }
  | { type: "delta"; delta: Delta }
  /**
   * Another process ran the session, and that has changed; told also when a lost link is back. `live` as in `ready`. `stopped`: that process is gone or has left, and
   * a turn that is open and that nobody has paused is continued by whoever sends `resume`.
   */
  | { type: "owner"; live: boolean; stopped: boolean }
  /** The connection to a remote host broke, or is back. Facts that were missed follow. */
  | { type: "link"; lost: boolean };

/** Events of all sessions: whatever waits, and the facts that change it. */
export type InboxEvent =
  /** All that waits, oldest first, and the newest sessions. `more`: further requests. Sent again after a gap, in place of the last one. */
  | { type: "inbox"; requests: PendingRequest[]; more: number; sessions: SessionSummary[] }
  /** A fact of any session that changes the list: sessions, messages, turns, requests and drafts. */
  | { type: "fact"; fact: Fact };

/** Facts after a seq, or those of the last turns; all of them where neither is given. */
export type WatchOptions = { after?: number; last?: number; signal: AbortSignal };

/** Everything that a surface needs: commands go in, facts and deltas come out. In this process or another, it is the same. */
export interface Host {
  send<C extends Command>(command: C): Promise<CommandReply<C["type"]>>;
  watch(session: string, options: WatchOptions): AsyncIterable<WatchEvent>;
  inbox(options: { signal: AbortSignal }): AsyncIterable<InboxEvent>;
}
