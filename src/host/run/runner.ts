import { existingSession } from "../../journal/session/existing-session.ts";
import { isOutsideSession } from "../../protocol/host/outside.ts";
import { reasonOf, SageError } from "../../protocol/reasons/error.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { SessionRun, type RunParts } from "./session-run.ts";
import { createTurnstile } from "./sleep.ts";

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
  /** How long a session waits for people alone before it is let out of memory. Undefined: for ever. */
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
    const unserve = serve(session); // before the session is claimed: whoever sees the claim finds the socket
    const run = new SessionRun(session, scope, before?.done);
    const end = () => {
      unserve?.();
      begunHere.delete(run);
    };
    run.done.then(end, (error: unknown) => {
      end();
      // A process that lets sessions go meets one that it has just let go of: it is taken anew, and nobody needs to know.
      if (parts.letsGo && error instanceof SageError && error.code === "session-owned") return;
      run.notice("host", reasonOf(error)); // whoever asked for the outcome hears of it there; whoever only spoke, here
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

/** Runs nothing here: whoever runs sessions is woken. */
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
