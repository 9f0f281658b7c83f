import { words as escaped } from "./escape.ts";

const HALF_DAY_MS = 12 * 60 * 60_000;
const MARK = "@time@";

/** A sentence around a time of day, which the client shows by the clock of whoever reads it. Safe Markdown. */
export function withTime(sentence: (time: string) => string, at: number, now: number): string {
  return escaped(sentence(MARK)).replace(MARK, timeTag(at, now));
}

export function timeTag(at: number, now: number): string {
  const part = (type: string) =>
    `<local_datetime millisecond='${Math.round(at)}' format_type='${type}'></local_datetime>`;
  return Math.abs(at - now) > HALF_DAY_MS ? `${part("date_num")} ${part("time")}` : part("time");
}
