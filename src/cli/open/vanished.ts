import type { Store } from "../../journal/store/store.ts";
import type { SageError } from "../../protocol/reasons/error.ts";

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
