import { inBoth } from "../language.ts";

const number = (n: number) => n.toLocaleString("en");

const en = {
  place: (from: number, to: number, of: number) => `lines ${number(from)}–${number(to)} of ${number(of)}`,
  keys: "↑↓ Space b scroll · g G start, end · / search · n N next, previous · q close",
  notFound: (query: string) => `Not found: ${query} · / search again · q close`,
};

export type PagerTexts = typeof en;

const zh: PagerTexts = {
  place: (from, to, of) => `第 ${number(from)}–${number(to)} 行，共 ${number(of)} 行`,
  keys: "↑↓ 空格 b 滚动 · g G 开头、结尾 · / 搜索 · n N 下一个、上一个 · q 关闭",
  notFound: (query) => `没有找到：${query} · / 重新搜索 · q 关闭`,
};

export const pagerTexts = inBoth<PagerTexts>(en, zh);
