import type { Lang } from "./language.ts";

/** What the agent itself tells a person, beside the text and the requests of a turn. */
const en = {
  commandWaits: (question: string) =>
    `The command seems to wait for an answer that nobody can type here: ${question} — interrupt it, or let its time run out.`,
};

export type Notices = typeof en;

const zh: Notices = {
  commandWaits: (question) => `命令好像在等待输入，而这里没有人能输入：${question} —— 可以中断它，或者等它超时。`,
};

const tables = { en, zh } satisfies Record<Lang, Notices>;

export function notices(lang: Lang): Notices {
  return tables[lang];
}
