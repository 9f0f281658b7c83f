import type { Delta, FactData, FactType } from "../../protocol/facts/fact.ts";
import type { InputRequest, Resolution } from "../../protocol/facts/request.ts";
import { finishedKey, requestId, resolvedKey, splitRequestId, startedKey } from "../../protocol/key.ts";
import { noticeOf, reason, type Reason } from "../../protocol/reasons/reason.ts";
import type { Durable, Once, OnceOptions, Opened, ShownState, StepScope } from "./durable.ts";
import { Stopped } from "./durable.ts";
import { isRetryable, untilWritten } from "../store/retry.ts";
import type { SessionLog } from "./session.ts";
import { isPromised, storeNow, type Awaitable } from "../store/store.ts";

/** A straight line of keyed work. Lines of one session interleave: keys, not order, identify facts. */
export class Line implements Durable {
  readonly #log: SessionLog;
  readonly #prefix: string;
  /** Set on a branch that only replays. */
  readonly #over: Stopped | undefined;
  constructor(log: SessionLog, prefix: string, over?: Stopped) {
    this.#log = log;
    this.#prefix = prefix;
    this.#over = over;
  }

  get key(): string {
    return this.#prefix.slice(0, -1);
  }
  get signal(): AbortSignal {
    return this.#log.signal;
  }
  get stopped(): unknown {
    return this.#over ?? this.#log.stopped;
  }
  stop(reason: Error): void {
    this.#log.stop(reason);
  }
  branch(key: string): Durable {
    return new Line(this.#log, `${this.#prefix}${key}/`, this.#over);
  }
  resolve(resolution: Resolution): void {
    this.#log.commits.add(resolvedKey(splitRequestId(resolution.requestId).key), "input.resolved", resolution);
  }
  withdraw(why: Reason): void {
    const below = requestId(this.#log.id, this.#prefix);
    for (const { id } of this.#log.pending())
      if (id.startsWith(below))
        this.resolve({ requestId: id, by: "sage", surface: "turn", at: Date.now(), outcome: "cancelled", reason: why });
  }
  showState(shown: ShownState): void {
    if (this.#log.closed) return;
    const attempt = attemptOf(this.#log, 0);
    this.#log.commits.show({ session: this.#log.id, key: this.key, attempt, kind: "state", text: "", ...shown });
  }
  async recorded(key: string): Promise<boolean> {
    const { store, id } = this.#log;
    try {
      await new Promise((resolve) => void setImmediate(resolve)); // the tick of what was added has come before
      await this.#log.commits.writing;
      return store.fact(id, finishedKey(this.#prefix + key))?.type === "call.finished";
    } catch {
      return false;
    }
  }
  running(key: string): number[] {
    return this.#log.store.children(this.#log.id, this.#prefix + key);
  }
  closedBranch(key: string): Durable {
    return new Line(this.#log, `${this.#prefix}${key}/`, new Stopped("interrupted", reason("interrupted", {})));
  }
  known(key: string): boolean {
    return this.#log.peek(this.#prefix + key) !== undefined;
  }
  interruptedSince(key: string): boolean {
    const fact = this.#log.peek(this.#prefix + key);
    return fact !== undefined && this.#log.wasInterrupted(fact);
  }

  decide<T extends FactType>(key: string, type: T, make: () => FactData[T]): FactData[T] {
    const earlier = this.#log.take<T>(this.#prefix + key);
    if (earlier) return earlier.data;
    const value = make();
    this.#log.commits.add(this.#prefix + key, type, value);
    return value;
  }

  async step<T extends FactType>(
    key: string,
    type: T,
    work: (scope: StepScope) => Awaitable<FactData[T]>,
  ): Promise<FactData[T]> {
    const log = this.#log;
    const path = this.#prefix + key;
    const earlier = log.take<T>(path);
    if (earlier) return earlier.data;
    if (this.stopped) throw this.stopped;
    log.enter(); // not with `during`, which is one promise more for each step
    let value: FactData[T];
    try {
      const made = work(new Scope(log, path));
      value = isPromised(made) ? await made : made;
    } finally {
      log.leave();
    }
    log.commits.add(path, type, value);
    return value;
  }

  async once(
    key: string,
    work: (scope: StepScope) => Promise<FactData["call.finished"]>,
    options: OnceOptions<FactData["call.finished"]>,
  ): Promise<Once<FactData["call.finished"]>> {
    const log = this.#log;
    const path = this.#prefix + key;
    const started = log.take<"call.started">(startedKey(path));
    const ended = log.take<"call.finished" | "call.unknown">(finishedKey(path));
    if (ended?.type === "call.finished") return { ok: true, value: ended.data };
    const elsewhere = () => log.store.runsElsewhere?.(log.id, path) === true && ({ elsewhere: true } as const);
    const lost = () =>
      ({ ok: false, running: log.store.children(log.id, path), ...elsewhere(), since: started?.at ?? 0 }) as const;
    if (ended) return lost();
    let again = false;
    const scope = new Scope(log, path, this.#over);
    if (started) {
      const found = await log.during(() => options.reconcile?.(started.data, scope));
      again = found === "again";
      if (found === undefined) {
        log.commits.add(finishedKey(path), "call.unknown", { reason: reason("end-unknown", {}) });
        return lost();
      }
      if (found !== "again") return this.#finish(path, found);
    }
    if (this.stopped) throw this.stopped;
    if (!again) log.commits.add(startedKey(path), "call.started", options.started(scope));
    const written = log.commits.flush(); // on disk before the effect
    // A stop that comes while it is written reaches the effect as an aborted signal, and its end is recorded as usual.
    if (written) await written;
    log.enter();
    let value: FactData["call.finished"];
    try {
      value = await work(scope);
    } finally {
      log.leave();
    }
    return this.#finish(path, value);
  }
  #finish(path: string, value: FactData["call.finished"]): Once<FactData["call.finished"]> {
    this.#log.commits.add(finishedKey(path), "call.finished", value);
    return { ok: true, value };
  }

  open(
    key: string,
    draft: Parameters<Durable["open"]>[1],
    settle?: (request: InputRequest) => Resolution | undefined,
  ): Opened {
    const log = this.#log;
    const path = this.#prefix + key;
    const asked = log.take<"input.requested">(path);
    const resolved = log.take<"input.resolved">(resolvedKey(path));
    if (!asked && this.stopped) throw this.stopped;
    const request = asked?.data ?? made(draft, log, path);
    if (!asked) log.commits.add(path, "input.requested", request);
    let resolution = resolved?.data ?? settle?.(request);
    if (resolution && !resolved) {
      log.commits.add(resolvedKey(path), "input.resolved", resolution);
      // Others may have seen the request and answered it: the commit keeps their answer, and `wait` tells which one stands.
      if (asked) resolution = undefined;
    }
    return new Request(log, request, resolution);
  }
}

function made(draft: Parameters<Durable["open"]>[1], { id, store }: SessionLog, path: string): InputRequest {
  const asked = typeof draft === "function" ? draft() : draft;
  return { ...asked, id: requestId(id, path), session: id, at: storeNow(store) };
}

class Request implements Opened {
  readonly request: InputRequest;
  readonly resolution: Resolution | undefined;
  readonly #log: SessionLog;
  constructor(log: SessionLog, request: InputRequest, resolution: Resolution | undefined) {
    this.#log = log;
    this.request = request;
    this.resolution = resolution;
  }
  wait(): Promise<Resolution> {
    if (this.resolution) return Promise.resolve(this.resolution);
    this.#log.commits.tick(); // told to nobody before it is on disk, which the store sees to
    return this.#log.wait(this.request.id);
  }
}

class Scope implements StepScope {
  readonly #log: SessionLog;
  readonly #key: string;
  readonly #over: Stopped | undefined;
  #restarts = 0;
  #n = 0;
  constructor(log: SessionLog, key: string, over?: Stopped) {
    this.#log = log;
    this.#key = key;
    this.#over = over;
  }
  get place(): StepScope["place"] {
    return { session: this.#log.id, key: this.#key, epoch: this.#log.epoch };
  }
  get signal(): AbortSignal {
    return this.#over ? AbortSignal.abort(this.#over) : this.#log.signal;
  }
  delta(kind: Delta["kind"], text: string): void {
    this.#show({ kind, text });
  }
  notice(why: Reason): void {
    this.#show(noticeOf(why));
  }
  #show(what: Pick<Delta, "kind" | "text" | "reason">): void {
    if (this.#log.closed) return; // nobody looks any more
    if (this.#n === 0) this.#log.commits.tick(); // what led here is told before what comes of it
    const attempt = attemptOf(this.#log, this.#restarts);
    this.#log.commits.show({ session: this.#log.id, key: this.#key, attempt, n: this.#n++, ...what });
  }
  restart(): void {
    this.#restarts++;
    this.#n = 0;
  }
  spawned(pid: number): void | Promise<void> {
    const note = () => this.#log.store.noteChild(this.#log.id, this.#key, pid);
    try {
      return note();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      return untilWritten(note, { signal: this.signal });
    }
  }
}

/** A new owner's attempt must outrank every restart of the one before it. */
function attemptOf({ epoch }: SessionLog, restarts: number): number {
  return epoch * 1_000 + restarts;
}
