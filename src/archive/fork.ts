import type { Fact, FactType } from "../protocol/facts/fact.ts";
import { callsOf, noUsage } from "../protocol/facts/message.ts";
import { withoutRewound } from "../protocol/facts/rewound.ts";
import { createMail } from "../protocol/facts/unseen.ts";
import {
  callKey,
  callOfKey,
  doneKey,
  isInSubagent,
  isTurnOrStep,
  isWithinKey,
  placeOfKey,
  stepOfKey,
  turnEndedKey,
} from "../protocol/key.ts";
import { reason } from "../protocol/reasons/reason.ts";
import { SageError } from "../protocol/reasons/error.ts";

/** Facts that make up a conversation. Requests, answers, verdicts, rules and drafts stay where they were given. */
const copied: readonly FactType[] = [
  "session.opened",
  "model.chosen",
  "user.said",
  "turn.begun",
  "model.replied",
  "call.finished",
  "context.compacted",
  "turn.ended",
];

/**
 * The facts of a new session that begins where another was at `cut`. What was granted there is not granted here, nothing that was
 * asked is asked again, and a call that had no result by then reads as not run.
 */
export function forkOf(facts: readonly Fact[], cut: number): Fact[] {
  const kept = withoutRewound(facts.filter(({ seq }) => seq <= cut)).filter(
    ({ type, seq }) => seq <= cut && copied.includes(type),
  );
  const replied = kept.filter(
    (fact) => fact.type === "model.replied" && !isInSubagent(fact.key),
  ) as Fact<"model.replied">[];
  // A turn in which nothing had happened yet did not take place here, and what was said for it was not said.
  const happened = new Set(kept.flatMap(({ type, key }) => (type === "turn.begun" ? [] : [placeOfKey(key)?.turn])));
  const turns = kept.filter(({ type, key }) => type !== "turn.begun" || happened.has(key));
  const heard = Math.max(0, ...turns.map(({ data }) => ("sawUpTo" in data ? data.sawUpTo : 0)));
  const mail = createMail();
  for (const fact of turns) mail.note(fact);
  const conversation = turns.filter(
    ({ type, seq }) => type !== "user.said" || (seq <= heard && mail.fateOf(seq) === "read"),
  );
  return [
    ...conversation.map(opened(cut)).map(unchanged),
    ...notRun(conversation, replied, cut),
    ...ended(conversation, cut),
  ];
}

/** `1234` is a fact's number, `t2` the end of a turn, `t2/5` that of a step. Without one: as it is now. */
export function cutAt(facts: readonly Fact[], at: string | undefined): number {
  if (at === undefined) return facts.at(-1)?.seq ?? 0;
  const found = /^\d+$/.test(at)
    ? facts.findLast(({ seq }) => seq <= Number(at))
    : facts.findLast(({ key }) => isTurnOrStep(at) && isWithinKey(key, at));
  if (found) return found.seq;
  throw new SageError("usage", reason("fork-place-unfit", { given: at }));
}

function opened(cut: number): (fact: Fact) => Fact {
  return (fact) => {
    if (fact.type === "session.opened")
      return { ...fact, data: { ...fact.data, forkedFrom: { session: fact.session, seq: cut } } };
    if (fact.type !== "call.finished" || !fact.data.background) return fact;
    // The command belongs to the other session, which alone may stop it.
    const { background: _, ...data } = fact.data;
    return { ...fact, data };
  };
}

/** Files that the other session replaced are for that one to put back. */
function unchanged(fact: Fact): Fact {
  if (fact.type !== "call.finished" || !fact.data.replaced) return fact;
  const { replaced: _, ...data } = fact.data;
  return { ...fact, data };
}

function notRun(facts: readonly Fact[], replied: readonly Fact<"model.replied">[], seq: number): Fact[] {
  const done = new Set(facts.flatMap(({ type, key }) => (type === "call.finished" ? [callOfKey(key)] : [])));
  return replied.flatMap(({ session, key, data }) =>
    callsOf(data).flatMap((_, n): Fact[] => {
      const call = callKey(stepOfKey(key) ?? "", n);
      const result = { ok: false, text: "Not run in this fork.", end: "not-run" } as const;
      return done.has(call)
        ? []
        : [{ session, seq, key: doneKey(call), type: "call.finished", at: Date.now(), data: result }];
    }),
  );
}

/** The last turn, if it was open. */
function ended(facts: readonly Fact[], seq: number): Fact[] {
  const turn = facts.findLast(({ type }) => type === "turn.begun" || type === "turn.ended");
  if (turn?.type !== "turn.begun") return [];
  const stats = { steps: 0, toolCalls: 0, modelCalls: 0, durationMs: 0 };
  const data = { status: "cancelled", reason: reason("forked-here", {}), text: "", usage: noUsage, stats } as const;
  return [{ session: turn.session, seq, key: turnEndedKey(turn.key), type: "turn.ended", at: Date.now(), data }];
}
