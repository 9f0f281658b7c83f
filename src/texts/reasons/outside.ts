import type { Sentences } from "../../protocol/reasons/reason.ts";
import { oneLine } from "../../base/visible.ts";
import type { OutsideReasonArgs } from "../../protocol/reasons/guest.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<OutsideReasonArgs>;

const en: Table = {
  "outside-asks": ({ agent, words }) =>
    words ? `${agent}, an agent outside of Sage, asks: ${oneLine(words)}` : `${agent}, an agent outside of Sage, asks`,
  "answered-there": ({ agent, allowed }) =>
    allowed === undefined
      ? `answered in ${agent} itself`
      : allowed
        ? `allowed in ${agent} itself`
        : `refused in ${agent} itself`,
  "outside-gone": ({ agent }) => `${agent} no longer waits for an answer`,
  "outside-withdrew": ({ agent, words }) =>
    words ? `${agent} took its request back: ${oneLine(words)}` : `${agent} took its request back`,
  "outside-session": ({ session }) =>
    `in ${session} an agent outside of Sage asks, and Sage runs nothing there; only its requests can be answered`,
  "outside-yes-or-no": ({ agent }) =>
    `${agent} asks from outside of Sage: it takes a yes, with a comment, or a no; rules, edits, modes and the sandbox are Sage's own`,
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
  "outside-asks": ({ agent, words }) =>
    words ? `Sage 之外的智能体 ${agent} 提出：${oneLine(words)}` : `由 Sage 之外的智能体 ${agent} 提出`,
  "answered-there": ({ agent, allowed }) =>
    allowed === undefined ? `已在 ${agent} 中回答` : allowed ? `已在 ${agent} 中允许` : `已在 ${agent} 中拒绝`,
  "outside-gone": ({ agent }) => `${agent} 不再等待回答`,
  "outside-withdrew": ({ agent, words }) => (words ? `${agent} 收回了请求：${oneLine(words)}` : `${agent} 收回了请求`),
  "outside-session": ({ session }) =>
    `${session} 是 Sage 之外的智能体提请求的地方，Sage 不在其中运行任何东西；只能回答其中的请求`,
  "outside-yes-or-no": ({ agent }) =>
    `${agent} 是从 Sage 之外提出的：只能允许（可附言）或拒绝；规则、修改、模式和沙箱只属于 Sage 自己`,
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

export const outsideReasons: Record<Lang, Table> = { en, zh };
