import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

const en = {
  how: `${sage("rewind")} <session> [--to t3] [--files | --conversation | --both] [--dry-run | --yes] [--overwrite]`,
  points: "Messages to go back to (before each of them):",
  none: "No message to go back to.",
  next: (id: string) => `See what would change: ${sage(`rewind ${id} --to <turn> --dry-run`)}`,
  before: (turn: string, message: string) => `Back to before ${turn}: ${message}`,
  conversation: "The conversation from there on is left out; nothing is deleted from the journal.",
  noFiles: "No file changes.",
  restore: (path: string) => `restore  ${path}`,
  remove: (path: string) => `remove   ${path}`,
  same: (path: string) => `same     ${path}`,
  leave: (path: string, why: string) => `leave    ${path} (${why})`,
  doubt: {
    changed: "somebody else changed it",
    protected: "a protected path",
    outside: "outside the workspace",
  },
  inDoubt: "Only if you say so:",
  commands: "Changes made by these commands cannot be taken back:",
  more: (n: number) => `… and ${n} more`,
  agree: "Rewind? [y/N] ",
  overwrite: "Also put back the files listed under “Only if you say so”? [y/N] ",
  needsYes: "Nothing was changed. Pass --yes to do it, and --overwrite for files in doubt.",
  choose: "Go back to before which message?",
  kinds: { both: "Conversation and files", conversation: "Only the conversation", files: "Only the files" },
  lineNext: "See what would change: /rewind t0 [files | conversation]",
  lineYes: (again: string, overwrite: string | undefined) =>
    `Do it with: ${again}${overwrite === undefined ? "" : ` (or ${overwrite}, also for files in doubt)`}`,
  lineAgain: (message: string) => `Your message was: ${message}`,
  doIt: "Go back",
  doAll: "Go back, and put back the files in doubt too",
};

const zh: typeof en = {
  how: `${sage("rewind")} <会话> [--to t3] [--files | --conversation | --both] [--dry-run | --yes] [--overwrite]`,
  points: "可以回退到以下消息之前：",
  none: "没有可以回退到的消息。",
  next: (id) => `查看会改变什么：${sage(`rewind ${id} --to <turn> --dry-run`)}`,
  before: (turn, message) => `回退到 ${turn} 之前：${message}`,
  conversation: "此后的对话不再算数；日志中什么都不会删除。",
  noFiles: "没有文件改动。",
  restore: (path) => `恢复  ${path}`,
  remove: (path) => `删除  ${path}`,
  same: (path) => `不变  ${path}`,
  leave: (path, why) => `保持  ${path}（${why}）`,
  doubt: {
    changed: "被别人改过",
    protected: "受保护的路径",
    outside: "在工作区之外",
  },
  inDoubt: "只有你明确同意才会处理：",
  commands: "以下命令造成的改动无法回退：",
  more: (n) => `… 还有 ${n} 个`,
  agree: "回退？[y/N] ",
  overwrite: "上面列出的“只有你明确同意才会处理”的文件也恢复？[y/N] ",
  needsYes: "什么都没有改变。加 --yes 执行；有疑问的文件再加 --overwrite。",
  choose: "回退到哪条消息之前？",
  kinds: { both: "对话和文件", conversation: "只回退对话", files: "只回退文件" },
  lineNext: "查看会改变什么：/rewind t0 [files | conversation]",
  lineYes: (again, overwrite) =>
    `执行：${again}${overwrite === undefined ? "" : `（有疑问的文件也恢复：${overwrite}）`}`,
  lineAgain: (message) => `那条消息是：${message}`,
  doIt: "回退",
  doAll: "回退，并恢复有疑问的文件",
};

export type RewindTexts = typeof en;

export const rewindTexts = inBoth<RewindTexts>(en, zh);
