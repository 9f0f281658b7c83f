import type { Store } from "../journal/store.ts";
import {
  SageError,
  said,
  shortRequestId,
  splitRequestId,
  type InputRequest,
  type Resolution,
} from "../protocol/index.ts";
import type { CliTexts } from "../texts/cli.ts";
import { usage } from "./flags.ts";

/** By its id, short or whole. A session, or the start of an id, names whatever is open by now: nobody has read that yet. */
export function requestBy(store: Store, target: string, t: CliTexts): InputRequest | Resolution {
  const { session } = splitRequestId(target);
  const isMeant = (id: string) => id === target || shortRequestId(id) === target;
  const known = store.session(session) !== undefined;
  const open = known ? store.pending(session).filter(({ id }) => isMeant(id)) : [];
  const ended = known ? endsOf(store, session).filter(({ requestId }) => isMeant(requestId)) : [];
  const openIds = open.map(({ id }) => id);
  // Five letters can be those of two requests: whoever has read the one has not read the other.
  if (open.length > 0 && new Set([...openIds, ...ended.map(({ requestId }) => requestId)]).size > 1)
    throw usage(t.whichRequest(target, openIds));
  const found = open[0] ?? ended.at(-1);
  if (found) return found;
  const begun = store.pending().filter(({ id }) => id.startsWith(target));
  if (begun.length > 0)
    throw usage(
      t.whichRequest(
        target,
        begun.map(({ id }) => shortRequestId(id)),
      ),
    );
  throw new SageError("request-unknown", said(t.unknownRequest(target)));
}

function endsOf(store: Store, session: string): Resolution[] {
  return store.load(session).flatMap((fact) => (fact.type === "input.resolved" ? [fact.data] : []));
}
