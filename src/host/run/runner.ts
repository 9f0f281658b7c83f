import type { Executor } from "../../agent/turn/execution.ts";
import { journaledLifecycle } from "../../agent/state/states.ts";
import { existingSession } from "../../journal/session/existing-session.ts";
import { isRetryable } from "../../journal/store/retry.ts";
import { openSession, type SessionLog, type Stopped } from "../../journal/session/session.ts";
import type { Listener } from "../../journal/store/hub.ts";
import type { Awaitable, SessionRow, Store } from "../../journal/store/store.ts";
import { realClock } from "../../models/sleep.ts";
import type { FactType } from "../../protocol/facts/fact.ts";
import type { AgentOutcome } from "../../protocol/facts/outcome.ts";
import { unseenMessages } from "../../protocol/facts/unseen.ts";
import { isOutsideSession } from "../../protocol/host/outside.ts";
import type { Reason, SageErrorCode } from "../../protocol/reasons/reason.ts";
import { noticeOf, reason, said, reasonOf, SageError } from "../../protocol/reasons/reason.ts";
import type { Blocks } from "./blocks.ts";
import type { Moments } from "./moments.ts";
import { nextPhase, notBegun, type RunEvent, type RunPhase } from "./run-phase.ts";
import { createTurnstile, fallAsleep } from "./sleep.ts";
import { createSupervisor, type Supervision } from "./supervisor.ts";
import type { Titles } from "./titles.ts";
import type { Wakes } from "./wakes.ts";

const RETRY_MS = 1_000;

/** The sessions whose turns run in this process. */
export type Runner = {
  of(session: string): SessionRun | undefined;
  start(session: string): SessionRun;
  /** Starts a session here unless another process runs it, which hears of what was written by itself. */
  wake(session: string): void;
  /** Closes for good: runs that were begun here end, and nothing begins after them. */
  leaveAll(): Promise<unknown>[];
};

type RunnerParts = RunParts & {
  /** Lets other processes follow the session while it runs here. */
  serve(session: string): (() => void) | undefined;
  /** How long a session only waits for people before it is unloaded. Undefined: never. */
  sleepAfterMs: number | undefined;
};

export function createRunner({ serve, sleepAfterMs, ...parts }: RunnerParts): Runner {
  const { store } = parts;
  const running = store.member(createRunning);
  const begunHere = new Set<SessionRun>();
  const turnstile = createTurnstile();
  let closing = false;
  // A single timer looks at all runs, and there is none while nothing runs.
  let sweeping: NodeJS.Timeout | undefined;
  const sweep = () => {
    for (const run of begunHere) run.sleepIfIdle();
    if (begunHere.size > 0) return;
    clearInterval(sweeping);
    sweeping = undefined;
  };
  const letGo = (run: SessionRun) => {
    if (running.get(run.session) === run) running.delete(run.session);
  };
  const scope = { ...parts, turnstile, letGo };

  const start = (session: string): SessionRun => {
    if (isOutsideSession(session)) throw new SageError("input-invalid", reason("outside-session", { session }));
    const before = running.get(session);
    if (before && (closing || !before.leaving)) return before;
    const unserve = serve(session); // before the session is claimed: a process that sees the claim must find the socket
    const run = new SessionRun(session, scope, before?.done);
    const end = () => {
      unserve?.();
      begunHere.delete(run);
    };
    run.done.then(end, (error: unknown) => {
      end();
      // The process has just released this session itself: it is claimed again, without a notice.
      if (parts.letsGo && error instanceof SageError && error.code === "session-owned") return;
      run.notice("host", reasonOf(error)); // callers of `run` get the error from `done`; people who only sent a message see this notice
    });
    running.set(session, run);
    begunHere.add(run);
    if (sleepAfterMs !== undefined) sweeping ??= setInterval(sweep, sleepAfterMs).unref();
    return run;
  };

  return {
    of: (session) => running.get(session),
    start,
    wake(session) {
      const here = running.get(session);
      if (here ? here.leaving : !existingSession(store, session).owned) start(session);
    },
    leaveAll() {
      closing = true;
      for (const run of begunHere) run.leave();
      return [...begunHere].map(({ done }) => done);
    },
  };
}

/** Runs nothing here, but wakes the processes that run sessions. */
export function runnerElsewhere({ wake }: { wake(session: string): void }): Runner {
  return {
    of: () => undefined,
    start(session) {
      throw new SageError("input-invalid", reason("runs-elsewhere", { session }));
    },
    wake,
    leaveAll: () => [],
  };
}

/** An embedder may have several hosts on one journal: a session runs in one of them, and the others join it there. */
const createRunning = () => new Map<string, SessionRun>();

type RunParts = {
  store: Store;
  /** Makes what runs a session's turns, when its first one begins. */
  executor(session: SessionRow): Promise<Executor>;
  supervision: Supervision;
  blocks: Blocks;
  moments: Moments;
  titles: Titles | undefined;
  /** Told when a turn has ended and that is on disk. */
  turnEnded(session: string): void;
  /** Follows background commands. */
  wakes: Wakes | undefined;
  /** Release a session that only waits for people: another process may be the one to wake it. */
  letsGo?: boolean | undefined;
};

