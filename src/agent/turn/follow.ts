import type { Store } from "../../journal/store/store.ts";
import type { Delta, Fact } from "../../protocol/facts/fact.ts";

/** Everything a session writes and streams while `work` runs. By hand: an async generator keeps a whole frame for every turn that waits. */
export function follow<T>(store: Store, session: string, work: () => Promise<T>): AsyncGenerator<Fact | Delta, T> {
  return new Following(store, session, work);
}

class Following<T> implements AsyncGenerator<Fact | Delta, T> {
  #queue: (Fact | Delta)[] = [];
  #waiting: (() => void)[] = [];
  #work: (() => Promise<T>) | undefined;
  #result: Promise<T> | undefined;
  #done = false;
  readonly #leave: () => void;

  constructor(store: Store, session: string, work: () => Promise<T>) {
    this.#work = work;
    this.#leave = store.hub.subscribe(session, this);
  }

  fact(fact: Fact): void {
    this.#queue.push(fact);
    this.#waiting.shift()?.();
  }
  delta(delta: Delta): void {
    this.#queue.push(delta);
    this.#waiting.shift()?.();
  }

  next(): Promise<IteratorResult<Fact | Delta, T>> {
    if (!this.#result) this.#begin();
    const value = this.#queue.shift();
    if (value) return Promise.resolve({ done: false, value });
    if (this.#done) return (this.#result as Promise<T>).then((result) => ({ done: true, value: result }));
    return new Promise((resolve) => {
      this.#waiting.push(() => resolve(this.next()));
    });
  }

  /** Nobody looks any more; the work itself continues. */
  async return(value: T | PromiseLike<T>): Promise<IteratorResult<Fact | Delta, T>> {
    this.#leave();
    return { done: true, value: await value };
  }
  async throw(error: unknown): Promise<IteratorResult<Fact | Delta, T>> {
    this.#leave();
    throw error;
  }
  [Symbol.asyncIterator](): this {
    return this;
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.#leave();
  }

  #begin(): void {
    const result = (this.#work as () => Promise<T>)();
    this.#result = result;
    this.#work = undefined;
    const finish = () => {
      this.#done = true;
      this.#leave();
      for (const wake of this.#waiting.splice(0)) wake();
    };
    result.then(finish, finish);
  }
}
