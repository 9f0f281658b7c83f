import { inBoth } from "../language.ts";

/** Fallback texts for people in Feishu. */
export type FeishuServeTexts = {
  clickReceived: string;
  clickFailed: string;
};

const en: FeishuServeTexts = {
  clickReceived: "Received. This takes a moment.",
  clickFailed: "Something went wrong. Please try again.",
};

const zh: FeishuServeTexts = {
  clickReceived: "已收到，请稍候。",
  clickFailed: "出错了，请再试一次。",
};

export const feishuServeTexts = inBoth<FeishuServeTexts>(en, zh);
