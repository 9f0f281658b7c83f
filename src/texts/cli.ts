import { sage } from "./command.ts";
import type { Lang } from "./language.ts";

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;

const en = {
  unknownFlag: (flag: string, closest: string | undefined) =>
    `there is no flag ${flag}${closest ? `; did you mean ${closest}?` : ""} (${sage("--help")} lists them)`,
  didYouMean: (word: string, command: string) =>
    `did you mean \`${sage(command)}\`? A command comes first; to give “${word}” to the agent as a task, use -p`,
  noWords: (command: string, word: string) => `\`${sage(command)}\` takes no “${word}”; it takes flags only`,
  conflict: (a: string, b: string) => `${a} and ${b} exclude each other`,
  only: (flag: string, other: string) => `${flag} goes with ${other} only`,
  expected: (flag: string, what: string, got: string) => `${flag} expects ${what}; got "${got}"`,
  count: "a whole number from 1",
  duration: "a duration such as 30s, 5m, 2h or milliseconds",
  oneOf: (values: readonly string[]) => `one of ${values.join(", ")}`,
  noDirectory: (path: string) => `there is no directory ${path}`,
  nothingToDo: "there is nothing to do: give a task, as an argument or on stdin",
  noTurnToResume: (session: string) => `no turn of session ${session} is open: give a task to go on with it`,
  noModel: `no model is configured. \`${sage("setup")}\` sets one up at a terminal. Or set ANTHROPIC_API_KEY, OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own; or name one with --model`,
  soTheDemo:
    "no model is configured, so here is the demo. To work for real, set ANTHROPIC_API_KEY, OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own",
  demoHint: `\`${sage("demo")}\` shows how Sage works without a model.`,
  noSession: (prefix: string) => `there is no session ${prefix}; \`${sage("sessions")}\` lists them`,
  noSessionHere: (cwd: string) => `there is no session in ${cwd} to continue`,
  ambiguous: (prefix: string, candidates: readonly string[]) =>
    `"${prefix}" could be any of these, write more of it:\n${candidates.map((one) => `  ${one}`).join("\n")}`,
  owned: (session: string) =>
    `session ${session} is run by another process; follow it with \`${sage(`--resume ${session}`)}\``,
  header: (version: string, model: string, session: string) =>
    `Sage ${version} · ${model} · session ${session} · /help`,
  noStdin: "nothing came on stdin for 3 s, going on without it (< /dev/null says so at once)",
  stdinCut: (bytes: number) => `(cut here: only the first ${bytes.toLocaleString("en")} bytes of stdin are shown)`,
  needed: (n: number) => (n === 1 ? "A person is needed for this:" : `A person is needed for these ${n}:`),
  howToAnswer: (id: string, flags: string) => `Answer with:  ${sage(`answer ${id} ${flags}`)}`,
  thenResume: (session: string) => `Then go on with:  ${sage(`--resume ${session}`)}`,
  ago: (duration: string) => `${duration} ago`,
  untrusted: (root: string) =>
    `the settings in ${root} do not count, for you have not trusted them; \`${sage("trust")}\` shows them`,
  trustNothing: (root: string) => `${root} has no settings of its own.`,
  trusted: (root: string) => `The settings in ${root} are trusted.`,
  trustWhat: (root: string) => `${root} brings settings of its own, which do not count before you trust them:`,
  trustChanged: (root: string) => `The settings of ${root} have changed since you trusted them, and do not count:`,
  trustTold: "is read by the model:",
  trustRun: "is run by a hook:",
  trustHook: (moment: string, tools: string, timeout: string) =>
    `runs at ${moment} (tools: ${tools}; at most ${timeout}):`,
  trustOpen: "open without them (or Enter)",
  trustTrust: "trust exactly these",
  trustLeave: "leave",
  trustAsk: "Trust exactly this? (y/n) ",
  trustHow: `Nothing was trusted. \`${sage("trust --yes")}\` trusts exactly what is shown here.`,
  revoked: (root: string) => `The settings in ${root} do not count any more.`,
  wrong: (message: string) => `something went wrong: ${message} (SAGE_DEBUG=1 shows where)`,

  noSessions: "No sessions yet.",
  states: { idle: "idle", running: "running", waiting: "waiting for you", stopped: "open (resume it)" },
  inboxEmpty: "Nobody is waiting for you.",
  inSession: (session: string, cwd: string, age: string) => `Session ${session} in ${cwd}, asked ${age} ago`,

  answerWhat: `say which request: ${sage("answer <request id>")} (\`${sage("inbox")}\` lists them)`,
  answerHow: "say what to answer: one of --yes, --always, --no, --choose, --other, --text, --decline, --stop, --json",
  whichRequest: (target: string, candidates: readonly string[]) =>
    `"${target}" does not name one request: another one may be open there by now than you have read. Open are:\n${candidates.map((one) => `  ${one}`).join("\n")}`,
  unknownRequest: (target: string) => `no open request is called ${target}; \`${sage("inbox")}\` lists the open ones`,
  wrongWay: {
    permission: (flag: string) => `${flag} does not fit: this asks for permission. Use --yes, --always, --no or --stop`,
    question: (flag: string) =>
      `${flag} does not fit: this is a question. Use --choose "…", --other "…" (your own words), --decline or --stop`,
    text: (flag: string) => `${flag} does not fit: this asks for a text. Use --text "…", --decline or --stop`,
  },
  incomplete: (given: number, of: number) =>
    `${given} of ${of} questions are answered; answer the others too, or add --partial to submit it so`,
  anOption: "…",
  alsoPermission: '  (also: --no --reason "…", --stop)',
  alsoAlways: (what: string) => `  --always: ${what}`,
  alwaysNth: "--always 2: that one alone",
  alwaysTo: "--to local: keep it in that file",
  alsoQuestion: '  (an option by its text or number, or --other "your own words"; also: --decline, --stop)',
  alsoQuestions:
    '  (question number = option, by its text or number; or --other "1=your own words"; also: --partial, --decline, --stop)',
  alsoText: "  (also: --decline, --stop)",
  wasRefused: (how: string, call: string, why: string) => `${how}: ${call}${why && ` (${why})`}`,
  notAnswered: (question: string, why: string) => `not answered: ${question}${why && ` (${why})`}`,
  goOn: (args: string) => `Go on with:  ${sage(args)}`,
  goOnWords: "go on",
  noSuggestion: (n: number) =>
    n === 0
      ? "no rule is offered for this one: leave out --always, or write one with --rule where rules may allow it"
      : `--always takes the number of a rule that is offered, from 1 to ${n}`,
  noPlace: (place: string, places: readonly string[]) =>
    `nothing can be kept under "${place}" for this request, only under: ${places.join(", ")}. (The files of a project take rules in sessions that began after \`${sage("trust")}\`.)`,
  whichQuestion: (choice: string, questions: readonly string[]) =>
    `which question does "${choice}" answer? Write "question=answer"; the questions are:\n${questions.map((one, n) => `  ${n + 1}. ${one}`).join("\n")}`,
  notJsonObject: (flag: string) => `${flag} expects a JSON object`,
  recorded: (request: string, what: string) => `Recorded for ${request}: ${what}`,
  takenUp: "The process that runs the session takes it up now.",

  doctor: {
    fine: "Everything is fine.",
    problems: (n: number) => (n === 1 ? "One problem." : `${n} problems.`),
    node: (version: string) => `Node ${version}`,
    oldNode: (version: string) => `Node ${version} is too old: install Node 24 or newer`,
    home: (path: string) => `state in ${path}`,
    open: (path: string, mode: string, fix: string) =>
      `${path} can be read by others (${mode}): run \`chmod ${fix} ${path}\``,
    noJournal: "no journal yet; the first session begins one",
    journal: (sessions: number, pending: number) =>
      `journal opens: ${count(sessions, "session")}, ${count(pending, "open request")}`,
    chain: (sessions: number, anchored: number) =>
      `hash chain holds in ${sessions === 1 ? "the one session" : `all ${sessions} sessions`}; ${anchored} match an anchor outside of the journal`,
    rewritten: (session: string) =>
      `the record of session ${session} is not the one that was anchored at the end of its last turn: it was written anew, or cut off`,
    vanished: (session: string) => `session ${session} is gone from the journal, and nobody deleted it with Sage`,
    forged: (path: string, count: number) =>
      `${count} anchors in ${path} are damaged or were made with another key; they prove nothing`,
    broken: (session: string, seq: number, key: string) =>
      `the record of session ${session} was changed or damaged at ${seq} (${key}): keep a copy of the journal and do not rely on what follows`,
    settings: (path: string) => `settings are valid (${path})`,
    noSettings: (path: string) => `no settings (${path}), the defaults hold`,
    model: (name: string) => `model ${name}`,
    ripgrep: "ripgrep is there",
    noRipgrep: (why: string) => `ripgrep is missing (${why}): reinstall Sage; Grep will not work without it`,
  },
};

