import type { NestedReasonArgs, Reason, Sentences } from "../../protocol/reasons/reason.ts";
import type { ModelReasonArgs, RequestFailure } from "../../protocol/reasons/model.ts";
import { durationText } from "../duration.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<ModelReasonArgs & NestedReasonArgs["model"]>;

const en: Table = {
  "request-failed": ({ kind, status, detail, silence }) => {
    const quiet = silence && `no data from ${silence.host} for ${silence.ms / 1000} s`;
    const told = [status, quiet ?? detail].filter((part) => part !== undefined && part !== "").join(": ");
    return `${failuresEn[kind]}${told && ` (${told})`}.`;
  },
  "server-rests": ({ failures, problem }, say) =>
    `${problem ? `${say(problem)} ` : ""}The server failed ${failures} times in a row; pausing requests to it.`,
  "server-answers-again": ({ model }) => `${model}: the server responds again.`,
  "tries-again": ({ problem, waitMs, attempt, of }, say) =>
    `${say(problem)} Retrying in ${wait(waitMs, "en")} (${attempt} of ${of}).`,
  "model-failed": ({ model, problem, again, waitMs, at }, say) => {
    const advice =
      waitMs === undefined
        ? adviceEn(problem, model, again)
        : `Try again in ${wait(waitMs, "en")}${at === undefined ? "" : `, after ${new Date(at).toLocaleString("en")}`}.`;
    return `${model}: ${say(problem)} ${advice}`;
  },
  "reply-unfit": ({ model, problem }, say) => `${model} did not return a reply: ${say(problem)}`,
  "fallback-goes-on": ({ problem, model }, say) => `${say(problem)} Continuing with ${model} for this turn.`,
  "fallback-failed": ({ problem, fallback }, say) => `${say(problem)} The fallback failed too: ${say(fallback)}`,
  "waits-for-limit": ({ model, requestsPerMinute, tokensPerMinute }) => {
    const limits = [
      ...(requestsPerMinute === undefined ? [] : [`${requestsPerMinute} requests`]),
      ...(tokensPerMinute === undefined ? [] : [`${tokensPerMinute} tokens`]),
    ];
    return `${model} is limited to ${limits.join(" and ")} per minute; waiting.`;
  },

  "makes-room": ({ tokens }) => `Compacting the conversation (about ${counted(tokens)} tokens).`,
  "not-summarised": ({ problem }, say) => `Could not summarise it (${say(problem)}); leaving out older parts instead.`,
  "empty-summary": () => "the model wrote nothing",
};

const zh: Table = {
  "request-failed": ({ kind, status, detail, silence }) => {
    const quiet = silence && `${silence.host} 已 ${silence.ms / 1000} 秒没有数据`;
    const told = [status, quiet ?? detail].filter((part) => part !== undefined && part !== "").join("：");
    return `${failuresZh[kind]}${told && `（${told}）`}。`;
  },
  "server-rests": ({ failures, problem }, say) =>
    `${problem ? say(problem) : ""}服务器已连续失败 ${failures} 次，暂时不再请求它。`,
  "server-answers-again": ({ model }) => `${model}：服务器恢复应答了。`,
  "tries-again": ({ problem, waitMs, attempt, of }, say) =>
    `${say(problem)}${wait(waitMs, "zh")}后重试（第 ${attempt} 次，共 ${of} 次）。`,
  "model-failed": ({ model, problem, again, waitMs, at }, say) => {
    const advice =
      waitMs === undefined
        ? adviceZh(problem, model, again)
        : `请在 ${wait(waitMs, "zh")}后再试${at === undefined ? "" : `（${new Date(at).toLocaleString("zh-CN")} 之后）`}。`;
    return `${model}：${say(problem)}${advice}`;
  },
  "reply-unfit": ({ model, problem }, say) => `${model} 返回的不是回复：${say(problem)}`,
  "fallback-goes-on": ({ problem, model }, say) => `${say(problem)}本轮改用 ${model}。`,
  "fallback-failed": ({ problem, fallback }, say) => `${say(problem)}备用模型也不行：${say(fallback)}`,
  "waits-for-limit": ({ model, requestsPerMinute, tokensPerMinute }) => {
    const limits = [
      ...(requestsPerMinute === undefined ? [] : [`${requestsPerMinute} 次请求`]),
      ...(tokensPerMinute === undefined ? [] : [`${tokensPerMinute} 个 token`]),
    ];
    return `${model} 每分钟限 ${limits.join("、")}，正在等下一个名额。`;
  },

  "makes-room": ({ tokens }) => `正在压缩对话（约 ${counted(tokens)} 个 token）。`,
  "not-summarised": ({ problem }, say) => `无法写出摘要（${say(problem)}），改为略去较早的内容。`,
  "empty-summary": () => "模型什么也没写",
};

