import { existingSession } from "../../../journal/session/existing-session.ts";
import type { InboundFact } from "../../../journal/store/store.ts";
import { undoable, type Grant } from "../../../protocol/facts/session.ts";
import { modeChosenKey, ruleAddedKey, ruleRemovedKey } from "../../../protocol/key.ts";
import { reason, SageError } from "../../../protocol/reasons/reason.ts";
import type { Sender } from "../../../protocol/sender.ts";
import { type CommandParts, type Handlers, given } from "../parts.ts";

type Files = NonNullable<CommandParts["rulesKept"]>;
/** The way back of a grant: every rule and mode that came with it becomes what it was, under the name of whoever undoes it. */
export function undoCommand({ store, rulesKept }: CommandParts): Handlers<"undo"> {
  return {
    async undo({ session, by, surface }) {
      const row = existingSession(store, session);
      const grant = undoable(store.load(session));
      if (!grant) throw new SageError("input-invalid", reason("nothing-to-undo", {}));
      const lost = grant.changes.find((fact) => fact.type === "rule.removed" && fact.data.demanding);
      if (lost?.type === "rule.removed")
        throw new SageError("input-invalid", reason("undo-by-hand", { rule: lost.data.rule }));
      const files = () => given(rulesKept, "undo");
      const facts = grant.changes
        .toReversed()
        .map((change, n) => backOf(change, n, { grant, row, by, surface, files }));
      // The keys are those of the grant: of two people who undo it at once, one does.
      const written = await store.appendAll(facts.map((fact) => ({ session, fact })));
      const failed = written.find((result) => result instanceof Error);
      if (failed) throw failed;
      return {
        ok: true,
        removed: facts.flatMap(({ type, data }) => (type === "rule.removed" ? [data.rule] : [])),
        restored: facts.flatMap(({ type, data }) => (type === "rule.added" ? [data.rule] : [])),
        ...(facts.some(({ type }) => type === "mode.chosen") && { mode: grant.mode }),
      };
    },
  };
}

type Way = Sender & { grant: Grant; row: Parameters<Files["saveRule"]>[0]; files(): Files };

/** The file is written first: a rule that is recorded as gone must not keep allowing. */
function backOf(change: Grant["changes"][number], n: number, { grant, row, by, surface, files }: Way) {
  const id = `undo-${grant.id.replaceAll(/[^\w-]/g, "-")}-${n}`;
  const frame = { by, surface, undoes: grant.id };
  const at = Date.now();
  switch (change.type) {
    case "mode.chosen":
      return {
        key: modeChosenKey(id),
        type: "mode.chosen",
        at,
        data: { mode: grant.mode, ...frame },
      } as const satisfies InboundFact;
    case "rule.added": {
      const { rule, behavior, destination, saved } = change.data;
      // A rule that could not be saved holds in the session alone.
      const removal = { rule, behavior, destination: saved === undefined ? ("session" as const) : destination };
      const from = saved === undefined ? undefined : files().dropRule(row, removal);
      const data = { ...removal, ...frame, ...(from !== undefined && { saved: from }) };
      return { key: ruleRemovedKey(id), type: "rule.removed", at, data } as const satisfies InboundFact;
    }
    case "rule.removed": {
      const { rule, behavior, was = behavior, destination = "session", saved } = change.data;
      if (!was) throw new SageError("input-invalid", reason("undo-by-hand", { rule }));
      const to = saved === undefined ? undefined : files().saveRule(row, { rule, behavior: was, destination });
      const data = { rule, behavior: was, destination, ...frame, ...(to !== undefined && { saved: to }) };
      return { key: ruleAddedKey(id), type: "rule.added", at, data } as const satisfies InboundFact;
    }
    default:
      return change satisfies never;
  }
}
