import type { Store } from "../journal/store/store.ts";
import type { InquiryReplied, Resolution } from "../protocol/facts/request.ts";
import { splitRequestId } from "../protocol/key.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";

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
      const ended = store.resolution(requestId);
      if (ended) finish(() => reject(tooLate(ended)));
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

function tooLate({ outcome, by, surface, at }: Resolution): SageError {
  return new SageError("request-resolved", reason("request-ended", { outcome, by, surface, at }));
}
