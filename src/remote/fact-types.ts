import type { FactType } from "../protocol/facts/fact.ts";

const known: Readonly<Record<FactType, true>> = {
  "session.opened": true,
  "session.removed": true,
  "workspace.made": true,
  "session.titled": true,
  "session.moved": true,
  "model.chosen": true,
  "mode.chosen": true,
  "session.rewound": true,
  "rewind.ended": true,
  "turn.begun": true,
  "guest.joined": true,
  "guest.parked": true,
  "answer.delivered": true,
  "answer.undelivered": true,
  "user.said": true,
  "message.withdrawn": true,
  "model.replied": true,
  "calls.judged": true,
  "input.requested": true,
  "input.approved": true,
  "input.reminded": true,
  "input.escalated": true,
  "time.moved": true,
  "input.resolved": true,
  "inquiry.made": true,
  "inquiry.replied": true,
  "call.started": true,
  "call.finished": true,
  "call.unknown": true,
  "state.changed": true,
  "context.compacted": true,
  "rule.added": true,
  "rule.removed": true,
  "draft.saved": true,
  "turn.interrupted": true,
  "reply.interrupted": true,
  "turn.ended": true,
};

/** A host of a later version may tell facts that nothing here can show. */
export function isKnownType(type: string): type is FactType {
  return Object.hasOwn(known, type);
}
