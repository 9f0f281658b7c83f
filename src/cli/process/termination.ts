import type { Store } from "../../journal/store/store.ts";
import type { SageError } from "../../protocol/reasons/reason.ts";

const usual = { SIGTERM: 143, SIGHUP: 129 };

/** `code` is there once Sage has left; until then nothing else may decide how the process ends. */
type Termination = { signal: AbortSignal; code: Promise<number> };

/** SIGTERM is as safe as SIGKILL: nothing is resolved, and another process can continue. */
export function onTermination(leave: () => Promise<unknown>, codes: Record<string, number> = usual): Termination {
  const leaving = new AbortController();
  const code = new Promise<number>((resolve) => {
    for (const [signal, exit] of Object.entries(codes))
      // A terminal that closes may say so more than once; the second time must not kill what is leaving.
      process.on(signal, () => {
        if (leaving.signal.aborted) return;
        leaving.abort();
        void leave().finally(() => resolve(exit));
      });
  });
  return { signal: leaving.signal, code };
}

const POLL_MS = 1_000;

/** Aborts once the journal was removed or replaced: nothing that is done or said from then on could be found again. */
export function watchJournal(store: Store | undefined): { signal: AbortSignal; problem(): SageError | undefined } {
  const vanished = new AbortController();
  let problem: SageError | undefined;
  const look = () => {
    problem ??= store?.gone?.();
    if (problem) vanished.abort();
    return problem;
  };
  const timer = setInterval(() => look() && clearInterval(timer), POLL_MS).unref();
  return { signal: vanished.signal, problem: look };
}
