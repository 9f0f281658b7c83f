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
  const open = store.session(session) ? store.pending(session).find(({ id }) => isMeant(id)) : undefined;
  if (open) return open;
  const ended = store.session(session) && endOf(store, session, isMeant);
  if (ended) return ended;
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

function endOf(store: Store, session: string, isMeant: (id: string) => boolean): Resolution | undefined {
  const ends = store.load(session).filter((fact) => fact.type === "input.resolved");
  return ends.findLast(({ data }) => isMeant(data.requestId))?.data;
}
