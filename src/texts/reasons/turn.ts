import type { NestedReasonArgs, Sentences } from "../../protocol/reasons/reason.ts";
import { oneLine } from "../../base/visible.ts";
import type { Drift } from "../../protocol/decision.ts";
import type { Changes, Listed, TurnReasonArgs } from "../../protocol/reasons/turn.ts";
import { sage } from "../command.ts";
import { durationText } from "../duration.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<TurnReasonArgs & NestedReasonArgs["turn"]>;

const en: Table = {
  "task-runs": ({ id, seconds }) => `${id} is still running, ${seconds} s so far.`,
  "command-took": ({ seconds }) => `It took ${seconds} s.`,
  "unknown-tool": ({ tool, tools, meant }) =>
    `there is no tool "${tool}"${meant === undefined ? "" : `; did you mean ${meant}?`}; the tools are ${tools.join(", ")}`,
  "malformed-arguments": ({ tool, text }) => `the arguments of ${tool} should be one JSON object; got ${text}`,
  "unfit-input": ({ tool, problem }, say) => `the input of ${tool} is invalid: ${say(problem)}`,
  "subagent-may-not-ask": ({ tool }) =>
    `${tool} is not available to a subagent: only the main agent may ask the person. Report what you need to know instead`,
  "skill-limits-tools": ({ tools }) =>
    `the skill in use works with ${tools.join(", ") || "no tools"} only, until the end of the turn`,
  "refused-before": () => "the person already refused this call and has said nothing since",

  "approved-edited": () => "approved with this input",
  "approved-unchanged": () => "approved, and unchanged since",
  "changed-since-approval": ({ changes, why }, say) =>
    [
      `what would run has changed since it was judged: ${changes.map(driftEn).join("; ")}`,
      ...(why ? [say(why)] : []),
    ].join(". "),
  "approved-earlier": ({ request }) => `approved before the update, under ${request}`,

  "asks-person": () => "Answer questions?",
  "reads-skill": () => "it reads a text that the person trusted",
  "hands-on-task": () => "delegating a task runs nothing; every call of the subagent is judged",

  "hook-decided": ({ command, decision }) => `the hook ${JSON.stringify(command)} says ${decision}`,
  "hooks-broken": ({ problems }, say) => `${problems.map(say).join("; ")}, so a person decides`,
  "hook-broken": ({ command, problem }, say) => `the hook ${JSON.stringify(command)} ${say(problem)}`,
  "hook-changed": ({ path }) => `was not run: ${path} has changed since you trusted it`,
  "hook-late": ({ timeoutMs }) => `did not end within ${timeoutMs} ms`,
  "hook-interrupted": () => "was interrupted",
  "hook-flooded": () => "printed more than 1 MB",
  "hook-exited": ({ code, output }) => `failed with ${code}: ${output || "it printed nothing"}`,
  "hook-not-started": ({ problem }, say) => `could not be started: ${say(problem)}`,
  "hook-misspoke": ({ problem }, say) => `printed an invalid answer: ${say(problem)}`,

  "no-answer-within": ({ timeoutMs }) => `nobody answered within ${durationText(timeoutMs, "en")}`,
  "nobody-to-ask": () => "nobody can be asked in this run",
  "run-declines-questions": () => "this run declines every question",
  "run-denies-permissions": () => "this run denies every permission request",
  "only-a-person-may-allow": () => "only a person may allow this one, and nobody can be asked in this run",
  "one-request-at-a-time": () => "another request of this session is open, and a second one is refused here",
  "responder-failed": ({ problem }, say) => `the automatic responder gave no valid answer: ${say(problem)}`,
  "channel-closed": () => "whoever could have answered has closed the channel",
  "decided-by-rule": ({ rule }) => `decided by the new rule ${rule}`,
  "ask-rule-removed": ({ rule }) => `the rule ${rule} asks no more`,
  "withdrawn-by-agent": ({ why }) => `the agent took its request back: ${oneLine(why)}`,
  "inquiry-without-reply": () => "the agent gave no reply",
  "inquiry-limit": ({ limit }) => `a request takes at most ${limit} inquiries`,
  "turn-ended": () => "the turn ended",
  "session-deleted": () => "the session was deleted",
  "forked-here": () => "forked here",
  idle: () => "the turn has ended",

  "empty-text": () => "an empty text is not an answer; write something, or decline",
  "empty-answer": () => "an empty answer is not an answer; choose an option, write your own, or decline",
  "not-an-option": ({ given, question, options }) =>
    `"${given}" is not an option ${question === undefined ? "here" : `of "${question}"`}; expected ${quoted(options)}`,
  "not-asked": ({ question, questions }) => `"${question}" was not asked; the questions are ${quoted(questions)}`,
  "answers-missing": ({ answered, of }) =>
    `${answered} of ${of} questions are answered; answer the rest, or submit it as partial`,
  "chosen-twice": ({ question }) => `an option of "${question}" is chosen twice`,
  "rewind-turn-open": () =>
    "a turn is open or a message waits; let it end, or stop it (Esc; at a request, answer it or press Ctrl-C), then rewind",
  "rewind-no-turn": ({ turn }) => `there is no message ${turn} to go back to`,
  "mode-without-plan": () => "only the yes to a plan takes a mode",
  "takes-one": ({ question, count }) => `"${question}" takes one answer; ${count} were given`,
  "unfit-response": ({ kind, got }) => `this is a ${kind} request and takes ${fits[kind]}; got "${got}"`,
  "unknown-response": ({ got }) => `a response is answers, granted, denied, text or cancelled; got "${got}"`,

  "person-stopped": () => "stopped by the person",
  "may-not-talk": ({ by }) => `${by} has no role in "people" of the settings, and may not give tasks or stop them`,
  "persona-outside-test": ({ by }) =>
    `${by} stands in for a person in tests, and answers only in a test journal: one in memory, or one made with test: true`,
  "may-not-approve": ({ by }) => `${by} is not an approver in "people" of the settings`,
  "stopped-by": ({ by }) => `${by} stopped the turn`,
  "interrupted-by": ({ by }) => `${by} interrupted`,
  "read-now": ({ by, text }) => `${by} sent a message to be read first: "${text}"`,
  interrupted: () => "the person interrupted",
  leaving: () => "Sage is exiting",
  "time-up": ({ limitMs }) => `the turn reached its limit of ${durationText(limitMs, "en")} of work`,
  "repeated-itself": () => "the agent repeated itself and was stopped",
  "limit-reached": ({ scope, unit, spent, limit }) =>
    `Your limit for ${{ turn: "a turn", session: "a session", person: "a person and a day", day: "a day" }[scope]} is ${spendingText(limit, unit)}, and ${spendingText(spent, unit)} are used.`,
  "stopped-at-limit": () => "stopped at a limit of your settings",
  "limit-unanswered": () => "a limit of your settings was reached, and nobody said to go on",
  "nobody-said-go-on": ({ times }) =>
    `the agent did the same ${times} times with the same result, and nobody said to continue`,
  "refused-in-a-row": ({ times }) => `${times} calls in a row were refused; say how to continue`,
  "stopped-after-loss": () => "stopped after an interrupted command",
  "tool-missing": ({ tool }) => `this turn needs the tool ${tool}, which is missing; start Sage with it and resume`,
  "settings-untrusted": ({ folder }) =>
    `the settings of ${folder} are not trusted, or changed since, so nothing is saved there; run \`${sage("trust")}\` there first`,
  "tool-unfit": ({ tool, problem }, say) =>
    `this turn needs ${tool} as it was; start Sage with that and resume. Now: ${say(problem)}`,

  "end-unknown": () => "Sage was stopped while this ran; how it ended is unknown.",
  "may-run-elsewhere": () =>
    "Sage was stopped while this ran in another container or on another machine. It may still be running there.",
  outlived: ({ groups }) =>
    `Sage was stopped while this ran. The command is still running${groups.length === 0 ? "" : ` (process group ${groups.join(", ")})`}.`,
  "outlived-and-killed": () => "It outlived Sage and was killed at the person's request.",
  "outlived-and-ended": () => "It outlived Sage and has ended since; its output is unknown.",
  "lost-call": ({ known, changes }, say) => `${say(known)}\n${changesEn(changes)}`,

  spinning: ({ times, calls }) => `The agent did the same ${times} times, with the same result:\n${callLines(calls)}`,

  lost: ({ tool, what }) => `${tool} was interrupted: ${what}`,
  "lost-running": ({ tool, what }) => `${tool} was interrupted: ${what}`,
  "go-on-repeating": () => "Go on all the same?",
  "go-on-spending": () => "Go on, until as much again is used?",
  "elicits-url": ({ server, url, host }) =>
    `The MCP server "${server}" wants you to open an address of ${host}: ${url} — Sage does not open it and sends nothing there.`,
  "elicits-confirm": ({ server, message }) => `The MCP server "${server}" asks: ${message}`,

  "command-waits": ({ question }) =>
    `The command seems to wait for input that nobody can type here: ${question} — interrupt it, or let it time out.`,
  "skill-injected": ({ name }) => `Skill ${name} fits: Sage put its text before the model.`,
  "task-ended": ({ id, command, code }) =>
    `Background command ${id} ended${code === undefined ? "" : ` with exit code ${code}`}: ${command}`,
};

