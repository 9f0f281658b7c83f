import type { NestedReasonArgs, Sentences } from "../../protocol/reasons/reason.ts";
import { sizeLabel } from "../../protocol/image.ts";
import type { UseReasonArgs } from "../../protocol/reasons/use.ts";
import { sage } from "../command.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<UseReasonArgs & NestedReasonArgs["use"]>;

const en: Table = {
  "session-missing": ({ session }) => `there is no session ${session}; \`${sage("sessions")}\` lists them`,
  "session-exists": ({ session }) => `there is a session ${session} already`,
  "session-id-unfit": ({ given }) =>
    `a session's id should be letters, digits, ".", "_" and "-" (at most 100); got ${JSON.stringify(given)}`,
  "session-runs": ({ session, by }) =>
    by === undefined
      ? `session ${session} is running; stop it first`
      : `session ${session} is run by ${by}; stop that first`,
  "session-folder-gone": ({ session, path }) =>
    `the folder of session ${session} is gone: ${path}. If it was moved, name its new place: \`${sage(`--resume ${session} --cwd <folder>`)}\``,
  "session-moved": ({ from, to }) => `The folder of this session was moved from ${from} to ${to}`,
  "session-waits": ({ session }) => `session ${session} waits for an answer; its requests end first`,
  "session-changed": ({ session }) => `something was written to session ${session} meanwhile; try again`,
  "nothing-said": ({ session }) => `nothing was said in session ${session} yet`,
  "turn-is-open": () => "a turn is open; compact the conversation once it has ended",
  "too-short-to-summarise": () => "The conversation is too short to compact.",
  "title-empty": () => "a title should have at least one letter",
  "fork-place-unfit": ({ given }) =>
    `--at expects a fact's number, or a turn or step such as t2 or t2/5; got "${given}"`,
  "process-unreachable": () => "the process that runs this session cannot be reached",

  "message-empty": () => "the message is empty",
  "message-not-text": ({ came }) => `a message should be a string; it is ${came}`,
  "inquiry-empty": () => "the inquiry is empty",
  "inquiry-too-long": ({ limit, length }) => `an inquiry has at most ${limit} characters; this one has ${length}`,
  "message-too-long": ({ limit, length }) =>
    `a message may have ${limit} characters, and this one has ${length}; put it into a file and name that`,
  "image-too-large": ({ name, bytes, limit }) =>
    `${name} is a picture of ${sizeLabel(bytes)}; pictures may have ${sizeLabel(limit)}`,
  "image-kind-unknown": ({ name }) => `${name} is no picture in PNG, JPEG, GIF or WebP format`,
  "image-not-kept": ({ name, problem }) => `the picture ${name} could not be saved: ${problem}`,
  "images-too-many": ({ limit, count }) => `a message may have ${limit} pictures, and this one has ${count}`,
  "command-unknown": ({ command }) => `there is no command and no skill ${command}`,
  "message-missing": () => "there is no such message",
  "message-read": () => "too late: the agent has read it",
  "message-withdrawn": ({ by }) => `${by} has already taken it back`,
  "messages-withdrawn": () => "the message was taken back before its turn began",
  "messages-wait": ({ limit }) => `${limit} messages are already waiting; wait for the agent, or interrupt it`,
  "request-missing": ({ request }) => `there is no request ${request}; \`${sage("inbox")}\` lists the open ones`,
  "request-ended": ({ outcome, by, surface, at }) =>
    `already ${outcome} by ${by} from ${surface}${at === undefined ? "" : ` at ${new Date(at).toISOString()}`}`,
  "subagent-refused": ({ times }) => `the person refused ${times} of its calls in a row; ask them how to continue`,

  "begun-by-other-version": ({ loop, now }) =>
    `this turn was begun by another version of Sage (loop ${loop}, this is ${now}) and continues in a new one`,
  "carried-request-missing": ({ request }) => `the turn continues with the request ${request}, and there is none`,
  "goes-on-after-mistake": ({ problem, waitMs, attempt, of }) => {
    const which = attempt < of ? `${attempt} of ${of}` : "for the last time";
    return `Something went wrong in Sage: ${problem}. Retrying in ${waitMs / 1_000} s (${which}).`;
  },

  "rule-not-there": ({ rule }) => `there is no rule "${rule}" to take back`,
  "nothing-to-undo": () => "no rule or mode was granted in this session that could be undone",
  "undo-by-hand": ({ rule }) => `the rule "${rule}" said more than its text; write it into its file again`,
  "rule-not-saved": ({ rule, path }) => `the rule "${rule}" was written to ${path} but is not there; it is not saved`,
  "rule-place-missing": ({ destination }) => `there is no settings file for "${destination}" here`,
  "in-file": ({ path, problem }, say) => `${path}: ${say(problem)}`,
  "file-unreadable": ({ path, problem }) => `${path} cannot be read: ${problem}`,
  "file-not-json": ({ path, problem, effect }) =>
    `${path} should be JSON: ${problem}${effect ? effectsEn[effect]() : ""}`,
  "file-unfit": ({ path, problem }, say) => `${path} is invalid:\n${say(problem)}`,
  "file-leads-out": ({ path }) => `${path} leads out of its folder; settings must not be links to elsewhere`,
  "file-not-regular": ({ path }) => `${path} should be a file, and is a directory, a pipe or a device`,
  "policy-unsafe": ({ path, policy }) =>
    `the policy ${policy} cannot be used: ${path} has to belong to root, be no link, and be writable by nobody else`,
  "file-too-large": ({ path, limitMb }) => `${path} is larger than ${limitMb} MB; settings are short`,
  "file-unusable": ({ path, problem }) => `${path} cannot be used (${problem}); move it away, or check its permissions`,
  "file-busy": ({ path, problem }) => `${path} could not be locked (${problem}); try again`,
  "file-left-out": ({ path, problem }, say) => `${path} is left out: ${say(problem)}`,
  "link-leaves": ({ folder }) => `it is a link that leaves ${folder}`,
  "link-to": ({ name }) => `it is a link to ${name}`,
  "rule-against-reading": () => "a rule is against reading it",
  "not-regular": () => "it is not a regular file",
  "folder-too-wide": ({ folder }) =>
    `${folder} holds more than one project and is never trusted as a whole; work in a folder below it`,
  "subagent-name-unfit": ({ given }) =>
    `a subagent's name should be letters, digits, - and _ (at most 64); got ${JSON.stringify(given)}`,

  "fallback-is-first": ({ model }) => `the fallback should be another model; ${model} is the first one too`,
  "provider-missing": ({ model, expected, variables }) =>
    `a model "${model}" needs its provider: expected ${either(expected)}, or one of ${variables.join(", ")} in the environment`,
  "provider-unknown": ({ provider, expected }) =>
    `a model should be ${either(expected)}; "${provider}" is none of these providers`,
  "model-unknown": ({ model, provider }) => `${provider} has no model ${model}; the model stays as it was`,
  "model-nameless": ({ provider, expected }) => `a model should be ${either(expected)}; "${provider}/" has no name`,
  "address-unfit": ({ provider, address }) =>
    `the base URL of ${provider} should start with http:// or https://; it is "${address}"`,
  "provider-package-missing": ({ package: name, folder }) =>
    `the package ${name} is not installed; run \`npm install --prefix ${folder} ${name}\``,
  "provider-package-broken": ({ package: name, problem }) => `the package ${name} cannot be loaded: ${problem}`,
  "provider-package-unfit": ({ package: name, version }) =>
    version === undefined
      ? `${name} is no provider package of the AI SDK`
      : `${name} speaks version ${version} of the AI SDK's interface and Sage version v4; install another version of the package`,
  "key-missing": ({ model, variable }) =>
    `${model} needs a key: ${variable} is not set (a server of your own needs none: set its base URL)`,
  "proxy-unfit": ({ variable, scheme }) =>
    `${variable} should be the address of a proxy that starts with http:// or https://${scheme === undefined ? "" : `; it starts with ${scheme}//`}`,
  "proxy-needs-node": ({ version }) => `a proxy is set, and Node ${version} knows no proxies; use 24.5 or newer`,
};

