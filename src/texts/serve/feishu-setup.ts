import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

/** Texts for an operator: setting Feishu up, checking it, and what is wrong with it. */
const en = {
  wrong: "The Feishu setup has problems:",
  noAppId: `the app id is missing: run \`${sage("feishu setup")}\`, or set FEISHU_APP_ID`,
  badAppId: (got: string) => `the app id should be cli_ and 16 hex digits; got "${got}"`,
  noSecret: `the app secret is missing: run \`${sage("feishu setup")}\`, or set FEISHU_APP_SECRET`,
  badDomain: (got: string) =>
    `the domain should be feishu, lark, or an origin such as https://open.example.com (http only on this machine, nothing after the host); got "${got}"`,
  badMode: (got: string) => `FEISHU_MODE should be socket or webhook; got "${got}"`,
  noEncryptKey: "the webhook is served only with an Encrypt Key: set FEISHU_ENCRYPT_KEY, or use the mode socket",
  noVerificationToken:
    "the webhook is served only with a Verification Token: set FEISHU_VERIFICATION_TOKEN, or use the mode socket",
  badUser: (variable: string, got: string) => `${variable} should list open ids (ou_…); got "${got}"`,
  nobody:
    "nobody may use the bot: name people in FEISHU_APPROVERS or FEISHU_ALLOWED_USERS (ou_…), or in approvers and allowedUsers of the settings",
  noApprovers: "nobody may approve in Feishu, only elsewhere; name approvers in FEISHU_APPROVERS",
  anyone: "anyone who can write to the bot may give it tasks; only approvers may allow what it asks for",
  noFolder: (path: string) => `no such folder: ${path}`,
  noWorkspace: (chat: string, name: string) =>
    `the chat ${chat} names the workspace ${name}, which is not in the settings`,
  sameApp: (id: string) => `two bots have the app id ${id}`,
  settingsKept: (why: string) => `the changed settings are invalid; people and folders stay as they were: ${why}`,
  badPort: (where: string, got: string) => `${where} should be a port, 0 to 65535; got "${got}"`,

  usage: `\`${sage("feishu")}\` has: setup (writes and tests the configuration), doctor (lists what is missing) and audit (lists refused clicks)`,
  refusals: {
    wrongCard: "clicked a button of another card",
    notTalker: "may not use the bot",
    notStopper: "may not stop the task",
    notYours: "may not answer the request",
  } as Record<string, string>,
  nothingRefused: "No refused clicks.",
  needsTerminal: `\`${sage("feishu setup")}\` needs a terminal. Without one, set FEISHU_APP_ID, FEISHU_APP_SECRET and FEISHU_APPROVERS; docs/feishu.md lists all variables`,
  welcome:
    "Sage in Feishu or Lark. The bot is an app of your own: the platform creates it, or you do; docs/feishu.md shows each step.",
  askDomain: (before: string) =>
    `Feishu or Lark? (feishu/lark, or the address of your own platform; Enter for ${before}) > `,
  askWay: (usual: string) =>
    `1 scan a code, and the platform creates the app   2 use an app from the console   (Enter for ${usual}) > `,
  scan: (url: string) =>
    `Scan this with Feishu or Lark on your phone, or open ${url}\nand confirm the app. Waiting (Enter to set it up by hand) …`,
  scanner: "administrator",
  scanned: "You are the administrator and an approver. Add others with /invite and /approver in a chat.",
  notScanned: (why: string) => `No app was created (${why}). Set it up by hand:`,
  askAppId: (before: string) => `App ID${before ? ` (Enter for ${before})` : ""} > `,
  askSecret: (kept: boolean) => `App Secret (hidden${kept ? "; Enter keeps the current one" : ""}) > `,
  askMode: (before: string) =>
    `How should events arrive? 1 over a connection that Sage opens; no public address needed   2 at your webhook   (Enter for ${before}) > `,
  badChoice: (text: string) => `type 1 or 2; got "${text}"`,
  askEncryptKey: (kept: boolean) => `Encrypt Key (hidden${kept ? "; Enter keeps the current one" : ""}) > `,
  askToken: (kept: boolean) => `Verification Token (hidden${kept ? "; Enter keeps the current one" : ""}) > `,
  askApprovers: (before: string) =>
    `Who may approve? Open ids (ou_…), separated by spaces${before ? `; Enter for ${before}` : "; Enter to find yours by writing to the bot"} > `,
  askTalkers: (before: string) =>
    `Who else may give tasks? Open ids, or "anyone"${before ? `; Enter for ${before}` : "; Enter for nobody else"} > `,
  pairing: (code: string) =>
    `Sage is connected. Now, in the console (Events & callbacks): choose “receive through persistent connection” for events and for callbacks, add the events im.message.receive_v1 and im.message.recalled_v1 and the callback card.action.trigger, and publish a version. Then send this to the bot in Feishu:\n\n    ${code}\n\nWaiting (Enter to skip) …`,
  paired: (openId: string) => `Received from ${openId}: this person is an approver.`,
  trying: (domain: string) => `Testing ${domain}…`,
  works: (name: string) => `It works: the bot is ${name}.`,
  fails: (why: string) => `Failed: ${why}`,
  keepAnyway: "Save anyway? (y/N) > ",
  keptIn: (place: "keychain" | "file", path: string) =>
    place === "keychain" ? "Secrets saved to your system keychain." : `Secrets saved to ${path}, readable only by you.`,
  saved: (path: string) => `Settings saved to ${path}.`,
  next: `Next: \`${sage("feishu doctor")}\` lists what is missing in the console; \`${sage("serve")}\` starts the bot.`,
  nothing: "Nothing changed.",

  notConfigured: `Feishu is not set up: run \`${sage("feishu setup")}\`, or set FEISHU_APP_ID and FEISHU_APP_SECRET`,
  credentials: (domain: string) => `${domain} accepts the app's id and secret`,
  bot: (name: string, openId: string) => `bot enabled: ${name} (${openId})`,
  botOff:
    "the bot feature is off, or no version with it is published. Console → Add features → Bot, then publish a version",
  unpublished:
    "no version is published: console settings take effect only then. Console → Version management → Create a version",
  published: "a version is published",
  scopes: "all required permissions are granted",
  scopesUnknown: (why: string) => `permissions could not be checked (${why})`,
  noScope: (scope: string, what: string) =>
    `the permission ${scope} is missing: ${what}. Console → Permissions, then publish a version`,
  scopeFor: {
    p2p: "direct messages do not arrive",
    group: "group messages that mention the bot do not arrive",
    threads: "in groups every message must mention the bot, even in its threads",
    send: "the bot cannot send messages",
    update: "cards do not show that they were answered",
    stream: "replies do not stream",
    resource: "files and pictures cannot be read",
    names: "receipts show no names",
    quotes: "quoted messages cannot be read",
    members: "approvers are notified both in the group and in their own chat, because group members are unknown",
  },
  event: "messages are subscribed to (im.message.receive_v1)",
  noEvent:
    "the event im.message.receive_v1 is not added: the bot receives nothing. Console → Events & callbacks → Event configuration → Add events",
  noRecall:
    "the event im.message.recalled_v1 is not added: recalled messages still count. Console → Events & callbacks → Event configuration → Add events",
  callback: "clicks are subscribed to (card.action.trigger)",
  noCallback:
    "the callback card.action.trigger is not added: buttons show an error. Console → Events & callbacks → Callback configuration → Add callbacks",
  wrongMode: (what: "event" | "callback", wanted: "socket" | "webhook") =>
    `the ${what === "event" ? "event" : "callback"} configuration should be set to ${wanted === "socket" ? "“receive through persistent connection”" : "“send to developer's server” with your address"}. Console → Events & callbacks; events and callbacks are set separately`,
  byHand:
    "events and callbacks cannot be checked without the permission application:application:self_manage. Check them yourself: Console → Events & callbacks: event im.message.receive_v1, callback card.action.trigger, both through persistent connection (or your address), and a version published after the last change",
  connection: "the long connection opens",
  noConnection: (why: string) => `the long connection does not open: ${why}`,
  connectionSlow: "no reply in time; check network and proxy",
  webhookHint: (url: string) =>
    `the webhook is ${url}; enter its public address in the console, for events and for callbacks`,
  approvers: (count: number) => (count === 1 ? "1 approver" : `${count} approvers`),
  fine: "Nothing is missing.",
  problems: (count: number) => (count === 1 ? "1 thing is missing." : `${count} things are missing.`),
};

