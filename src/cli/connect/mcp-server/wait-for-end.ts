import type { Store } from "../../../journal/store/store.ts";
import type { Resolution } from "../../../protocol/facts/request.ts";

/** Waits until a request has ended, whoever ends it and in which process. Undefined once `enough` aborts. */
export async function waitForEnd(
  store: Store,
  requestId: string,
  enough: AbortSignal,
): Promise<Resolution | undefined> {
  const ended = Promise.withResolvers<Resolution | undefined>();
  const forget = store.hub.wait(requestId, ended.resolve);
  const stop = () => ended.resolve(undefined);
  enough.addEventListener("abort", stop);
  try {
    const already = store.resolution(requestId); // between the look before and the listening
    if (already || enough.aborted) return already;
    return await ended.promise;
  } finally {
    forget();
    enough.removeEventListener("abort", stop);
  }
}