const zh: Table = {
  "session-missing": ({ session }) => `没有会话 ${session}；\`${sage("sessions")}\` 列出所有会话`,
  "session-exists": ({ session }) => `已经有会话 ${session}`,
  "session-id-unfit": ({ given }) =>
    `会话的 id 应由字母、数字、“.”、“_”和“-”组成（最多 100 个字符），收到的是 ${JSON.stringify(given)}`,
  "session-runs": ({ session, by }) =>
    by === undefined ? `会话 ${session} 正在运行，请先停止它` : `会话 ${session} 正由 ${by} 运行，请先停止它`,
  "session-folder-gone": ({ session, path }) =>
    `会话 ${session} 的目录不见了：${path}。如果它被移动过，请写出新位置：\`${sage(`--resume ${session} --cwd <目录>`)}\``,
  "session-moved": ({ from, to }) => `本会话的目录已从 ${from} 移到 ${to}`,
  "session-waits": ({ session }) => `会话 ${session} 还在等回答，要先结束它的请求`,
  "session-changed": ({ session }) => `会话 ${session} 其间有新的记录，请再试一次`,
  "nothing-said": ({ session }) => `会话 ${session} 里还没有人说过话`,
  "turn-is-open": () => "本轮还没有结束；结束之后才能手动压缩",
  "too-short-to-summarise": () => "内容太少，不值得写摘要。",
  "title-empty": () => "标题至少要有一个字",
  "fork-place-unfit": ({ given }) => `--at 应是事实的编号，或者轮次、步骤（如 t2、t2/5），收到的是“${given}”`,
  "process-unreachable": () => "联系不上运行这个会话的进程",

  "message-empty": () => "消息是空的，没有要说的话",
  "message-not-text": ({ came }) => `消息应是字符串，现在是 ${came}`,
  "inquiry-empty": () => "追问是空的",
  "inquiry-too-long": ({ limit, length }) => `追问最长 ${limit} 个字符，这一条有 ${length} 个`,
  "message-too-long": ({ limit, length }) =>
    `一条消息最多 ${limit} 个字符，这条有 ${length} 个；请把内容放进文件，再说出文件名`,
  "image-too-large": ({ name, bytes, limit }) => `图片 ${name} 有 ${sizeLabel(bytes)}，上限是 ${sizeLabel(limit)}`,
  "image-kind-unknown": ({ name }) => `${name} 不是 PNG、JPEG、GIF 或 WebP 格式的图片`,
  "image-not-kept": ({ name, problem }) => `图片 ${name} 无法保存：${problem}`,
  "images-too-many": ({ limit, count }) => `一条消息最多 ${limit} 张图片，这条有 ${count} 张`,
  "command-unknown": ({ command }) => `没有 ${command} 这个命令或技能`,
  "message-missing": () => "没有这条消息",
  "message-read": () => "来不及了：智能体已经读过这条消息",
  "message-withdrawn": ({ by }) => `${by} 已经撤回了这条消息`,
  "messages-withdrawn": () => "消息在本轮开始之前已撤回",
  "messages-wait": ({ limit }) => `已有 ${limit} 条消息等着读；请等一等智能体，或中断它`,
  "request-missing": ({ request }) => `没有请求 ${request}；\`${sage("inbox")}\` 列出待处理的请求`,
  "request-ended": ({ outcome, by, surface, at }) =>
    `这个请求已${outcomesZh[outcome]}（${[by, surface, ...(at === undefined ? [] : [new Date(at).toISOString()])].join("，")}）`,
  "subagent-refused": ({ times }) => `它的调用连续 ${times} 次被拒绝；请问人接下来怎么做`,

  "begun-by-other-version": ({ loop, now }) =>
    `本轮由另一个版本的 Sage 开始（循环 ${loop}，现在是 ${now}），在新的一轮里继续`,
  "carried-request-missing": ({ request }) => `本轮要接着请求 ${request} 继续，但找不到它`,
  "goes-on-after-mistake": ({ problem, waitMs, attempt, of }) => {
    const which = attempt < of ? `第 ${attempt} 次，共 ${of} 次` : "最后一次";
    return `Sage 内部出错：${problem}。${waitMs / 1_000} 秒后继续（${which}）。`;
  },

  "rule-not-there": ({ rule }) => `没有规则“${rule}”可以收回`,
  "nothing-to-undo": () => "本会话没有可以撤消的规则或模式",
  "undo-by-hand": ({ rule }) => `规则“${rule}”不只有这些文字，请自己把它写回文件`,
  "rule-not-saved": ({ rule, path }) => `规则“${rule}”写进了 ${path}，但那里读不到它；没有保存成功`,
  "rule-place-missing": ({ destination }) => `这里没有“${destination}”的设置文件`,
  "in-file": ({ path, problem }, say) => `${path}：${say(problem)}`,
  "file-unreadable": ({ path, problem }) => `读不了 ${path}：${problem}`,
  "file-not-json": ({ path, problem, effect }) => `${path} 应是 JSON：${problem}${effect ? effectsZh[effect]() : ""}`,
  "file-unfit": ({ path, problem }, say) => `${path} 的内容不合要求：\n${say(problem)}`,
  "file-leads-out": ({ path }) => `${path} 指向它所在的目录之外；设置文件不能是指向别处的链接`,
  "file-not-regular": ({ path }) => `${path} 应是文件，却是目录、管道或设备`,
  "policy-unsafe": ({ path, policy }) =>
    `${policy} 中的策略不能采用：${path} 必须属于 root，不能是链接，也不能让别人写入`,
  "file-too-large": ({ path, limitMb }) => `${path} 超过 ${limitMb} MB；设置不会这么长`,
  "file-unusable": ({ path, problem }) => `${path} 无法使用（${problem}）；请把它移走，或检查它的权限`,
  "file-busy": ({ path, problem }) => `锁不住 ${path}（${problem}）；请再试一次`,
  "file-left-out": ({ path, problem }, say) => `没有采用 ${path}：${say(problem)}`,
  "link-leaves": ({ folder }) => `它是指向 ${folder} 之外的链接`,
  "link-to": ({ name }) => `它是指向 ${name} 的链接`,
  "rule-against-reading": () => "有规则不许读它",
  "not-regular": () => "它不是普通文件",
  "folder-too-wide": ({ folder }) => `${folder} 里不止一个项目，不能整个信任；请在它下面的某个目录里工作`,
  "subagent-name-unfit": ({ given }) =>
    `子智能体的名字应由字母、数字、- 和 _ 组成（最多 64 个字符），收到的是 ${JSON.stringify(given)}`,

  "fallback-is-first": ({ model }) => `备用模型应是另一个模型；${model} 已是首选`,
  "provider-missing": ({ model, expected, variables }) =>
    `模型“${model}”要写明提供方：${expected.join("、")}，或者在环境变量里设置 ${variables.join("、")} 之一`,
  "provider-unknown": ({ provider, expected }) => `模型应写成 ${expected.join("、")} 之一；没有“${provider}”这个提供方`,
  "model-unknown": ({ model, provider }) => `${provider} 没有模型 ${model}；模型保持不变`,
  "model-nameless": ({ provider, expected }) => `模型应写成 ${expected.join("、")} 之一；“${provider}/”后面没有名字`,
  "address-unfit": ({ provider, address }) =>
    `${provider} 的 base URL 应以 http:// 或 https:// 开头，现在是“${address}”`,
  "provider-package-missing": ({ package: name, folder }) =>
    `没有安装 ${name}；请运行 \`npm install --prefix ${folder} ${name}\``,
  "provider-package-broken": ({ package: name, problem }) => `无法加载 ${name}：${problem}`,
  "provider-package-unfit": ({ package: name, version }) =>
    version === undefined
      ? `${name} 不是 AI SDK 的提供方包`
      : `${name} 用的是 AI SDK 接口的 ${version} 版，Sage 用 v4；请安装该包的另一个版本`,
  "key-missing": ({ model, variable }) =>
    `${model} 需要密钥：没有设置 ${variable}（自己的服务器不需要密钥：请设置它的 base URL）`,
  "proxy-unfit": ({ variable, scheme }) =>
    `${variable} 应是以 http:// 或 https:// 开头的代理地址${scheme === undefined ? "" : `，现在以 ${scheme}// 开头`}`,
  "proxy-needs-node": ({ version }) => `设置了代理，而 Node ${version} 不支持代理；请用 24.5 或更新的版本`,
};

export const useReasons = { en, zh } satisfies Record<Lang, Table>;

const effectsEn = {
  "rule-not-saved": () => "; the rule is not saved",
  "set-up-again": () => `; \`${sage("setup")}\` writes it anew once it is gone`,
};

const effectsZh = {
  "rule-not-saved": () => "；规则没有保存",
  "set-up-again": () => `；删掉它之后，\`${sage("setup")}\` 会重新写一份`,
};

const outcomesZh: Record<UseReasonArgs["request-ended"]["outcome"], string> = {
  answered: "回答",
  partial: "部分回答",
  declined: "被拒绝",
  cancelled: "被取消",
  superseded: "作废",
  timed_out: "超时",
  no_surface: "因无人可问而结束",
};

function either(names: readonly string[]): string {
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
