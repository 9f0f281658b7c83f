import type { NestedReasonArgs, Sentences } from "../../protocol/reasons/reason.ts";
import { oneLine } from "../../base/visible.ts";
import type { GuestReasonArgs, OutsideReasonArgs } from "../../protocol/reasons/guest.ts";
import { sage } from "../command.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<GuestReasonArgs & NestedReasonArgs["guest"] & OutsideReasonArgs>;

/** Words of a program that nobody here wrote: they hide nothing and steer no screen. */
const its = (words: string) => oneLine(words.trim());

const en: Table = {
  "guest-asks": ({ agent, tool, words }) =>
    `${agent} asks before it uses ${its(tool)}${words === undefined ? "" : `: ${its(words)}`}`,
  "guest-asks-untold": ({ agent, tool, words }) =>
    `${agent} asks before it uses ${its(tool)} and does not tell what would change${words === undefined ? "" : `: ${its(words)}`}`,
  "guest-withdrew": ({ agent }) => `${agent} took its question back`,
  "guest-knows-end": ({ agent }) => `${agent} was stopped while this ran; it knows how it ended`,
  "guest-may-have-run": ({ agent, before, why }, say) =>
    [
      before === "unknown"
        ? `this call may have run already: ${its(agent)} was stopped after it was allowed, and nobody heard how it ended`
        : `this call ran already in this turn; ${its(agent)} lost its conversation and makes it again`,
      ...(why ? [say(why)] : []),
    ].join(". "),
  "guest-carried": ({ agent }) => `${its(agent)} was stopped while it asked; your answer reaches it when it continues`,
  "guest-silent": ({ agent }) => `${its(agent)} did not take up its call in time; it is told in words where it was`,
  "guest-answer-lost": ({ agent, tool }) =>
    `not delivered yet: ${its(agent)} has not read the answer about ${its(tool)}; it is told in words`,
  "guest-answer-read": ({ agent, tool }) => `delivered: ${its(agent)} has read the answer about ${its(tool)}`,
  "guest-not-started": ({ agent, words }) =>
    `${agent} could not be started: ${its(words)}; \`${sage("agents")}\` tells whether it is installed`,
  "guest-failed": ({ agent, words }) => `${agent} failed: ${its(words)}`,
  "guest-died": ({ agent, words }) => `${agent} ended unexpectedly${words === "" ? "" : `: ${its(words)}`}`,
  "guest-stopped": ({ agent }) => `${agent} stopped`,
  "guest-own-conversation": ({ agent }) => `${agent} keeps this conversation itself, so Sage cannot do that here`,
  "guest-takes-no-edit": ({ agent, input }) =>
    `this was allowed only as edited, and ${agent} takes no edited call, so it did not run; the call that was allowed: ${its(input)}`,
  "input-fixed": ({ agent }) =>
    `${its(agent)} takes no edited call: allow this one as it is, or refuse it with a reason`,
  "guest-unknown": ({ agent, known }) =>
    `no agent is called "${its(agent)}"; known: ${known.join(", ")}; add others under "agents" in the settings`,
  "guest-untrusted": ({ agent, folder, files }) =>
    `${folder} has settings that ${agent} would follow, and you have not trusted them: ${files.map(its).join(", ")}; look at them with \`sage trust\``,

  "outside-asks": ({ agent, words }) =>
    words ? `${agent}, an agent outside of Sage, asks: ${oneLine(words)}` : `${agent}, an agent outside of Sage, asks`,
  "answered-there": ({ agent, allowed }) =>
    allowed === undefined
      ? `answered in ${agent} itself`
      : allowed
        ? `allowed in ${agent} itself`
        : `refused in ${agent} itself`,
  "outside-gone": ({ agent }) => `${agent} no longer waits for an answer`,
  "asker-gone": ({ agent }) => `the process in which ${agent} asked is gone; nobody hears an answer`,
  "outside-withdrew": ({ agent, words }) =>
    words ? `${agent} took its request back: ${oneLine(words)}` : `${agent} took its request back`,
  "outside-session": ({ session }) =>
    `in ${session} an agent outside of Sage asks, and Sage runs nothing there; only its requests can be answered`,
  "outside-yes-or-no": ({ agent }) =>
    `${agent} asks from outside of Sage: it takes a yes, with a comment, or a no; rules, edits, modes and the sandbox are Sage's own`,
  "outside-no-comment": ({ agent }) =>
    `${agent} takes a bare yes from here: no remark reaches it; say yes without one, or no with a reason`,
  "outside-no-reply": ({ agent }) =>
    `${agent} asks from outside of Sage and does not hear questions about its request; answer it, or ask there`,
  "not-outside": ({ request }) => `${request} was not asked from outside of Sage`,
  "agent-name-unfit": ({ given }) =>
    `an agent's name has up to 40 letters, digits, dots, dashes or spaces, and is not Sage; got ${oneLine(JSON.stringify(given.slice(0, 80)))}`,
  "ask-id-unfit": ({ given }) =>
    `the id of a request has up to 100 letters, digits, dashes or underscores; got ${oneLine(JSON.stringify(given.slice(0, 120)))}`,
  "ask-differs": ({ id }) => `something else was asked under the id ${id}; use a new id`,
  "ask-too-long": ({ limit, length }) =>
    `a request may have ${limit.toLocaleString("en")} characters; this one has ${length.toLocaleString("en")}`,
  "ask-unfit": ({ problem }) => `nobody can be asked this: ${oneLine(problem)}`,
  "asks-too-many": ({ agent, limit }) =>
    `${agent} has ${limit} requests open here; some have to end before the next is asked`,
};

