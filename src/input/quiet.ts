import type { Deadline } from "../protocol/facts/silence.ts";
import type { Quiet, QuietHours } from "../protocol/host/options.ts";

const DAY_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
/** Reminders before it gives up: somebody who has not looked by then will not look after one more. */
const MAX_REMINDERS = 10;
/** A shorter wait needs no reminder: people have just been called. */
const SHORTEST_MS = 2 * MINUTE_MS;
const LATEST_MS = 15 * MINUTE_MS;

/** The first moment from `at` on at which this person may be called. */
export function awakeAt(person: string, at: number, quiet: Quiet | undefined): number {
  const hours = quiet?.hours[person];
  return hours ? endOf(hours, at) : at;
}

/**
 * When those who were asked are reminded: as often as was said, or once in the last quarter of the wait, at most fifteen minutes before
 * its end. While everybody who may approve has quiet hours, nobody is reminded: that reminder comes when the first of them may be called.
 */
export function reminders(
  deadline: Deadline | undefined,
  every: number | undefined,
  quiet: Quiet | undefined,
  now = Date.now(),
): number[] {
  if (every === undefined && !deadline) return [];
  const { at: end = Infinity, timeoutMs = 0 } = deadline ?? {};
  const late = timeoutMs < SHORTEST_MS ? [] : [end - Math.min(timeoutMs / 4, LATEST_MS)];
  const often = Array.from({ length: MAX_REMINDERS }, (_, n) => now + (every ?? 0) * (n + 1));
  const wanted = every === undefined ? late : often;
  const shifted = wanted.map((at) => firstAwake(at, quiet)).filter((at) => at < end);
  return [...new Set(shifted)].map((at) => Math.round(at));
}

function firstAwake(at: number, quiet: Quiet | undefined): number {
  const { hours = {}, approvers = [] } = quiet ?? {};
  if (approvers.length === 0) return at;
  return Math.min(...approvers.map((name) => (hours[name] ? endOf(hours[name], at) : at)));
}

/** The same moment, or the end of the quiet hours that it lies in. */
function endOf({ from, to }: QuietHours, at: number): number {
  const date = new Date(at);
  const minute = date.getHours() * 60 + date.getMinutes();
  const inside = from <= to ? minute >= from && minute < to : minute >= from || minute < to;
  if (!inside) return at;
  const left = (to - minute + DAY_MINUTES) % DAY_MINUTES;
  return at - (at % MINUTE_MS) + left * MINUTE_MS;
}
