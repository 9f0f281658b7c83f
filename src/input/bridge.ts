import { untilWritten } from "../journal/store/retry.ts";
import type { Store } from "../journal/store/store.ts";
import type { FactType } from "../protocol/facts/fact.ts";
import type { InputRequest, Resolution } from "../protocol/facts/request.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";
import type { InputChannel } from "./channel.ts";
import { respond, settle, type Responded } from "./respond.ts";

/** Shows a session's open requests on a channel, and takes its answers to the journal. Returns the end of it. */
export function bridge(store: Store, session: string, channel: InputChannel): () => void {
  const shown = new Map<string, (ended: Resolution) => void>();
  const show = (request: InputRequest) => {
    const hide = channel.show(request, async (response) => winner(await respond(store, response, sender)));
    if (!hide) return nobody(store, request);
    shown.set(request.id, hide);
  };
  // Listen before reading, so that nothing falls between.
  const stop = store.hub.subscribe(session, {
    types: beginningAndEnd,
    fact(fact) {
      if (fact.type === "input.requested" && !shown.has(fact.data.id)) show(fact.data);
      else if (fact.type === "input.resolved") {
        shown.get(fact.data.requestId)?.(fact.data);
        shown.delete(fact.data.requestId);
      }
    },
  });
  for (const request of store.pending(session)) show(request);
  const forget = channel.onClose(() => {
    for (const request of store.pending(session)) nobody(store, request);
  });
  return () => {
    stop();
    forget();
  };
}

const sender = { by: "handle", surface: "channel" };

function winner({ won, resolution }: Responded): Resolution {
  if (won) return resolution;
  throw new SageError(
    "request-resolved",
    reason("request-ended", { outcome: resolution.outcome, by: resolution.by, surface: resolution.surface }),
    { cause: resolution },
  );
}

const beginningAndEnd: ReadonlySet<FactType> = new Set(["input.requested", "input.resolved"]);

/** Nobody can be asked where a channel is the only surface and is closed. */
function nobody(store: Store, request: InputRequest): void {
  const frame = { requestId: request.id, by: "channel", surface: "channel", at: Date.now() };
  const write = () => settle(store, request, { ...frame, outcome: "no_surface", reason: reason("channel-closed", {}) });
  // Nobody is there to be told that it could not be recorded; a turn that runs meets the same error itself.
  untilWritten(write, { signal: store.place?.over }).catch(() => {});
}
