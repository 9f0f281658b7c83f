import type { Lang } from "./language.ts";

const en = {
  index: "the list of open requests fits the facts",
  wrongIndex: (missing: number, stale: number, command: string) =>
    `the list of open requests does not fit the facts (${missing} missing, ${stale} too many): \`${command}\` makes it again`,
  rebuilt: (open: number) => `the list of open requests was made again from the facts: ${open} open`,
};

export type JournalTexts = typeof en;

const zh: JournalTexts = {
  index: "待回应请求的列表与事实一致",
  wrongIndex: (missing, stale, command) =>
    `待回应请求的列表与事实不符（缺 ${missing} 条，多 ${stale} 条）：运行 \`${command}\` 重新生成`,
  rebuilt: (open) => `已根据事实重新生成待回应请求的列表：${open} 条待回应`,
};

export function journalTexts(lang: Lang): JournalTexts {
  return { en, zh }[lang];
}
