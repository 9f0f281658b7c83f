import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

/** Texts for operators of the daemon. */
const en = {
  botTaken: (app: string) => `speaking for bot ${app} from now on`,
  botLeft: (app: string) => `no longer speaking for bot ${app}`,
  botElsewhere: (app: string, gateway: string) =>
    `bot ${app} is held by another gateway (${gateway}); taking over when that one is gone`,
  botFailed: (app: string, problem: string) => `cannot speak for bot ${app}, trying again: ${problem}`,
  memoryAway: (problem: string) =>
    `the database cannot be reached, so nobody comes in and bots say nothing: ${problem}`,
  listening: (url: string) => `Sage is listening on ${url}; status at /health and /ready`,
  feishu: (app: string, mode: "socket" | "webhook", path: string) =>
    mode === "socket" ? `Feishu: ${app}, long connection` : `Feishu: ${app}, webhook at ${path}`,
  page: (url: string, minutes: number) =>
    `Open this link in your browser (it works once, for ${minutes} minutes):\n  ${url}`,
  pageAt: (url: string, flag: string) => `page at ${url}; let a device in with \`${sage(`devices add${flag}`)}\``,
  demo: `no model is configured: this is the demo, with a script in the model's place, in a folder that is deleted at the end; choose a model with \`${sage("setup")}\``,
  pageInClear: (host: string) =>
    `no page on ${host}: keys would be sent in clear; name an https address in serve.web.origins, or a certificate in serve.tls`,
  pageMissing: "the files of the page are missing: only /v1 is served",
  noSurface: `no surface configured: sessions continue, but none can be started here; set up Feishu with \`${sage("feishu setup")}\``,
  recovered: (resumed: number, waiting: number) => `open turns resumed: ${resumed}; waiting for a person: ${waiting}`,
  open: (host: string) =>
    `listening on ${host}, reachable by others; only the webhook needs this, preferably behind a TLS proxy`,
  leaving: "stopping: running turns are saved and continue at the next start",
  left: "stopped",
  cannotListen: (at: string, why: string) => `cannot listen on ${at}: ${why}`,
  portTaken: `the port is in use, perhaps by another \`${sage("serve")}\`; choose another with --port`,
  portRights: "this port needs elevated privileges",
  folderGone: (path: string) => `the folder of this session is gone: ${path}`,
  installed: (file: string) => `written: ${file}`,
  isInstalled: (file: string) => `installed: ${file}`,
  notInstalled: `not installed; install it with \`${sage("serve install")}\``,
  uninstalled: (file: string) => `removed: ${file}; sessions and settings stay`,
  silent: (url: string) => `${url}: no response`,
  runYourself: (commands: readonly string[]) => `this failed here; run it yourself: ${commands.join(" && ")}`,
  message: (who: string) => `message ${who}`,
  asks: (kind: "question" | "permission" | "text", tool: string, request: string) =>
    `asks (${kind}${tool && ` for ${tool}`}), request ${request}`,
  answered: (request: string, who: string, how: string) => `request ${request} ended ${who}: ${how}`,
  interrupted: (who: string) => `interrupted ${who}`,
  outcomes: {
    granted: "allowed",
    denied: "refused",
    answered: "answered",
    partial: "answered in part",
    declined: "declined",
    cancelled: "cancelled",
    timed_out: "timed out",
    superseded: "no longer needed",
    no_surface: "nobody could be asked",
  },
  noManager: (platform: string) => `cannot install on ${platform}; see docs/feishu.md for how to run it`,
};

export type ServeTexts = typeof en;

const zh: ServeTexts = {
  botTaken: (app) => `从现在起由这里为机器人 ${app} 说话`,
  botLeft: (app) => `不再为机器人 ${app} 说话`,
  botElsewhere: (app, gateway) => `机器人 ${app} 由另一个网关（${gateway}）持有；它离开后由这里接手`,
  botFailed: (app, problem) => `暂时无法为机器人 ${app} 说话，会再试：${problem}`,
  memoryAway: (problem) => `连不上数据库，因此没有人能进来，机器人也不说话：${problem}`,
  listening: (url) => `Sage 正在监听 ${url}；状态见 /health 和 /ready`,
  feishu: (app, mode, path) => (mode === "socket" ? `飞书：${app}，长连接` : `飞书：${app}，webhook 在 ${path}`),
  page: (url, minutes) => `在浏览器中打开这个链接（只能用一次，${minutes} 分钟内有效）：\n  ${url}`,
  pageAt: (url, flag) => `页面在 ${url}；用 \`${sage(`devices add${flag}`)}\` 让设备加入`,
  demo: `没有配置模型：现在是演示，由脚本代替模型，在一个结束后删除的目录中工作；用 \`${sage("setup")}\` 选择模型`,
  pageInClear: (host) =>
    `在 ${host} 上不提供页面：密钥会以明文传送；请在 serve.web.origins 中写 https 地址，或在 serve.tls 中写证书`,
  pageMissing: "缺少页面文件：只提供 /v1",
  noSurface: `未配置任何界面：已有会话会继续，但无法在此开始新会话；可用 \`${sage("feishu setup")}\` 设置飞书`,
  recovered: (resumed, waiting) => `已继续未完成的轮：${resumed}；等待处理：${waiting}`,
  open: (host) => `正在监听 ${host}，其他机器可以访问；只有 webhook 需要这样，前面最好有带 TLS 的代理`,
  leaving: "正在停止：运行中的轮已保存，下次启动时继续",
  left: "已停止",
  cannotListen: (at, why) => `无法监听 ${at}：${why}`,
  portTaken: `端口已被占用，也许是另一个 \`${sage("serve")}\`；可用 --port 更换`,
  portRights: "使用这个端口需要更高的权限",
  folderGone: (path) => `本会话的目录已不存在：${path}`,
  installed: (file) => `已写入：${file}`,
  isInstalled: (file) => `已安装：${file}`,
  notInstalled: `没有安装；可用 \`${sage("serve install")}\` 安装`,
  uninstalled: (file) => `已移除：${file}；会话和设置保留`,
  silent: (url) => `${url}：无人应答`,
  runYourself: (commands) => `在这里没有成功，请自己运行：${commands.join(" && ")}`,
  message: (who) => `消息：${who}`,
  asks: (kind, tool, request) =>
    `提出请求 ${request}（${{ question: "提问", permission: "许可", text: "文字" }[kind]}${tool && `，${tool}`}）`,
  answered: (request, who, how) => `请求 ${request} 结束：${how}，${who}`,
  interrupted: (who) => `中断：${who}`,
  outcomes: {
    granted: "允许",
    denied: "拒绝",
    answered: "已回答",
    partial: "部分回答",
    declined: "不回答",
    cancelled: "已取消",
    timed_out: "超时",
    superseded: "不再需要",
    no_surface: "没有人可问",
  },
  noManager: (platform) => `在 ${platform} 上无法安装；怎样运行见 docs/zh/feishu.md`,
};

export const serveTexts = inBoth<ServeTexts>(en, zh);