const zh: Table = {
  "task-runs": ({ id, seconds }) => `${id} 仍在运行，已 ${seconds} 秒。`,
  "command-took": ({ seconds }) => `用时 ${seconds} 秒。`,
  "unknown-tool": ({ tool, tools, meant }) =>
    `没有工具“${tool}”${meant === undefined ? "" : `，是否指 ${meant}？`}；可用的有 ${tools.join("、")}`,
  "malformed-arguments": ({ tool, text }) => `${tool} 的参数应是一个 JSON 对象，收到的是 ${text}`,
  "unfit-input": ({ tool, problem }, say) => `${tool} 的输入无效：${say(problem)}`,
  "subagent-may-not-ask": ({ tool }) => `子智能体不能用 ${tool}：只有主智能体可以问人`,
  "skill-limits-tools": ({ tools }) => `正在使用的技能到本轮结束为止只用 ${tools.join("、") || "（不用任何工具）"}`,
  "refused-before": () => "这次调用之前已被拒绝，此后你没有说过别的",

  "approved-edited": () => "已按此输入批准",
  "approved-unchanged": () => "已批准，且此后没有变化",
  "changed-since-approval": ({ changes, why }, say) =>
    [`将要运行的不是当时判断的内容：${changes.map(driftZh).join("；")}`, ...(why ? [say(why)] : [])].join("。"),
  "approved-earlier": ({ request }) => `更新之前已批准，见 ${request}`,

  "asks-person": () => "回答问题？",
  "reads-skill": () => "只读取你信任过的文本",
  "hands-on-task": () => "交出任务本身不运行任何东西；子智能体的每次调用都会单独判断",

  "hook-decided": ({ command, decision }) => `钩子 ${JSON.stringify(command)} ${decisionsZh[decision]}`,
  "hooks-broken": ({ problems }, say) => `${problems.map(say).join("；")}，因此由人决定`,
  "hook-broken": ({ command, problem }, say) => `钩子 ${JSON.stringify(command)} ${say(problem)}`,
  "hook-changed": ({ path }) => `没有运行：${path} 在你信任之后改动过`,
  "hook-late": ({ timeoutMs }) => `在 ${timeoutMs} 毫秒内没有结束`,
  "hook-interrupted": () => "被中断",
  "hook-flooded": () => "输出超过 1 MB",
  "hook-exited": ({ code, output }) => `失败，退出码 ${code}：${output || "没有输出"}`,
  "hook-not-started": ({ problem }, say) => `无法启动：${say(problem)}`,
  "hook-misspoke": ({ problem }, say) => `输出的不是有效回答：${say(problem)}`,

  "no-answer-within": ({ timeoutMs }) => `${durationText(timeoutMs, "zh")}内无人回答`,
  "nobody-to-ask": () => "这次运行无人可问",
  "run-declines-questions": () => "这次运行对所有提问都不作答",
  "run-denies-permissions": () => "这次运行拒绝所有许可请求",
  "only-a-person-may-allow": () => "这一项只有人可以允许，而这次运行无人可问",
  "one-request-at-a-time": () => "本会话已有一个待处理的请求，这里不接受第二个",
  "responder-failed": ({ problem }, say) => `自动应答没有给出有效回答：${say(problem)}`,
  "channel-closed": () => "能回答的一方已关闭通道",
  "decided-by-rule": ({ rule }) => `新规则已作决定：${rule}`,
  "ask-rule-removed": ({ rule }) => `规则 ${rule} 不再要求询问`,
  "withdrawn-by-agent": ({ why }) => `智能体收回了请求：${oneLine(why)}`,
  "inquiry-without-reply": () => "智能体没有给出回复",
  "inquiry-limit": ({ limit }) => `关于一个请求最多追问 ${limit} 次`,
  "turn-ended": () => "本轮已结束",
  "session-deleted": () => "会话已删除",
  "forked-here": () => "在此分叉",
  idle: () => "本轮已结束",

  "empty-text": () => "空白不是回答；请写点什么，或选择不回答",
  "empty-answer": () => "空的回答不算回答；请选一项、自己写，或选择不回答",
  "not-an-option": ({ given, question, options }) =>
    `“${given}”不是${question === undefined ? "这里" : `“${question}”`}的选项；可选 ${quoted(options)}`,
  "not-asked": ({ question, questions }) => `没有问过“${question}”；问题是 ${quoted(questions)}`,
  "answers-missing": ({ answered, of }) => `${of} 个问题只答了 ${answered} 个；请答完，或只提交这些回答`,
  "chosen-twice": ({ question }) => `“${question}”的同一选项选了两次`,
  "rewind-turn-open": () =>
    "有一轮尚未结束或有消息在等待；等它结束或停止它（Esc；有请求时先回答，或按 Ctrl-C），再回退",
  "rewind-no-turn": ({ turn }) => `没有可以回退到的消息 ${turn}`,
  "mode-without-plan": () => "只有对计划的允许才能附带模式",
  "takes-one": ({ question, count }) => `“${question}”只能有一个回答，给了 ${count} 个`,
  "unfit-response": ({ kind, got }) => `这是 ${kind} 请求，可答 ${fits[kind].replace(" or ", ", ")}；收到的是 ${got}`,
  "unknown-response": ({ got }) => `回答应为 answers、granted、denied、text 或 cancelled；收到的是 ${got}`,

  "person-stopped": () => "由人停止",
  "may-not-talk": ({ by }) => `设置的 "people" 中没有给 ${by} 角色，不能下达或停止任务`,
  "persona-outside-test": ({ by }) => `${by} 是测试用的角色，只能在测试日志（内存中的，或用 test: true 新建的）中回答`,
  "may-not-approve": ({ by }) => `${by} 不是设置的 "people" 中的审批人`,
  "stopped-by": ({ by }) => `${by} 停止了本轮`,
  "interrupted-by": ({ by }) => `${by} 中断了本轮`,
  "read-now": ({ by, text }) => `${by} 要求先读这条消息：“${text}”`,
  interrupted: () => "被人中断",
  leaving: () => "Sage 正在退出",
  "time-up": ({ limitMs }) => `本轮已工作 ${durationText(limitMs, "zh")}，达到上限`,
  "repeated-itself": () => "智能体在重复同一件事，已停止",
  "limit-reached": ({ scope, unit, spent, limit }) =>
    `你设定的${{ turn: "一轮", session: "一个会话", person: "一人一天", day: "一天" }[scope]}上限是 ${spendingText(limit, unit)}，已用 ${spendingText(spent, unit)}。`,
  "stopped-at-limit": () => "到达你设定的上限，已停止",
  "limit-unanswered": () => "到达你设定的上限，没有人说要继续",
  "nobody-said-go-on": ({ times }) => `智能体把同一件事做了 ${times} 次，结果都一样，也没有人说要继续`,
  "refused-in-a-row": ({ times }) => `连续 ${times} 次调用被拒绝；请说明接下来怎么做`,
  "stopped-after-loss": () => "命令中断之后停止",
  "tool-missing": ({ tool }) => `本轮需要工具 ${tool}，但它不在；请带上它启动 Sage 再继续`,
  "settings-untrusted": ({ folder }) =>
    `${folder} 的设置未受信任，或此后有改动，所以不在那里保存；请先在那里运行 \`${sage("trust")}\``,
  "tool-unfit": ({ tool, problem }, say) =>
    `本轮需要原来的 ${tool}；请用原来的配置启动 Sage 再继续。现在：${say(problem)}`,

  "end-unknown": () => "Sage 在它运行时停止，结果未知。",
  "may-run-elsewhere": () => "Sage 停止时，它正在别的容器或机器上运行；它可能还在那里运行。",
  outlived: ({ groups }) =>
    `Sage 在它运行时停止。命令仍在运行${groups.length === 0 ? "" : `（进程组 ${groups.join("、")}）`}。`,
  "outlived-and-killed": () => "Sage 停止后它仍在运行，已按你的要求终止。",
  "outlived-and-ended": () => "Sage 停止后它继续运行，后来自行结束；输出未知。",
  "lost-call": ({ known, changes }, say) => `${say(known)}\n${changesZh(changes)}`,

  spinning: ({ times, calls }) => `智能体把同一件事做了 ${times} 次，结果都一样：\n${callLines(calls)}`,

  lost: ({ tool, what }) => `${tool} 被中断：${what}`,
  "lost-running": ({ tool, what }) => `${tool} 被中断：${what}`,
  "go-on-repeating": () => "仍要继续吗？",
  "go-on-spending": () => "继续，直到再用同样多？",
  "elicits-url": ({ server, url, host }) =>
    `MCP 服务器“${server}”请你打开 ${host} 的地址：${url}（Sage 不会打开它，也不会向它发送任何内容）`,
  "elicits-confirm": ({ server, message }) => `MCP 服务器“${server}”询问：${message}`,

  "command-waits": ({ question }) =>
    `命令好像在等待输入，而这里没有人能输入：${question} —— 可以中断它，或者等它超时。`,
  "skill-injected": ({ name }) => `技能 ${name} 适用：Sage 已把它的内容交给模型。`,
  "task-ended": ({ id, command, code }) =>
    `后台命令 ${id} 已结束${code === undefined ? "" : `，退出码 ${code}`}：${command}`,
};

