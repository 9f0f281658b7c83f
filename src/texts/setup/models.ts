import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

const en = {
  legend: "name · tokens in a prompt · dollars for a million tokens in and out · takes",
  unknown: "?",
  price: (input: number, output: number) => `$${input} / $${output}`,
  images: "pictures",
  files: "PDF",
  and: ", ",
  used: " (in use)",
  none: "No model has this in its name.",
  howToPrice: 'A "?" is not known here. Prices that are missing or not yours go into your settings, under "prices".',
  provider: (name: string, models: number) =>
    `provider ${name} answers: ${models === 1 ? "1 model" : `${models} models`}`,
  unlisted: (name: string, model: string) =>
    `${name} does not list ${model}, the model in use; \`${sage("models")}\` shows what it has`,
  package: (name: string, what: string) => `provider ${name} is ready (${what})`,
  fails: (name: string, why: string) => `provider ${name}: ${why}`,
  search: (engine: string) => `WebSearch by ${engine}`,
};

export type ModelsTexts = typeof en;

const zh: ModelsTexts = {
  legend: "名称 · 提示的 token 数 · 每百万 token 的美元价格（输入、输出） · 能接收",
  unknown: "？",
  price: (input, output) => `$${input} / $${output}`,
  images: "图片",
  files: "PDF",
  and: "、",
  used: "（正在使用）",
  none: "没有名称含此内容的模型。",
  howToPrice: "“？”表示这里不知道。缺少的价格，或与你的不同的价格，写在设置的“prices”里。",
  provider: (name, models) => `提供方 ${name} 有回应：${models} 个模型`,
  unlisted: (name, model) => `${name} 没有列出正在使用的模型 ${model}；可用 \`${sage("models")}\` 查看它有哪些`,
  package: (name, what) => `提供方 ${name} 可用（${what}）`,
  fails: (name, why) => `提供方 ${name}：${why}`,
  search: (engine) => `WebSearch 由 ${engine} 搜索`,
};

/** Texts about models and their providers, for `sage models` and `sage doctor`. */
export const modelsTexts = inBoth<ModelsTexts>(en, zh);
