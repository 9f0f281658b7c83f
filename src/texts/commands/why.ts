import type { RuleSource } from "../../protocol/decision.ts";
import type { Reason } from "../../protocol/reasons/reason.ts";
import { inBoth } from "../language.ts";
import { sentence } from "../shared/sentence.ts";

const en = {
  session: (id: string, cwd: string, title: string) => `Session ${id} in ${cwd}: ${title}`,
  nothing: "No decisions yet.",
  fileBy: (path: string) => `${path} was changed by:`,
  fileNever: (path: string) => `No recorded call changed ${path}.`,
  fileSame: "Unchanged since the last of them.",
  fileOther: "Changed since then by something outside Sage.",
  fileGone: "The file no longer exists.",
  decision: { allowed: "allowed", refused: "refused", answered: "answered", open: "waiting for an answer" },
  because: (reason: Reason | string): string => sentence(reason, "en"),
  allowedByRule: "allowed by a rule",
  byRule: (rule: string, where: string) => `: ${rule} (${where})`,
  ruleFrom: (source: RuleSource, from: string | undefined) =>
    source === "session" ? `added in this session${from ? ` by ${from}` : ""}` : (from ?? source),
  askedAt: (time: string, why: string) => `asked ${time}: ${why}`,
  rule: (rule: string, by: string, where: string) => `rule added by ${by}: ${rule} (${where})`,
  ruleGone: (rule: string, by: string, where: string) => `rule removed by ${by}: ${rule} (${where})`,
  undone: (who: string, time: string) => `the rules and mode granted here were taken back ${who}, ${time}`,
  notSaved: (problem: string) => `not saved: ${problem}`,
  run: "ran",
  confined: (how: string) => `${how} confined`,
  blocked: (names: readonly string[]) => `kept from ${names.join(", ")}`,
  ran: (how: string, time: string) => `${how}, ${time}`,
  files: (files: readonly string[], ran: boolean) => `${ran ? "changed" : "would change"} ${files.join(", ")}`,
  digest: (digest: string) => `digest ${digest}`,
  agent: (path: readonly string[]) => `by ${path.join(" › ")}`,
  sage: "Sage asked",
  free: (n: number) => `${n} read-only ${n === 1 ? "call" : "calls"} not shown (--all)`,
  anchored: (session: string, time: string, since: number) =>
    `Record of session ${session} intact: nothing was changed, added or removed up to the turn that ended at ${time} (anchored outside the journal).${since === 0 ? "" : ` The ${since} later entries are only chained.`}`,
  chained: (session: string) =>
    `Record of session ${session}: its hashes follow from each other. That reveals careless changes, not those of somebody who computed the hashes anew: it has no anchor outside the journal (Sage writes one at the end of each turn, except in a shared journal).`,
  rewritten: (session: string, time: string) =>
    `The record of session ${session} does not match its anchor from the turn that ended at ${time}: it was rewritten or cut off. Do not rely on it.`,
  broken: (session: string, seq: number, key: string) =>
    `The record of session ${session} was changed or damaged at ${seq} (${key}): do not rely on later entries.`,
  deleted: "This session was deleted; its record is kept:",
  removed: (n: number) => `${n} ${n === 1 ? "secret" : "secrets"} removed.`,
};

export type WhyTexts = typeof en;

const zh: WhyTexts = {
  session: (id, cwd, title) => `会话 ${id}，位于 ${cwd}：${title}`,
  nothing: "尚无决定。",
  fileBy: (path) => `改动过 ${path} 的有：`,
  fileNever: (path) => `没有记录在案的调用改动过 ${path}。`,
  fileSame: "此后未再改动。",
  fileOther: "此后被 Sage 之外的程序改动过。",
  fileGone: "文件已不存在。",
  decision: { allowed: "已允许", refused: "已拒绝", answered: "已回答", open: "等待回答" },
  because: (reason) => sentence(reason, "zh"),
  allowedByRule: "由规则允许",
  byRule: (rule, where) => `：${rule}（${where}）`,
  ruleFrom: (source, from) => (source === "session" ? `本会话中${from ? `由 ${from} ` : ""}添加` : (from ?? source)),
  askedAt: (time, why) => `${time} 提出：${why}`,
  rule: (rule, by, where) => `${by} 添加了规则：${rule}（${where}）`,
  ruleGone: (rule, by, where) => `${by} 删除了规则：${rule}（${where}）`,
  undone: (who, time) => `这里授予的规则和模式已由${who}收回，${time}`,
  notSaved: (problem) => `未保存：${sentence(problem, "zh")}`,
  run: "已运行",
  confined: (how) => `${how}（沙箱中）`,
  blocked: (names) => `被挡在 ${names.join("、")} 之外`,
  ran: (how, time) => `${how}，${time}`,
  files: (files, ran) => `${ran ? "改动了" : "会改动"} ${files.join("、")}`,
  digest: (digest) => `摘要 ${digest}`,
  agent: (path) => `由 ${path.join(" › ")}`,
  sage: "Sage 提问",
  free: (n) => `另有 ${n} 次只读调用未列出（--all）`,
  anchored: (session, time, since) =>
    `会话 ${session} 的记录完好：直到 ${time} 结束的那一轮，没有内容被改动、添加或删除（锚点在日志之外）。${since === 0 ? "" : `其后的 ${since} 条只有哈希链。`}`,
  chained: (session) =>
    `会话 ${session} 的记录：哈希前后相接。这能发现随手的改动，发现不了重算过哈希的改动：它在日志之外没有锚点（每轮结束时写入，共用的日志除外）。`,
  rewritten: (session, time) => `会话 ${session} 的记录与 ${time} 结束的那一轮的锚点不符：它被重写或截断。不要依据它。`,
  broken: (session, seq, key) => `会话 ${session} 的记录在 ${seq}（${key}）处被改动或损坏：不要依据其后的内容。`,
  deleted: "这个会话已删除，记录仍保留：",
  removed: (n) => `已移除 ${n} 处机密。`,
};

export const whyTexts = inBoth<WhyTexts>(en, zh);