export type FeishuSetupTexts = typeof en;

const zh: FeishuSetupTexts = {
  wrong: "飞书没有设置好：",
  noAppId: `缺少应用的 App ID：请运行 \`${sage("feishu setup")}\`，或设置 FEISHU_APP_ID`,
  badAppId: (got) => `App ID 应为 cli_ 加 16 位十六进制数；现为“${got}”`,
  noSecret: `缺少应用的 App Secret：请运行 \`${sage("feishu setup")}\`，或设置 FEISHU_APP_SECRET`,
  badDomain: (got) =>
    `域名应为 feishu、lark，或形如 https://open.example.com 的地址（只有本机可用 http，主机名之后不能有内容）；现为“${got}”`,
  badMode: (got) => `FEISHU_MODE 应为 socket 或 webhook；现为“${got}”`,
  noEncryptKey: "没有 Encrypt Key 就不提供 webhook：请设置 FEISHU_ENCRYPT_KEY，或改用 socket 方式",
  noVerificationToken: "没有 Verification Token 就不提供 webhook：请设置 FEISHU_VERIFICATION_TOKEN，或改用 socket 方式",
  badUser: (variable, got) => `${variable} 应列出 open id（ou_…）；“${got}”不是`,
  nobody:
    "没有人可以使用机器人：请在 FEISHU_APPROVERS 或 FEISHU_ALLOWED_USERS 中写明人员（ou_…），或写在设置的 approvers 和 allowedUsers 中",
  noApprovers: "在飞书里没有人可以审批：只能在别处允许；请在 FEISHU_APPROVERS 中写明人员",
  anyone: "任何能给机器人发消息的人都可以交给它任务；只有审批人可以允许它请求的事",
  noFolder: (path) => `没有目录 ${path}`,
  noWorkspace: (chat, name) => `聊天 ${chat} 指定的工作区 ${name} 不在设置中`,
  sameApp: (id) => `两个机器人用了同一个 App ID ${id}`,
  settingsKept: (why) => `设置已改动但无法使用，人员和目录保持原样：${why}`,
  badPort: (where, got) => `${where} 应为端口号，0 到 65535；现为“${got}”`,

  usage: `\`${sage("feishu")}\` 有：setup（写入配置并试用）、doctor（说明还缺什么）和 audit（谁试过无权做的事）`,
  refusals: {
    wrongCard: "另一张卡片的按钮",
    notTalker: "无权使用机器人",
    notStopper: "无权停止任务",
    notYours: "无权回答请求",
  },
  nothingRefused: "没有人试过无权做的事。",
  needsTerminal: `\`${sage("feishu setup")}\` 需要有人在终端前操作。没有终端时，请设置 FEISHU_APP_ID、FEISHU_APP_SECRET 和 FEISHU_APPROVERS；全部变量见 docs/zh/feishu.md`,
  welcome: "在飞书或 Lark 里使用 Sage。机器人是你自己的应用，由平台或你自己创建；docs/zh/feishu.md 有逐步说明。",
  askDomain: (before) => `飞书还是 Lark？（feishu/lark，或自己平台的地址；直接回车为 ${before}）> `,
  askWay: (usual) => `1 扫码，由平台为你创建应用   2 使用你在后台创建好的应用   （直接回车为 ${usual}）> `,
  scan: (url) => `请用手机上的飞书或 Lark 扫码，或打开 ${url}\n并确认创建应用。正在等待（直接回车改为手动）…`,
  scanner: "管理员",
  scanned: "你是管理员，也是审批人。在聊天里用 /invite 和 /approver 添加别人。",
  notScanned: (why) => `没有这样创建应用（${why}）。请手动继续：`,
  askAppId: (before) => `App ID${before ? `（直接回车为 ${before}）` : ""} > `,
  askSecret: (kept) => `App Secret（不显示${kept ? "；直接回车保留原来的" : ""}）> `,
  askMode: (before) =>
    `事件怎样到达？ 1 由 Sage 建立长连接，不需要地址   2 发到你的 webhook   （直接回车为 ${before}）> `,
  badChoice: (text) => `请输入 1 或 2；现为“${text}”`,
  askEncryptKey: (kept) => `Encrypt Key（不显示${kept ? "；直接回车保留原来的" : ""}）> `,
  askToken: (kept) => `Verification Token（不显示${kept ? "；直接回车保留原来的" : ""}）> `,
  askApprovers: (before) =>
    `谁是审批人？open id（ou_…），用空格分开${before ? `；直接回车为 ${before}` : "；直接回车，给机器人发一条消息来找出你的"} > `,
  askTalkers: (before) =>
    `还有谁可以交给它任务？open id，或 anyone（任何人）${before ? `；直接回车为 ${before}` : "；直接回车为没有别人"} > `,
  pairing: (code) =>
    `Sage 已连上。现在请到后台（事件与回调）：事件和回调都选择“使用长连接接收”，添加事件 im.message.receive_v1、im.message.recalled_v1 和回调 card.action.trigger，并发布版本。然后在飞书里给机器人发送：\n\n    ${code}\n\n正在等待（直接回车跳过）…`,
  paired: (openId) => `收到了，来自 ${openId}：此人是审批人。`,
  trying: (domain) => `正在试用 ${domain} …`,
  works: (name) => `可以用：机器人叫 ${name}。`,
  fails: (why) => `没有成功：${why}`,
  keepAnyway: "仍然保存吗？(y/N) > ",
  keptIn: (place, path) => (place === "keychain" ? "密钥已保存到系统钥匙串。" : `密钥已保存到 ${path}，仅你可读。`),
  saved: (path) => `其余写在 ${path}。`,
  next: `接下来：\`${sage("feishu doctor")}\` 说明后台还缺什么，\`${sage("serve")}\` 启动机器人。`,
  nothing: "什么都没有改。",

  notConfigured: `飞书还没有设置：请运行 \`${sage("feishu setup")}\`，或设置 FEISHU_APP_ID 和 FEISHU_APP_SECRET`,
  credentials: (domain) => `${domain} 接受应用的 App ID 和 App Secret`,
  bot: (name, openId) => `机器人已启用，叫 ${name}（${openId}）`,
  botOff: "机器人能力没有启用，或含有它的版本没有发布。后台 → 添加应用能力 → 机器人，然后发布版本",
  unpublished: "还没有发布版本：在此之前后台的设置都不生效。后台 → 版本管理与发布 → 创建版本",
  published: "版本已发布",
  scopes: "Sage 需要的权限都已开通",
  scopesUnknown: (why) => `查不到权限（${why}）`,
  noScope: (scope, what) => `缺少权限 ${scope}：${what}。后台 → 权限管理，然后发布版本`,
  scopeFor: {
    p2p: "收不到发给机器人的单聊消息",
    group: "收不到群里 @ 机器人的消息",
    threads: "在群里每条消息都要 @ 机器人，在它自己的话题里也一样",
    send: "机器人不能发消息",
    update: "卡片不会显示已经回答",
    stream: "回复会一段一段出现，而不是流式显示",
    resource: "读不到文件和图片",
    names: "记录里没有人的姓名",
    quotes: "读不到用户所回复的同事消息",
    members: "不知道群里有谁，审批人会在群里和单聊里都收到请求",
  },
  event: "已订阅消息（im.message.receive_v1）",
  noEvent: "没有添加事件 im.message.receive_v1：机器人什么也听不到。后台 → 事件与回调 → 事件配置 → 添加事件",
  noRecall: "没有添加事件 im.message.recalled_v1：撤回的消息仍然算数。后台 → 事件与回调 → 事件配置 → 添加事件",
  callback: "已订阅点击（card.action.trigger）",
  noCallback: "没有添加回调 card.action.trigger：点按钮会报错。后台 → 事件与回调 → 回调配置 → 添加回调",
  wrongMode: (what, wanted) =>
    `${what === "event" ? "事件配置" : "回调配置"}应选择${wanted === "socket" ? "“使用长连接接收”" : "“发送至开发者服务器”并填写你的地址"}。后台 → 事件与回调；事件和回调要分别设置`,
  byHand:
    "没有权限 application:application:self_manage，查不到事件和回调是否设置好。请自己看：后台 → 事件与回调：事件 im.message.receive_v1，回调 card.action.trigger，两处都用长连接（或你的地址），并在最后一次修改之后发布版本",
  connection: "长连接可以建立",
  noConnection: (why) => `长连接建立不了：${why}`,
  connectionSlow: "没有及时应答，请检查网络和代理",
  webhookHint: (url) => `webhook 是 ${url}；请把它的公网地址填入后台，事件和回调各填一次`,
  approvers: (count) => `${count} 位审批人`,
  fine: "什么都不缺。",
  problems: (count) => `还缺 ${count} 样。`,
};

export const feishuSetupTexts = inBoth<FeishuSetupTexts>(en, zh);
