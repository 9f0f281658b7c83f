import type { Fact, FactData, FactType } from "../../protocol/facts/fact.ts";
import type { InputRequest, Resolution } from "../../protocol/facts/request.ts";
import { withoutRewound } from "../../protocol/facts/rewound.ts";
import { beginsAttempt, type RuleChange } from "../../protocol/facts/session.ts";
import { callOfKey } from "../../protocol/key.ts";
import type { SessionMode } from "../../protocol/mode.ts";
import { reason, reasonOf, SageError } from "../../protocol/reasons/reason.ts";
import type { Awaitable, Store } from "../store/store.ts";
import { CommitQueue } from "./commit-queue.ts";
import { Stopped, type Durable } from "./durable.ts";
import { Line } from "./line.ts";
import { createMailbox, noted, type Mailbox } from "./mailbox.ts";

export { Stopped } from "./durable.ts";

/** Claims the session and reads its facts. */
export function openSession(store: Store, id: string): SessionLog {
  return new SessionLog(store, id);
}

/** A process's hold on a session: facts under keys, which is the whole of replay. `CommitQueue` buffers them. */
export class SessionLog {
  readonly id: string;
  readonly epoch: number;
  readonly store: Store;
  /** @internal Facts on their way to the store, and the deltas behind them. */
  readonly commits: CommitQueue;
  readonly #unsubscribe: () => void;

  // State that follows from the facts.
  /** All facts as the session was opened, until a turn begins: a turn that waits for days must not hold them. */
  #loaded: readonly Fact[] | undefined;
  #loadedUpTo = 0;
  #lastSeq = 0;
  /** @internal Messages of people, loaded or heard since. */
  readonly mailbox: Mailbox = createMailbox();
  /** @internal */ readonly said: readonly Fact<"user.said">[] = this.mailbox.said;
  /** @internal Rules that people gave the session or took back by hand, while it was open. Judging empties the list. */
  readonly ruleChanges: RuleChange[] = [];
  #mode: SessionMode = "ask";
  #planned = false;
  /** Facts that the loop has not passed yet; none in a turn that was never left. */
  #replay: Map<string, Fact> | undefined;
  /** Seqs of interrupts, and of the first fact of each attempt: looked up only where there is an interrupt. */
  #interrupts: number[] = [];
  /** The newest interrupt that this attempt heard of lets the turn go on with a message. */
  #goesOn = false;
  #attempts: number[] | undefined;

  // State of the attempt that runs.
  /** Pieces of work that are not loop code: a call, the model, a scan of files. */
  #working = 0;
  #states = 0;
  #waiting: readonly ((reason: unknown) => void)[] = [];
  #controller: AbortController | undefined;
  /** @internal Why this attempt is over. Read at every step, and therefore no getter; only `stop` and `begin` write it. */
  stopped: unknown;

  /** @internal */ constructor(store: Store, id: string) {
    this.store = store;
    this.id = id;
    this.epoch = store.claim(id);
    this.commits = new CommitQueue(store, id, this.epoch, this);
    // Subscribe before reading, so that facts written in between are not missed; duplicates are ignored.
    this.#unsubscribe = store.hub.subscribe(id, this);
    try {
      this.#loaded = this.#foldAll(withoutRewound(store.load(id, { verified: true })));
    } catch (error) {
      this.close(error);
      void store.release(id, this.epoch);
      throw error;
    }
  }

  /** Every fact of the session. */
  get loaded(): readonly Fact[] {
    return this.#loaded ?? this.store.load(this.id);
  }

  /** @internal Every fact up to now, those on their way to the store included, without turns that were taken back. */
  async record(): Promise<readonly Fact[]> {
    await this.flush();
    return withoutRewound(this.store.load(this.id));
  }

  /** @internal Facts to fold as a turn begins: for the first turn as the session was opened, for a later one as it is now. */
  begin(): readonly Fact[] {
    const facts = this.#loaded ?? this.#reload();
    this.#loaded = undefined;
    return facts;
  }

