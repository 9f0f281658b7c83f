import type { Delta, Fact, FactData, FactType } from "../../protocol/facts/fact.ts";
import { noticeOf, reason, type Reason, reasonOf, type SageError } from "../../protocol/reasons/reason.ts";
import { isRetryable, quietly, untilWritten } from "../store/retry.ts";
import { isPromised, type Awaitable, type Store } from "../store/store.ts";

type CommitListener = {
  /** Called with each fact as it is buffered. */
  added(fact: Fact): void;
  /** Called when a commit has failed for good. */
  commitFailed(error: unknown): void;
};

/** Buffers facts; they commit together before anything outside can notice one, at the latest on the next tick, and before later deltas. */
export class CommitQueue {
  readonly #store: Store;
  readonly #session: string;
  readonly #epoch: number;
  readonly #listener: CommitListener;
  #buffer: Fact[] = [];
  /** Facts of the commit in progress: not in the buffer any more, not on disk yet. */
  #inFlight: readonly Fact[] = [];
  /** The commit in progress, and the one that takes everything added since. */
  #writing: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #scheduled = false;
  /** States to show with the next commit: they hurry nobody. */
  #statesAfterCommit: Delta[] | undefined;
  /** Deltas shown while a commit is in progress. */
  #deltasAfterCommit: Delta[] | undefined;
  #closed: unknown;
  /** Ends a commit that is tried again; made for the first that is. */
  #closing: AbortController | undefined;
  /** True while a commit is tried again: somebody was told that the turn waits. */
  #failing = false;
  #notices = 0;

  constructor(store: Store, session: string, epoch: number, listener: CommitListener) {
    this.#store = store;
    this.#session = session;
    this.#epoch = epoch;
    this.#listener = listener;
  }

  /** Why nothing can be recorded any more. */
  get closed(): unknown {
    return this.#closed;
  }

  get isEmpty(): boolean {
    return this.#buffer.length === 0 && this.#writing === undefined;
  }

  /** Facts that are not on disk yet, oldest first. */
  unwritten(): Fact[] {
    return [...this.#inFlight, ...this.#buffer];
  }

  /** The commit in progress, if there is one. */
  get writing(): Promise<void> | undefined {
    return this.#next ?? this.#writing;
  }

  add<T extends FactType>(key: string, type: T, data: FactData[T]): void {
    if (this.#closed) throw this.#closed;
    const fact = { session: this.#session, seq: 0, key, type, at: Date.now(), data } as Fact;
    this.#buffer.push(fact);
    this.#listener.added(fact);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(scheduledTick, this);
  }

  /** @internal */ scheduledTick(): void {
    this.#scheduled = false;
    this.tick();
  }

  /** A flush that nobody waits for. */
  tick(): void {
    if (this.#closed) return;
    try {
      void this.flush();
    } catch {
      // The queue is closed now; the loop meets the error at its next step.
    }
  }

  /** Resolves, or returns undefined, when everything added so far is on disk. */
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
    for (const delta of this.#statesAfterCommit?.splice(0) ?? []) this.show(delta);
    return this.#writing;
  }

  #flushNext(): Promise<void> | undefined {
    this.#next = undefined;
    return this.flush();
  }

  #commit(facts: Fact[]): Promise<void> | undefined {
    let first: Awaitable<void>;
    try {
      first = this.#store.commit(this.#session, this.#epoch, facts);
    } catch (error) {
      if (!isRetryable(error)) this.#fail(error);
      first = Promise.reject(error);
    }
    return isPromised(first) ? this.#commitWithRetry(first, facts) : undefined;
  }

  async #commitWithRetry(first: Promise<void> | undefined, facts: Fact[]): Promise<void> {
    const write = () => {
      const written = first ?? this.#store.commit(this.#session, this.#epoch, facts);
      first = undefined;
      return written;
    };
    try {
      this.#closing ??= new AbortController();
      await untilWritten(write, { signal: this.#closing.signal, failed: (problem) => this.#retrying(problem) });
      if (this.#failing) this.notice(reason("recorded-now", {}));
      this.#failing = false;
    } catch (error) {
      this.#fail(error);
    }
  }

  #retrying(problem: SageError): void {
    if (!this.#failing) this.notice(reason("not-recorded-yet", { problem: reasonOf(problem) }));
    this.#failing = true;
  }

  #fail(error: unknown): never {
    this.#listener.commitFailed(error);
    throw error;
  }

  /** Notifies watchers immediately, ahead of facts that are still being written. */
  notice(why: Reason): void {
    const place = { session: this.#session, key: "journal", attempt: this.#epoch * 1_000, n: this.#notices++ };
    this.#store.hub.delta({ ...place, ...noticeOf(why) });
  }

  /** Shows a delta once the facts before it are on disk. */
  show(delta: Delta): void {
    const written = this.writing;
    if (delta.kind === "state" && this.#buffer.length > 0) (this.#statesAfterCommit ??= []).push(delta);
    else if (this.#deltasAfterCommit) this.#deltasAfterCommit.push(delta);
    else if (!written) this.#store.hub.delta(delta);
    else {
      this.#deltasAfterCommit = [delta];
      void written.finally(() => this.#showDeltas()).catch(() => {});
    }
  }

  #showDeltas(): void {
    const deltas = this.#deltasAfterCommit ?? [];
    this.#deltasAfterCommit = undefined;
    if (!this.#closed) for (const delta of deltas) this.#store.hub.delta(delta);
  }

  /** Nothing is recorded any more. */
  close(why: unknown): void {
    if (this.#failing) this.notice(reason("left-unrecorded", { facts: this.#inFlight.length + this.#buffer.length }));
    this.#closed = why;
    this.#closing?.abort(why);
  }
}

const scheduledTick = (queue: CommitQueue) => queue.scheduledTick();
