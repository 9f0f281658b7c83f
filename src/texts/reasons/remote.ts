import type { Sentences } from "../../protocol/reasons/reason.ts";
import type { LinkReasonArgs, RemoteReasonArgs, WebReasonArgs } from "../../protocol/reasons/remote.ts";
import { sage } from "../command.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<RemoteReasonArgs & LinkReasonArgs & WebReasonArgs>;

const listed = (candidates: readonly string[]) => candidates.map((candidate) => `  ${candidate}`).join("\n");

const en: Table = {
  "not-here": ({ command }) => `this host does not take "${command}"`,
  "no-session-like": ({ given }) => `no session ${given}; list them with \`${sage("sessions")}\``,
  "no-session-in": ({ cwd }) =>
    `there is no session in ${cwd} yet; list those of other folders with \`${sage("sessions")}\``,
  "sessions-alike": ({ given, candidates }) => `"${given}" is ambiguous; it could be:\n${listed(candidates)}`,
  "receipts-unknown": ({ given }) =>
    `no session, call or file "${given}"; use a session id, a call id from \`sage why\`, or a file path`,

  "host-unreachable": () => "not sent: the host cannot be reached; try again once it is back",
  "link-lost": () => "not sent: there is no connection to the host; answer again once it is back",
  "reply-lost": () => "the connection broke before the host replied; check what happened before you try again",
  "sent-too-late": ({ limitMs }) =>
    `not sent: an answer that allows something must reach the host within ${limitMs / 1_000} s; answer again`,
  "journal-changed": () => "the host has another journal now; open the session again",
  "device-key-unknown": () => "the host does not accept this device's key; pair the device again",
  "devices-unsure": () =>
    "the host has lost its database and cannot see whether this device was removed; try again in a moment",
  "host-refused": ({ code, why }) => `the host refused the connection (${code}${why === "" ? "" : `: ${why}`})`,
  "frame-too-long": ({ limit, length }) =>
    `not sent: this takes ${length} bytes, and the host takes ${limit} at once; send less, such as a smaller picture`,
  "too-many-at-once": ({ limit }) => `more than ${limit} at once on one connection; wait for some of them to end`,
  "too-many-a-second": ({ limit }) => `more than ${limit} commands a second; slow down`,

  "may-not-look": ({ by }) => `${by} has no role in "people" of the settings`,
  "may-not-answer": ({ by }) =>
    `${by} did not begin this session; its questions are answered by whoever began it, or by an approver`,
  "folder-unknown": ({ name, known }) =>
    `no folder is called "${name}" here${known.length > 0 ? `; there are: ${known.join(", ")}` : ""}`,
  "model-not-from-afar": ({ model }) => `"${model}" cannot be chosen from another machine`,
  "masked-not-edited": () =>
    "a secret was removed from what you see, so it cannot be edited here; edit it on the machine",
  "takes-signature": () =>
    `a yes to this request has to come from a paired device that is another machine, or with a passkey on the page ("signed" in the settings); a no counts from everywhere`,
  "passkey-unfit": () => "the passkey was not accepted, and nothing was recorded; try again",
  "passkey-not-here": () => "passkeys work where the page is opened over https, or as localhost on this machine",
  "passkey-elsewhere": () =>
    "you have a passkey: add a further one on a paired device that is another machine, or remove the device of the old one first",
};

const zh: Table = {
  "not-here": ({ command }) => `这台主机不接受“${command}”`,
  "no-session-like": ({ given }) => `没有会话 ${given}；可用 \`${sage("sessions")}\` 列出`,
  "no-session-in": ({ cwd }) => `${cwd} 里还没有会话；用 \`${sage("sessions")}\` 列出其他文件夹里的`,
  "sessions-alike": ({ given, candidates }) => `"${given}" 不唯一，可能是：\n${listed(candidates)}`,
  "receipts-unknown": ({ given }) =>
    `没有会话、调用或文件“${given}”；请用会话编号、\`sage why\` 列出的调用编号或文件路径`,

  "host-unreachable": () => "未发送：连不上主机；恢复后请再试",
  "link-lost": () => "未发送：与主机的连接已断开；恢复后请重新回答",
  "reply-lost": () => "主机回复之前连接断了；再试之前请先看看结果如何",
  "sent-too-late": ({ limitMs }) => `未发送：表示允许的回答必须在 ${limitMs / 1_000} 秒内送达主机；请重新回答`,
  "journal-changed": () => "主机换了日志；请重新打开会话",
  "device-key-unknown": () => "主机不接受这台设备的密钥；请重新配对",
  "devices-unsure": () => "主机连不上数据库，无法确认这台设备是否已被移除；请稍后再试",
  "host-refused": ({ code, why }) => `主机拒绝了连接（${code}${why === "" ? "" : `：${why}`}）`,
  "frame-too-long": ({ limit, length }) =>
    `未发送：共 ${length} 字节，而主机一次最多接收 ${limit} 字节；请减少内容，例如换一张小些的图片`,
  "too-many-at-once": ({ limit }) => `一个连接上同时进行的超过 ${limit} 个；请等其中一些结束`,
  "too-many-a-second": ({ limit }) => `每秒超过 ${limit} 条命令；请放慢`,

  "may-not-look": ({ by }) => `设置的 "people" 中没有给 ${by} 角色`,
  "may-not-answer": ({ by }) => `这个会话不是 ${by} 开始的；提问由开始会话的人或审批人回答`,
  "folder-unknown": ({ name, known }) =>
    `这里没有名为“${name}”的目录${known.length > 0 ? `；现有：${known.join("、")}` : ""}`,
  "model-not-from-afar": ({ model }) => `不能从另一台机器选择“${model}”`,
  "masked-not-edited": () => "你看到的内容已移除机密，因此不能在这里编辑；请在那台机器上编辑",
  "takes-signature": () =>
    "允许这个请求，须在另一台机器上的已配对设备上操作，或在页面上使用通行密钥（设置中的 `signed`）；拒绝则在哪里都可以",
  "passkey-unfit": () => "通行密钥未被接受，没有记录任何内容；请重试",
  "passkey-not-here": () => "只有通过 https 打开页面，或在本机以 localhost 打开时，才能使用通行密钥",
  "passkey-elsewhere": () => "你已有通行密钥：请在另一台机器的已配对设备上再添加，或先移除旧密钥所在的设备",
};

export const remoteReasons: Record<Lang, Table> = { en, zh };
