import type { Sentences } from "../../protocol/reasons/reason.ts";
import type { LinkReasonArgs } from "../../protocol/reasons/remote.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<LinkReasonArgs>;

const en: Table = {
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
  "host-insecure": ({ address }) =>
    `${address} would send the device's key unencrypted; use https, or http to this machine alone`,
};

const zh: Table = {
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
  "host-insecure": ({ address }) => `${address} 会明文发送设备密钥；请使用 https，http 只能用于本机`,
};

export const linkReasons: Record<Lang, Table> = { en, zh };
