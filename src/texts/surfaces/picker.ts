import { inBoth } from "../language.ts";

const number = (n: number) => n.toLocaleString("en");

const en = {
  search: "Type to search",
  none: "Nothing matches.",
  empty: "Nothing to choose from.",
  loading: "Loading…",
  shown: (n: number, of: number) => (n === of ? number(of) : `${number(n)} of ${number(of)}`),
  keys: ["↑↓ to move", "Enter to choose", "Esc to close"],
  typedKeys: ["Enter to accept", "Esc to close"],
  history: "Your earlier messages",
  sessions: "Resume a session",
  models: "Choose a model",
  current: "in use",
  modelsFailed: (provider: string, why: string) => `${provider}: ${why}`,
  rules: "Permission rules",
  addRule: "Add a rule…",
  ruleText: "Rule, such as Bash(npm test) or Edit(src/**)",
  behaviors: { allow: "Allow", ask: "Ask", deny: "Deny" },
  behaviorHints: { allow: "runs without asking", ask: "asks every time", deny: "never runs" },
  howRule: "What should the rule do?",
  whereRule: (rule: string) => `Where should ${rule} apply?`,
  oneRule: (rule: string) => `Rule ${rule}`,
  editRule: "Edit…",
  dropRule: "Remove",
  ruleSaved: (rule: string, place: string) => `Added ${rule} (${place}).`,
  ruleRemoved: (rule: string, place: string) => `Removed ${rule} (${place}).`,
  needsId: (ids: readonly string[]) =>
    ["--resume needs a session id here:", ...ids.map((line) => `  ${line}`)].join("\n"),
};

export type PickerTexts = typeof en;

const zh: PickerTexts = {
  search: "输入文字搜索",
  none: "没有匹配的项。",
  empty: "没有可选的项。",
  loading: "正在加载…",
  shown: (n, of) => (n === of ? number(of) : `${number(n)} / ${number(of)}`),
  keys: ["↑↓ 移动", "Enter 选择", "Esc 关闭"],
  typedKeys: ["Enter 确定", "Esc 关闭"],
  history: "你之前的消息",
  sessions: "继续哪个会话",
  models: "选择模型",
  current: "当前",
  modelsFailed: (provider, why) => `${provider}：${why}`,
  rules: "许可规则",
  addRule: "添加规则…",
  ruleText: "规则，例如 Bash(npm test) 或 Edit(src/**)",
  behaviors: { allow: "允许", ask: "询问", deny: "拒绝" },
  behaviorHints: { allow: "不询问，直接运行", ask: "每次都询问", deny: "从不运行" },
  howRule: "这条规则要做什么？",
  whereRule: (rule) => `${rule} 在哪里生效？`,
  oneRule: (rule) => `规则 ${rule}`,
  editRule: "编辑…",
  dropRule: "删除",
  ruleSaved: (rule, place) => `已添加 ${rule}（${place}）。`,
  ruleRemoved: (rule, place) => `已删除 ${rule}（${place}）。`,
  needsId: (ids) => ["这里的 --resume 需要会话编号：", ...ids.map((line) => `  ${line}`)].join("\n"),
};

export const pickerTexts = inBoth<PickerTexts>(en, zh);
