import type { Lang } from "./language.ts";

/** Texts of a surface when another process runs the session it shows. */
const en = {
  stopped: "The process running this turn is gone. Answer, send a message or /resume to continue here.",
  live: "Output is live again.",
};

export type OwnerTexts = typeof en;

const zh: OwnerTexts = {
  stopped: "运行本轮的进程已不在。回答、发送消息或输入 /resume 即可在这里继续。",
  live: "已恢复实时显示。",
};

const tables = { en, zh } satisfies Record<Lang, OwnerTexts>;

export function ownerTexts(lang: Lang): OwnerTexts {
  return tables[lang];
}
