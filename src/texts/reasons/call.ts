import type { Sentences } from "../../protocol/reasons/reason.ts";
import type { CallReasonArgs, ConsentReasonArgs } from "../../protocol/reasons/call.ts";
import { durationText } from "../duration.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<CallReasonArgs & ConsentReasonArgs>;

const en: Table = {
  "no-output": () => "No output",
  "exit-code": ({ code }) => `Exit code ${code}`,
  "ended-by-signal": ({ signal }) => `Ended by ${signal}`,
  "exit-unknown": () => "How it ended is unknown.",
  "command-stopped": () => "Interrupted; the output ends there.",
  "command-closed": () => "Ended because Sage was closed; the output ends there.",
  "command-timed-out": ({ ms }) => `Stopped after ${durationText(ms, "en")}; the output ends there.`,
  "left-processes-ended": () => "Processes that it left running were ended.",
  "waited-for-answer": ({ question }) => `It seems to have waited for an answer to: ${question}`,
  "task-started": ({ id }) => `Runs in the background as ${id} (/tasks shows and stops it)`,
  "too-many-tasks": ({ count }) => `${count} commands run in the background already.`,

  "no-matches": () => "No matches",
  "file-missing": ({ path }) => `${path} does not exist.`,
  "file-unread": ({ path }) => `${path} exists, and the agent has not read it yet.`,
  "file-changed-since": ({ path }) => `${path} changed after the agent read it.`,
  "text-not-found": ({ path }) => `The text to replace is not in ${path}.`,
  "text-found-often": ({ path, times }) => `The text to replace occurs ${times} times in ${path}.`,

  "needs-people": ({ approvals }) =>
    approvals === 1
      ? "a person has to approve this in their own name; no flag, script or recording does it for them"
      : `${approvals} people have to approve this, each in their own name; no flag, script or recording does it for them`,
  "approver-unknown": ({ by }) =>
    `${by} is not in "people" of the settings, so nobody can tell whether this yes is another person's; add them there with all their ids`,
  "asker-may-not-approve": ({ by }) => `${by} asked for this, and somebody else has to approve it`,
  "asker-unknown": ({ by }) =>
    `${by} asked for this and is not in "people" of the settings, so nobody can tell whether you are somebody else; add them there with all their ids, then let them ask again`,
  "consent-takes-no-rules": () => "this needs its own approvals each time; a yes to it keeps or takes back no rule",
  "edited-anew": ({ by }) => `${by} changed it; it is asked again, and every yes counts anew`,
  "answered-by-itself": ({ request }) => `nothing was answered: ${request || "this list"} has to be answered by itself`,
};

const zh: Table = {
  "no-output": () => "没有输出",
  "exit-code": ({ code }) => `退出码 ${code}`,
  "ended-by-signal": ({ signal }) => `被 ${signal} 终止`,
  "exit-unknown": () => "结果未知。",
  "command-stopped": () => "已中断；输出到此为止。",
  "command-closed": () => "Sage 已关闭，命令随之结束；输出到此为止。",
  "command-timed-out": ({ ms }) => `运行 ${durationText(ms, "zh")}后已停止；输出到此为止。`,
  "left-processes-ended": () => "它留下的进程已终止。",
  "waited-for-answer": ({ question }) => `它好像在等待回答：${question}`,
  "task-started": ({ id }) => `在后台运行，编号 ${id}（用 /tasks 查看和停止）`,
  "too-many-tasks": ({ count }) => `已有 ${count} 条命令在后台运行。`,

  "no-matches": () => "没有匹配",
  "file-missing": ({ path }) => `${path} 不存在。`,
  "file-unread": ({ path }) => `${path} 已存在，而智能体还没有读过它。`,
  "file-changed-since": ({ path }) => `智能体读过 ${path} 之后，它又变了。`,
  "text-not-found": ({ path }) => `${path} 中没有要替换的文字。`,
  "text-found-often": ({ path, times }) => `要替换的文字在 ${path} 中出现了 ${times} 次。`,

  "needs-people": ({ approvals }) =>
    approvals === 1
      ? "这一项必须由本人具名批准，任何选项、脚本或录制的答复都不能代替"
      : `这一项须由 ${approvals} 个人各自具名批准，任何选项、脚本或录制的答复都不能代替`,
  "approver-unknown": ({ by }) =>
    `设置的 "people" 中没有 ${by}，无法判断这是不是另一个人的同意；请把此人及其全部 id 写进去`,
  "asker-may-not-approve": ({ by }) => `这是 ${by} 提出的，须由别人批准`,
  "asker-unknown": ({ by }) =>
    `这是 ${by} 提出的，而设置的 "people" 中没有此人，无法判断你是不是另一个人；请把此人及其全部 id 写进去，再重新提出`,
  "consent-takes-no-rules": () => "这一项每次都要单独批准；同意时不能添加或收回规则",
  "edited-anew": ({ by }) => `${by} 修改了内容；将重新询问，同意人数重新计算`,
  "answered-by-itself": ({ request }) => `什么都没有回答：${request || "这一组"} 必须单独回答`,
};

export const callReasons = { en, zh } satisfies Record<Lang, Table>;
