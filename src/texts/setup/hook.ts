import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

const en = {
  usage: 'expected "install claude", "install codex", "uninstall claude" or "uninstall codex"',
  unreadable: (path: string, problem: string) => `${path} cannot be changed: ${problem}`,
  there: (path: string) => `${path} has the hook already.`,
  notThere: (path: string) => `${path} has no hook of Sage.`,
  adds: (path: string) => `This would be added to ${path}:`,
  removes: (path: string) => `This would be taken out of ${path}:`,
  notes: {
    claude: [
      "Prompts of your own Claude Code then stand in Sage's inbox, too; the first answer wins, there or here.",
      "In its auto mode Claude Code answers most prompts itself, and the hook is not called. Sage does not change the mode.",
    ],
    codex: [
      "Codex then asks Sage before it shows its own dialog. Without an answer within 30 seconds, the dialog comes.",
      "Codex runs a new hook only after you have approved it there.",
    ],
  },
  ask: "Make this change? [y/N] ",
  unchanged: "Nothing was changed.",
  terminalOnly: "Nothing was changed: this takes a yes at a terminal. Run it there, or with --yes.",
  added: (path: string, copy: string | undefined) =>
    `Added to ${path}${copy === undefined ? "" : `; the file as it was is kept in ${copy}`}. Undo: \`${sage("hook uninstall …")}\``,
  removed: (path: string) => `${path} is as if Sage had never been there.`,
};

const zh: typeof en = {
  usage: "应为 install claude、install codex、uninstall claude 或 uninstall codex",
  unreadable: (path, problem) => `无法修改 ${path}：${problem}`,
  there: (path) => `${path} 中已有这个钩子。`,
  notThere: (path) => `${path} 中没有 Sage 的钩子。`,
  adds: (path) => `将加入 ${path}：`,
  removes: (path) => `将从 ${path} 中去掉：`,
  notes: {
    claude: [
      "此后，你自己的 Claude Code 的提示也会出现在 Sage 的收件箱里；两边谁先回答，就以谁为准。",
      "在自动模式下，Claude Code 会自行回答大部分提示，不会调用钩子。Sage 不改变它的模式。",
    ],
    codex: [
      "此后，Codex 会先问 Sage，再显示自己的对话框。30 秒内无人回答，对话框就会出现。",
      "新钩子要先由你在 Codex 中批准，Codex 才会运行它。",
    ],
  },
  ask: "要修改吗？[y/N] ",
  unchanged: "没有修改任何内容。",
  terminalOnly: "没有修改任何内容：须有人在终端前同意。请在终端中运行，或加上 --yes。",
  added: (path, copy) =>
    `已加入 ${path}${copy === undefined ? "" : `；原文件保存在 ${copy}`}。撤销：\`${sage("hook uninstall …")}\``,
  removed: (path) => `${path} 已恢复原样，不留痕迹。`,
};

export const hookTexts = inBoth<typeof en>(en, zh);
