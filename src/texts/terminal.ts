import type { Lang } from "./language.ts";

const plural = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

const en = {
  // What happens
  thought: (time: string) => (time === "" ? "thought" : `thought for ${time}`),
  thinking: "thinking",
  hidden: (lines: number) => `… ${plural(lines, "more line")} (Ctrl-O)`,
  hiddenAbove: (lines: number) => `… ${plural(lines, "line")} before these`,
  above: (rows: number) => `… ${plural(rows, "row")} above`,
  inside: (calls: number) => `… ${plural(calls, "earlier call")}`,
  waits: "waits for you",
  stopped: "not finished",
  whole: (what: string) => `${what}, whole:`,
  printed: (code: number) => `ended with code ${code}`,

  // What it is doing
  model: "The model works",
  modelThinks: "The model thinks",
  runs: (what: string) => `${what} runs`,
  several: (n: number) => `${n} calls run`,
  yourTurn: "Waits for you",
  shellRuns: "Your command runs",
  escHint: "Esc interrupts",
  paused: "Paused: say what to do instead, or /resume",
  tokens: (n: number) => `${n.toLocaleString("en")} tokens`,

  // Waiting
  title: { idle: "Sage", working: "Sage · working", waiting: "Sage · waits for you" },
  notice: {
    permission: (what: string) => `Sage asks for permission: ${what}`,
    question: (what: string) => `Sage asks: ${what}`,
    text: (what: string) => `Sage needs a text: ${what}`,
  },
  collapsed: (n: number, what: string, age: string) =>
    `${n === 1 ? "1 request waits" : `${n} requests wait`} (${age}): ${what} · Ctrl-R opens it`,
  notifyFailed: (why: string) => `notify.command failed: ${why}`,

  // What a key led to
  hints: {
    again: "Ctrl-C again leaves; nothing is lost.",
    waits: "A request waits. Ctrl-R opens it; Ctrl-C cancels it and the turn.",
    interrupting: "Interrupting… (Ctrl-C again leaves)",
    cancelling: "Cancelling the request and the turn… (Ctrl-C again, now: leaves and keeps them)",
  },

  // What is typed
  placeholder: "What is to be done? (@file, /command, !shell, Ctrl-G for your editor)",
  shellPrefix: "You ran this yourself; what it printed goes to the agent with your next message.",
  shellTold: (command: string) => `I ran this myself: ${command}`,
  shellPrinted: "It printed:",
  shellNothing: "It printed nothing.",
  shellCut: (n: number) => `(the first ${plural(n, "character")} are left out)`,
  shellNone: "There is no shell here.",
  shellBusy: "Your last command still runs; Ctrl-C stops it.",
  editorNone: "Set VISUAL or EDITOR to write in an editor of your own.",
  editorFailed: (why: string) => `The editor failed: ${why}`,
  unknownCommand: (name: string) => `There is no /${name}; /help lists what there is.`,
  commandFailed: (name: string, why: string) => `/${name} failed: ${why}`,

  commands: {
    help: "what can be typed here",
    resume: "go on with an interrupted turn, or with another session",
    compact: "make room: what was said so far is summarised",
    inbox: "open requests of all sessions",
    clear: "begin a new session here",
    model: "which model answers, or another one from the next turn on: /model provider/name",
    permissions: "the rules that hold here",
    agents: "the subagents there are",
    skills: "the skills there are",
    export: "write this session to a page, or to the file you name (.jsonl: its facts)",
    cost: "what this session used",
    quit: "leave; nothing is lost",
  },
  help: [
    "Enter sends; Shift-Enter, Ctrl-J or \\ before Enter begin a new line; ↑ brings back what you sent.",
    "@ completes a file's name, / a command or a skill; a long paste is folded and sent whole.",
    "!command runs in your own name; what it printed goes along with your next message.",
    "Ctrl-G opens your editor · Ctrl-O unfolds output and thoughts · Ctrl-R opens a request again",
    "Esc interrupts, or folds a request away · Ctrl-C interrupts, or cancels a request and its turn",
    "Ctrl-C twice or Ctrl-D leaves; nothing is lost · Ctrl-Z puts Sage to sleep",
  ],
  // Commands of the command line
  modelIs: (model: string) => `${model}. /model provider/name chooses another one for this session.`,
  noRules: "No rule is set.",
  noAgents: "No subagent is defined.",
  noSkills: "No skill is defined.",
  exported: (path: string) => `Written to ${path}`,
  exists: (path: string) => `${path} is there already`,
  costIs: (turns: number, tokensIn: number, tokensOut: number, usd: string) =>
    `${plural(turns, "turn")}: ${tokensIn.toLocaleString("en")} tokens in, ${tokensOut.toLocaleString("en")} out${usd && `, ${usd}`}`,
  sessionsHere: "Sessions of this folder; /resume and the beginning of an id goes on with one:",
  noSessions: "There is no other session of this folder.",
  noSuchSession: (id: string) => `No session of this folder begins with ${id}.`,
};

export type TerminalTexts = typeof en;

