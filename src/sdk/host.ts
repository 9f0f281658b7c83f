import { assemble as assembleParts, type Parts } from "../host/assemble.ts";
import type { LocalHost } from "../host/host.ts";
import { ownStore } from "../journal/own-store.ts";
import { openSession as openLog, type SessionLog } from "../journal/session.ts";
import type { Store } from "../journal/store.ts";
import { checkOptions } from "./check-options.ts";

/** Wires a store, a model, tools, rules and options into a host. Throws `config-invalid` for parts that it does not know, or that do not fit. */
export function assemble(parts: Parts): LocalHost {
  const checked = checkOptions("assemble", parts);
  return assembleParts({ ...checked, store: ownStore(checked.store) });
}

/** Claims the session and reads its facts. */
export function openSession(store: Store, id: string): SessionLog {
  return openLog(ownStore(store), id);
}