/** Shared by all runs of a process. */
type RunScope = RunParts & {
  /** Lets one session begin at a time. */
  turnstile(): Promise<void> | undefined;
  /** Called as soon as nothing more happens here: a message that comes now starts a run of its own. */
  letGo(run: SessionRun): void;
};

/** `newest`: the session sleeps now, and this was the seq of its newest fact. */
type Round = { outcome: AgentOutcome; newest?: number };

/** Runs one session's turns, one after the other, until no message is left. A class, since there may be ten thousand. */
export class SessionRun {
  readonly session: string;
  readonly done: Promise<AgentOutcome>;
  readonly #scope: RunScope;
  #phase: RunPhase = notBegun;
  #maySleep = false;
  #leaving = false;
  /** The newest fact when somebody resumed it last. */
  #resumedAt = 0;
  /** Why the turn could not be begun at the last try. */
  #waitsFor: SageErrorCode | undefined;
  #resting: AbortController | undefined;
  /** Seq of the newest fact its log knew when it fell asleep. */
  #knew: number | undefined;

  /** `after` must end before this run begins: it is leaving, and the session must not be claimed twice. */
  constructor(session: string, scope: RunScope, after: Promise<unknown> | undefined) {
    this.session = session;
    this.#scope = scope;
    this.done = this.#untilEnd(after);
  }

  get phase(): RunPhase {
    return this.#phase;
  }
  get log(): SessionLog | undefined {
    return "log" in this.#phase ? this.#phase.log : undefined;
  }
  /** It was told to leave and ignores messages from now on. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /** Goes on after the pause that was asked for, also when the attempt has not ended yet. */
  resume(): void {
    this.#resumedAt = this.log?.lastSeq ?? 0;
  }

  /** Ends the attempt, or the next one as it begins. */
  stop(reason: Stopped): void {
    this.#move({ type: "stopped", reason });
    this.log?.stop(reason);
    this.#hurry();
  }

  /** Puts it to sleep when it has waited for people alone since the last look. */
  sleepIfIdle(): void {
    const { log } = this;
    const idleAt = log?.idle ? log.lastSeq : undefined;
    const { name } = this.#move({ type: "looked", idleAt, maySleep: this.#maySleep });
    if (name === "fallingAsleep") log?.close();
  }

