import type { Reason, RuleDestination } from "../protocol/index.ts";
import type { Lang } from "./language.ts";
import { sentence } from "./reasons.ts";

const en = {
  session: (id: string, cwd: string, title: string) => `Session ${id} in ${cwd}: ${title}`,
  nothing: "No call has been decided about here yet.",
  unknown: (target: string) =>
    `there is no session, call or file "${target}"; a session is named by its id, a call as \`sage why\` lists it, a file by its path`,
  fileBy: (path: string) => `${path} was changed by:`,
  fileNever: (path: string) => `No call that the journal knows of changed ${path}.`,
  fileSame: "It is as the last of them left it.",
  fileOther: "It has been changed since, by something that the journal does not know of.",
  fileGone: "It is not there any more.",
  decision: { allowed: "allowed", refused: "refused", answered: "answered", open: "waits for an answer" },
  because: (reason: Reason | string): string => `because ${sentence(reason, "en")}`,
  allowedByRule: "allowed by a rule",
  byRule: (rule: string, where: string) => `: ${rule} (${where})`,
  ruleFrom: (source: RuleDestination, from: string | undefined) =>
    source === "session" ? `given in this session${from ? ` by ${from}` : ""}` : (from ?? source),
  askedAt: (time: string, why: string) => `asked ${time}: ${why}`,
  rule: (rule: string, by: string, where: string) => `rule added by ${by}: ${rule} (${where})`,
  notSaved: (problem: string) => `not saved: ${problem}`,
  run: { ok: "ran", failed: "ran and failed", unknown: "started; how it ended is not known", open: "runs" },
  ran: (how: string, time: string) => `${how}, ${time}`,
  files: (files: readonly string[], ran: boolean) => `${ran ? "changes" : "would change"} ${files.join(", ")}`,
  digest: (digest: string) => `digest ${digest}`,
  agent: (path: readonly string[]) => `by the subagent ${path.join(" › ")}`,
  sage: "Sage asked",
  free: (n: number) => `${n} ${n === 1 ? "call" : "calls"} that only read and needed nobody (--all lists them)`,
  anchored: (session: string, time: string, since: number) =>
    `The record of session ${session} is intact: up to the end of the turn at ${time} nothing was changed, added or removed, as its anchor outside of the journal shows.${since === 0 ? "" : ` What came after is only chained (${since}).`}`,
  chained: (session: string) =>
    `The record of session ${session} is chained: every hash follows from the one before. That shows careless changes, and not those of somebody who computes the hashes anew; its first anchor comes with the end of a turn.`,
  rewritten: (session: string, time: string) =>
    `The record of session ${session} is not the one that was anchored at the end of the turn at ${time}: it was written anew, or cut off. Do not rely on it.`,
  broken: (session: string, seq: number, key: string) =>
    `The record of session ${session} was changed or damaged at ${seq} (${key}): do not rely on what follows from there.`,
  deleted: "This session was deleted. Who allowed what in it is still on record:",
  removed: (n: number) => `${n} ${n === 1 ? "secret was" : "secrets were"} left out.`,
};

export type WhyTexts = typeof en;

const zh: WhyTexts = {
  session: (id, cwd, title) => `会话 ${id}，位于 ${cwd}：${title}`,
  nothing: "这里还没有对任何调用作过决定。",
  unknown: (target) => `没有叫“${target}”的会话、调用或文件；会话用编号，调用按 \`sage why\` 所列，文件用路径`,
  fileBy: (path) => `改动过 ${path} 的有：`,
  fileNever: (path) => `日志里没有任何调用改动过 ${path}。`,
  fileSame: "它现在就是其中最后一次留下的样子。",
  fileOther: "此后它又被改动过，改动者日志并不知道。",
  fileGone: "它已经不在了。",
  decision: { allowed: "已允许", refused: "已拒绝", answered: "已回答", open: "在等回答" },
  because: (reason) => `原因：${sentence(reason, "zh")}`,
  allowedByRule: "由规则允许",
  byRule: (rule, where) => `：${rule}（${where}）`,
  ruleFrom: (source, from) => (source === "session" ? `本会话中${from ? `由 ${from} ` : ""}给出` : (from ?? source)),
  askedAt: (time, why) => `${time} 提出：${why}`,
  rule: (rule, by, where) => `${by} 添加了规则：${rule}（${where}）`,
  notSaved: (problem) => `没有存下：${sentence(problem, "zh")}`,
  run: { ok: "已运行", failed: "已运行，失败", unknown: "已开始，结局不明", open: "正在运行" },
  ran: (how, time) => `${how}，${time}`,
  files: (files, ran) => `${ran ? "改动" : "本会改动"} ${files.join("、")}`,
  digest: (digest) => `摘要 ${digest}`,
  agent: (path) => `由子智能体 ${path.join(" › ")}`,
  sage: "Sage 提问",
  free: (n) => `另有 ${n} 次只读调用，不需要任何人（--all 全部列出）`,
  anchored: (session, time, since) =>
    `会话 ${session} 的记录完好：日志之外的锚点表明，直到 ${time} 那一轮结束，没有内容被改动、添加或删除。${since === 0 ? "" : `其后的 ${since} 条只有哈希链。`}`,
  chained: (session) =>
    `会话 ${session} 的记录首尾相接：每个哈希都接着前一个。这能发现随手的改动，发现不了重新计算哈希的人；一轮结束时才有第一个锚点。`,
  rewritten: (session, time) =>
    `会话 ${session} 的记录与 ${time} 那一轮结束时的锚点不符：它被重写过，或被截断。不要信任它。`,
  broken: (session, seq, key) => `会话 ${session} 的记录在 ${seq}（${key}）处被改动或损坏：不要信任其后的内容。`,
  deleted: "这个会话已被删除。其中谁允许了什么仍有记录：",
  removed: (n) => `略去了 ${n} 处机密。`,
};

const tables = { en, zh } satisfies Record<Lang, WhyTexts>;

export function whyTexts(lang: Lang): WhyTexts {
  return tables[lang];
}
