import { inBoth } from "../language.ts";

const en = {
  noFolder: (flag: string, path: string) => `${flag} cannot write ${path}: no such folder`,
  cannotRead: (flag: string, path: string, why: string) => `${flag} cannot read ${path}: ${why}`,
  noFile: "there is no such file",
  recorded: (path: string, turns: number) => `recorded ${turns} ${turns === 1 ? "reply" : "replies"} in ${path}`,
  recordedAnswers: (path: string, answers: number) =>
    `recorded ${answers} ${answers === 1 ? "answer" : "answers"} in ${path}`,
  removed: (n: number) => `(${n} ${n === 1 ? "secret" : "secrets"} removed; those parts may not replay)`,
  otherAgent: (what: string, agent: string) =>
    `${what}: ${agent} keeps this conversation itself, so its replies cannot be played again; your answers can be recorded`,
  emptyPersona: (path: string) => `--persona: ${path} is empty; describe a person in it`,
  unanswered: (path: string, request: string, what: string) => `${path} has no answer to ${request}: ${what}`,
};

const zh: typeof en = {
  noFolder: (flag, path) => `${flag} 无法写入 ${path}：目录不存在`,
  cannotRead: (flag, path, why) => `${flag} 无法读取 ${path}：${why}`,
  noFile: "文件不存在",
  recorded: (path, turns) => `已将 ${turns} 次回复录入 ${path}`,
  recordedAnswers: (path, answers) => `已将 ${answers} 个回答录入 ${path}`,
  removed: (n) => `（已移除 ${n} 处机密；相关内容可能无法重放）`,
  otherAgent: (what, agent) => `${what}：这段对话由 ${agent} 自己保存，它的回复无法重放；你的回答可以录制`,
  emptyPersona: (path) => `--persona：${path} 是空的，请在其中描述一个人`,
  unanswered: (path, request, what) => `${path} 中没有对 ${request} 的回答：${what}`,
};

export const recordingTexts = inBoth<typeof en>(en, zh);
