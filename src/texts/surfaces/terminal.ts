import { inBoth } from "../language.ts";

const number = (n: number) => n.toLocaleString("en");
const plural = (n: number, singular: string, many = `${singular}s`) => `${number(n)} ${n === 1 ? singular : many}`;

const en = {
  // Events
  thought: (time: string) => (time === "" ? "Thought" : `Thought for ${time}`),
  thinking: "Thinking",
  hidden: (lines: number) => `… ${plural(lines, "more line")} (Ctrl-O)`,
  hiddenAbove: (lines: number) => `… ${plural(lines, "line")} above (Ctrl-O)`,
  openWith: (what: string) => `${what} (Ctrl-O)`,
  reads: (files: number) => `Read ${plural(files, "file")}`,
  todosDone: (done: number, all: number) => `${done} of ${all} done`,
  todosLeft: (n: number) => `… ${number(n)} more`,
  above: (rows: number) => `… ${plural(rows, "row")} above`,
  inside: (calls: number) => `… ${plural(calls, "earlier call")}`,
  whole: (what: string) => `${what}:`,
  printed: (code: number) => `exit code ${code}`,

  // Activity
  model: "Working",
  modelThinks: "Thinking",
  runs: (what: string) => `Running ${what}`,
  several: (n: number) => `Running ${n} calls`,
  yourTurn: "Waiting for you",
  escReads: "Esc reads your message now",
  takesBack: (n: number) => `↑ takes ${n === 1 ? "it" : "the last one"} back`,
  shellRuns: "Running your command",
  escHint: "Esc to interrupt",
  paused: "Paused. Say what to do instead, or /resume",
  tokens: (n: number) => `${number(n)} tokens`,
  contextUsed: (percent: number) => `${percent}% of context`,

  // Waiting
  title: { idle: "Sage", working: "Sage · working", waiting: "Sage · waiting for you" },
  notice: {
    permission: (what: string) => `Sage needs permission: ${what}`,
    question: (what: string) => `Sage asks: ${what}`,
    text: (what: string) => `Sage needs input: ${what}`,
  },
  collapsed: (n: number, what: string, age: string) =>
    `${plural(n, "open request")} (${age}): ${what} · Ctrl-R to answer`,
  notifyFailed: (why: string) => `notify.command failed: ${why}`,

  // Results of keys
  hints: {
    again: "Press Ctrl-C again to exit; the session is saved.",
    waits: "A request is open. Ctrl-R to answer it, Ctrl-C to cancel it and the turn.",
    interrupting: "Interrupting… (Ctrl-C again to exit)",
    reading: "Interrupting to read your message…",
    cancelling: "Cancelling the request and the turn… (Ctrl-C again to exit and keep them)",
  },

  // Input
  placeholder: "What would you like to do? (@file, /command, !shell, Ctrl-G opens your editor)",
  placeholderNarrow: "What would you like to do? (/help)",
  shellPrefix: "The output goes to the agent with your next message.",
  shellTold: (command: string) => `I ran this myself: ${command}`,
  shellPrinted: "Output:",
  shellNothing: "No output.",
  shellCut: (n: number) => `(first ${plural(n, "character")} omitted)`,
  shellNone: "No shell is available here.",
  shellBusy: "Your last command is still running; Ctrl-C stops it.",
  clipboard: {
    "no-image": "There is no picture in the clipboard.",
    "no-program":
      "The clipboard cannot be read here: install wl-paste, xclip or pngpaste, or name the file instead (@shot.png).",
  },
  editorNone: "Set VISUAL or EDITOR to use your own editor.",
  editorFailed: (why: string) => `Editor failed: ${why}`,

  confined: { contain: "confined", autoAllow: "confined, asks less" },
  /** Stands above the commands in `/help`. */
  help: [
    "Enter sends · Shift-Enter, Ctrl-J or \\ + Enter: new line · ↑ earlier messages",
    "@ completes a file, / a command or skill; long pastes are folded and sent whole",
    "!command runs in your shell; its output goes with your next message",
    "Ctrl-V pastes a picture · Ctrl-G opens your editor · Ctrl-O shows full output and thoughts · Ctrl-R reopens a request, or searches your messages",
    "Esc interrupts, or sets a request aside; twice: go back to before a message · Ctrl-C clears your draft; without one, interrupts, or cancels a request and its turn",
    "Shift-Tab changes the mode: ask → accept edits → plan · Alt-U takes back the rule or mode that you granted last",
    "Ctrl-C twice or Ctrl-D exits; the session is saved · Ctrl-Z suspends Sage",
  ],
  inMode: { acceptEdits: "⏵ accept edits (Shift-Tab)", plan: "⏸ plan mode (Shift-Tab)" },
};

