import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

const count = (n: number, singular: string, many = `${singular}s`) => `${n} ${n === 1 ? singular : many}`;

/** Texts about calls of the past: a rule held against them, rules they speak for, and how often people were asked. */
const en = {
  backtestHow: `${sage("permissions backtest")} [rule…] [--behavior allow|ask|deny] [--json]: without a rule, those in force here`,
  noPast: "No calls in this project yet: nothing to compare with.",
  noRules: `No rules are in force here. Name one to try it:  ${sage("permissions backtest")} 'Bash(npm test:*)'`,
  looked: (calls: number, since: string) => `The last ${count(calls, "call")} in this project, since ${since}`,
  none: {
    allow: "Would have spared no question.",
    ask: "Would have asked about nothing that ran.",
    deny: "Would have stopped nothing that ran.",
  },
  changed: {
    allow: (n: number) => `Would have allowed ${count(n, "call")} without asking.`,
    ask: (n: number) => `Would have asked about ${count(n, "call")} that ran without asking.`,
    deny: (n: number) => `Would have refused ${count(n, "call")} that ran.`,
  },
  against: {
    allow: (n: number) => `${n === 1 ? "1 of them was" : `${n} of them were`} refused by a person.`,
    ask: (n: number) => `${n} of them a person had allowed.`,
    deny: (n: number) => `${n} of them a person had allowed.`,
  },
  also: "Among them:",
  answered: {
    yes: (by: string, when: string) => `allowed by ${by}, ${when}`,
    no: (by: string, when: string) => `refused by ${by}, ${when}`,
    none: (_by: string, when: string) => `not answered, ${when}`,
  },
  ran: (when: string) => `ran, ${when}`,
  you: "you",
  ideas: (rules: number, spared: number, asked: number) =>
    `${count(rules, "rule")} would have spared ${spared} of ${count(asked, "question")}, and allowed nothing that was refused:`,
  noIdeas: (asked: number) =>
    asked === 0
      ? "Nobody was asked for a permission in this project yet."
      : `No rule would have spared more than one of ${count(asked, "question")} without allowing something that was refused.`,
  spared: (n: number) => count(n, "question"),
  keep: (rule: string) => `Keep one with:  ${sage("permissions add allow")} ${rule}`,
  overall: (calls: number, since: string, sessions: number) =>
    `${count(calls, "call")} in ${count(sessions, "session")} since ${since}`,
  nothing: "No calls yet.",
  askedOf: (asked: number, share: number, refused: number) =>
    `Asked about ${asked} (${share} %), refused ${refused}. The rest ran or was refused without asking.`,
  tool: "Asked by",
  who: "Answered by",
  rules: "Questions spared by rules",
  columns: {
    asked: "asked",
    yes: "allowed",
    no: "refused",
    none: "no answer",
    open: "open",
    median: "median",
    p90: "slowest 10 %",
  },
};

export type PastTexts = typeof en;

const zh: PastTexts = {
  backtestHow: `${sage("permissions backtest")} [规则…] [--behavior allow|ask|deny] [--json]：不写规则时检验这里生效的规则`,
  noPast: "这个项目还没有调用记录，无从比较。",
  noRules: `这里没有生效的规则。请写出要试的规则：  ${sage("permissions backtest")} 'Bash(npm test:*)'`,
  looked: (calls, since) => `本项目最近 ${calls} 次调用，自 ${since} 起`,
  none: { allow: "不会少问一次。", ask: "运行过的调用都不会因此询问。", deny: "运行过的调用都不会因此被拒绝。" },
  changed: {
    allow: (n) => `会有 ${n} 次调用不经询问就获准。`,
    ask: (n) => `会有 ${n} 次未询问就运行的调用改为询问。`,
    deny: (n) => `会有 ${n} 次运行过的调用被拒绝。`,
  },
  against: {
    allow: (n) => `其中 ${n} 次曾被人拒绝。`,
    ask: (n) => `其中 ${n} 次曾由人允许。`,
    deny: (n) => `其中 ${n} 次曾由人允许。`,
  },
  also: "其中包括：",
  answered: {
    yes: (by, when) => `${by}允许，${when}`,
    no: (by, when) => `${by}拒绝，${when}`,
    none: (_by, when) => `无人回答，${when}`,
  },
  ran: (when) => `已运行，${when}`,
  you: "你",
  ideas: (rules, spared, asked) =>
    `${rules} 条规则可在 ${asked} 次询问中省去 ${spared} 次，且不会放行任何被拒绝过的调用：`,
  noIdeas: (asked) =>
    asked === 0
      ? "这个项目还没有请求过许可。"
      : `在 ${asked} 次询问中，没有规则能省去一次以上而又不放行被拒绝过的调用。`,
  spared: (n) => `${n} 次询问`,
  keep: (rule) => `保留其中一条：  ${sage("permissions add allow")} ${rule}`,
  overall: (calls, since, sessions) => `自 ${since} 起 ${sessions} 个会话中的 ${calls} 次调用`,
  nothing: "还没有调用。",
  askedOf: (asked, share, refused) =>
    `询问了 ${asked} 次（${share} %），拒绝 ${refused} 次。其余未经询问就运行或被拒绝。`,
  tool: "询问来自",
  who: "回答者",
  rules: "规则省去的询问",
  columns: {
    asked: "询问",
    yes: "允许",
    no: "拒绝",
    none: "无人回答",
    open: "待处理",
    median: "中位用时",
    p90: "最慢的 10 %",
  },
};

export const pastTexts = inBoth<PastTexts>(en, zh);