export type CliTexts = typeof en;

const zh: CliTexts = {
  unknownFlag: (flag, closest) =>
    `没有参数 ${flag}${closest ? `；是不是 ${closest}？` : ""}（${sage("--help")} 列出所有参数）`,
  didYouMean: (word, command) => `是不是想用 \`${sage(command)}\`？命令要写在最前面；若要把“${word}”作为任务，请用 -p`,
  noWords: (command, word) => `\`${sage(command)}\` 不需要“${word}”；它只接受参数（--…）`,
  conflict: (a, b) => `${a} 与 ${b} 不能同时使用`,
  only: (flag, other) => `${flag} 只能与 ${other} 一起使用`,
  expected: (flag, what, got) => `${flag} 应为${what}；得到的是 "${got}"`,
  count: "从 1 起的整数",
  duration: "时长，如 30s、5m、2h，或毫秒数",
  oneOf: (values) => `以下之一：${values.join("、")}`,
  noDirectory: (path) => `没有目录 ${path}`,
  nothingToDo: "没有要做的事：请把任务写成参数，或从标准输入给出",
  noTurnToResume: (session) => `会话 ${session} 没有未完成的一轮：请给出任务再继续`,
  noModel: `还没有配置模型。在终端运行 \`${sage("setup")}\` 即可设置；也可以设置 ANTHROPIC_API_KEY、OPENAI_API_KEY，或用 OPENAI_BASE_URL 指向自己的服务器，或用 --model 指定`,
  soTheDemo:
    "还没有配置模型，先看演示。要真正使用，请设置 ANTHROPIC_API_KEY、OPENAI_API_KEY，或用 OPENAI_BASE_URL 指向自己的服务器",
  demoHint: `\`${sage("demo")}\` 不用模型也能演示 Sage 如何工作。`,
  noSession: (prefix) => `没有会话 ${prefix}；\`${sage("sessions")}\` 列出所有会话`,
  noSessionHere: (cwd) => `${cwd} 里没有可以继续的会话`,
  ambiguous: (prefix, candidates) =>
    `"${prefix}" 可能是下面任何一个，请写得更长些：\n${candidates.map((one) => `  ${one}`).join("\n")}`,
  owned: (session) => `会话 ${session} 正由另一个进程运行；可用 \`${sage(`--resume ${session}`)}\` 跟随`,
  header: (version, model, session) => `Sage ${version} · ${model} · 会话 ${session} · /help`,
  noStdin: "3 秒内标准输入没有内容，不再等待（用 < /dev/null 可立即说明）",
  stdinCut: (bytes) => `（到此截断：只显示标准输入的前 ${bytes} 字节）`,
  needed: (n) => `有 ${n} 件事需要人来回答：`,
  howToAnswer: (id, flags) => `回答：  ${sage(`answer ${id} ${flags}`)}`,
  thenResume: (session) => `然后继续：  ${sage(`--resume ${session}`)}`,
  ago: (duration) => `${duration}前`,
  untrusted: (root) => `${root} 里的设置不起作用，因为你还没有信任它们；\`${sage("trust")}\` 会显示其内容`,
  trustNothing: (root) => `${root} 没有自己的设置。`,
  trusted: (root) => `已信任 ${root} 的设置。`,
  trustWhat: (root) => `${root} 自带设置，在你信任之前不起作用：`,
  trustChanged: (root) => `${root} 的设置自你信任之后有改动，现在不起作用：`,
  trustTold: "会被模型读到：",
  trustRun: "会被钩子运行：",
  trustHook: (moment, tools, timeout) => `在 ${moment} 时运行（工具：${tools}；最多 ${timeout}）：`,
  trustOpen: "不用这些设置，直接打开（或按回车）",
  trustTrust: "就信任这些内容",
  trustLeave: "离开",
  trustAsk: "就信任这些内容吗？(y/n) ",
  trustHow: `什么都没有信任。\`${sage("trust --yes")}\` 信任这里显示的内容。`,
  revoked: (root) => `${root} 的设置不再起作用。`,
  wrong: (message) => `出了问题：${message}（SAGE_DEBUG=1 显示位置）`,

  noSessions: "还没有会话。",
  states: { idle: "空闲", running: "运行中", waiting: "在等你", stopped: "未完成（可继续）" },
  inboxEmpty: "没有人在等你。",
  inSession: (session, cwd, age) => `会话 ${session}，位于 ${cwd}，${age}前提出`,

  answerWhat: `请指明请求：${sage("answer <请求编号>")}（\`${sage("inbox")}\` 列出它们）`,
  answerHow: "请给出回答：--yes、--always、--no、--choose、--other、--text、--decline、--stop、--json 之一",
  whichRequest: (target, candidates) =>
    `"${target}" 没有指明是哪个请求：那里现在未决的，也许不是你看过的那个。未决的有：\n${candidates.map((one) => `  ${one}`).join("\n")}`,
  unknownRequest: (target) => `没有叫 ${target} 的未决请求；\`${sage("inbox")}\` 列出所有未决请求`,
  wrongWay: {
    permission: (flag) => `${flag} 不适用：这是许可请求。请用 --yes、--always、--no 或 --stop`,
    question: (flag) => `${flag} 不适用：这是提问。请用 --choose "…"、--other "…"（自己的话）、--decline 或 --stop`,
    text: (flag) => `${flag} 不适用：这里要的是文字。请用 --text "…"、--decline 或 --stop`,
  },
  incomplete: (given, of) => `${of} 个问题只回答了 ${given} 个；请把其余的也答上，或加 --partial 就这样提交`,
  anOption: "…",
  alsoPermission: '  （还可以：--no --reason "…"、--stop）',
  alsoAlways: (what) => `  --always：${what}`,
  alwaysNth: "--always 2：只按那一条",
  alwaysTo: "--to local：存入相应文件",
  alsoQuestion: '  （选项的文字或编号，或 --other "自己的话"；还可以：--decline、--stop）',
  alsoQuestions: '  （问题编号=选项的文字或编号；或 --other "1=自己的话"；还可以：--partial、--decline、--stop）',
  alsoText: "  （还可以：--decline、--stop）",
  wasRefused: (how, call, why) => `${how}：${call}${why && `（${why}）`}`,
  notAnswered: (question, why) => `未回答：${question}${why && `（${why}）`}`,
  goOn: (args) => `继续：  ${sage(args)}`,
  goOnWords: "继续",
  noSuggestion: (n) =>
    n === 0
      ? "这一项没有可供保留的规则：请去掉 --always，或在规则可以允许时用 --rule 自己写"
      : `--always 应为所列规则的编号，从 1 到 ${n}`,
  noPlace: (place, places) =>
    `这个请求的规则不能存到 "${place}"，只能存到：${places.join("、")}。（项目的文件要在 \`${sage("trust")}\` 之后开始的会话里才能存规则。）`,
  whichQuestion: (choice, questions) =>
    `"${choice}" 回答的是哪个问题？请写成 "问题=回答"；问题有：\n${questions.map((one, n) => `  ${n + 1}. ${one}`).join("\n")}`,
  notJsonObject: (flag) => `${flag} 应为 JSON 对象`,
  recorded: (request, what) => `已记录（${request}）：${what}`,
  takenUp: "正在运行该会话的进程会马上接着做。",

  doctor: {
    fine: "一切正常。",
    problems: (n) => `${n} 个问题。`,
    node: (version) => `Node ${version}`,
    oldNode: (version) => `Node ${version} 太旧：请安装 Node 24 或更新版本`,
    home: (path) => `状态存放在 ${path}`,
    open: (path, mode, fix) => `${path} 可被其他人读取（${mode}）：请运行 \`chmod ${fix} ${path}\``,
    noJournal: "还没有日志；第一个会话会创建它",
    journal: (sessions, pending) => `日志可以打开：${sessions} 个会话，${pending} 个未决请求`,
    chain: (sessions, anchored) => `全部 ${sessions} 个会话的哈希链完好；其中 ${anchored} 个与日志之外的锚点相符`,
    rewritten: (session) => `会话 ${session} 的记录与上一轮结束时的锚点不符：它被重写过，或被截断`,
    vanished: (session) => `会话 ${session} 已不在日志里，却没有用 Sage 删除过的记录`,
    forged: (path, n) => `${path} 中有 ${n} 个锚点已损坏，或由另一把密钥生成；它们证明不了什么`,
    broken: (session, seq, key) =>
      `会话 ${session} 的记录在 ${seq}（${key}）处被改动或损坏：请保留日志副本，不要信任其后的内容`,
    settings: (path) => `设置有效（${path}）`,
    noSettings: (path) => `没有设置文件（${path}），使用默认值`,
    model: (name) => `模型 ${name}`,
    ripgrep: "ripgrep 可用",
    noRipgrep: (why) => `缺少 ripgrep（${why}）：请重新安装 Sage；没有它 Grep 无法工作`,
  },
};

const tables = { en, zh } satisfies Record<Lang, CliTexts>;

/** What the command line says, apart from help and demo. */
export function cliTexts(lang: Lang): CliTexts {
  return tables[lang];
}
