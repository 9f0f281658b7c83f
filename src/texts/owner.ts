import type { Lang } from "./language.ts";

/** What a surface says when another process runs the session it shows. */
const en = {
  stopped: "The process that ran this turn is gone. Answer, say something or /resume: it goes on here.",
  live: "From now on everything appears here as it happens.",
};

export type OwnerTexts = typeof en;

const zh: OwnerTexts = {
  stopped: "运行这个回合的进程已经不在了。回答、发言或输入 /resume，它就在这里继续。",
  live: "从现在起，一切都会实时显示在这里。",
};

const tables = { en, zh } satisfies Record<Lang, OwnerTexts>;

export function ownerTexts(lang: Lang): OwnerTexts {
  return tables[lang];
}
