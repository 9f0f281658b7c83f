import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;

const en = {
  importHint: (file: string) =>
    `${file} has permission rules. \`${sage("permissions import")}\` shows what they would be in Sage, and imports them.`,
  unknownFlag: (flag: string, closest: string | undefined) =>
    `unknown flag ${flag}${closest ? `; did you mean ${closest}?` : ""} (see ${sage("--help")})`,
  needsValue: (flag: string) => `${flag} needs a value; one that begins with a dash is written ${flag}=-…`,
  noValue: (flag: string) => `${flag} takes no value`,
  noEngine: "this command does not take --engine: it is about this machine alone (see docs/scale.md for those that do)",
  didYouMean: (word: string, command: string) =>
    `did you mean \`${sage(command)}\`? Put the command first; to send “${word}” to the agent as a task, use -p`,
  noWords: (command: string, word: string) => `unexpected argument “${word}”; \`${sage(command)}\` takes flags only`,
  conflict: (a: string, b: string) => `${a} cannot be combined with ${b}`,
  only: (flag: string, other: string) => `${flag} works only with ${other}`,
  nobodyElse: '--if-silent escalate: name further people in "silence" of your settings, or approvers in "people"',
  expected: (flag: string, what: string, got: string) => `${flag} expects ${what}; got "${got}"`,
  count: "a whole number of at least 1",
  duration: "a duration such as 30s, 5m, 2h or 7d, or milliseconds",
  oneOf: (values: readonly string[]) => `one of ${values.join(", ")}`,
  folderStays: (session: string, path: string) =>
    `session ${session} works in ${path}, which is still there; --cwd with --resume names the place to which a folder was moved`,
  noDirectory: (path: string) => `no such directory: ${path}`,
  nothingToDo: "no task given: pass one as an argument or on stdin",
  noTurnToResume: (session: string) => `session ${session} has no open turn: give a task to continue it`,
  noModel: `no model configured. Run \`${sage("setup")}\`, or set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or OPENAI_BASE_URL for your own server, or use --model`,
  soTheDemo:
    "no model configured, so this is the demo. To use Sage, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or OPENAI_BASE_URL for your own server",
  demoHint: `Try Sage without a model: \`${sage("demo")}\`.`,
  owned: (session: string) =>
    `another process is running session ${session}; follow it with \`${sage(`--resume ${session}`)}\``,
  header: (version: string, model: string, session: string) =>
    [`Sage ${version}`, model, `session ${session}`, "/help"].filter(Boolean).join(" · "),
  noStdin: "no input on stdin for 3 s, continuing without it (use < /dev/null to skip the wait)",
  stdinCut: (bytes: number) => `(truncated: first ${bytes.toLocaleString("en")} bytes of stdin)`,
  needed: (n: number) => (n === 1 ? "Waiting for a person:" : `Waiting for a person, ${n} requests:`),
  howToAnswer: (id: string, flags: string) => `Answer with:  ${sage(`answer ${id} ${flags}`)}`,
  heardOutside: (agent: string) => `${agent} asked from outside of Sage and hears the answer there.`,
  keptOutside: (agent: string) => `${agent} asked from outside of Sage. The answer is kept until it comes back for it.`,
  thenResume: (session: string) => `Then resume with:  ${sage(`--resume ${session}`)}`,
  ago: (duration: string) => `${duration} ago`,
  untrusted: (root: string) =>
    `the settings in ${root} are ignored because you have not trusted them; review them with \`${sage("trust")}\``,
  trustNothing: (root: string) => `${root} has no settings of its own.`,
  trusted: (root: string) => `The settings in ${root} are trusted.`,
  trustWhat: (root: string) => `${root} has its own settings. They are ignored until you trust them:`,
  trustChanged: (root: string) => `The settings in ${root} changed since you trusted them and are ignored:`,
  trustAgents: (root: string) =>
    `${root} has settings that other agents follow: programs they start, and what they do without asking.`,
  trustFollowed: "followed by another agent:",
  trustTold: "read by the model:",
  trustRun: "run by a hook:",
  trustModule: "loads the module:",
  trustServer: (name: string) => `starts the MCP server ${name}:`,
  trustAddress: (name: string) => `connects to the MCP server ${name}:`,
  trustServed: "run by an MCP server:",
  trustCode: "run inside of Sage:",
  trustUncovered: "imports packages, whose content trust does not cover:",
  trustHook: (moment: string, tools: string, timeout: string) =>
    `runs at ${moment} (tools: ${tools}; at most ${timeout}):`,
  trustOpen: "open without them (Enter)",
  trustTrust: "trust exactly these",
  trustLeave: "quit",
  trustAsk: "Trust exactly this? (y/n) ",
  trustHow: `Not trusted. To trust exactly this, run \`${sage("trust --yes")}\`.`,
  revoked: (root: string) => `The settings in ${root} are no longer trusted.`,
  wrong: (message: string) => `unexpected error: ${message} (set SAGE_DEBUG=1 for details)`,
  folderGone: "the folder that Sage was started in does not exist any more: go to another one (`cd`) and try again",

  noSessions: "No sessions yet.",
  states: { idle: "idle", running: "running", waiting: "waiting for you", stopped: "unfinished, not running" },
  inboxEmpty: "No open requests.",
  inSession: (session: string, cwd: string, age: string) => `Session ${session} in ${cwd}, asked ${age} ago`,

  answerWhat: `name the request: ${sage("answer <id>")} (list them with \`${sage("inbox")}\`)`,
  answerHow:
    "missing answer: use one of --yes, --always, --no, --choose, --other, --text, --decline, --stop, --json, or ask about it first: --ask",
  whichRequest: (target: string, candidates: readonly string[]) =>
    `"${target}" is not the whole name of a request. Name the one that you have read: a different one may be open there by now. Open requests:\n${candidates.map((candidate) => `  ${candidate}`).join("\n")}`,
  typeToAllow: (what: string, code: string) => `Only a person may allow this: ${what}\nType ${code} to allow it: `,
  notTyped: "that is not what was shown; nothing was recorded",
  nowhereToType:
    "only a person may allow this, and here is no terminal to type on; allow it in a terminal, on the page or in a chat (a no can be given from everywhere)",
  tooLate: (how: string) => `this request is already settled; your answer was not recorded. ${how}`,
  unknownRequest: (target: string) => `no open request ${target}; list them with \`${sage("inbox")}\``,
  wrongWay: {
    permission: (flag: string) =>
      `${flag} is invalid here: this request asks for permission. Use --yes, --always, --no or --stop`,
    question: (flag: string) =>
      `${flag} is invalid here: this request is a question. Use --choose "…", --other "…" (your own answer), --decline or --stop`,
    text: (flag: string) => `${flag} is invalid here: this request asks for text. Use --text "…", --decline or --stop`,
  },
  incomplete: (given: number, of: number) => `${given} of ${of} questions answered; answer the rest, or add --partial`,
  anOption: "…",
  alsoPermission: '  or: --no --reason "…", --stop',
  alsoAlways: (what: string) => `  --always: ${what}`,
  alsoUnask: (what: string) => `  --unask: ${what}; with --rule "…", ask only for that instead`,
  alsoNarrow: (what: string) => `  --narrow: ${what}`,
  nothingInTheWay: "No ask rule is in the way that could be removed here.",
  nothingNarrower: 'No narrower rule could be worked out; write one: --unask --rule "…"',
  alwaysNth: "--always 2: rule 2 only",
  alwaysTo: "--to local: save it to that file",
  alsoChoice: '  (an option by text or number, with --remark "…" for the agent; or: --decline, --stop)',
  alsoQuestion: '  (an option by text or number, or --other "your own answer"; or: --decline, --stop)',
  alsoQuestions:
    '  (question number=option, by text or number, or --other "1=your own answer"; or: --partial, --decline, --stop)',
  alsoText: "  or: --decline, --stop",
  refusedBy: (who: string) => `refused by ${who}`,
  wasRefused: (how: string, call: string, why: string) => `${how}: ${call}${why && ` (${why})`}`,
  notAnswered: (question: string, why: string) => `not answered: ${question}${why && ` (${why})`}`,
  goOn: (args: string) => `Resume with:  ${sage(args)}`,
  goOnWords: "continue",
  noSuggestion: (n: number | undefined) =>
    n === undefined
      ? "no rule can be saved for this request, it is asked about each time: use --yes or --no"
      : n === 0
        ? "no rule is offered for this request: omit --always, or write your own with --rule"
        : `--always takes the number of an offered rule, 1 to ${n}`,
  noPlace: (place: string, places: readonly string[]) =>
    `rules for this request cannot be saved to "${place}", only to: ${places.join(", ")}. (Project files take rules in sessions started after \`${sage("trust")}\`.)`,
  whichQuestion: (choice: string, questions: readonly string[]) =>
    `which question does "${choice}" answer? Use "question=answer". The questions:\n${questions.map((question, n) => `  ${n + 1}. ${question}`).join("\n")}`,
  notJsonObject: (flag: string) => `${flag} expects a JSON object`,
  inquiryRecorded: (session: string) =>
    `Recorded. Nothing runs this session now: the agent replies once it is resumed (--run, or \`${sage(`--resume ${session}`)}\`).`,
  recorded: (request: string, what: string) => `Recorded for ${request}: ${what}`,
  takenUp: "The running session continues with it.",
  nothingRuns: (session: string) => `Nothing runs this session now. Resume it with:  ${sage(`--resume ${session}`)}`,
  resumedThere: "Nothing ran the session; its host continues with it now.",
  damagedSession: "The record of this session is damaged: it can be read and not continued, so it takes no answer.",

  doctor: {
    fine: "No problems found.",
    problems: (n: number) => (n === 1 ? "1 problem found." : `${n} problems found.`),
    node: (version: string) => `Node ${version}`,
    oldNode: (version: string) => `Node ${version} is too old: install Node 24 or newer`,
    home: (path: string) => `state directory ${path}`,
    open: (path: string, mode: string, fix: string) =>
      `other users can read ${path} (${mode}): run \`chmod ${fix} ${path}\``,
    room: (path: string) => `room on the disk of ${path}`,
    full: (path: string) =>
      `the disk of ${path} is full: nothing can be recorded there, and turns wait; free some space, or set SAGE_HOME to another directory`,
    unwritable: (path: string, why: string) => `${path} cannot be written (${why}): nothing can be recorded there`,
    noJournal: "no journal yet; the first session creates it",
    journal: (sessions: number, pending: number) =>
      `journal opens: ${count(sessions, "session")}, ${count(pending, "open request")}`,
    chain: (sessions: number, anchored: number) =>
      `hash chain intact in ${sessions === 1 ? "1 session" : `all ${sessions} sessions`}; ${anchored} match an anchor outside the journal`,
    rewritten: (session: string) =>
      `the record of session ${session} does not match the anchor of its last turn: it was rewritten or cut off`,
    vanished: (session: string) => `session ${session} is missing from the journal and was not deleted with Sage`,
    forged: (path: string, count: number) =>
      `${count} anchors in ${path} are damaged or were made with another key; they prove nothing`,
    broken: (session: string, seq: number, key: string) =>
      `the record of session ${session} was changed or damaged at ${seq} (${key}): keep a copy of the journal and do not rely on later entries`,
    settings: (path: string) => `settings valid (${path})`,
    policy: (path: string) => `policy of this machine: ${path}`,
    noSettings: (path: string) => `no settings file (${path}), using defaults`,
    model: (name: string) => `model ${name}`,
    ripgrep: "ripgrep found",
    noRipgrep: (why: string) => `ripgrep missing (${why}): reinstall Sage; Grep needs it`,
  },
};