export const turnReasons = { en, zh } satisfies Record<Lang, Table>;

const fits = {
  question: "answers, denied or cancelled",
  permission: "granted, denied or cancelled",
  text: "text, denied or cancelled",
};

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

const decisionsZh = { allow: "表示允许", deny: "表示拒绝", ask: "要求先问人" };

function spendingText(value: number, unit: "tokens" | "usd"): string {
  return unit === "usd" ? `$${value.toFixed(2)}` : `${value.toLocaleString("en")} tokens`;
}

function callLines(calls: TurnReasonArgs["spinning"]["calls"]): string {
  return calls.map(({ tool, input }) => `${tool} ${input}`).join("\n");
}

function driftEn(drift: Drift): string {
  switch (drift.what) {
    case "link": {
      const then = drift.from === undefined ? "itself" : drift.from;
      return `${drift.path} pointed to ${then} and now points to ${drift.to ?? "itself"}`;
    }
    case "file":
      return `${drift.path} changed in between`;
    case "script":
      return `${drift.path}, which it runs, changed in between`;
    case "meaning":
      return `what ${drift.name} stands for changed in between${drift.to === undefined ? "" : `: now ${drift.to}`}`;
    case "writes":
      return `it would also write ${drift.paths.join(", ")}`;
    case "tool":
      return "the tool's input schema changed";
    case "version":
      return "a newer version of Sage asked, and this one cannot check what its approval was bound to";
    default:
      return drift satisfies never;
  }
}

