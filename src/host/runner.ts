import type { UnifiedExecutor } from "../agent/turn/executor.ts";
import type { LifecycleManager } from "../agent/state/lifecycle.ts";
import { journaledLifecycle } from "../agent/state/states.ts";
import { drain } from "../agent/turn/strategy.ts";
import { openSession, type SessionLog, type Stopped } from "../journal/session.ts";
import type { SessionRow, Store } from "../journal/store.ts";
import { realClock } from "../models/sleep.ts";
import { SageError, messageOf, type AgentOutcome, type InterruptAction } from "../protocol/index.ts";
import type { Blocks } from "./blocks.ts";
import type { Moments } from "./moments.ts";
import { asleep, createTurnstile, type Asleep } from "./sleep.ts";
import type { Titles } from "./titles.ts";
import { supervise, type Supervision } from "./supervisor.ts";

const AGAIN_MS = 1_000;

export type Running = {
  log: SessionLog | undefined;
  done: Promise<AgentOutcome>;
  /** Undefined while the turn has not begun here. */
  handleInterrupt(): InterruptAction | undefined;
  /** Before the turn has begun: it ends, or is paused, as it begins. */
  stopEarly(reason: Stopped): void;
  /** Out of memory until somebody does something for it. */
  asleep: boolean;
  /** Puts it to sleep if it waits for people alone, and has done so since it was asked the last time. */
  drowse(): void;
  leave(): void;
  /** It was told to leave: whoever speaks now is not heard by it any more. */
  readonly leaving: boolean;
};

/** The sessions whose turns run in this process. */
export type Runner = {
  of(session: string): Running | undefined;
  /** For good: those that were begun here end, and nothing begins after them. */
  leaveAll(): Promise<unknown>[];
  start(session: string): Running;
  /** Starts a session here unless somebody else runs it: they hear of what was written by themselves. */
  wake(session: string): void;
};

export type RunnerParts = {
  store: Store;
  /** Who runs a session's turns; made when the first one begins. */
  executor(session: SessionRow): Promise<UnifiedExecutor>;
  supervision: Supervision;
  blocks: Blocks;
  moments: Moments;
  titles: Titles | undefined;
  /** Lets other processes follow the session while it runs here. */
  serve(session: string): (() => void) | undefined;
  /** A session that has waited for people alone for so long is let out of memory. Undefined: never. */
  sleepAfterMs: number | undefined;
  maySleep(session: SessionRow): boolean;
};

