import { arm } from "../input/deadlines.ts";
import type { Store } from "../journal/store/store.ts";
import type { FactType } from "../protocol/facts/fact.ts";
import type { InputRequest } from "../protocol/facts/request.ts";

const telling: ReadonlySet<FactType> = new Set(["input.requested", "input.resolved", "session.removed"]);

/**
 * Measures the time of requests that call further people, whoever runs their sessions: the process that asked may have ended, and then
 * nobody would be called. Where two processes measure, the keys of the facts let one of them write. Returns the end of it.
 */
export function watchEscalations(store: Store): () => void {
  const armed = new Map<string, { session: string; disarm: () => void }>();
  const begin = (request: InputRequest) => {
    if (!request.deadline?.escalation || armed.has(request.id)) return;
    armed.set(request.id, { session: request.session, disarm: arm(store, request) });
  };
  const end = (id: string) => {
    armed.get(id)?.disarm();
    armed.delete(id);
  };
  // Listen before reading, so that nothing falls between.
  const stop = store.hub.overhear(telling, (fact) => {
    if (fact.type === "input.requested") begin(fact.data);
    else if (fact.type === "input.resolved") end(fact.data.requestId);
    else for (const [id, { session }] of armed) if (session === fact.session) end(id);
  });
  for (const request of store.pending()) begin(request);
  return () => {
    stop();
    for (const id of armed.keys()) end(id);
  };
}
