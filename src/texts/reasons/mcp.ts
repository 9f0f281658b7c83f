import type { NestedReasonArgs, Sentences } from "../../protocol/reasons/reason.ts";
import type { FieldForm, McpReasonArgs } from "../../protocol/reasons/mcp.ts";
import { sage } from "../command.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<McpReasonArgs & NestedReasonArgs["mcp"]>;

const seconds = (ms: number) => Math.round(ms / 100) / 10;

const en: Table = {
  "server-form": () => 'a server should have either "command" or "url"',
  "server-kind": ({ kind }) => `servers of the type "${kind}" are not supported; use "stdio" or "http"`,

  "server-changed": ({ path }) => `${path} is not what you trusted; check it and run \`${sage("trust")}\``,
  "server-not-started": ({ problem }) => `it could not be started: ${problem}`,
  "server-late": ({ limitMs }) => `it did not answer within ${seconds(limitMs)} s`,
  "server-ended": ({ code, output }) => `it ended (${code})${output === "" ? "" : `: ${output}`}`,
  "server-unreachable": ({ problem }, say) => `it cannot be reached: ${say(problem)}`,
  "server-flooded": ({ limitMb }) => `it sent a message of more than ${limitMb} MB and was stopped`,
  "server-login": ({ server }) => `it wants you to log in: run \`${sage(`mcp login ${server}`)}\``,
  "server-given-up": ({ times, problem }, say) =>
    `it failed ${times} times in a row and is left alone for a while: ${say(problem)}`,
  "address-insecure": ({ url }) => `${url} is not https; only servers on this machine may use http`,
  "servers-awaited": ({ servers }) =>
    `waiting for the MCP ${servers.length === 1 ? "server" : "servers"} ${servers.join(", ")}`,
  "servers-failed": ({ server, problem }, say) => `the MCP server "${server}" is not available: ${say(problem)}`,

  elicits: ({ server, tool, message }) => `The MCP server "${server}" asks while it runs ${tool}: ${message}`,
  "elicitation-moot": ({ server }) => `the MCP server "${server}" no longer waits for it`,
  "elicitation-died": () => "the call that asked did not survive; its end is unknown",
  "elicitation-secret": ({ server, field }) =>
    `the MCP server "${server}" asked for what looks like a secret (${field}); it was declined for you`,
  "field-unfit": ({ question, expected }) => `the answer to "${question}" should be ${formEn(expected)}`,
  "field-missing": ({ question }) => `"${question}" must be answered`,
};

const zh: Table = {
  "server-form": () => "服务器要有“command”或“url”，二者取一",
  "server-kind": ({ kind }) => `不支持“${kind}”类型的服务器；请用“stdio”或“http”`,

  "server-changed": ({ path }) => `${path} 与你信任的不同；请查看后运行 \`${sage("trust")}\``,
  "server-not-started": ({ problem }) => `无法启动：${problem}`,
  "server-late": ({ limitMs }) => `${seconds(limitMs)} 秒内没有应答`,
  "server-ended": ({ code, output }) => `它已结束（${code}）${output === "" ? "" : `：${output}`}`,
  "server-unreachable": ({ problem }, say) => `连接不上：${say(problem)}`,
  "server-flooded": ({ limitMb }) => `它发来一条超过 ${limitMb} MB 的消息，已被停止`,
  "server-login": ({ server }) => `它要求登录：请运行 \`${sage(`mcp login ${server}`)}\``,
  "server-given-up": ({ times, problem }, say) => `它连续失败 ${times} 次，暂时不再尝试：${say(problem)}`,
  "address-insecure": ({ url }) => `${url} 不是 https；只有本机的服务器可以用 http`,
  "servers-awaited": ({ servers }) => `正在等待 MCP 服务器 ${servers.join("、")}`,
  "servers-failed": ({ server, problem }, say) => `MCP 服务器“${server}”不可用：${say(problem)}`,

  elicits: ({ server, tool, message }) => `MCP 服务器“${server}”在运行 ${tool} 时提问：${message}`,
  "elicitation-moot": ({ server }) => `MCP 服务器“${server}”不再等待回答`,
  "elicitation-died": () => "提问的调用没有活下来，它的结果未知",
  "elicitation-secret": ({ server, field }) => `MCP 服务器“${server}”索要的内容像是机密（${field}），已替你拒绝`,
  "field-unfit": ({ question, expected }) => `“${question}”的回答应是${formZh(expected)}`,
  "field-missing": ({ question }) => `“${question}”必须回答`,
};

export const mcpReasons = { en, zh } satisfies Record<Lang, Table>;

function formEn({ type, least, most, format }: FieldForm): string {
  const formats = {
    email: "an email address",
    uri: "an address (URL)",
    date: "a date such as 2026-03-31",
    "date-time": "a time such as 2026-03-31T09:00:00Z",
  };
  const kind = format ? formats[format] : { string: "a text", number: "a number", integer: "a whole number" }[type];
  const unit = type === "string" ? " characters" : "";
  const bounds = [
    least === undefined ? "" : ` of at least ${least}${unit}`,
    most === undefined ? "" : ` of at most ${most}${unit}`,
  ];
  return `${kind}${bounds.filter((bound) => bound !== "").join(" and")}`;
}

function formZh({ type, least, most, format }: FieldForm): string {
  const formats = {
    email: "邮箱地址",
    uri: "网址",
    date: "日期，如 2026-03-31",
    "date-time": "时间，如 2026-03-31T09:00:00Z",
  };
  const kind = format ? formats[format] : { string: "文字", number: "数", integer: "整数" }[type];
  const unit = type === "string" ? " 个字符" : "";
  const bounds = [least === undefined ? "" : `至少 ${least}${unit}`, most === undefined ? "" : `最多 ${most}${unit}`];
  const told = bounds.filter((bound) => bound !== "");
  return told.length === 0 ? kind : `${kind}（${told.join("，")}）`;
}
