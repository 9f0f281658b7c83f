/** Time that a model has to stop after its signal aborted. One that passes the signal on needs none of it. */
const GRACE_MS = 250;

/**
 * The reply, or the signal's reason a moment after it aborted. A model that does not listen must not hold a turn that was stopped: a
 * reply may be asked for again, so one that comes late is dropped.
 */
export function unlessDeaf<Reply>(replying: Promise<Reply>, signal: AbortSignal): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const stop = () => (timer = setTimeout(() => reject(signal.reason as Error), GRACE_MS));
    const settled = () => {
      signal.removeEventListener("abort", stop);
      clearTimeout(timer);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
    // A model of somebody's own may return its reply at once.
    Promise.resolve(replying).then(resolve, reject).finally(settled);
  });
}
