import { dirname } from "node:path";
import type { Store } from "../journal/store/store.ts";
import { listProcesses } from "../processes/registry.ts";
import type { InputRequest, Resolution } from "../protocol/facts/request.ts";
import { splitRequestId } from "../protocol/key.ts";
import { reason } from "../protocol/reasons/reason.ts";

/** Lives the asker? `waits`: hears the answer. `returns`: comes back for it. `gone`: never hears it. `unknown`: out of sight here. */
export function otherEndOf(
  store: Store,
  { id, source, session, asker: kind }: InputRequest,
): "waits" | "returns" | "gone" | "unknown" {
  const isOwned = store.session(session)?.owned;
  // A server asked from inside of its call, which dies with the process that runs both.
  if (source === "mcp") return isOwned === false ? "gone" : "waits";
  if (kind !== "attached") return isOwned ? "waits" : "returns";
  if (!store.place) return "unknown";
  const { key } = splitRequestId(id);
  const entry = listProcesses(dirname(store.place.journal), "asker").find(
    (asker) => asker.session === session && asker.key === key,
  );
  return entry === undefined || entry.life === "dead" ? "gone" : entry.life === "alive" ? "waits" : "unknown";
}

/** How a request ends that nobody hears the answer to. */
export function unheard({ id, source, agent: [agent = ""] }: InputRequest): Resolution {
  const why = source === "mcp" ? reason("elicitation-died", {}) : reason("asker-gone", { agent });
  const by = source === "mcp" ? { by: "sage", surface: "mcp" } : { by: "auto", surface: "auto" };
  return { requestId: id, ...by, at: Date.now(), outcome: "superseded", reason: why };
}
