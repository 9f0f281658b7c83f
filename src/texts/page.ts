import type { Lang } from "./language.ts";

const en = {
  turn: (n: number) => `Turn ${n}`,
  person: "Person",
  agent: "Agent",
  thinking: "Thinking",
  result: "Result",
  asked: "Asked",
  open: "waits for an answer",
  more: (n: number) => `… ${n} more characters, in the export as JSON lines`,
  redacted: (n: number) => `${n} secrets were left out.`,
  made: (version: string, at: string) =>
    `Written by Sage ${version}, ${at}. Nothing here is loaded from anywhere, and no script runs.`,
};

export type PageTexts = typeof en;

const zh: PageTexts = {
  turn: (n) => `第 ${n} 轮`,
  person: "人",
  agent: "智能体",
  thinking: "思考",
  result: "结果",
  asked: "提问",
  open: "在等回答",
  more: (n) => `… 另有 ${n} 个字符，见 JSON 行格式的导出`,
  redacted: (n) => `略去了 ${n} 处机密。`,
  made: (version, at) => `由 Sage ${version} 写于 ${at}。本页不加载任何外部内容，也不运行脚本。`,
};

const tables = { en, zh } satisfies Record<Lang, PageTexts>;

export function pageTexts(lang: Lang): PageTexts {
  return tables[lang];
}
