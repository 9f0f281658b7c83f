import { inBoth } from "../language.ts";

const en = {
  turn: (n: number) => `Turn ${n}`,
  person: "Person",
  agent: "Agent",
  thinking: "Thinking",
  result: "Result",
  asked: "Request",
  open: "open",
  more: (n: number) => `… ${n.toLocaleString("en")} more characters in the JSON export`,
  redacted: (n: number) => `${n} ${n === 1 ? "secret" : "secrets"} removed.`,
  made: (version: string, at: string) =>
    `Exported by Sage ${version} on ${at}. This page loads nothing and runs no script.`,
};

export type PageTexts = typeof en;

const zh: PageTexts = {
  turn: (n) => `第 ${n} 轮`,
  person: "用户",
  agent: "智能体",
  thinking: "思考",
  result: "结果",
  asked: "请求",
  open: "待处理",
  more: (n) => `… 另有 ${n.toLocaleString("en")} 个字符，见 JSON 导出`,
  redacted: (n) => `已移除 ${n} 处机密。`,
  made: (version, at) => `由 Sage ${version} 于 ${at} 导出。本页不加载任何内容，也不运行脚本。`,
};

export const pageTexts = inBoth<PageTexts>(en, zh);
