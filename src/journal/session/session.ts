import type { Delta, Fact, FactData, FactType } from "../../protocol/facts/fact.ts";
import type { InputRequest, Resolution } from "../../protocol/facts/request.ts";
import { withoutRewound } from "../../protocol/facts/rewound.ts";
import type { RuleChange } from "../../protocol/facts/session.ts";
import { callOfKey } from "../../protocol/key.ts";
import type { SessionMode } from "../../protocol/mode.ts";
import { reasonOf, SageError } from "../../protocol/reasons/error.ts";
import { noticeOf, reason, type Reason } from "../../protocol/reasons/reason.ts";
import { attemptsIn, isCutShort } from "./attempts.ts";
import { Stopped, type Durable } from "./durable.ts";
import { Line } from "./line.ts";
import { createMailbox, noted, type Mailbox } from "./mailbox.ts";
import { isRetryable, quietly, untilWritten } from "../store/retry.ts";
import { isPromised, type Awaitable, type Store } from "../store/store.ts";

export { Stopped } from "./durable.ts";

/** Claims the session and reads its facts. */
export function openSession(store: Store, id: string): SessionLog {
  return new SessionLog(store, id);
}

/**
 * A process's hold on a session: facts under keys, which is the whole of replay.
 * Facts are buffered, and committed together before anything outside can notice one of them, at the latest on the next tick.
 */
export class SessionLog {
  readonly id: string;
  readonly epoch: number;
  readonly store: Store;
  /** All facts as the session was opened, until a turn begins: a turn that waits for days must not hold them. */
  #loaded: readonly Fact[] | undefined;
  /** @internal Messages of people, loaded or heard since. */
  readonly mailbox: Mailbox = createMailbox();
  /** @internal */ readonly said: Fact<"user.said">[] = this.mailbox.said;
  /** @internal Rules that people gave the session or took back by hand, while it was open. */
  readonly ruleChanges: RuleChange[] = [];
  /** @internal How much the agent may do without asking, as it is now. */
  mode: SessionMode = "ask";
  /** @internal True once the session was in plan mode. */
  planned = false;
  /** @internal Facts that the loop has not passed yet; none in a turn that was never left. */
  replay: Map<string, Fact> | undefined;
  /** Seqs of interrupts, and of the first fact of each attempt: looked up only where there is an interrupt. */
  #interrupts: number[] = [];
  #attempts: number[] | undefined;
  #buffer: Fact[] = [];
  /** Facts of the commit that is on its way: not in the buffer any more, not on disk yet. */
  #inFlight: readonly Fact[] = [];
  /** That commit, and the one that takes everything added since. */
  #writing: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** States to show with the next commit: they hurry nobody. */
  #shownLater: Delta[] | undefined;
  /** Deltas that must not overtake the facts before them. */
  #held: Delta[] | undefined;
  #scheduled = false;
  /** @internal Counts work that is not loop code (a call, the model, a look at the world): the session is not idle meanwhile. */
  working = 0;
  #states = 0;
  #waiting: readonly ((reason: unknown) => void)[] = [];
  /** @internal The newest fact known here. */
  lastSeq = 0;
  #loadedUpTo = 0;
  #controller: AbortController | undefined;
  /** @internal Why this attempt is over. Read at every step, and therefore no getter. */
  stopped: unknown;
  #closed: unknown;
  /** Ends a commit that is tried again; made for the first that is. */
  #closing: AbortController | undefined;
  /** True while a commit is tried again: somebody was told that the turn waits. */
  #failing = false;
  #notices = 0;
  #unsubscribe: () => void;

  /** @internal */ constructor(store: Store, id: string) {
    this.store = store;
    this.id = id;
    this.epoch = store.claim(id);
    // Listen before reading: what others write in between is heard, and known already when it is told.
    this.#unsubscribe = store.hub.subscribe(id, this);
    try {
      this.#loaded = this.#knowAll(withoutRewound(store.load(id, { verified: true })));
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

  /** @internal Facts to fold as a turn begins: for the first turn as the session was opened, for a later one as it is now. */
  begin(): readonly Fact[] {
    const facts = this.#loaded ?? this.#again();
    this.#loaded = undefined;
    return facts;
  }

  #again(): readonly Fact[] {
    if (this.flush())
      throw new Error(`session ${this.id} has facts on their way to the store: flush them before a turn begins`);
    this.stopped = this.#controller = this.replay = undefined;
    this.mailbox.clear();
    this.ruleChanges.length = this.#interrupts.length = 0;
    return this.#knowAll(withoutRewound(this.store.load(this.id)));
  }

  #knowAll(facts: readonly Fact[]): readonly Fact[] {
    this.#loadedUpTo = this.lastSeq = facts.at(-1)?.seq ?? 0;
    for (const fact of facts) this.#know(fact);
    this.#attempts = this.#interrupts.length > 0 ? attemptsIn(facts, this.#loadedUpTo) : undefined;
    return facts;
  }

