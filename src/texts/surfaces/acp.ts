import type { SessionMode } from "../../protocol/mode.ts";
import { inBoth } from "../language.ts";

const en = {
  allow: "Allow once",
  /** `rules`: as they would be kept. */
  always: (rules: string) => `Always allow in this session: ${rules}`,
  alwaysHere: (rules: string, project?: string) =>
    `Always allow in ${project === undefined ? "this project" : `project ${project}`}: ${rules}`,
  refuse: "Refuse",
  stop: "Refuse and stop the turn",
  decline: "Don't answer",
  other: "Own words",
  otherHint: "Instead of the options above",
  text: "Your answer",
  /** Below a question that the editor has no form for. */
  howToAnswer: (questions: number): string =>
    questions > 1
      ? "Answer with your next message, one line for each question: a number, several (1,3), or your own words. `/decline` answers none of them."
      : "Answer with your next message: a number, several (1,3), or your own words. `/decline` does not answer it.",
  textHint: "Answer with your next message. `/decline` does not answer it.",
  elsewhere: (id: string) => `It can be answered anywhere else, too: \`sage answer ${id}\``,
  notTaken: (why: string) => `That answer was not taken: ${why}`,
  modes: {
    ask: { name: "Ask", description: "Asks about everything that no rule allows" },
    acceptEdits: { name: "Accept edits", description: "Edits files of the workspace without asking" },
    plan: { name: "Plan", description: "Only reads, until you approve a plan" },
  } satisfies Record<SessionMode, { name: string; description: string }>,
  mode: "Mode",
  model: "Model",
};

export type AcpTexts = typeof en;

const zh: AcpTexts = {
  allow: "允许一次",
  always: (rules) => `在本会话中始终允许：${rules}`,
  alwaysHere: (rules, project) => `在${project === undefined ? "本项目" : `项目 ${project} `}中始终允许：${rules}`,
  refuse: "拒绝",
  stop: "拒绝并停止本轮",
  decline: "不回答",
  other: "自己的回答",
  otherHint: "代替上面的选项",
  text: "你的回答",
  howToAnswer: (questions) =>
    questions > 1
      ? "请在下一条消息中回答，每问一行：一个编号、多个编号（1,3）或自己的话。`/decline` 表示都不回答。"
      : "请在下一条消息中回答：一个编号、多个编号（1,3）或自己的话。`/decline` 表示不回答。",
  textHint: "请在下一条消息中回答。`/decline` 表示不回答。",
  elsewhere: (id) => `也可以在别处回答：\`sage answer ${id}\``,
  notTaken: (why) => `这个回答没有被接受：${why}`,
  modes: {
    ask: { name: "询问", description: "规则没有允许的都会询问" },
    acceptEdits: { name: "接受编辑", description: "编辑工作区中的文件时不再询问" },
    plan: { name: "计划", description: "只读取，直到你允许一份计划" },
  },
  mode: "模式",
  model: "模型",
};

export const acpTexts = inBoth<AcpTexts>(en, zh);