export function createRunner(parts: RunnerParts): Runner {
  const { store, executor, supervision, blocks, moments, titles, serve, sleepAfterMs, maySleep } = parts;
  const running = store.member(createRunning);
  const mine = new Set<Running>();
  let closing = false;
  const turnstile = createTurnstile();
  // One look at all of them now and then, and none while nothing runs.
  let sweeping: NodeJS.Timeout | undefined;
  const sweep = () => {
    for (const one of mine) one.drowse();
    if (mine.size > 0) return;
    clearInterval(sweeping);
    sweeping = undefined;
  };

  /** One turn after the other, until nothing said is left unseen. */
  const start = (id: string): Running => {
    const before = running.get(id);
    if (before && (closing || !before.leaving)) return before;
    let log: SessionLog | undefined;
    let left = false;
    let early: Stopped | undefined;
    let lifecycle: LifecycleManager | undefined;
    let resting: AbortController | undefined;
    let idleAt: number | undefined;
    let sleepy = false;
    let dozing = false;
    let sleeping: Asleep | undefined;
    /** The epoch of the lease that was kept for the sleep, until the turn has begun again. */
    let kept: number | undefined;
    const unserve = serve(id); // before the session is claimed: who sees the claim finds the socket
    const notice = (key: string, text: string) =>
      store.hub.delta({ session: id, key, attempt: 0, n: 0, kind: "notice", text });
    const attempt = async (runner: UnifiedExecutor, supervised: boolean) => {
      const held = (log = openSession(store, id));
      kept = undefined;
      if (left) held.close();
      if (early) held.stop(early);
      early = undefined;
      const listeners = [blocks, moments].map((listener) => store.hub.subscribe(id, listener));
      titles?.begin(held);
      try {
        lifecycle = journaledLifecycle(held);
        return { held, outcome: await drain(runner.execute({ log: held, lifecycle, supervised }), () => {}) };
      } catch (error) {
        log = lifecycle = undefined; // until the next one begins, nobody runs the turn
        throw error;
      } finally {
        for (const stop of listeners) stop();
        blocks.forget(id);
        if (!dozing) held.release();
      }
    };
    /** One turn. What comes back is little: whoever sleeps after it should weigh nothing. */
    const round = async (session: SessionRow): Promise<"again" | Round> => {
      const runner = await executor(session); // made of what is chosen now, such as the model
      const { held, outcome } = await supervise(({ supervised }) => attempt(runner, supervised), {
        ...supervision,
        notice: (text) => notice("supervisor", text),
        hurry: toldToHurry,
      });
      if (dozing) {
        dozing = false;
        log = lifecycle = undefined;
        kept = held.epoch;
        return { outcome: { ...outcome, messages: [], toolHistory: [] }, knew: held.lastSeq };
      }
      if (!left && goesOn(store, held, outcome)) return "again";
      letGo(); // in the same breath: who speaks now starts a new one
      return { outcome };
    };
    const turns = async (): Promise<AgentOutcome> => {
      if (before) await before.done.catch(() => {}); // told where it was asked for
      const session = known(store, id);
      sleepy = maySleep(session);
      moments.start(session);
      for (;;) {
        await turnstile(); // nobody is there: no wait
        const one = await roundOrLater(session);
        if (one === "again") continue;
        if (one.knew === undefined) return one.outcome;
        if (await slept(one.knew)) continue;
        letGo();
        return one.outcome; // left, or taken by another process
      }
    };
    /** Nobody is there to try again for one that was woken: a busy journal or a full disk is waited for. */
    const roundOrLater = async (session: SessionRow): Promise<"again" | Round> => {
      try {
        return await round(session);
      } catch (error) {
        if (kept === undefined || left || !(error instanceof SageError && error.retryable)) throw error;
        notice("supervisor", messageOf(error));
        const { clock = realClock } = supervision;
        await clock.sleep(AGAIN_MS, toldToHurry()).catch(() => {});
        return "again";
      }
    };
    const toldToHurry = () => (resting ??= new AbortController()).signal;
    const slept = async (knew: number): Promise<boolean> => {
      if (left) return false;
      try {
        sleeping = asleep(store, id, knew);
      } catch {
        return true; // a journal that cannot be read for a moment is no reason to wait where nobody listens
      }
      const woken = await sleeping.woken;
      sleeping = undefined;
      return woken && !left;
    };
    const hurry = () => {
      resting?.abort();
      resting = undefined;
    };
    const one: Running = {
      get log() {
        return log;
      },
      handleInterrupt: () => lifecycle?.handleInterrupt(),
      stopEarly(reason) {
        early = reason;
        log?.stop(reason);
        hurry();
      },
      get asleep() {
        return sleeping !== undefined;
      },
      drowse() {
        const idle = log?.idle ? log.lastSeq : undefined;
        if (idle !== undefined && idle === idleAt && sleepy) {
          dozing = true;
          log?.close();
        }
        idleAt = dozing ? undefined : idle;
      },
      get leaving() {
        return left;
      },
      leave() {
        left = true;
        log?.close();
        sleeping?.end();
        hurry();
      },
      done: turns().finally(() => {
        unserve?.();
        mine.delete(one);
        letGo();
      }),
    };
    const letGo = () => {
      if (kept !== undefined) store.release(id, kept);
      kept = undefined;
      if (running.get(id) === one) running.delete(id);
    };
    one.done.catch((error: unknown) => {
      // Whoever asked for the outcome hears of it there; whoever only spoke, here.
      notice("host", messageOf(error));
    });
    running.set(id, one);
    mine.add(one);
    if (sleepAfterMs !== undefined) sweeping ??= setInterval(sweep, sleepAfterMs).unref();
    return one;
  };

  const wake = (id: string): void => {
    const here = running.get(id);
    if (here ? here.leaving : !known(store, id).owned) start(id);
  };

  const leaveAll = (): Promise<unknown>[] => {
    closing = true;
    for (const one of mine) one.leave();
    return [...mine].map(({ done }) => done);
  };

  return { of: (session) => running.get(session), leaveAll, start, wake };
}

/** An embedder may have several hosts on one journal: a session runs in one of them, and the others join it there. */
const createRunning = () => new Map<string, Running>();

/** `knew`: it sleeps now, and this was the newest fact then. */
type Round = { outcome: AgentOutcome; knew?: number };

export function known(store: Store, id: string): SessionRow {
  const session = store.session(id);
  if (!session) throw new SageError("session-unknown", `there is no session ${id}; \`sage sessions\` lists them`);
  return session;
}

/**
 * Is there something to go on with? A turn that ended is followed by what nobody has seen yet, a paused one by what was said
 * after the interrupt. Asked of the store, once the session is let go: another process may have left it to this one.
 */
function goesOn(store: Store, log: SessionLog, outcome: AgentOutcome): boolean {
  if (outcome.status === "needs-input") return false;
  const after = outcome.status === "paused" ? Math.max(log.sawUpTo, log.interruptedAt) : log.sawUpTo;
  if (outcome.status === "paused" && log.interruptedAt === 0) return false;
  return store.since(log.id, after).some(({ type }) => type === "user.said");
}