  /** @internal Hears facts, its own and those of other writers, while this process holds the session. */
  fact(fact: Fact): void {
    if (fact.seq <= this.#loadedUpTo) return;
    this.lastSeq = fact.seq;
    if (fact.type === "mode.chosen") this.#choose(fact.data.mode);
    if (noted.has(fact.type)) this.mailbox.note(fact);
    // The loop itself adds and takes back the rules of an answer.
    if (fact.type === "rule.added" || fact.type === "rule.removed")
      if (callOfKey(fact.key) === undefined) this.ruleChanges.push(fact);
    if (fact.type === "turn.interrupted") {
      this.#interrupts.push(fact.seq);
      this.stop(
        fact.data.to === "cancel"
          ? new Stopped("cancelled", reason("stopped-by", { by: fact.data.by }))
          : new Stopped("interrupted", reason("interrupted-by", { by: fact.data.by })),
      );
    }
  }

  /** @internal */ lost(problem: SageError): void {
    if (this.#closed) return;
    this.#notice(reasonOf(problem));
    this.close(problem);
  }

  #know(fact: Fact): void {
    if (fact.type === "mode.chosen") this.#choose(fact.data.mode);
    this.mailbox.note(fact);
    if (fact.type === "turn.interrupted") this.#interrupts.push(fact.seq);
    // A finished turn is only folded, never replayed. These no loop asks for: a session that waits for days would hold them.
    if (fact.type === "turn.ended") this.replay = undefined;
    else if (fact.type !== "session.opened" && fact.type !== "user.said" && fact.type !== "state.changed")
      (this.replay ??= new Map()).set(fact.key, fact);
  }

  #choose(mode: SessionMode): void {
    this.mode = mode;
    this.planned ||= mode === "plan";
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
  /** @internal True when the attempt that wrote this fact was interrupted; it may have written on for a moment before it heard. */
  wasInterrupted({ seq }: Fact): boolean {
    if (this.#interrupts.length === 0) return false;
    this.#attempts ??= attemptsIn(this.loaded, this.#loadedUpTo);
    return isCutShort(seq, this.#attempts, this.#interrupts);
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
    return this.#closed !== undefined;
  }

  /** @internal Counts changes of state: one log may serve several turns, each with a lifecycle of its own. */
  nextState(): number {
    return this.#states++;
  }

  /** @internal */ branch(key: string): Durable {
    return new Line(this, key === "" ? "" : `${key}/`);
  }

  /** @internal */ peek(key: string): Fact | undefined {
    return this.replay?.get(key);
  }
  /** @internal */ take<T extends FactType>(key: string): Fact<T> | undefined {
    const fact = this.replay?.get(key);
    if (fact) this.replay?.delete(key);
    return fact as Fact<T> | undefined;
  }

  /** @internal */ add<T extends FactType>(key: string, type: T, data: FactData[T]): void {
    if (this.#closed) throw this.#closed;
    const fact = { session: this.id, seq: 0, key, type, at: Date.now(), data } as Fact;
    this.#buffer.push(fact);
    // The next call is judged in it, and that judgement is written after this.
    if (fact.type === "mode.chosen") this.#choose(fact.data.mode);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(tick, this);
  }

  /** Open requests, on disk or about to be. */
  pending(): InputRequest[] {
    const unwritten = [...this.#inFlight, ...this.#buffer];
    const ended = new Set(unwritten.map((fact) => fact.type === "input.resolved" && fact.data.requestId));
    const opened = unwritten.flatMap((fact) => (fact.type === "input.requested" ? [fact.data] : []));
    return [...this.store.pending(this.id), ...opened].filter(({ id }) => !ended.has(id));
  }

  /**
   * A barrier. Everything added so far is on disk when this returns undefined, or when the promise that it returns is fulfilled.
   * A store that writes at once keeps it synchronous. A busy journal or a full disk keeps the facts and is tried again.
   */
  flush(): Promise<void> | undefined {
    if (this.#closed) throw this.#closed;
    if (this.#buffer.length === 0) return this.writing;
    // Commits run one at a time; facts added meanwhile share the next one.
    if (this.#writing) return (this.#next ??= quietly(this.#writing.then(() => this.#flushNext())));
    const facts = this.#buffer;
    this.#buffer = [];
    const written = this.#commit(facts);
    if (written) this.#inFlight = facts;
    this.#writing = written && quietly(written.finally(() => ((this.#writing = undefined), (this.#inFlight = []))));
    for (const delta of this.#shownLater?.splice(0) ?? []) this.show(delta);
    return this.#writing;
  }
  /** @internal The commit that is on its way, if one is: a turn begins with what is on disk. */
  get writing(): Promise<void> | undefined {
    return this.#next ?? this.#writing;
  }
  #flushNext(): Promise<void> | undefined {
    this.#next = undefined;
    return this.flush();
  }
  #wait(problem: SageError): void {
    if (!this.#failing) this.#notice(reason("not-recorded-yet", { problem: reasonOf(problem) }));
    this.#failing = true;
  }
  /** Told at once, whatever is on its way to the disk. */
  #notice(why: Reason): void {
    const place = { session: this.id, key: "journal", attempt: this.epoch * 1_000, n: this.#notices++ };
    this.store.hub.delta({ ...place, ...noticeOf(why) });
  }
  #commit(facts: Fact[]): Promise<void> | undefined {
    let first: Awaitable<void>;
    try {
      first = this.store.commit(this.id, this.epoch, facts);
    } catch (error) {
      if (!isRetryable(error)) this.#fail(error);
      first = Promise.reject(error);
    }
    return isPromised(first) ? this.#commitPatiently(first, facts) : undefined;
  }
  async #commitPatiently(first: Promise<void> | undefined, facts: Fact[]): Promise<void> {
    const write = () => {
      const written = first ?? this.store.commit(this.id, this.epoch, facts);
      first = undefined;
      return written;
    };
    try {
      this.#closing ??= new AbortController();
      await untilWritten(write, { signal: this.#closing.signal, failed: (problem) => this.#wait(problem) });
      if (this.#failing) this.#notice(reason("recorded-now", {}));
      this.#failing = false;
    } catch (error) {
      this.#fail(error);
    }
  }
  /** A commit that will never be made. Whoever watches learns that another process has the session; other errors end up in the outcome. */
  #fail(error: unknown): never {
    if (error instanceof SageError && error.code === "lease-lost") this.lost(error);
    else this.close(error);
    throw error;
  }
  /** @internal */ scheduledTick(): void {
    this.#scheduled = false;
    this.tick();
  }
  /** @internal A flush that nobody waits for. */
  tick(): void {
    if (this.#closed) return;
    try {
      void this.flush();
    } catch {
      // The log is closed now; the loop meets the error at its next step.
    }
  }

  /** @internal Shows a delta once the facts before it are on disk. */
  show(delta: Delta): void {
    const written = this.writing;
    if (delta.kind === "state" && this.#buffer.length > 0) (this.#shownLater ??= []).push(delta);
    else if (this.#held) this.#held.push(delta);
    else if (!written) this.store.hub.delta(delta);
    else {
      this.#held = [delta];
      void written.finally(() => this.#showHeld()).catch(() => {});
    }
  }
  #showHeld(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    if (!this.#closed) for (const delta of held) this.store.hub.delta(delta);
  }

  /** @internal */ wait(id: string): Promise<Resolution> {
    return new Promise((resolve, reject) => {
      void this.flush(); // told to nobody before it is on disk, which the store sees to
      if (this.#closed ?? this.stopped) return reject(this.#closed ?? this.stopped);
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

  /** @internal */ async during<T>(work: () => Awaitable<T>): Promise<T> {
    this.working++;
    try {
      return await work();
    } finally {
      this.working--;
    }
  }
  /** @internal True while the session waits for people and nothing else, with everything on disk. */
  get idle(): boolean {
    const written = this.#buffer.length === 0 && this.#writing === undefined;
    return this.#waiting.length > 0 && this.working === 0 && written && this.stopped === undefined;
  }

  /** Ends this attempt: running steps are aborted, nothing new starts, results of what was aborted may still be recorded. */
  stop(reason: unknown): void {
    if (this.stopped) return;
    this.stopped = reason;
    this.#controller?.abort(reason);
    for (const leave of this.#waiting) leave(reason);
    this.#waiting = [];
  }

  /** Gives the session up after the work here: others may claim it at once. */
  release(): void | Promise<void> {
    const letGo = () => {
      this.close();
      return this.store.release(this.id, this.epoch, this.lastSeq);
    };
    try {
      const written = this.#closed ? undefined : this.flush();
      if (written) return written.then(letGo, letGo);
    } catch {
      // The loop has met this error already and told it in its outcome.
    }
    return letGo();
  }

  /** As `stop`, and nothing can be recorded any more: the lease is gone, the journal is damaged, or the person leaves. */
  close(why: unknown = new Stopped("leaving", reason("leaving", {}))): void {
    if (this.#closed) return;
    if (this.#failing) this.#notice(reason("left-unrecorded", { facts: this.#inFlight.length + this.#buffer.length }));
    this.#closed = why;
    this.#closing?.abort(why);
    this.#unsubscribe();
    this.stop(why);
  }
}

const tick = (log: SessionLog) => log.scheduledTick();
