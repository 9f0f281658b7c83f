import { sage } from "./command.ts";
import type { Lang } from "./language.ts";

const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;
const sessions = (n: number) => `${n} ${n === 1 ? "session" : "sessions"}`;

const en = {
  usage: `\`${sage("sessions")}\` lists; with a word it is one of rename <id> <title>, fork <id> [--at …], delete <id>… and gc`,
  nothingFound: (text: string) => `No session says “${text}”.`,
  renamed: (id: string, title: string) => `${id} is called “${title}” now.`,
  noTitle: `say what it should be called: ${sage("sessions rename <id> <title>")}`,
  which: (action: string) =>
    `say which session: ${sage(`sessions ${action} <id>`)} (\`${sage("sessions")}\` lists them)`,
  forked: (id: string, from: string) => `${id} begins where ${from} was. Requests and rules of ${from} are not in it.`,
  goOn: (id: string) => `Go on with:  ${sage(`--resume ${id}`)}`,
  deleteWhat: (lines: readonly string[]) =>
    `These go for good, with everything that was said in them:\n${lines.join("\n")}`,
  deleteAsk: "Delete? (y/n) ",
  deleteHow: "nothing was deleted; --yes deletes without asking",
  deleted: (n: number) => `${sessions(n)} deleted. Who allowed what in them stays on record (\`${sage("why <id>")}\`).`,
  cancelled: (n: number) => `${n} open ${n === 1 ? "request was" : "requests were"} cancelled.`,
  retained: (n: number) =>
    `${sessions(n)} older than your settings keep ${n === 1 ? "was" : "were"} deleted ("retention")`,
  keptOpen: (ids: readonly string[]) => `as old, and kept because a turn is open: ${ids.join(", ")}`,
  forgotten: (n: number) => `receipts of ${n} deleted ${n === 1 ? "session" : "sessions"} were dropped ("retention")`,
  empty: (n: number) => `${sessions(n)} in which nothing was said: removed`,
  output: (files: number, bytes: number) =>
    `${files} output ${files === 1 ? "file" : "files"} that no session names (${megabytes(bytes)}): removed`,
  journal: (before: number, after: number) => `journal: ${megabytes(before)} → ${megabytes(after)}`,
  busy: "the journal was not made smaller: somebody is using it",
  nothingToRemove: "no session is empty, and no output is without a session",
  dryRun: "(--dry-run: nothing was changed)",
};

export type SessionTexts = typeof en;

const zh: SessionTexts = {
  usage: `\`${sage("sessions")}\` 列出会话；后面可跟 rename <编号> <标题>、fork <编号> [--at …]、delete <编号>… 或 gc`,
  nothingFound: (text) => `没有会话提到“${text}”。`,
  renamed: (id, title) => `${id} 现在叫“${title}”。`,
  noTitle: `请给出标题：${sage("sessions rename <编号> <标题>")}`,
  which: (action) => `请指明会话：${sage(`sessions ${action} <编号>`)}（\`${sage("sessions")}\` 列出它们）`,
  forked: (id, from) => `${id} 从 ${from} 当时之处开始。${from} 的请求和规则不在其中。`,
  goOn: (id) => `继续：  ${sage(`--resume ${id}`)}`,
  deleteWhat: (lines) => `以下会话及其全部内容将被永久删除：\n${lines.join("\n")}`,
  deleteAsk: "删除吗？(y/n) ",
  deleteHow: "什么都没有删除；--yes 不询问直接删除",
  deleted: (n) => `已删除 ${n} 个会话。其中谁允许了什么仍有记录（\`${sage("why <编号>")}\`）。`,
  cancelled: (n) => `取消了 ${n} 个未决请求。`,
  retained: (n) => `按设置（“retention”）删除了 ${n} 个过期会话`,
  keptOpen: (ids) => `同样过期，但有未完成的一轮而保留：${ids.join("、")}`,
  forgotten: (n) => `按设置（“retention”）清除了 ${n} 个已删会话的记录`,
  empty: (n) => `${n} 个没有内容的会话：已移除`,
  output: (files, bytes) => `${files} 个不再被提到的输出文件（${megabytes(bytes)}）：已移除`,
  journal: (before, after) => `日志：${megabytes(before)} → ${megabytes(after)}`,
  busy: "日志未能缩小：有进程正在使用它",
  nothingToRemove: "没有空的会话，也没有不再被提到的输出",
  dryRun: "（--dry-run：没有改动任何东西）",
};

const tables = { en, zh } satisfies Record<Lang, SessionTexts>;

export function sessionTexts(lang: Lang): SessionTexts {
  return tables[lang];
}