const zh: TerminalTexts = {
  thought: (time) => (time === "" ? "已思考" : `思考了 ${time}`),
  thinking: "思考中",
  hidden: (lines) => `… 另有 ${lines} 行（Ctrl-O）`,
  hiddenAbove: (lines) => `… 前面还有 ${lines} 行`,
  above: (rows) => `… 上方还有 ${rows} 行`,
  inside: (calls) => `… 之前还有 ${calls} 次调用`,
  waits: "等待你",
  stopped: "未完成",
  whole: (what) => `${what}，全文：`,
  printed: (code) => `退出码 ${code}`,

  model: "模型正在回复",
  modelThinks: "模型正在思考",
  runs: (what) => `${what} 正在运行`,
  several: (n) => `${n} 个调用正在运行`,
  yourTurn: "等待你",
  shellRuns: "你的命令正在运行",
  escHint: "Esc 打断",
  paused: "已暂停：说说该怎么做，或 /resume",
  tokens: (n) => `${n.toLocaleString("en")} 个 token`,

  title: { idle: "Sage", working: "Sage · 工作中", waiting: "Sage · 等待你" },
  notice: {
    permission: (what) => `Sage 请求许可：${what}`,
    question: (what) => `Sage 提问：${what}`,
    text: (what) => `Sage 需要一段文字：${what}`,
  },
  collapsed: (n, what, age) => `${n} 个请求在等待（${age}）：${what} · Ctrl-R 打开`,
  notifyFailed: (why) => `notify.command 失败：${why}`,

  hints: {
    again: "再按一次 Ctrl-C 离开；不会丢失任何内容。",
    waits: "有请求在等待。Ctrl-R 打开它；Ctrl-C 取消它和这一轮。",
    interrupting: "正在打断……（再按一次 Ctrl-C 离开）",
    cancelling: "正在取消这个请求和这一轮……（马上再按一次 Ctrl-C：离开并保留它们）",
  },
  placeholder: "要做什么？（@文件、/命令、!shell，Ctrl-G 打开你的编辑器）",
  shellPrefix: "这是你自己运行的；输出会随你的下一条消息交给代理。",
  shellTold: (command) => `我自己运行了：${command}`,
  shellPrinted: "输出：",
  shellNothing: "没有输出。",
  shellCut: (n) => `（省略了开头的 ${n} 个字符）`,
  shellNone: "这里没有 shell。",
  shellBusy: "你的上一条命令还在运行；Ctrl-C 停止它。",
  editorNone: "请设置 VISUAL 或 EDITOR，以便用你自己的编辑器。",
  editorFailed: (why) => `编辑器失败：${why}`,
  unknownCommand: (name) => `没有 /${name}；/help 列出所有命令。`,
  commandFailed: (name, why) => `/${name} 失败：${why}`,

  commands: {
    help: "这里可以输入什么",
    resume: "继续被打断的一轮，或另一个会话",
    compact: "腾出空间：总结到目前为止的对话",
    inbox: "所有会话中未答复的请求",
    clear: "在这里开始新的会话",
    model: "由哪个模型回复；/model provider/name 从下一轮起换一个",
    permissions: "这里生效的规则",
    agents: "有哪些子代理",
    skills: "有哪些技能",
    export: "把这个会话写成网页，或写入指定的文件（.jsonl：事实）",
    cost: "这个会话用了多少",
    quit: "离开；不会丢失任何内容",
  },
  help: [
    "回车发送；Shift-回车、Ctrl-J，或在回车前输入 \\ 换行；↑ 找回发送过的内容。",
    "@ 补全文件名，/ 补全命令或技能；很长的粘贴会折叠显示，完整发送。",
    "!命令 以你自己的名义运行；输出会随你的下一条消息一起交给代理。",
    "Ctrl-G 打开你的编辑器 · Ctrl-O 展开输出和思考 · Ctrl-R 重新打开请求",
    "Esc 打断，或收起请求 · Ctrl-C 打断，或取消请求和这一轮",
    "连按两次 Ctrl-C 或 Ctrl-D 离开，不会丢失任何内容 · Ctrl-Z 挂起 Sage",
  ],
  modelIs: (model) => `${model}。用 /model provider/name 为本会话换一个。`,
  noRules: "没有规则。",
  noAgents: "没有定义子代理。",
  noSkills: "没有定义技能。",
  exported: (path) => `已写入 ${path}`,
  exists: (path) => `${path} 已经存在`,
  costIs: (turns, tokensIn, tokensOut, usd) =>
    `${turns} 轮：输入 ${tokensIn.toLocaleString("en")} 个 token，输出 ${tokensOut.toLocaleString("en")} 个${usd && `，${usd}`}`,
  sessionsHere: "这个文件夹的会话；/resume 加 id 的开头即可继续：",
  noSessions: "这个文件夹没有别的会话。",
  noSuchSession: (id) => `这个文件夹没有以 ${id} 开头的会话。`,
};

const tables = { en, zh } satisfies Record<Lang, TerminalTexts>;

export function terminalTexts(lang: Lang): TerminalTexts {
  return tables[lang];
}