export type CliTexts = typeof en;

const zh: CliTexts = {
  importHint: (file) =>
    `${file} 里有许可规则。\`${sage("permissions import")}\` 会列出它们在 Sage 中的写法，并可导入。`,
  unknownFlag: (flag, closest) => `未知参数 ${flag}${closest ? `；是不是 ${closest}？` : ""}（见 ${sage("--help")}）`,
  needsValue: (flag) => `${flag} 后面要有值；以 - 开头的值写成 ${flag}=-…`,
  noValue: (flag) => `${flag} 不带值`,
  noEngine: "这个命令没有 --engine：它只管这台机器（哪些命令有，见 docs/zh/scale.md）",
  didYouMean: (word, command) => `是不是想用 \`${sage(command)}\`？命令要写在最前面；若要把“${word}”作为任务，请用 -p`,
  noWords: (command, word) => `多余的参数“${word}”；\`${sage(command)}\` 只接受 --… 参数`,
  conflict: (a, b) => `${a} 与 ${b} 不能同时使用`,
  only: (flag, other) => `${flag} 只能与 ${other} 一起使用`,
  nobodyElse: '--if-silent escalate：请在设置的 "silence" 中写明还要询问谁，或在 "people" 中写明审批人',
  expected: (flag, what, got) => `${flag} 应为${what}；得到的是 "${got}"`,
  count: "不小于 1 的整数",
  duration: "时长，如 30s、5m、2h、7d，或毫秒数",
  oneOf: (values) => `以下之一：${values.join("、")}`,
  folderStays: (session, path) =>
    `会话 ${session} 在 ${path} 中工作，这个目录还在；--resume 加 --cwd 用来写出目录移到了哪里`,
  noDirectory: (path) => `目录不存在：${path}`,
  nothingToDo: "没有任务：请作为参数或从标准输入给出",
  noTurnToResume: (session) => `会话 ${session} 没有未完成的一轮：请给出任务以继续`,
  noModel: `尚未配置模型。请运行 \`${sage("setup")}\`，或设置 ANTHROPIC_API_KEY、OPENAI_API_KEY 或 GEMINI_API_KEY，或用 OPENAI_BASE_URL 指向自己的服务器，或使用 --model`,
  soTheDemo:
    "尚未配置模型，以下是演示。要使用 Sage，请设置 ANTHROPIC_API_KEY、OPENAI_API_KEY 或 GEMINI_API_KEY，或用 OPENAI_BASE_URL 指向自己的服务器",
  demoHint: `不用模型也能试用：\`${sage("demo")}\`。`,
  owned: (session) => `会话 ${session} 正由另一个进程运行；可用 \`${sage(`--resume ${session}`)}\` 跟随`,
  header: (version, model, session) =>
    [`Sage ${version}`, model, `会话 ${session}`, "/help"].filter(Boolean).join(" · "),
  noStdin: "3 秒内标准输入没有内容，不再等待（用 < /dev/null 可跳过等待）",
  stdinCut: (bytes) => `（已截断：标准输入的前 ${bytes.toLocaleString("en")} 字节）`,
  needed: (n) => `${n} 个请求等待处理：`,
  howToAnswer: (id, flags) => `回答：  ${sage(`answer ${id} ${flags}`)}`,
  heardOutside: (agent) => `${agent} 是从 Sage 之外提出的，会在那边收到回答。`,
  keptOutside: (agent) => `${agent} 是从 Sage 之外提出的。回答会保留，等它回来取。`,
  thenResume: (session) => `然后继续：  ${sage(`--resume ${session}`)}`,
  ago: (duration) => `${duration}前`,
  untrusted: (root) => `${root} 的设置尚未受信任，已忽略；可用 \`${sage("trust")}\` 查看`,
  trustNothing: (root) => `${root} 没有自己的设置。`,
  trusted: (root) => `已信任 ${root} 的设置。`,
  trustWhat: (root) => `${root} 自带设置，信任之前会被忽略：`,
  trustChanged: (root) => `${root} 的设置在信任之后有改动，已忽略：`,
  trustAgents: (root) => `${root} 中有其他智能体会遵循的设置：它们会启动的程序，以及不经询问就做的事。`,
  trustFollowed: "其他智能体会遵循：",
  trustTold: "模型会读到：",
  trustRun: "钩子会运行：",
  trustModule: "加载模块：",
  trustServer: (name) => `启动 MCP 服务器 ${name}：`,
  trustAddress: (name) => `连接 MCP 服务器 ${name}：`,
  trustServed: "MCP 服务器会运行：",
  trustCode: "在 Sage 内部运行：",
  trustUncovered: "导入的包，其内容不在信任范围内：",
  trustHook: (moment, tools, timeout) => `在 ${moment} 时运行（工具：${tools}；最多 ${timeout}）：`,
  trustOpen: "不使用这些设置，直接打开（回车）",
  trustTrust: "信任以上内容",
  trustLeave: "退出",
  trustAsk: "信任以上内容？(y/n) ",
  trustHow: `未信任。要信任以上内容，请运行 \`${sage("trust --yes")}\`。`,
  revoked: (root) => `${root} 的设置不再受信任。`,
  wrong: (message) => `意外错误：${message}（设置 SAGE_DEBUG=1 查看详情）`,
  folderGone: "启动 Sage 的目录已不存在：请进入另一个目录（`cd`）再试",

  noSessions: "还没有会话。",
  states: { idle: "空闲", running: "运行中", waiting: "等你决定", stopped: "未完成，没有在运行" },
  inboxEmpty: "没有待处理的请求。",
  inSession: (session, cwd, age) => `会话 ${session}，位于 ${cwd}，${age}前提出`,

  answerWhat: `请指明请求：${sage("answer <编号>")}（可用 \`${sage("inbox")}\` 列出）`,
  answerHow:
    "缺少回答：请用 --yes、--always、--no、--choose、--other、--text、--decline、--stop、--json 之一，或先用 --ask 追问",
  whichRequest: (target, candidates) =>
    `"${target}" 不是请求的完整名字。请写出你看过的那一个：那里现在待处理的可能已是另一个。待处理的请求：\n${candidates.map((candidate) => `  ${candidate}`).join("\n")}`,
  typeToAllow: (what, code) => `只有人可以允许：${what}\n键入 ${code} 以允许：`,
  notTyped: "键入的与显示的不同；没有记录",
  nowhereToType: "只有人可以允许这个请求，而这里没有可以键入的终端；请在终端、页面或聊天中允许（拒绝则在哪里都可以）",
  tooLate: (how) => `这个请求已经处理完，你的回答没有记录。${how}`,
  unknownRequest: (target) => `没有待处理的请求 ${target}；可用 \`${sage("inbox")}\` 列出`,
  wrongWay: {
    permission: (flag) => `${flag} 在这里无效：这是许可请求。请用 --yes、--always、--no 或 --stop`,
    question: (flag) =>
      `${flag} 在这里无效：这是提问。请用 --choose "…"、--other "…"（自己的回答）、--decline 或 --stop`,
    text: (flag) => `${flag} 在这里无效：这里需要文字。请用 --text "…"、--decline 或 --stop`,
  },
  incomplete: (given, of) => `${of} 问只回答了 ${given} 问；请答完其余的，或加 --partial`,
  anOption: "…",
  alsoPermission: '  或：--no --reason "…"、--stop',
  alsoAlways: (what) => `  --always：${what}`,
  alsoUnask: (what) => `  --unask：${what}；加 --rule "…" 则只对它询问`,
  alsoNarrow: (what) => `  --narrow：${what}`,
  nothingInTheWay: "这里没有可以删除的 ask 规则。",
  nothingNarrower: '无法得出更窄的规则；请自己写：--unask --rule "…"',
  alwaysNth: "--always 2：只用规则 2",
  alwaysTo: "--to local：保存到该文件",
  alsoChoice: '  （选项的文字或编号，可加 --remark "给智能体的话"；或：--decline、--stop）',
  alsoQuestion: '  （选项的文字或编号，或 --other "自己的回答"；或：--decline、--stop）',
  alsoQuestions: '  （问题编号=选项的文字或编号，或 --other "1=自己的回答"；或：--partial、--decline、--stop）',
  alsoText: "  或：--decline、--stop",
  refusedBy: (who) => `被 ${who} 拒绝`,
  wasRefused: (how, call, why) => `${how}：${call}${why && `（${why}）`}`,
  notAnswered: (question, why) => `未回答：${question}${why && `（${why}）`}`,
  goOn: (args) => `继续：  ${sage(args)}`,
  goOnWords: "继续",
  noSuggestion: (n) =>
    n === undefined
      ? "这个请求每次都要询问，不能保存规则：请用 --yes 或 --no"
      : n === 0
        ? "这个请求没有可选的规则：请去掉 --always，或用 --rule 自己写"
        : `--always 应为所列规则的编号，从 1 到 ${n}`,
  noPlace: (place, places) =>
    `这个请求的规则不能保存到 "${place}"，只能保存到：${places.join("、")}。（项目文件只在 \`${sage("trust")}\` 之后开始的会话中接受规则。）`,
  whichQuestion: (choice, questions) =>
    `"${choice}" 回答的是哪一问？请写成 "问题=回答"。问题：\n${questions.map((question, n) => `  ${n + 1}. ${question}`).join("\n")}`,
  notJsonObject: (flag) => `${flag} 应为 JSON 对象`,
  inquiryRecorded: (session) =>
    `已记录。该会话现在没有运行，继续之后智能体才会回复（加 --run，或 \`${sage(`--resume ${session}`)}\`）。`,
  recorded: (request, what) => `已记录（${request}）：${what}`,
  takenUp: "正在运行的会话会接着做。",
  nothingRuns: (session) => `该会话现在没有运行。继续：  ${sage(`--resume ${session}`)}`,
  resumedThere: "该会话没有在运行；主机现在接着做。",
  damagedSession: "该会话的记录已损坏：可以查看，不能继续，因此不再接受回答。",

  doctor: {
    fine: "没有发现问题。",
    problems: (n) => `发现 ${n} 个问题。`,
    node: (version) => `Node ${version}`,
    oldNode: (version) => `Node ${version} 太旧：请安装 Node 24 或更新版本`,
    home: (path) => `状态目录 ${path}`,
    open: (path, mode, fix) => `其他用户可以读取 ${path}（${mode}）：请运行 \`chmod ${fix} ${path}\``,
    room: (path) => `${path} 所在的磁盘有空间`,
    full: (path) => `${path} 所在的磁盘已满：无法记录，任务会一直等待；请腾出空间，或把 SAGE_HOME 设为另一个目录`,
    unwritable: (path, why) => `无法写入 ${path}（${why}）：无法记录`,
    noJournal: "尚无日志；第一个会话会创建",
    journal: (sessions, pending) => `日志可以打开：${sessions} 个会话，${pending} 个待处理的请求`,
    chain: (sessions, anchored) => `全部 ${sessions} 个会话的哈希链完好；其中 ${anchored} 个与日志之外的锚点相符`,
    rewritten: (session) => `会话 ${session} 的记录与上一轮的锚点不符：它被重写或截断`,
    vanished: (session) => `会话 ${session} 已不在日志中，也没有用 Sage 删除的记录`,
    forged: (path, n) => `${path} 中有 ${n} 个锚点已损坏，或由另一把密钥生成，不能作为证明`,
    broken: (session, seq, key) =>
      `会话 ${session} 的记录在 ${seq}（${key}）处被改动或损坏：请保留日志副本，不要依据其后的内容`,
    settings: (path) => `设置有效（${path}）`,
    policy: (path) => `本机策略：${path}`,
    noSettings: (path) => `没有设置文件（${path}），使用默认值`,
    model: (name) => `模型 ${name}`,
    ripgrep: "ripgrep 可用",
    noRipgrep: (why) => `缺少 ripgrep（${why}）：请重新安装 Sage；没有它 Grep 无法工作`,
  },
};

/** Texts of the command line, apart from help and demo. */
export const cliTexts = inBoth<CliTexts>(en, zh);