  leave(): void {
    this.#leaving = true;
    this.log?.close();
    if (this.#phase.name === "asleep") this.#phase.sleep.end();
    this.#hurry();
  }

  /** For watchers of the session: there is nobody else to tell. */
  notice(key: string, why: Reason): void {
    this.#scope.store.hub.delta({ session: this.session, key, attempt: 0, n: 0, ...noticeOf(why) });
  }

  #move(event: RunEvent): RunPhase {
    return (this.#phase = nextPhase(this.#phase, event));
  }

  /** The only async frame of a sleeping session: each costs about 500 bytes. */
  async #untilEnd(after: Promise<unknown> | undefined): Promise<AgentOutcome> {
    try {
      const { store, turnstile } = this.#scope;
      if (after) await after.catch(() => {}); // callers of that run get its error
      const session = existingSession(store, this.session);
      for (;;) {
        await turnstile();
        const round = await this.#roundOrLater(session);
        if (round === "again") continue;
        if (round.newest === undefined || this.#scope.letsGo) return round.outcome;
        const woken = await this.#sleep(round.newest);
        this.#move({ type: "woken" });
        if (!woken || this.#leaving) return round.outcome; // left, or taken by another process
      }
    } finally {
      const released = this.#end();
      if (released) await released;
    }
  }

  /** A turn that cannot begin because the journal is busy or the disk is full is retried later; watchers are told once. */
  async #roundOrLater(session: SessionRow): Promise<"again" | Round> {
    try {
      return await this.#round(session);
    } catch (error) {
      if (this.#phase.name !== "preparing" || this.#leaving || !isOfJournal(error)) throw error;
      if (this.#waitsFor !== error.code)
        this.notice("journal", reason("not-recorded-yet", { problem: reasonOf(error) }));
      this.#waitsFor = error.code;
      await this.#rest(RETRY_MS);
      return "again";
    }
  }

  /** Runs one turn. Little comes back: a session that sleeps after it should weigh nothing. */
  async #round(session: SessionRow): Promise<"again" | Round> {
    const { store, executor, moments, supervision } = this.#scope;
    const agent = await executor(session); // made anew for each turn: somebody may have chosen another model
    this.#maySleep = agent.maySleep;
    // Its folder may have been made a moment ago.
    moments.start(store.shared ? existingSession(store, this.session) : session, agent.hooks);
    const supervisor = createSupervisor(supervision);
    for (;;) {
      try {
        return await this.#attempt(agent, supervisor.supervised);
      } catch (error) {
        const rest = supervisor.rest(error);
        if (!rest) throw error;
        this.notice("supervisor", rest.notice);
        await this.#rest(rest.ms);
      }
    }
  }

  /** A person who stops the turn or leaves does not wait for the next attempt: it begins at once and finds out why. */
  async #rest(ms: number): Promise<void> {
    const { clock = realClock } = this.#scope.supervision;
    this.#resting ??= new AbortController();
    await clock.sleep(ms, this.#resting.signal).catch(() => {});
  }

  async #attempt(agent: Executor, supervised: boolean): Promise<"again" | Round> {
    const { store, blocks, moments, titles, turnEnded, wakes } = this.#scope;
    const log = openSession(store, this.session);
    let told = false;
    const stop = this.#phase.name === "preparing" ? this.#phase.stop : undefined;
    const lifecycle = journaledLifecycle(log);
    this.#move({ type: "attemptBegun", log, lifecycle });
    this.#waitsFor = undefined;
    if (this.#leaving) log.close();
    if (stop) log.stop(stop);
    const ends = {
      types: turnEnd,
      fact: () => {
        told = true;
        turnEnded(this.session);
      },
    };
    const heard: Listener[] = moments.follow(this.session) ? [blocks, moments, ends] : [blocks, ends];
    if (wakes) heard.push(wakes.follow(this.session));
    const listeners = heard.map((listener) => store.hub.subscribe(this.session, listener));
    titles?.begin(log);
    let outcome: AgentOutcome;
    let unrecorded = false;
    try {
      outcome = await agent.run({ log, lifecycle, supervised, wakes: wakes?.begins === true });
      unrecorded = outcome.status === "error" && log.closed;
    } finally {
      for (const unsubscribe of listeners) unsubscribe();
      blocks.forget(this.session);
      const released = this.#phase.name === "working" ? log.release() : undefined; // one that falls asleep keeps its lease
      if (released) await released;
      this.#move({ type: "attemptEnded" });
    }
    // Of a store that only says that it has written, this turn would be asked for again and again.
    const isOver = outcome.status !== "paused" && outcome.status !== "needs-input";
    if (isOver && !unrecorded && !told && !isEnded(store, log.id) && isAsked(store, log.id))
      throw new SageError("journal-damaged", said("the store says that facts were written, and does not have them"));
    return this.#settle(log, outcome, unrecorded);
  }

  /** `unrecorded`: the turn failed because nothing could be written. A new attempt would fail again, in an endless loop. */
  #settle(log: SessionLog, outcome: AgentOutcome, unrecorded: boolean): "again" | Round {
    const fellAsleep = this.#phase.name === "preparing" && this.#phase.kept !== undefined;
    this.#knew = log.lastSeq;
    if (fellAsleep) return { outcome: { ...outcome, messages: [], toolHistory: [] }, newest: log.lastSeq };
    const { interruptedAt } = log;
    const resumed = outcome.status === "paused" && interruptedAt > 0 && this.#resumedAt >= interruptedAt;
    this.#resumedAt = 0;
    if (!this.#leaving && !unrecorded && (resumed || goesOn(this.#scope.store, log, outcome))) return "again";
    void this.#end(); // in the same breath: a message that comes now starts a new run
    return { outcome };
  }

  /** True when somebody did something for the session. */
  #sleep(newest: number): Awaitable<boolean> {
    if (this.#leaving) return false;
    try {
      const sleep = fallAsleep(this.#scope.store, this.session, newest);
      this.#move({ type: "slept", sleep });
      return sleep.woken;
    } catch {
      return true; // a journal that cannot be read for a moment: the turn waits in memory instead
    }
  }

  #hurry(): void {
    this.#resting?.abort();
    this.#resting = undefined;
  }

  #end(): Awaitable<void> {
    const { store, letGo } = this.#scope;
    const kept = "kept" in this.#phase ? this.#phase.kept : undefined;
    const released = kept === undefined ? undefined : store.release(this.session, kept, this.#knew);
    this.#move({ type: "ended" });
    letGo(this);
    return released;
  }
}

const turnEnd: ReadonlySet<FactType> = new Set(["turn.ended"]);

function isOfJournal(error: unknown): error is SageError {
  return isRetryable(error) && (error.code === "journal-locked" || error.code === "disk-full");
}

/** Asked of the store where nobody has told of it. */
/** Does somebody wait for a turn? A session whose only message was taken back has none, and needs none. */
function isAsked(store: Store, session: string): boolean {
  return unseenMessages(store.since(session, 0), 0).length > 0;
}

function isEnded(store: Store, session: string): boolean {
  const facts = store.since(session, 0);
  return facts.findLast(({ type }) => type === "turn.begun" || type === "turn.ended")?.type === "turn.ended";
}

/** Is there a message to continue with: unseen after an end, or said after an interrupt? Asked of the store, for others may write. */
export function goesOn(store: Store, log: SessionLog, { status }: AgentOutcome): boolean {
  if (status === "needs-input") return false;
  if (status === "paused" && log.goesOn) return true;
  if (status === "paused" && log.interruptedAt === 0) return false;
  const after = status === "paused" ? Math.max(log.sawUpTo, log.interruptedAt) : log.sawUpTo;
  return unseenMessages(store.since(log.id, after), after).length > 0;
}
