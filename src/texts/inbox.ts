import { sage } from "./command.ts";
import type { Lang } from "./language.ts";

const en = {
  watching: (n: number) => `${n === 0 ? "No open requests" : `${n} open`}. New requests appear here (Ctrl-C exits).`,
  ended: (id: string, how: string) => `${id}: ${how}`,
  gone: "no longer open",
  turnEnded: "Turn stopped.",
  damaged: "(damaged)",
  how: `See one with ${sage("inbox <id>")}, answer it with ${sage("answer <id>")}.`,
};

export type InboxTexts = typeof en;

const zh: InboxTexts = {
  watching: (n) => `${n === 0 ? "没有待处理的请求" : `${n} 个待处理`}。新请求会显示在这里（Ctrl-C 退出）。`,
  ended: (id, how) => `${id}：${how}`,
  gone: "已不再待处理",
  turnEnded: "本轮已停止。",
  damaged: "（已损坏）",
  how: `用 ${sage("inbox <编号>")} 查看，用 ${sage("answer <编号>")} 回答。`,
};

const tables = { en, zh } satisfies Record<Lang, InboxTexts>;

export function inboxTexts(lang: Lang): InboxTexts {
  return tables[lang];
}
