import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { SessionRow, Store } from "../store/store.ts";

/** The session with this id. Throws if there is none. */
export function existingSession(store: Pick<Store, "session">, id: string): SessionRow {
  const session = store.session(id);
  if (!session) throw new SageError("session-unknown", reason("session-missing", { session: id }));
  return session;
}

/** A guest's conversation is its own: nothing here can take a part of it back, copy it or shorten it. */
export function checkOwnConversation(store: Pick<Store, "opened">, session: string): void {
  const agent = store.opened(session)?.agent;
  if (agent !== undefined) throw new SageError("input-invalid", reason("guest-own-conversation", { agent }));
}
