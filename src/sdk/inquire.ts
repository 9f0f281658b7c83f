import type { Store } from "../journal/store.ts";
import { SageError, said, splitRequestId, type InquiryReplied } from "../protocol/index.ts";

/** The reply to an inquiry, once it is there. Rejects when the request ends first, and when the signal aborts. */
export function replyTo(
  store: Store,
  { requestId, inquiry }: { requestId: string; inquiry: string },
  signal: AbortSignal | undefined,
): Promise<InquiryReplied> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const found = store
        .inquiries(requestId)
        .find(({ type, data }) => type === "inquiry.replied" && data.inquiry === inquiry);
      if (found?.type === "inquiry.replied") return finish(() => resolve(found.data));
      if (store.resolution(requestId)) finish(() => reject(tooLate()));
    };
    const abort = () => finish(() => reject(signal?.reason as Error));
    const stop = store.hub.subscribe(splitRequestId(requestId).session, {
      fact: ({ type }) => void ((type === "inquiry.replied" || type === "input.resolved") && look()),
    });
    const finish = (end: () => void) => {
      stop();
      signal?.removeEventListener("abort", abort);
      end();
    };
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    else look();
  });
}

function tooLate(): SageError {
  return new SageError("request-resolved", said("the request ended before there was a reply"));
}
