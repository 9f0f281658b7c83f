import { isOutsideSession } from "../protocol/host/outside.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";
import { titleOf } from "./items/summary.ts";

/** Finds a session by its id, or by the start of one where only one is meant. */
export function sessionBy<S extends { id: string; title: string }>(sessions: readonly S[], prefix: string): S {
  const found = sessions.filter(({ id }) => id.startsWith(prefix));
  const exact = found.find(({ id }) => id === prefix) ?? (found.length === 1 ? found[0] : undefined);
  if (exact && prefix !== "") return exact;
  const candidates = found.slice(0, 10).map((session) => `${session.id}  ${titleOf(session).slice(0, 60)}`);
  throw new SageError(
    "session-unknown",
    found.length === 0
      ? reason("no-session-like", { given: prefix })
      : reason("sessions-alike", { given: prefix, candidates }),
  );
}

/** A session that Sage can continue. */
export function sessionToRun<S extends { id: string; title: string }>(sessions: readonly S[], prefix: string): S {
  const found = sessionBy(sessions, prefix);
  if (isOutsideSession(found.id))
    throw new SageError("input-invalid", reason("outside-session", { session: found.id }));
  return found;
}

/** The newest session there, if there is one to continue. Sessions are listed newest first. */
export function lastSessionIn<S extends { id: string; cwd: string; title: string }>(
  sessions: readonly S[],
  cwd: string,
): S {
  const last = sessions.find((session) => session.cwd === cwd && session.title !== "" && !isOutsideSession(session.id));
  if (last) return last;
  throw new SageError("session-unknown", reason("no-session-in", { cwd }));
}
