import type { InputRequest } from "./request.ts";

/** Interval of the heartbeats of a process that enforces deadlines. */
export const BEAT_MS = 30_000;
/** A shorter time without a heartbeat moves nothing. */
export const MIN_GAP_MS = 2 * BEAT_MS;

/** Nobody enforced deadlines from one moment to the other: everything that was to happen later happens as much later. */
export type TimeMoved = { from: number; to: number };

/** Has it a moment at which something happens without an answer? */
export function hasDue({ deadline, remind }: Pick<InputRequest, "deadline" | "remind">): boolean {
  return deadline !== undefined || remind !== undefined;
}

/** The moment from which the time of a request was counted. */
export function countedFrom({ at, deadline }: Pick<InputRequest, "at" | "deadline">): number {
  return deadline ? deadline.at - deadline.timeoutMs : at;
}

/** Part of a gap that falls into the time of a request; 0 for one that moves nothing. What two processes both wrote counts once. */
export function gapOf(request: Pick<InputRequest, "at" | "deadline" | "moved">, { from, to }: TimeMoved): number {
  const gap = to - startOfGap(request, from);
  return gap >= MIN_GAP_MS ? gap : 0;
}

function startOfGap(request: Pick<InputRequest, "at" | "deadline" | "moved">, from: number): number {
  return Math.max(from, countedFrom(request), request.moved ?? -Infinity);
}

/** The request with its moments as they are now. The one place that moves them: stores and followed sessions show what it gives. */
export function moved<R extends InputRequest>(request: R, moves: readonly TimeMoved[]): R {
  return moves.length > 0 && hasDue(request) ? moves.reduce(movedBy, request) : request;
}

function movedBy<R extends InputRequest>(request: R, move: TimeMoved): R {
  const gap = gapOf(request, move);
  if (gap === 0) return request;
  const { deadline, remind } = request;
  const start = startOfGap(request, move.from);
  const later = (at: number) => (at > start ? at + gap : at);
  const escalation = deadline?.escalation?.map(({ to, at }) => ({ to, at: later(at) }));
  return {
    ...request,
    ...(deadline && { deadline: { ...deadline, at: later(deadline.at), ...(escalation && { escalation }) } }),
    ...(remind && { remind: remind.map(later) }),
    moved: move.to,
  };
}
