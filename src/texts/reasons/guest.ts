import type { NestedReasonArgs, Sentences } from "../../protocol/reasons/reason.ts";
import { oneLine } from "../../base/visible.ts";
import type { GuestReasonArgs } from "../../protocol/reasons/guest.ts";
import { sage } from "../command.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<GuestReasonArgs & NestedReasonArgs["guest"]>;

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
  "guest-fixed": ({ session, agent }) =>
    `session ${session} is run by ${agent}; begin another session for another agent`,
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
  "guest-fixed": ({ session, agent }) => `会话 ${session} 由 ${agent} 运行；要用另一个智能体，请开始新的会话`,
};

export const guestReasons: Record<Lang, Table> = { en, zh };
