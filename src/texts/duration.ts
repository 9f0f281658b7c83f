import type { Lang } from "./language.ts";

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

/** A length of time in its largest unit; below two of that also in the next smaller one, as in `1 min 47 s`. */
export function durationText(ms: number, lang: Lang): string {
  const w = words[lang];
  if (ms < SECOND) return w.ms(Math.round(ms));
  if (ms < 2 * MINUTE) return parts(Math.round(ms / SECOND), 60, [w.s, w.min]);
  if (ms < 2 * HOUR) return parts(Math.round(ms / MINUTE), 60, [w.min, w.h]);
  if (ms < 2 * DAY) return parts(Math.round(ms / HOUR), 24, [w.h, w.day]);
  return w.day(Math.round(ms / DAY));
}

/** Time since something happened, in whole units that have passed: `1 min` up to the second minute. */
export function ageText(ms: number, lang: Lang): string {
  const unit = [DAY, HOUR, MINUTE, SECOND].find((unitMs) => ms >= unitMs) ?? SECOND;
  return durationText(Math.max(1, Math.floor(ms / unit)) * unit, lang);
}

type Say = (count: number) => string;

/** A number of small units, of which `of` make a large one. */
function parts(count: number, of: number, [small, large]: [Say, Say]): string {
  if (count < of) return small(count);
  const rest = count % of;
  return rest === 0 ? large(count / of) : `${large(1)} ${small(rest)}`;
}

const words: Record<Lang, Record<"ms" | "s" | "min" | "h" | "day", Say>> = {
  en: {
    ms: (n) => `${n} ms`,
    s: (n) => `${n} s`,
    min: (n) => `${n} min`,
    h: (n) => `${n} h`,
    day: (n) => `${n} ${n === 1 ? "day" : "days"}`,
  },
  zh: {
    ms: (n) => `${n} 毫秒`,
    s: (n) => `${n} 秒`,
    min: (n) => `${n} 分钟`,
    h: (n) => `${n} 小时`,
    day: (n) => `${n} 天`,
  },
};
