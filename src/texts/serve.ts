import { sage } from "./command.ts";
import type { Lang } from "./language.ts";

/** What whoever runs the daemon reads. */
const en = {
  listening: (url: string) => `Sage serves at ${url}; /health and /ready say how it is`,
  feishu: (app: string, mode: "socket" | "webhook", path: string) =>
    mode === "socket" ? `Feishu: ${app}, over a connection of our own` : `Feishu: ${app}, webhook at ${path}`,
  noSurface: `no surface is configured: sessions go on, and nobody can begin one here; \`${sage("feishu setup")}\` sets up Feishu`,
  recovered: (resumed: number, waiting: number) =>
    `went on with open turns: ${resumed}; waiting for a person: ${waiting}`,
  open: (host: string) =>
    `listening on ${host}, which others can reach; only the webhook needs that, and a proxy with TLS in front of it is better`,
  leaving: "leaving: what is under way is kept, and goes on at the next start",
  left: "left",
  cannotListen: (at: string, why: string) => `cannot listen on ${at}: ${why}`,
  portTaken: `something listens there already, perhaps another \`${sage("serve")}\`; --port takes another port`,
  portRights: "this port needs more rights",
  folderGone: (path: string) => `the folder ${path} of this session is gone`,
};

export type ServeTexts = typeof en;

const zh: ServeTexts = {
  listening: (url) => `Sage 正在 ${url} 提供服务；/health 和 /ready 报告状态`,
  feishu: (app, mode, path) =>
    mode === "socket" ? `飞书：${app}，由我们建立长连接` : `飞书：${app}，webhook 在 ${path}`,
  noSurface: `没有配置任何界面：会话会继续，但这里没有人能开始新的；\`${sage("feishu setup")}\` 用来设置飞书`,
  recovered: (resumed, waiting) => `已继续未完成的轮次：${resumed}；等人回答：${waiting}`,
  open: (host) => `正在监听 ${host}，其他机器可以访问；只有 webhook 需要这样，前面最好有带 TLS 的代理`,
  leaving: "正在离开：进行中的都已保存，下次启动时继续",
  left: "已离开",
  cannotListen: (at, why) => `无法监听 ${at}：${why}`,
  portTaken: `那里已经有程序在监听，也许是另一个 \`${sage("serve")}\`；可用 --port 换一个端口`,
  portRights: "使用这个端口需要更高的权限",
  folderGone: (path) => `本会话的目录 ${path} 不见了`,
};

const tables = { en, zh } satisfies Record<Lang, ServeTexts>;

export function serveTexts(lang: Lang): ServeTexts {
  return tables[lang];
}
