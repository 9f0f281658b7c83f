import type { SessionRow, Store } from "../journal/store.ts";
import { isOutsideSession, reason, SageError, said } from "../protocol/index.ts";
import type { CliTexts } from "../texts/cli.ts";
import { errorBecause } from "../texts/error.ts";
import { titleOf } from "../view/summary.ts";

/** By its id, or by the start of one where only one session is meant. */
export function sessionBy(store: Store, prefix: string, t: CliTexts): SessionRow {
  const found = store.sessions().filter(({ id }) => id.startsWith(prefix));
  const exact = found.find(({ id }) => id === prefix) ?? (found.length === 1 ? found[0] : undefined);
  if (exact && prefix !== "") return exact;
  const candidates = found.slice(0, 10).map((one) => `${one.id}  ${titleOf(one).slice(0, 60)}`);
  throw new SageError(
    "session-unknown",
    said(found.length === 0 ? t.noSession(prefix) : t.ambiguous(prefix, candidates)),
  );
}

/** A session that Sage can go on with. */
export function sessionToRun(store: Store, prefix: string, t: CliTexts): SessionRow {
  const found = sessionBy(store, prefix, t);
  if (isOutsideSession(found.id)) throw errorBecause("input-invalid", reason("outside-session", { session: found.id }));
  return found;
}

export function lastSessionIn(store: Store, cwd: string, t: CliTexts): SessionRow {
  const last = store.sessions().find((one) => one.cwd === cwd && one.title !== "" && !isOutsideSession(one.id));
  if (last) return last;
  throw new SageError("session-unknown", said(t.noSessionHere(cwd)));
}
