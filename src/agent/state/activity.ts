import type { InboundType } from "../../journal/store/store.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import { beginsAttempt } from "../../protocol/facts/session.ts";

/** The time a turn works, as opposed to the time it waits for a person. */
export type Activity = { /** Work has begun; disposing of it ends it. */ begin(): Disposable };

const unmeasured: Disposable = { [Symbol.dispose]() {} };
const unlimited: Activity = { begin: () => unmeasured };

/** Calls `expire` once the work of a turn has taken `limitMs` altogether. Parallel work counts once. */
export function createActivity(limitMs: number | undefined, expire: () => void): Activity {
  if (limitMs === undefined) return unlimited;
  let left = limitMs;
  let running = 0;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    if (--running > 0) return;
    clearTimeout(timer);
    left -= performance.now() - since;
  };
  return {
    begin() {
      if (running++ === 0) {
        since = performance.now();
        if (left > 0) timer = setTimeout(expire, Math.min(left, 2 ** 31 - 1));
        else expire();
      }
      return { [Symbol.dispose]: end };
    },
  };
}

/** Time that earlier attempts at an open turn worked; no waits, pauses or gaps. Work after a killed process's last fact is not counted. */
export function workedMs(ofTurn: readonly Fact[]): number {
  let worked = 0;
  let working = false;
  let since = 0;
  const open = new Set<string>();
  for (const fact of ofTurn) {
    if (fact.type === "input.resolved" && open.delete(fact.data.requestId)) since = fact.at;
    if (isInbound(fact.type)) continue; // somebody else wrote it, perhaps while no process ran the turn
    if (working && open.size === 0 && !beginsAttempt(fact)) worked += Math.max(0, fact.at - since);
    for (const id of openedBy(fact)) open.add(id);
    // Earlier versions wrote this for a wait as well.
    if (fact.type === "state.changed") working = fact.data.to.state === "executing";
    since = fact.at;
  }
  return worked;
}

/** Requests that wait from this fact on: one that is asked, or all that the turn carries on from the one before. */
function openedBy(fact: Fact): readonly string[] {
  if (fact.type === "input.requested") return [fact.data.id];
  return fact.type === "turn.begun" ? (fact.data.carries ?? []) : [];
}

/** Any process may write it, not only the one that runs the turn. */
export function isInbound(type: Fact["type"]): boolean {
  return Object.hasOwn(inbound, type);
}

// Requests from outside are in sessions without turns; in every other session the owner opens them.
const inbound: Readonly<Record<Exclude<InboundType, "input.requested">, true>> = {
  "user.said": true,
  "message.withdrawn": true,
  "input.approved": true,
  "input.reminded": true,
  "input.escalated": true,
  "time.moved": true,
  "input.resolved": true,
  "inquiry.made": true,
  "turn.interrupted": true,
  "draft.saved": true,
  "session.titled": true,
  "session.moved": true,
  "model.chosen": true,
  "mode.chosen": true,
  "rule.added": true,
  "rule.removed": true,
};
