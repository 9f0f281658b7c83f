import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

const en = {
  welcome: "No model is set up.",
  now: "set one up now",
  demo: "run the demo, no key or network needed (Enter)",
  leave: "quit",
  noLetter: (said: string) => `Unknown choice "${said}": type s, d or q.`,
  needsTerminal: `\`${sage("setup")}\` needs a terminal. Without one, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or OPENAI_BASE_URL for your own server`,
  which: "Which model should Sage use?",
  own: "an OpenAI-compatible server: Ollama, llama.cpp, vLLM, LM Studio, a gateway",
  noChoice: (said: string, last: number) =>
    said === ""
      ? `Type a number from 1 to ${last}, or q.`
      : `Unknown choice "${said}": type a number from 1 to ${last}, or q.`,
  change: "You can change this later: run setup again, edit the settings file, or use --model.",
  fromEnvironment: (variable: string) => `Using ${variable} from your environment; no key is saved.`,
  key: (provider: string) => `API key for ${provider} (hidden; Enter to go back) > `,
  optionalKey: "API key, if the server needs one (hidden; Enter for none) > ",
  badKey: "Invalid key: it contains spaces or unprintable characters.",
  address: (example: string) => `Server address, up to /v1 (Enter for ${example}) > `,
  badAddress: (got: string) => `Invalid address "${got}": it must start with http:// or https://.`,
  asking: (address: string) => `Fetching models from ${address}…`,
  models: "Available models:",
  more: (n: number) => `  … and ${n} more; type a name`,
  noModels: (why: string) => `Could not list models (${why}).`,
  modelName: "Model (number or name) > ",
  onlyModel: (name: string) => `Model (number or name; Enter for ${name}) > `,
  trying: (model: string) => `Testing ${model}…`,
  works: (model: string) => `${model} works.`,
  fails: (why: string) => `Failed: ${why}`,
  again: "try again (Enter)",
  keep: "save anyway",
  keptInKeychain: "Key saved to your system keychain.",
  keptInFile: (path: string) => `No keychain available; key saved to ${path}, readable only by you.`,
  saved: (model: string, path: string) => `Model set to ${model} (${path}).`,
  start: `Start with:  ${sage("")}`.trimEnd(),
  nothing: `Nothing changed. Run \`${sage("setup")}\` to try again.`,
};

export type FirstRunTexts = typeof en;

const zh: FirstRunTexts = {
  welcome: "尚未设置模型。",
  now: "现在设置",
  demo: "运行演示，不需要密钥和网络（回车）",
  leave: "退出",
  noLetter: (said) => `未知选项“${said}”：请输入 s、d 或 q。`,
  needsTerminal: `\`${sage("setup")}\` 需要终端。没有终端时，请设置 ANTHROPIC_API_KEY、OPENAI_API_KEY 或 GEMINI_API_KEY，或用 OPENAI_BASE_URL 指向自己的服务器`,
  which: "Sage 使用哪个模型？",
  own: "兼容 OpenAI 的服务器：Ollama、llama.cpp、vLLM、LM Studio、网关等",
  noChoice: (said, last) => `${said === "" ? "" : `未知选项“${said}”：`}请输入 1 到 ${last} 的编号，或 q。`,
  change: "以后可以更改：再次运行 setup、编辑设置文件，或使用 --model。",
  fromEnvironment: (variable) => `使用环境变量 ${variable}；不保存密钥。`,
  key: (provider) => `${provider} 的 API 密钥（不显示；回车返回）> `,
  optionalKey: "API 密钥，如果服务器需要（不显示；没有则回车）> ",
  badKey: "密钥无效：含有空格或不可打印的字符。",
  address: (example) => `服务器地址，到 /v1 为止（回车为 ${example}）> `,
  badAddress: (got) => `地址“${got}”无效：应以 http:// 或 https:// 开头。`,
  asking: (address) => `正在从 ${address} 获取模型列表…`,
  models: "可用的模型：",
  more: (n) => `  … 另有 ${n} 个；请输入名称`,
  noModels: (why) => `无法列出模型（${why}）。`,
  modelName: "模型（编号或名称）> ",
  onlyModel: (name) => `模型（编号或名称；回车为 ${name}）> `,
  trying: (model) => `正在测试 ${model}…`,
  works: (model) => `${model} 可用。`,
  fails: (why) => `失败：${why}`,
  again: "重试（回车）",
  keep: "仍然保存",
  keptInKeychain: "密钥已保存到系统钥匙串。",
  keptInFile: (path) => `没有可用的钥匙串；密钥已保存到 ${path}，仅你可读。`,
  saved: (model, path) => `模型已设为 ${model}（${path}）。`,
  start: `开始使用：  ${sage("")}`.trimEnd(),
  nothing: `没有改动。可再次运行 \`${sage("setup")}\`。`,
};

export const firstRunTexts = inBoth<FirstRunTexts>(en, zh);