const zh: Table = {
  "guest-asks": ({ agent, tool, words }) =>
    `${agent} 使用 ${its(tool)} 前请求许可${words === undefined ? "" : `：${its(words)}`}`,
  "guest-asks-untold": ({ agent, tool, words }) =>
    `${agent} 使用 ${its(tool)} 前请求许可，但没有说明会改动什么${words === undefined ? "" : `：${its(words)}`}`,
  "guest-withdrew": ({ agent }) => `${agent} 撤回了请求`,
  "guest-knows-end": ({ agent }) => `这次调用运行时 ${agent} 被停止；结果只有它知道`,
  "guest-may-have-run": ({ agent, before, why }, say) =>
    [
      before === "unknown"
        ? `这次调用可能已经运行过：它获准后 ${its(agent)} 被停止，结果未知`
        : `这次调用在本轮已经运行过；${its(agent)} 丢失了对话，要再运行一次`,
      ...(why ? [say(why)] : []),
    ].join("。"),
  "guest-carried": ({ agent }) => `${its(agent)} 在请求时被停止；它继续时会得知你的回答`,
  "guest-silent": ({ agent }) => `${its(agent)} 没有及时继续它的调用；改用文字告诉它进展`,
  "guest-answer-lost": ({ agent, tool }) => `尚未送达：${its(agent)} 没有读到关于 ${its(tool)} 的回答；改用文字告诉它`,
  "guest-answer-read": ({ agent, tool }) => `已送达：${its(agent)} 读到了关于 ${its(tool)} 的回答`,
  "guest-not-started": ({ agent, words }) =>
    `无法启动 ${agent}：${its(words)}；用 \`${sage("agents")}\` 查看是否已安装`,
  "guest-failed": ({ agent, words }) => `${agent} 出错：${its(words)}`,
  "guest-died": ({ agent, words }) => `${agent} 意外结束${words === "" ? "" : `：${its(words)}`}`,
  "guest-stopped": ({ agent }) => `${agent} 已停止`,
  "guest-own-conversation": ({ agent }) => `这段对话由 ${agent} 自己保存，Sage 在这里做不到`,
  "guest-takes-no-edit": ({ agent, input }) =>
    `只允许了修改后的调用，而 ${agent} 不接受修改，所以没有运行；允许的调用：${its(input)}`,
  "input-fixed": ({ agent }) => `${its(agent)} 不接受修改后的调用：请按原样允许，或说明理由拒绝`,
  "guest-unknown": ({ agent, known }) =>
    `没有名为“${its(agent)}”的智能体；已知：${known.join("、")}；可在设置的 "agents" 中添加`,
  "guest-untrusted": ({ agent, folder, files }) =>
    `${folder} 中有 ${agent} 会遵循的设置，而你还没有信任它们：${files.map(its).join("、")}；用 \`sage trust\` 查看`,

  "outside-asks": ({ agent, words }) =>
    words ? `Sage 之外的智能体 ${agent} 提出：${oneLine(words)}` : `由 Sage 之外的智能体 ${agent} 提出`,
  "answered-there": ({ agent, allowed }) =>
    allowed === undefined ? `已在 ${agent} 中回答` : allowed ? `已在 ${agent} 中允许` : `已在 ${agent} 中拒绝`,
  "outside-gone": ({ agent }) => `${agent} 不再等待回答`,
  "asker-gone": ({ agent }) => `${agent} 提问的进程已不在，没有谁会收到回答`,
  "outside-withdrew": ({ agent, words }) => (words ? `${agent} 收回了请求：${oneLine(words)}` : `${agent} 收回了请求`),
  "outside-session": ({ session }) =>
    `${session} 是 Sage 之外的智能体提请求的地方，Sage 不在其中运行任何东西；只能回答其中的请求`,
  "outside-yes-or-no": ({ agent }) =>
    `${agent} 是从 Sage 之外提出的：只能允许（可附言）或拒绝；规则、修改、模式和沙箱只属于 Sage 自己`,
  "outside-no-comment": ({ agent }) => `${agent} 在这里只接受允许，附言到不了它那里；请直接允许，或说明理由拒绝`,
  "outside-no-reply": ({ agent }) => `${agent} 是从 Sage 之外提出的，听不到对请求的追问；请直接回答，或到那边去问`,
  "not-outside": ({ request }) => `${request} 不是从 Sage 之外提出的`,
  "agent-name-unfit": ({ given }) =>
    `智能体的名称最多 40 个字母、汉字、数字、点、连字符或空格，且不能叫 Sage；得到的是 ${oneLine(JSON.stringify(given.slice(0, 80)))}`,
  "ask-id-unfit": ({ given }) =>
    `请求的编号最多 100 个字母、数字、连字符或下划线；得到的是 ${oneLine(JSON.stringify(given.slice(0, 120)))}`,
  "ask-differs": ({ id }) => `编号 ${id} 下问过别的内容；请换一个编号`,
  "ask-too-long": ({ limit, length }) =>
    `一个请求最多 ${limit.toLocaleString("en")} 个字符；这个有 ${length.toLocaleString("en")} 个`,
  "ask-unfit": ({ problem }) => `这样的内容没法问人：${oneLine(problem)}`,
  "asks-too-many": ({ agent, limit }) => `${agent} 在这里已有 ${limit} 个待处理的请求；先结束一些，再提下一个`,
};

export const guestReasons: Record<Lang, Table> = { en, zh };