export type TerminalTexts = typeof en;

const zh: TerminalTexts = {
  thought: (time) => (time === "" ? "已思考" : `思考了 ${time}`),
  thinking: "思考中",
  hidden: (lines) => `… 另有 ${number(lines)} 行（Ctrl-O）`,
  hiddenAbove: (lines) => `… 上方有 ${number(lines)} 行（Ctrl-O）`,
  openWith: (what) => `${what}（Ctrl-O）`,
  reads: (files) => `读取了 ${number(files)} 个文件`,
  todosDone: (done, all) => `已完成 ${done}/${all}`,
  todosLeft: (n) => `… 另有 ${number(n)} 项`,
  above: (rows) => `… 上方有 ${number(rows)} 行`,
  inside: (calls) => `… 之前有 ${number(calls)} 次调用`,
  whole: (what) => `${what}：`,
  printed: (code) => `退出码 ${code}`,

  model: "工作中",
  modelThinks: "思考中",
  runs: (what) => `正在运行 ${what}`,
  several: (n) => `正在运行 ${n} 个调用`,
  yourTurn: "等你决定",
  escReads: "Esc 立即读取",
  takesBack: (n) => `↑ 撤回${n === 1 ? "" : "最后一条"}`,
  shellRuns: "正在运行你的命令",
  escHint: "Esc 中断",
  paused: "已暂停。请说明接下来做什么，或用 /resume 继续",
  tokens: (n) => `${number(n)} 个 token`,
  contextUsed: (percent) => `上下文 ${percent}%`,

  title: { idle: "Sage", working: "Sage · 工作中", waiting: "Sage · 等你决定" },
  notice: {
    permission: (what) => `Sage 请求许可：${what}`,
    question: (what) => `Sage 提问：${what}`,
    text: (what) => `Sage 需要输入：${what}`,
  },
  collapsed: (n, what, age) => `${number(n)} 个待处理的请求（${age}）：${what} · Ctrl-R 处理`,
  notifyFailed: (why) => `notify.command 失败：${why}`,

  hints: {
    again: "再按 Ctrl-C 退出；会话已保存。",
    waits: "有待处理的请求。Ctrl-R 处理，Ctrl-C 取消请求和本轮。",
    interrupting: "正在中断…（再按 Ctrl-C 退出）",
    reading: "正在中断，先读你的消息…",
    cancelling: "正在取消请求和本轮…（再按 Ctrl-C 退出并保留）",
  },

  placeholder: "想做什么？（@文件、/命令、!shell，Ctrl-G 打开你的编辑器）",
  placeholderNarrow: "想做什么？（/help）",
  shellPrefix: "输出会随你的下一条消息交给智能体。",
  shellTold: (command) => `我自己运行了：${command}`,
  shellPrinted: "输出：",
  shellNothing: "没有输出。",
  shellCut: (n) => `（省略了开头 ${number(n)} 个字符）`,
  shellNone: "这里没有可用的 shell。",
  shellBusy: "上一条命令还在运行；Ctrl-C 停止它。",
  clipboard: {
    "no-image": "剪贴板中没有图片。",
    "no-program": "这里读不到剪贴板：请安装 wl-paste、xclip 或 pngpaste，或改为写出文件名（@shot.png）。",
  },
  editorNone: "设置 VISUAL 或 EDITOR 即可使用自己的编辑器。",
  editorFailed: (why) => `编辑器出错：${why}`,

  confined: { contain: "沙箱中", autoAllow: "沙箱中，少询问" },
  help: [
    "Enter 发送 · Shift-Enter、Ctrl-J 或 \\ + Enter：换行 · ↑ 之前的消息",
    "@ 补全文件，/ 补全命令或技能；长粘贴会折叠显示、完整发送",
    "!命令 在你的 shell 中运行；输出随下一条消息交给智能体",
    "Ctrl-V 粘贴图片 · Ctrl-G 打开你的编辑器 · Ctrl-O 显示完整输出和思考 · Ctrl-R 重新打开请求，或搜索你的消息",
    "Esc 中断，或稍后处理请求；连按两次：回退到某条消息之前 · Ctrl-C 清空草稿；没有草稿时中断，或取消请求和本轮",
    "Shift-Tab 更换模式：逐项询问 → 接受编辑 → 计划 · Alt-U 收回上一次授予的规则或模式",
    "连按两次 Ctrl-C 或 Ctrl-D 退出，会话已保存 · Ctrl-Z 挂起 Sage",
  ],
  inMode: { acceptEdits: "⏵ 接受编辑（Shift-Tab）", plan: "⏸ 计划模式（Shift-Tab）" },
};

export const terminalTexts = inBoth<TerminalTexts>(en, zh);
