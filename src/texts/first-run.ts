import { sage } from "./command.ts";
import type { Lang } from "./language.ts";

const en = {
  welcome: "No model is set up yet.",
  now: "set one up now, it takes a minute",
  demo: "watch the demo: no key, no network (or Enter)",
  leave: "leave",
  noLetter: (said: string) => `"${said}" is none of them: type s, d or l.`,
  needsTerminal: `\`${sage("setup")}\` talks to a person at a terminal. Without one, set ANTHROPIC_API_KEY, OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own`,
  which: "Which model should Sage work with?",
  own: "a server of your own that speaks OpenAI's chat completions: Ollama, llama.cpp, vLLM, LM Studio, a company's gateway …",
  noChoice: (said: string, last: number) => `"${said}" is none of them: type a number from 1 to ${last}, or l.`,
  change: "Nothing is final: run this again, edit the settings file, or use --model.",
  fromEnvironment: (variable: string) =>
    `${variable} is set in your environment and is used; nothing needs to be kept.`,
  key: (provider: string) => `Key for ${provider} (not shown; Enter goes back) > `,
  optionalKey: "Key, if the server wants one (not shown; Enter for none) > ",
  badKey: "A key has letters, digits and signs, and no spaces; what was typed has something else in it.",
  address: (example: string) => `Its address, up to /v1 (Enter for ${example}) > `,
  badAddress: (got: string) => `An address starts with http:// or https://; got "${got}".`,
  asking: (address: string) => `Asking ${address} which models it has …`,
  models: "It has these:",
  more: (n: number) => `  … and ${n} more; type a name`,
  noModels: (why: string) => `It did not say which models it has (${why}).`,
  modelName: "Model (number or name) > ",
  trying: (model: string) => `Trying ${model} …`,
  works: (model: string) => `${model} answers.`,
  fails: (why: string) => `That did not work: ${why}`,
  again: "try again with other details (or Enter)",
  keep: "keep them all the same",
  keptInKeychain: "The key is in your system's keychain.",
  keptInFile: (path: string) => `There is no keychain here, so the key is in ${path}, which only you can read.`,
  saved: (model: string, path: string) => `${model} is the model from now on (${path}).`,
  start: `Start with:  ${sage("")}`.trimEnd(),
  nothing: `Nothing was changed. \`${sage("setup")}\` does this again.`,
};

export type FirstRunTexts = typeof en;

const zh: FirstRunTexts = {
  welcome: "还没有设置模型。",
  now: "现在设置，一分钟就好",
  demo: "观看演示：不需要密钥和网络（或直接回车）",
  leave: "离开",
  noLetter: (said) => `没有“${said}”这一项：请输入 s、d 或 l。`,
  needsTerminal: `\`${sage("setup")}\` 需要有人在终端前操作。没有终端时，请设置 ANTHROPIC_API_KEY、OPENAI_API_KEY，或为自己的服务器设置 OPENAI_BASE_URL`,
  which: "Sage 用哪个模型工作？",
  own: "你自己的服务器，支持 OpenAI 的 chat completions：Ollama、llama.cpp、vLLM、LM Studio、公司网关等",
  noChoice: (said, last) => `没有“${said}”这一项：请输入 1 到 ${last} 的编号，或 l。`,
  change: "以后都可以改：再运行一次、编辑设置文件，或使用 --model。",
  fromEnvironment: (variable) => `环境变量 ${variable} 已设置，直接使用；不需要保存任何东西。`,
  key: (provider) => `${provider} 的密钥（不显示；直接回车返回）> `,
  optionalKey: "密钥，如果服务器需要（不显示；没有就直接回车）> ",
  badKey: "密钥只有字母、数字和符号，没有空格；输入的内容里有别的字符。",
  address: (example) => `地址，到 /v1 为止（直接回车为 ${example}）> `,
  badAddress: (got) => `地址应以 http:// 或 https:// 开头；得到的是“${got}”。`,
  asking: (address) => `正在询问 ${address} 有哪些模型……`,
  models: "它有这些模型：",
  more: (n) => `  ……还有 ${n} 个；请输入名称`,
  noModels: (why) => `它没有说明有哪些模型（${why}）。`,
  modelName: "模型（编号或名称）> ",
  trying: (model) => `正在试用 ${model}……`,
  works: (model) => `${model} 有回应。`,
  fails: (why) => `没有成功：${why}`,
  again: "换一下再试（或直接回车）",
  keep: "仍然保存",
  keptInKeychain: "密钥已存入系统的钥匙串。",
  keptInFile: (path) => `这里没有钥匙串，密钥存在 ${path}，只有你能读取。`,
  saved: (model, path) => `从现在起使用 ${model}（${path}）。`,
  start: `开始使用：  ${sage("")}`.trimEnd(),
  nothing: `什么都没有改变。可以再次运行 \`${sage("setup")}\`。`,
};

export function firstRunTexts(lang: Lang): FirstRunTexts {
  return lang === "zh" ? zh : en;
}