function driftZh(drift: Drift): string {
  switch (drift.what) {
    case "link":
      return `${drift.path} 原来${drift.from === undefined ? "就是它自己" : `指向 ${drift.from}`}，现在${drift.to === undefined ? "是它自己" : `指向 ${drift.to}`}`;
    case "file":
      return `${drift.path} 其间有改动`;
    case "script":
      return `它要运行的 ${drift.path} 其间有改动`;
    case "meaning":
      return `${drift.name} 所指的内容其间有改动${drift.to === undefined ? "" : `：现在是 ${drift.to}`}`;
    case "writes":
      return `它还会写入 ${drift.paths.join("、")}`;
    case "tool":
      return "工具接受的输入变了";
    case "version":
      return "提出请求的是较新版本的 Sage，当前版本无法核对那次许可所针对的内容";
    default:
      return drift satisfies never;
  }
}

function changesEn(changes: Changes): string {
  if ("problem" in changes) return `Cannot tell which files changed since then: ${oneLine(changes.problem)}.`;
  const { files, folders, looked, missed } = changes;
  const where = missed ? `among ${looked} files of the working directory` : "in the working directory";
  const only = missed
    ? ` Not everything was checked: ${missed === "too-many" ? "there are too many files" : "some folders cannot be read"}.`
    : "";
  const more = (count: number) => `and ${count} more`;
  const lines = [
    ...(files.names.length > 0
      ? [`Changed ${where} since it was started, by it or by others:`, ...listed(files, more)]
      : []),
    ...(folders.names.length > 0 ? ["Something was removed or renamed in:", ...listed(folders, more)] : []),
  ];
  if (lines.length === 0) return `Nothing ${where} has changed since it was started, apart from ignored files.${only}`;
  return `${lines.join("\n")}${only && `\n${only.trim()}`}`;
}

function changesZh(changes: Changes): string {
  if ("problem" in changes) return `此后哪些文件有改动无法得知：${oneLine(changes.problem)}。`;
  const { files, folders, looked, missed } = changes;
  const where = missed ? `工作目录中看过的 ${looked} 个文件里` : "工作目录中";
  const only = missed ? `没有看全：${missed === "too-many" ? "内容太多" : "有些目录读不了"}。` : "";
  const more = (count: number) => `还有 ${count} 个`;
  const lines = [
    ...(files.names.length > 0 ? [`它启动之后，${where}有这些改动（由它或别人造成）：`, ...listed(files, more)] : []),
    ...(folders.names.length > 0 ? ["这些目录里有东西被删除或改名：", ...listed(folders, more)] : []),
  ];
  if (lines.length === 0) return `它启动之后，除被忽略的文件外，${where}没有改动。${only}`;
  return [...lines, ...(only === "" ? [] : [only])].join("\n");
}

function listed({ names, more }: Listed, andMore: (count: number) => string): string[] {
  return [...names.map((name) => `  ${oneLine(name)}`), ...(more > 0 ? [`  ${andMore(more)}`] : [])];
}
