import { inBoth } from "../language.ts";

/** Fallback texts for people in Feishu. */
const en = {
  clickReceived: "Received. This takes a moment.",
  clickFailed: "Something went wrong. Please try again.",
};

const zh: typeof en = {
  clickReceived: "已收到，请稍候。",
  clickFailed: "出错了，请再试一次。",
};

export type FeishuServeTexts = typeof en;

export const feishuServeTexts = inBoth(en, zh);
