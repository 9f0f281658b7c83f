import type { Lang } from "./language.ts";

const en = {
  watching: (n: number) =>
    `${n === 0 ? "Nobody is waiting for you yet" : `${n} open`}; new requests appear here (Ctrl-C leaves)`,
  ended: (id: string, how: string) => `${id}: ${how}`,
  gone: "not open any more",
  turnEnded: "The turn is stopped.",
};

export type InboxTexts = typeof en;

const zh: InboxTexts = {
  watching: (n) => `${n === 0 ? "还没有人在等你" : `${n} 个未决`}；新的请求会出现在这里（Ctrl-C 离开）`,
  ended: (id, how) => `${id}：${how}`,
  gone: "已不再等待",
  turnEnded: "这一轮已停止。",
};

const tables = { en, zh } satisfies Record<Lang, InboxTexts>;

export function inboxTexts(lang: Lang): InboxTexts {
  return tables[lang];
}
