import type { FactData, FactType } from "../../protocol/facts/fact.ts";
import type { AgentState } from "../../protocol/facts/outcome.ts";
import type { InputRequest, NewRequest, Resolution } from "../../protocol/facts/request.ts";
import type { Reason } from "../../protocol/reasons/reason.ts";
import type { Awaitable } from "../store/store.ts";

export type StepScope = {
  /** Identifies this piece of work, and the process that does it. */
  readonly place: { session: string; key: string; epoch: number };
  readonly signal: AbortSignal;
  /** Live progress; never journaled. */
  delta(kind: "text" | "reasoning" | "output", text: string): void;
  /** A word to everybody who watches; each reads it in their own language. Never journaled. */
  notice(why: Reason): void;
  /** Clears the text shown so far under this key. */
  restart(): void;
  /** Notes a process group that was started, for recovery to look for. The command must not begin before this is done. */
  spawned(pid: number): void | Promise<void>;
};

/** Without `ok`: it was started at `since`, and its end is unknown. `running` are process groups of it that still live. */
export type Once<T> =
  | { ok: true; value: T }
  | { ok: false; running: number[]; /** It may run where nobody here can look. */ elsewhere?: true; since: number };

export type OnceOptions<T> = {
  /** Rides with `call.started`. Called only when the effect is about to run for the first time. */
  started(scope: StepScope): FactData["call.started"];
  /** After a crash: a value when the effect surely happened, "again" when it surely did not. It may wait for an effect that still runs. */
  reconcile?(started: FactData["call.started"], scope: StepScope): Promise<T | "again" | undefined>;
};

/** `sawUpTo`: messages up to this seq are in the request to the model that is under way. */
export type ShownState = { agent: readonly string[]; state: AgentState; n: number; sawUpTo?: number };

export type Opened = {
  readonly request: InputRequest;
  /** Present when it is settled already. */
  readonly resolution: Resolution | undefined;
  /** Blocks until it is settled, by whichever process. Rejects only when this attempt is stopped. */
  wait(): Promise<Resolution>;
};

/** The ground under the loop. Keys are written once: one that is a fact returns it, so a loop called again continues where it was. */
export interface Durable {
  /** Key of this branch. */
  readonly key: string;
  readonly signal: AbortSignal;
  /** A value decided here and now. Replayed, never recomputed. */
  decide<T extends FactType>(key: string, type: T, make: () => FactData[T]): FactData[T];
  /** Safe to run again: model calls, reads, decisions. At least once. */
  step<T extends FactType>(
    key: string,
    type: T,
    work: (scope: StepScope) => Awaitable<FactData[T]>,
  ): Promise<FactData[T]>;
  /** Not safe to run again. At most once per key. */
  once(
    key: string,
    work: (scope: StepScope) => Promise<FactData["call.finished"]>,
    options: OnceOptions<FactData["call.finished"]>,
  ): Promise<Once<FactData["call.finished"]>>;
  /** Opens now, waits separately. `settle` may resolve in the same commit. A function makes a request only where nobody asked yet. */
  open(
    key: string,
    request: NewRequest | (() => NewRequest),
    settle?: (request: InputRequest) => Resolution | undefined,
  ): Opened;
  /** The same session, log and lease under a longer key: a step, a call, a subagent. */
  branch(key: string): Durable;
  /** True when an earlier attempt wrote a fact under this key and the loop has not passed it yet. */
  known(key: string): boolean;
  /** True if the attempt that wrote `key` had been interrupted, even if it did not know yet. */
  interruptedSince(key: string): boolean;
  /** Ends a request of this session in the next commit, fenced like everything else; an answer that is there already wins. */
  resolve(resolution: Resolution): void;
  /** Cancels every open request below this branch, whose work is over. */
  withdraw(reason: Reason): void;
  /** Waits for the end of `once` under this key to come to disk, without hurrying it. False: it may not be there. */
  recorded(key: string): Promise<boolean>;
  /** Process groups started under this key that still live. */
  running(key: string): number[];
  /** A branch that only replays facts: anything new throws `Stopped`. */
  closedBranch(key: string): Durable;
  /** Shows to those who watch what the agent of this branch does now; `n` counts. Never journaled. */
  showState(shown: ShownState): void;
  /** Ends this attempt: running and waiting work is aborted, and its results can still be recorded. */
  stop(reason: Error): void;
  readonly stopped: unknown;
}

/** Why an attempt ends before its turn does. What may still be recorded differs: see `SessionLog.stop`. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly why: "interrupted" | "cancelled" | "timeout" | "leaving";
  readonly reason: Reason;
  constructor(why: Stopped["why"], reason: Reason) {
    super(why);
    this.why = why;
    this.reason = reason;
  }
}
