import { randomUUID } from "node:crypto";
import { existingSession } from "../../journal/session/existing-session.ts";
import { readRule } from "../../permission/rules/rules.ts";
import { ruleAddedKey, ruleRemovedKey } from "../../protocol/key.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { SageError } from "../../protocol/reasons/error.ts";
import { given, type CommandParts, type Handlers } from "./parts.ts";

/** Rules that a person adds and removes by hand. A turn that runs hears of them before its next call. */
export function ruleCommands({ store, surroundings }: CommandParts): Handlers<"addRule" | "removeRule"> {
  return {
    async addRule({ session, rule, behavior, destination, by }) {
      const row = existingSession(store, session);
      const reading = readRule(rule, behavior);
      if (!reading.ok)
        throw new SageError("config-invalid", reason("rule-not-read", { rule, problem: reading.problem }));
      if (destination !== "session") {
        const file = given(surroundings, "addRule").saveRule(row, { rule, behavior, destination });
        return { ok: true, file };
      }
      const data = { rule, behavior, destination, by };
      await store.append(session, { key: ruleAddedKey(randomUUID()), type: "rule.added", at: Date.now(), data });
      return { ok: true };
    },
    async removeRule({ session, rule, behavior, destination, by, surface }) {
      const row = existingSession(store, session);
      if (destination !== "session") given(surroundings, "removeRule").dropRule(row, rule, destination);
      else {
        const data = { rule, ...(behavior && { behavior }), by, surface };
        await store.append(session, { key: ruleRemovedKey(randomUUID()), type: "rule.removed", at: Date.now(), data });
      }
      return { ok: true };
    },
  };
}
