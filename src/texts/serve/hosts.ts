import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

/** Texts of `sage --host` and `sage hosts`. */
const en = {
  none: `No hosts. On the other machine: \`sage devices add\`; here: \`${sage("hosts add '<link>' [name]")}\``,
  how: `expected \`${sage("hosts")}\`, \`${sage("hosts add '<link>' [name]")}\`, \`${sage("hosts add <address> [name] --code <code>")}\` or \`${sage("hosts remove <name>")}\``,
  noCode: (address: string) =>
    `a link or a code lets this machine in: run \`sage devices add\` on the other machine, then \`${sage(`hosts add ${address} --code <code>`)}\` here`,
  waiting: "Waiting for a yes on the host …",
  paired: (address: string, by: string, place: string) => `Paired with ${address} as ${by}; the key is in ${place}.`,
  goOn: (flag: string) => `Work there with: ${sage(flag)}`,
  nextTime: (flag: string) => `From now on: ${sage(flag)}`,
  places: { keychain: "the keychain", file: "a file that only you can read" },
  removed: (name: string) => `${name} is forgotten here, and this machine there.`,
  removedHere: (name: string) =>
    `${name} is forgotten here. It could not be reached: remove this machine there with \`sage devices remove\`.`,
  noKey: "no key",
  notWith: (flag: string) => `${flag} does not work with --host: leave it out, or run this on that machine`,
  whichFolder: (names: readonly string[]) => `name the folder of the host to work in, with --cwd: ${names.join(", ")}`,
  noFolders: 'the host names no folder to work in; name some there in "workspaces" of the settings',
  noSessions: "there is no session on this host yet",
  needsId: (lines: readonly string[]) => `name the session:\n${lines.map((line) => `  ${line}`).join("\n")}`,
};

const zh: typeof en = {
  none: `没有主机。在另一台机器上运行：\`sage devices add\`；在这里运行：\`${sage("hosts add '<链接>' [名称]")}\``,
  how: `应为 \`${sage("hosts")}\`、\`${sage("hosts add '<链接>' [名称]")}\`、\`${sage("hosts add <地址> [名称] --code <配对码>")}\` 或 \`${sage("hosts remove <名称>")}\``,
  noCode: (address) =>
    `需要链接或配对码：在另一台机器上运行 \`sage devices add\`，再在这里运行 \`${sage(`hosts add ${address} --code <配对码>`)}\``,
  waiting: "等待主机那边同意…",
  paired: (address, by, place) => `已与 ${address} 配对，身份为 ${by}；密钥保存在${place}。`,
  goOn: (flag) => `在那里工作：${sage(flag)}`,
  nextTime: (flag) => `以后只需：${sage(flag)}`,
  places: { keychain: "钥匙串", file: "只有你能读取的文件" },
  removed: (name) => `这里已忘记 ${name}，那里也已移除这台机器。`,
  removedHere: (name) => `这里已忘记 ${name}。连不上它：请在那里用 \`sage devices remove\` 移除这台机器。`,
  noKey: "没有密钥",
  notWith: (flag) => `${flag} 不能与 --host 一起使用：请去掉它，或在那台机器上运行`,
  whichFolder: (names) => `请用 --cwd 指定主机上的目录：${names.join("、")}`,
  noFolders: '主机没有可用的目录；请在那里的设置 "workspaces" 中指定',
  noSessions: "这台主机上还没有会话",
  needsId: (lines) => `请指定会话：\n${lines.map((line) => `  ${line}`).join("\n")}`,
};

export const hostsTexts = inBoth<typeof en>(en, zh);
