import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

const en = {
  usage: `usage: ${sage("mcp list")} | add <name> <command or url> … | remove <name> | test [name] | login <name> | import [file]`,
  addHow: `${sage("mcp add")} <name> [--env NAME=value] [--header "Name: value"] [--to user|project] <url | command …>; put -- before a command with flags`,
  removeHow: `${sage("mcp remove")} <name> [--to user|project]`,
  loginHow: `${sage("mcp login")} <name>`,
  none: `No MCP servers. Add one with \`${sage("mcp add")}\`.`,
  untrusted: `ignored: not trusted, see \`${sage("trust")}\``,
  added: (name: string, file: string) => `Saved to ${file}: ${name}`,
  removed: (name: string, file: string) => `Removed from ${file}: ${name}`,
  works: (name: string, tools: number, prompts: number, ms: number) =>
    `${name}: ${tools === 1 ? "1 tool" : `${tools} tools`}, ${prompts === 1 ? "1 prompt" : `${prompts} prompts`} (${ms} ms)`,
  fails: (name: string, problem: string) => `${name}: ${problem}`,
  notHttp: (name: string) => `${name} is a command on this machine; there is nothing to log in to`,
  open: (name: string) => `Open this address in a browser to log in to ${name}:`,
  loggedIn: (name: string) => `Logged in to ${name}. The tokens are kept with your keys.`,
  foreign: "Claude Code's servers",
  nothingToImport: "No servers to import.",
  wouldImport: (name: string, from: string) => `${name}, from ${from}`,
  skipped: (name: string) => `${name} is left out: there is a server of this name already`,
  importAsk: "Import these into your settings? (y/n) ",
  notImported: "Nothing was imported.",
};

const zh: typeof en = {
  usage: `用法：${sage("mcp list")} | add <名字> <命令或网址> … | remove <名字> | test [名字] | login <名字> | import [文件]`,
  addHow: `${sage("mcp add")} <名字> [--env 变量=值] [--header "名: 值"] [--to user|project] <网址 | 命令 …>；命令带选项时在前面写 --`,
  removeHow: `${sage("mcp remove")} <名字> [--to user|project]`,
  loginHow: `${sage("mcp login")} <名字>`,
  none: `没有 MCP 服务器。用 \`${sage("mcp add")}\` 添加。`,
  untrusted: `已忽略：尚未受信任，见 \`${sage("trust")}\``,
  added: (name, file) => `已保存到 ${file}：${name}`,
  removed: (name, file) => `已从 ${file} 删除：${name}`,
  works: (name, tools, prompts, ms) => `${name}：${tools} 个工具，${prompts} 个提示（${ms} 毫秒）`,
  fails: (name, problem) => `${name}：${problem}`,
  notHttp: (name) => `${name} 是本机的命令，不需要登录`,
  open: (name) => `在浏览器中打开以下地址，登录 ${name}：`,
  loggedIn: (name) => `已登录 ${name}。令牌与你的密钥保存在一起。`,
  foreign: "Claude Code 的服务器",
  nothingToImport: "没有可导入的服务器。",
  wouldImport: (name, from) => `${name}，来自 ${from}`,
  skipped: (name) => `没有导入 ${name}：已有同名的服务器`,
  importAsk: "把它们导入你的设置？(y/n) ",
  notImported: "没有导入任何内容。",
};

export const mcpTexts = inBoth<typeof en>(en, zh);
