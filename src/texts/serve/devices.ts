import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

/** Texts of `sage devices`. */
const en = {
  none: `no device is known yet; let one in with \`${sage("devices add")}\``,
  head: ["device", "name", "person", "since", "last seen", "from"],
  nobody: "nobody",
  withPasskey: (name: string) => `${name} (passkey)`,
  notServed: `the page is not served here; start it with \`${sage("serve")}\` first. The demo of \`${sage("serve")}\` invites devices on its own page alone`,
  onlyHere: (origin: string) =>
    `This link works on this machine alone (${origin}). For a phone, name an https address in serve.web.origins: see docs/web.md.`,
  scan: (minutes: number) =>
    `Scan this code, or open the link, on the new device (it works once, for ${minutes} minutes):`,
  code: (code: string, origin: string, minutes: number) =>
    `Without a camera: open ${origin} and type ${code} (for ${minutes} minutes)`,
  waiting: "Waiting for the device …",
  admit: (name: string, from: string) => `Let “${name}” in, which comes from ${from}? (y/N) `,
  admitted: (name: string) => `${name} is let in`,
  turnedAway: (name: string) => `${name} was turned away`,
  gone: (name: string) => `${name} has gone meanwhile; begin again`,
  late: "nobody came in time",
  terminalOnly: "letting a device in takes a person at a terminal",
  unknownPerson: (name: string, known: readonly string[]) =>
    `"people" of the settings has nobody called "${name}"${known.length > 0 ? `; there are: ${known.join(", ")}` : ""}`,
  unknown: (id: string) => `there is no device ${id}; list them with \`${sage("devices")}\``,
  removed: (name: string) => `removed: ${name}; its connections end now`,
  usage: `try \`${sage("devices")}\`, \`${sage("devices add [name] [--person <name>]")}\`, \`${sage("devices remove <device>")}\` or \`${sage("devices remove --all")}\``,
};

export type DeviceTexts = typeof en;

const zh: DeviceTexts = {
  none: `还没有设备；用 \`${sage("devices add")}\` 让设备加入`,
  head: ["设备", "名称", "人员", "加入", "最近使用", "来自"],
  nobody: "无人",
  withPasskey: (name) => `${name}（通行密钥）`,
  notServed: `这里没有提供页面；请先运行 \`${sage("serve")}\`。演示只能在它自己的页面上添加设备`,
  onlyHere: (origin) =>
    `这个链接只在本机有效（${origin}）。要用手机，请在 serve.web.origins 中写 https 地址：见 docs/zh/web.md。`,
  scan: (minutes) => `在新设备上扫描二维码或打开链接（只能用一次，${minutes} 分钟内有效）：`,
  code: (code, origin, minutes) => `没有摄像头：打开 ${origin}，输入 ${code}（${minutes} 分钟内有效）`,
  waiting: "正在等待设备…",
  admit: (name, from) => `让来自 ${from} 的“${name}”加入吗？(y/N) `,
  admitted: (name) => `${name} 已加入`,
  turnedAway: (name) => `已拒绝 ${name}`,
  gone: (name) => `${name} 已经离开；请重新开始`,
  late: "没有设备及时到来",
  terminalOnly: "让设备加入，须有人在终端前确认",
  unknownPerson: (name, known) =>
    `设置的 "people" 中没有“${name}”${known.length > 0 ? `；现有：${known.join("、")}` : ""}`,
  unknown: (id) => `没有设备 ${id}；可用 \`${sage("devices")}\` 列出`,
  removed: (name) => `已移除：${name}；它的连接随即结束`,
  usage: `可用 \`${sage("devices")}\`、\`${sage("devices add [名称] [--person <名字>]")}\`、\`${sage("devices remove <设备>")}\` 或 \`${sage("devices remove --all")}\``,
};

export const deviceTexts = inBoth<DeviceTexts>(en, zh);
