import { inBoth } from "../language.ts";

const en = {
  index: "index of open requests matches the journal",
  wrongIndex: (missing: number, stale: number, command: string) =>
    `index of open requests does not match the journal (${missing} missing, ${stale} extra): rebuild it with \`${command}\``,
  rebuilt: (open: number) => `index of open requests rebuilt: ${open} open`,
};

export type JournalTexts = typeof en;

const zh: JournalTexts = {
  index: "待处理请求的索引与日志一致",
  wrongIndex: (missing, stale, command) =>
    `待处理请求的索引与日志不符（缺 ${missing} 条，多 ${stale} 条）：请运行 \`${command}\` 重建`,
  rebuilt: (open) => `已重建待处理请求的索引：${open} 条`,
};

export const journalTexts = inBoth<JournalTexts>(en, zh);
