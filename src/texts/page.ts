import type { Lang } from "./language.ts";

const en = {
  turn: (n: number) => `Turn ${n}`,
  person: "Person",
  agent: "Agent",
  thinking: "Thinking",
  result: "Result",
  failed: "failed",
  refused: "refused",
  asked: "Asked",
  rule: "Rule added",
  compacted: (before: number, after: number) => `Room was made: ${before} → ${after} tokens`,
  interrupted: (by: string) => `Interrupted by ${by}`,
  unknown: "Started; how it ended is not known",
  open: "waits for an answer",
  ended: {
    success: "Done",
    cancelled: "Cancelled",
    paused: "Paused",
    "max-steps": "Step limit reached",
    "needs-input": "Waits",
    error: "Failed",
  },
  stats: (steps: number, calls: number, tokens: number) => `${steps} steps, ${calls} calls, ${tokens} tokens`,
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
  failed: "失败",
  refused: "已拒绝",
  asked: "提问",
  rule: "添加规则",
  compacted: (before, after) => `腾出了空间：${before} → ${after} 个 token`,
  interrupted: (by) => `被 ${by} 打断`,
  unknown: "已开始，结局不明",
  open: "在等回答",
  ended: {
    success: "完成",
    cancelled: "已取消",
    paused: "已暂停",
    "max-steps": "达到步数上限",
    "needs-input": "等待中",
    error: "失败",
  },
  stats: (steps, calls, tokens) => `${steps} 步，${calls} 次调用，${tokens} 个 token`,
  more: (n) => `… 另有 ${n} 个字符，见 JSON 行格式的导出`,
  redacted: (n) => `略去了 ${n} 处机密。`,
  made: (version, at) => `由 Sage ${version} 写于 ${at}。本页不加载任何外部内容，也不运行脚本。`,
};

const tables = { en, zh } satisfies Record<Lang, PageTexts>;

export function pageTexts(lang: Lang): PageTexts {
  return tables[lang];
}
