import { existingSession } from "../../journal/session/existing-session.ts";
import { given, type CommandParts, type Handlers } from "./parts.ts";

const FACTS = 500;
const MAX_FACTS = 5_000;

/** The past of sessions: their facts, what they printed, receipts, and how often people were asked. */
export function pastCommands(parts: CommandParts): Handlers<"facts" | "receipts" | "stats" | "output"> {
  const { store, runner, home } = parts;
  return {
    async output(command) {
      if (parts.keptElsewhere) return parts.keptElsewhere(command);
      const { readOutput } = await import("./read-output.ts");
      return readOutput(parts, command);
    },
    facts({ session, after = 0, before, limit = FACTS }) {
      existingSession(store, session);
      const most = Math.min(limit, MAX_FACTS);
      if (before === undefined) {
        const found = store.since(session, after, most + 1);
        return { ok: true, facts: found.slice(0, most), more: found.length > most };
      }
      const earlier = store.since(session, after).filter(({ seq }) => seq < before);
      return { ok: true, facts: earlier.slice(-most), more: earlier.length > most };
    },
    async receipts(command) {
      const { findReceipts } = await import("./receipts.ts");
      return { ok: true, ...(await findReceipts({ store, runner, home: given(home, "receipts") }, command)) };
    },
    async stats({ session, folder, since }) {
      const { statsOf } = await import("../../archive/stats.ts");
      if (session !== undefined) existingSession(store, session);
      return { ok: true, stats: await statsOf(store, { session, folder, since }) };
    },
  };
}
