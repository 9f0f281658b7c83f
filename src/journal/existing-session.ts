import { reason } from "../protocol/index.ts";
import { errorBecause } from "../texts/error.ts";
import type { SessionRow, Store } from "./store.ts";

/** The session with this id. Throws where there is none. */
export function existingSession(store: Pick<Store, "session">, id: string): SessionRow {
  const session = store.session(id);
  if (!session) throw errorBecause("session-unknown", reason("session-missing", { session: id }));
  return session;
}
