import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

const en = {
  watching: (n: number) => `${n === 0 ? "No open requests" : `${n} open`}. New requests appear here (Ctrl-C exits).`,
  ended: (id: string, how: string) => `${id}: ${how}`,
  gone: "no longer open",
  turnEnded: "Turn stopped.",
  damaged: "(damaged)",
  /** A way to answer all of them, once their list was seen. */
  allLike: (count: number, id: string, code: string) =>
    `Answer these ${count} together:  ${sage(`answer ${id} --all-like --seen ${code} --yes | --no`)}`,
  groupOf: (count: number, id: string) =>
    `${count} alike: ${sage(`answer ${id} --all-like --yes`)} shows and answers them together`,
  noneAlike: "no other open request is like this one, or it has to be answered by itself",
  notAgreed: (id: string, code: string) =>
    `nothing was answered; to answer this list without being asked:  ${sage(`answer ${id} --all-like --seen ${code} --yes`)}`,
  refuseAll: (count: number) => `Refuse all ${count}? (y/n)`,
  alsoDecided: (count: number, ids: string) =>
    count === 1 ? `The rule also decided ${ids}.` : `The rule also decided ${count} others: ${ids}`,
  how: (flag: string) => `See one with ${sage(`${flag}inbox <id>`)}, answer it with ${sage(`${flag}answer <id>`)}.`,
};

const zh: typeof en = {
  watching: (n) => `${n === 0 ? "没有待处理的请求" : `${n} 个待处理`}。新请求会显示在这里（Ctrl-C 退出）。`,
  ended: (id, how) => `${id}：${how}`,
  gone: "已不再待处理",
  turnEnded: "本轮已停止。",
  damaged: "（已损坏）",
  allLike: (count, id, code) =>
    `一起回答这 ${count} 个：  ${sage(`answer ${id} --all-like --seen ${code} --yes | --no`)}`,
  groupOf: (count, id) => `${count} 个同类：用 ${sage(`answer ${id} --all-like --yes`)} 一起查看并回答`,
  noneAlike: "没有其他同类的待处理请求，或者它必须单独回答",
  notAgreed: (id, code) =>
    `什么都没有回答；不经询问直接回答这一组：  ${sage(`answer ${id} --all-like --seen ${code} --yes`)}`,
  refuseAll: (count) => `全部拒绝（${count} 个）？(y/n)`,
  alsoDecided: (count, ids) => `该规则同时决定了另外 ${count} 个请求：${ids}`,
  how: (flag) => `用 ${sage(`${flag}inbox <编号>`)} 查看，用 ${sage(`${flag}answer <编号>`)} 回答。`,
};

export const inboxTexts = inBoth<typeof en>(en, zh);
