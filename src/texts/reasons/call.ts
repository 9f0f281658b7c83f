import type { Sentences } from "../../protocol/reasons/reason.ts";
import type { CallReasonArgs } from "../../protocol/reasons/call.ts";
import { durationText } from "../duration.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<CallReasonArgs>;

const en: Table = {
  "no-output": () => "No output",
  "exit-code": ({ code }) => `Exit code ${code}`,
  "ended-by-signal": ({ signal }) => `Ended by ${signal}`,
  "exit-unknown": () => "How it ended is unknown.",
  "command-stopped": () => "Interrupted; the output ends there.",
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
};

const zh: Table = {
  "no-output": () => "没有输出",
  "exit-code": ({ code }) => `退出码 ${code}`,
  "ended-by-signal": ({ signal }) => `被 ${signal} 终止`,
  "exit-unknown": () => "结果未知。",
  "command-stopped": () => "已中断；输出到此为止。",
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
};

export const callReasons = { en, zh } satisfies Record<Lang, Table>;
