import type { Store } from "../journal/store.ts";
import { resolvedKey, splitRequestId } from "../journal/store.ts";
import { SageError, type InputRequest, type InputResponse, type Resolution } from "../protocol/index.ts";
import { resolve } from "./validate.ts";

export type Responded = { won: true; resolution: Resolution } | { won: false; resolution: Resolution };

/**
 * Answers an open request from wherever it is. The first valid answer wins; whoever comes later is told who won.
 * Throws when there is no such request or the answer does not fit it; the request then stays as it was.
 */
export function respond(store: Store, response: InputResponse, sender: { by: string; surface: string }): Responded {
  const found = store.find(response.requestId);
  if (!found)
    throw new SageError(
      "request-unknown",
      `there is no request ${response.requestId}; \`sage inbox\` lists the open ones`,
    );
  if (found.resolution) return { won: false, resolution: found.resolution };
  return settle(store, found.request, resolve(found.request, response, sender));
}

/** The one place where a request ends. Under the request's key that is the whole of first-answer-wins. */
export function settle(store: Store, request: InputRequest, resolution: Resolution): Responded {
  const { session, key } = splitRequestId(request.id);
  const { won, fact } = store.append(session, {
    key: resolvedKey(key),
    type: "input.resolved",
    at: resolution.at,
    data: resolution,
  });
  return { won, resolution: fact.data as Resolution };
}
