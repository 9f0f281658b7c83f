import type { RemoteReasonArgs } from "../protocol/index.ts";
import { sage } from "./command.ts";
import type { Lang } from "./language.ts";

type Table = { [C in keyof RemoteReasonArgs]: (args: RemoteReasonArgs[C]) => string };

const listed = (candidates: readonly string[]) => candidates.map((one) => `  ${one}`).join("\n");

const en: Table = {
  "not-here": ({ command }) => `this host does not take "${command}"`,
  "no-session-like": ({ given }) => `no session ${given}; list them with \`${sage("sessions")}\``,
  "no-session-in": ({ cwd }) => `there is no session in ${cwd} yet`,
  "sessions-alike": ({ given, candidates }) => `"${given}" is ambiguous; it could be:\n${listed(candidates)}`,
  "receipts-unknown": ({ given }) =>
    `no session, call or file "${given}"; use a session id, a call id from \`sage why\`, or a file path`,
};

const zh: Table = {
  "not-here": ({ command }) => `这台主机不接受“${command}”`,
  "no-session-like": ({ given }) => `没有会话 ${given}；可用 \`${sage("sessions")}\` 列出`,
  "no-session-in": ({ cwd }) => `${cwd} 里还没有会话`,
  "sessions-alike": ({ given, candidates }) => `"${given}" 不唯一，可能是：\n${listed(candidates)}`,
  "receipts-unknown": ({ given }) =>
    `没有会话、调用或文件“${given}”；请用会话编号、\`sage why\` 列出的调用编号或文件路径`,
};

export const remoteReasons: Record<Lang, Table> = { en, zh };
