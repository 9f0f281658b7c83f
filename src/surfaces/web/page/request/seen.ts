/** The end of what will run has to be on the screen for this long before it can be allowed. */
const DWELL_MS = 300;
/** Nothing is taken for an answer this soon after a request appeared or moved. */
export const QUIET_MS = 500;
/** A second tap this soon is the same tap. */
export const CONFIRM_MS = 350;

/** `endSince`: its end is visible since then, unbroken; `seen`: long enough. `movedAt`: it appeared or was moved. */
export type Attention = { seen: boolean; endSince: number | undefined; movedAt: number; place: string };

export function unseen(now: number): Attention {
  return { seen: false, endSince: undefined, movedAt: now, place: "" };
}

/** A look at the page: is the end in view, is the page itself visible, and where is the request? */
type Look = { end: boolean; visible: boolean; place: string };

export function look(before: Attention, { end, visible, place }: Look, now: number): Attention {
  const endSince = end && visible ? (before.endSince ?? now) : undefined;
  return {
    seen: before.seen || (endSince !== undefined && now - endSince >= DWELL_MS),
    endSince,
    movedAt: place === before.place ? before.movedAt : now,
    place,
  };
}

type Lock = "away" | "unseen" | "moving" | "not-approver";

/** The lock that keeps an answer from being taken; `allows`: the answer lets something run. */
export function lockOf(
  attention: Attention,
  { allows, away, approver, now }: { allows: boolean; away: boolean; approver: boolean; now: number },
): Lock | undefined {
  if (away) return "away";
  if (!approver) return "not-approver";
  if (allows && !attention.seen) return "unseen";
  return now - attention.movedAt < QUIET_MS ? "moving" : undefined;
}