export const modelReasons = { en, zh } satisfies Record<Lang, Table>;

const failuresEn: Record<RequestFailure, string> = {
  silent: "The server went silent",
  disconnected: "The connection was lost",
  unreachable: "The server could not be reached",
  insecure: "No secure connection could be made",
  "cut-off": "The reply was cut off",
  "not-sent": "The request could not be made",
  "key-refused": "The server refused the key",
  "proxy-refused": "The proxy requires a name and password",
  "access-refused": "The server refused access",
  "unknown-model": "The server does not know this model or address",
  "too-large": "The conversation is too large for the server",
  unpaid: "The account has no credit left",
  "rate-limited": "Rate limit reached",
  overloaded: "The server is overloaded",
  "server-failed": "The server failed",
  refused: "The server refused the request",
};

const failuresZh: Record<RequestFailure, string> = {
  silent: "服务器没有动静了",
  disconnected: "连接中断",
  unreachable: "连不上服务器",
  insecure: "无法建立安全连接",
  "cut-off": "回复中途断了",
  "not-sent": "请求发不出去",
  "key-refused": "服务器不接受这个密钥",
  "proxy-refused": "代理要求用户名和密码",
  "access-refused": "服务器拒绝访问",
  "unknown-model": "服务器不认识这个模型或地址",
  "too-large": "对话太长，服务器装不下",
  unpaid: "账户余额不足",
  "rate-limited": "已达服务器的用量限制",
  overloaded: "服务器过载",
  "server-failed": "服务器出错",
  refused: "服务器拒绝了请求",
};

function adviceEn(problem: Reason, model: string, again: boolean): string {
  switch (adviceFor(problem)) {
    case "proxy":
      return "Check the address in HTTPS_PROXY: http://name:password@host:port.";
    case "key":
      return "Check the API key, and that it may use this model.";
    case "name":
      return `Check the name of the model (--model ${providerOf(model)}/<name>) and the base URL.`;
    case "limit":
      return "Continue later, or raise the limits of the account.";
    case "credit":
      return "Add credit there and continue, or use another model.";
    case "secure":
      return "Check that the base URL begins with http:// or https:// as its server does, and that this machine trusts its certificate (NODE_EXTRA_CA_CERTS).";
    case "network":
      return "Check the network, the base URL and that the server is running, then continue.";
    case "size":
      return "Use a model with a larger window, or start a new session.";
    default:
      return again
        ? "Try again in a while."
        : "The same request will fail again: change what it names, or use another model.";
  }
}

function adviceZh(problem: Reason, model: string, again: boolean): string {
  switch (adviceFor(problem)) {
    case "proxy":
      return "请检查 HTTPS_PROXY 里的地址：http://name:password@host:port。";
    case "key":
      return "请检查 API 密钥，以及它能否使用这个模型。";
    case "name":
      return `请检查模型名（--model ${providerOf(model)}/<name>）和 base URL。`;
    case "limit":
      return "请稍后继续，或提高账户的限额。";
    case "credit":
      return "请充值后继续，或换一个模型。";
    case "secure":
      return "请检查 base URL 该以 http:// 还是 https:// 开头，以及这台机器是否信任服务器的证书（NODE_EXTRA_CA_CERTS）。";
    case "network":
      return "请检查网络、base URL，以及服务器是否在运行，然后继续。";
    case "size":
      return "请换用窗口更大的模型，或开始新的会话。";
    default:
      return again ? "请过一会儿再继续。" : "同样的请求还会失败：请改掉其中的问题，或换一个模型。";
  }
}

type Advice = "proxy" | "key" | "name" | "limit" | "credit" | "secure" | "network" | "size" | undefined;

function adviceFor({ code, args }: Reason): Advice {
  return code === "request-failed" ? advices[args.kind] : undefined;
}

const advices: Partial<Record<RequestFailure, Advice>> = {
  "proxy-refused": "proxy",
  "key-refused": "key",
  "access-refused": "key",
  "unknown-model": "name",
  "rate-limited": "limit",
  unpaid: "credit",
  insecure: "secure",
  silent: "network",
  disconnected: "network",
  unreachable: "network",
  "too-large": "size",
};

function providerOf(model: string): string {
  return model.split("/")[0] ?? model;
}

function counted(tokens: number): string {
  return Math.round(tokens).toLocaleString("en");
}

/** A wait in whole seconds, never fewer than it takes. */
function wait(ms: number, lang: Lang): string {
  return durationText(Math.ceil(ms / 1_000) * 1_000, lang);
}