  #reload(): readonly Fact[] {
    if (this.flush())
      throw new Error(`session ${this.id} has facts on their way to the store: flush them before a turn begins`);
    this.stopped = this.#controller = this.#replay = undefined;
    this.mailbox.clear();
    this.ruleChanges.length = this.#interrupts.length = 0;
    return this.#foldAll(withoutRewound(this.store.load(this.id)));
  }

  #foldAll(facts: readonly Fact[]): readonly Fact[] {
    this.#loadedUpTo = this.#lastSeq = facts.at(-1)?.seq ?? 0;
    for (const fact of facts) this.#fold(fact);
    this.#attempts = this.#interrupts.length > 0 ? attemptsIn(facts, this.#loadedUpTo) : undefined;
    return facts;
  }

  #fold(fact: Fact): void {
    if (fact.type === "mode.chosen") this.#choose(fact.data.mode);
    this.mailbox.note(fact);
    if (fact.type === "turn.interrupted") this.#interrupts.push(fact.seq);
    // A finished turn is only folded, never replayed. These no loop asks for: a session that waits for days would hold them.
    if (fact.type === "turn.ended") this.#replay = undefined;
    else if (fact.type !== "session.opened" && fact.type !== "user.said" && fact.type !== "state.changed")
      (this.#replay ??= new Map()).set(fact.key, fact);
  }

  /** @internal Hears facts, its own and those of other writers, while this process holds the session. */
  fact(fact: Fact): void {
    if (fact.seq <= this.#loadedUpTo) return;
    this.#lastSeq = fact.seq;
    if (fact.type === "mode.chosen") this.#choose(fact.data.mode);
    if (noted.has(fact.type)) this.mailbox.note(fact);
    // The loop itself adds and takes back the rules of an answer.
    if (fact.type === "rule.added" || fact.type === "rule.removed")
      if (callOfKey(fact.key) === undefined) this.ruleChanges.push(fact);
    if (fact.type === "turn.interrupted") {
      this.#interrupts.push(fact.seq);
      this.#goesOn = fact.data.to === "now";
      this.stop(stoppedBy(fact.data));
    }
  }

  #choose(mode: SessionMode): void {
    this.#mode = mode;
    this.#planned ||= mode === "plan";
  }

  /** @internal The newest fact known here. */
  get lastSeq(): number {
    return this.#lastSeq;
  }
  /** @internal How much the agent may do without asking, as it is now. */
  get mode(): SessionMode {
    return this.#mode;
  }
  /** @internal True once the session was in plan mode. */
  get planned(): boolean {
    return this.#planned;
  }
  /** @internal */ get sawUpTo(): number {
    return this.mailbox.sawUpTo;
  }
  /** @internal */ unseen(): Fact<"user.said">[] {
    return this.mailbox.unseen();
  }
  /** @internal */ get interruptedAt(): number {
    return this.#interrupts.at(-1) ?? 0;
  }
  /** @internal Interrupted so that a message is read: nobody has paused the turn. */
  get goesOn(): boolean {
    return this.#goesOn;
  }
  /** @internal True when the attempt that wrote this fact was interrupted; it may have written on for a moment before it heard. */
  wasInterrupted({ seq }: Fact): boolean {
    if (this.#interrupts.length === 0) return false;
    this.#attempts ??= attemptsIn(this.loaded, this.#loadedUpTo);
    return isCutShort(seq, this.#attempts, this.#interrupts);
  }

  /** @internal Counts changes of state: one log may serve several turns, each with a lifecycle of its own. */
  nextState(): number {
    return this.#states++;
  }

  /** @internal */ branch(key: string): Durable {
    return new Line(this, key === "" ? "" : `${key}/`);
  }

  /** @internal A fact of an earlier attempt that the loop has not passed yet. */
  peek(key: string): Fact | undefined {
    return this.#replay?.get(key);
  }
  /** @internal The same, and the loop passes it. */
  take<T extends FactType>(key: string): Fact<T> | undefined {
    const fact = this.#replay?.get(key);
    if (fact) this.#replay?.delete(key);
    return fact as Fact<T> | undefined;
  }

  /** @internal The next call is judged in a mode that was chosen here, before that is on disk. */
  added(fact: Fact): void {
    if (fact.type === "mode.chosen") this.#choose(fact.data.mode);
  }

  /** Open requests, on disk or about to be. */
  pending(): InputRequest[] {
    const unwritten = this.commits.unwritten();
    const ended = new Set(unwritten.map((fact) => fact.type === "input.resolved" && fact.data.requestId));
    const opened = unwritten.flatMap((fact) => (fact.type === "input.requested" ? [fact.data] : []));
    return [...this.store.pending(this.id), ...opened].filter(({ id }) => !ended.has(id));
  }

  /** Undefined, or fulfilled: all so far is on disk. Synchronous where the store is. A busy journal or full disk is tried again. */
  flush(): Promise<void> | undefined {
    return this.commits.flush();
  }
  /** @internal The commit in progress, if there is one: a turn begins with what is on disk. */
  get writing(): Promise<void> | undefined {
    return this.commits.writing;
  }

  /** @internal A commit has failed for good. Watchers learn if another process owns the session; other errors end up in the outcome. */
  commitFailed(error: unknown): void {
    if (error instanceof SageError && error.code === "lease-lost") this.lost(error);
    else this.close(error);
  }
  /** @internal */ lost(problem: SageError): void {
    if (this.closed) return;
    this.commits.notice(reasonOf(problem));
    this.close(problem);
  }

  /** @internal */ wait(id: string): Promise<Resolution> {
    return new Promise((resolve, reject) => {
      void this.flush();
      const over = this.commits.closed ?? this.stopped;
      if (over) return reject(over);
      const done = (resolution: Resolution) => {
        stop();
        this.#waiting = this.#waiting.filter((other) => other !== leave);
        resolve(resolution);
      };
      const leave = (reason: unknown) => {
        stop();
        reject(reason);
      };
      const stop = this.store.hub.wait(id, done);
      this.#waiting = [...this.#waiting, leave];
      // Answered between opening and waiting: nobody would wake us.
      const settled = this.store.resolution(id);
      if (settled) done(settled);
    });
  }

  /** @internal Work that is not loop code begins: the session is not idle until `leave`. Both are calls of their own for `Line`, whose steps must not cost a promise more. */
  enter(): void {
    this.#working++;
  }
  /** @internal */ leave(): void {
    this.#working--;
  }
  /** @internal */ async during<T>(work: () => Awaitable<T>): Promise<T> {
    this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }
  /** @internal True while the session waits for people and nothing else, with everything on disk. */
  get idle(): boolean {
    return this.#waiting.length > 0 && this.#working === 0 && this.commits.isEmpty && this.stopped === undefined;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.stopped) this.#controller.abort(this.stopped);
    }
    return this.#controller.signal;
  }
  /** True when nothing can be recorded here any more. */
  get closed(): boolean {
    return this.commits.closed !== undefined;
  }

  /** Ends this attempt: running steps are aborted, nothing new starts, results of what was aborted may still be recorded. */
  stop(reason: unknown): void {
    if (this.stopped) return;
    this.stopped = reason;
    this.#controller?.abort(reason);
    for (const leave of this.#waiting) leave(reason);
    this.#waiting = [];
  }

  /** Releases the session after the work here: others can claim it immediately. */
  release(): void | Promise<void> {
    const letGo = () => {
      this.close();
      return this.store.release(this.id, this.epoch, this.#lastSeq);
    };
    try {
      const written = this.closed ? undefined : this.flush();
      if (written) return written.then(letGo, letGo);
    } catch {
      // The loop has already reported this error in its outcome.
    }
    return letGo();
  }

  /** As `stop`, and nothing can be recorded any more: the lease is gone, the journal is damaged, or the person leaves. */
  close(why: unknown = new Stopped("leaving", reason("leaving", {}))): void {
    if (this.closed) return;
    this.commits.close(why);
    this.#unsubscribe();
    this.stop(why);
  }
}

/** Seqs of the facts with which attempts at a session's turns began. */
function attemptsIn(facts: readonly Fact[], upTo: number): number[] {
  return facts.flatMap((fact) => (fact.seq <= upTo && beginsAttempt(fact) ? [fact.seq] : []));
}

/** True when the attempt that wrote the fact with this seq was interrupted, or one after it, which had it to do. */
function isCutShort(seq: number, attempts: readonly number[], interrupts: readonly number[]): boolean {
  const begun = attempts.findLast((at) => at <= seq) ?? 0;
  return interrupts.some((at) => at > begun);
}

/** Why an attempt ends that a person interrupts. */
export function stoppedBy(interrupt: FactData["turn.interrupted"]): Stopped {
  const { to, by } = interrupt;
  if (to === "cancel") return new Stopped("cancelled", reason("stopped-by", { by }));
  return new Stopped(
    "interrupted",
    to === "now" ? reason("read-now", { by, text: interrupt.message.text }) : reason("interrupted-by", { by }),
  );
}
