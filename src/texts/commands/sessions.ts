import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;
const sessions = (n: number) => `${n} ${n === 1 ? "session" : "sessions"}`;

const en = {
  usage: `use \`${sage("sessions")}\` to list, or one of: rename <id> <title>, fork <id> [--at …], delete <id>…, gc`,
  nothingFound: (text: string) => `No session contains “${text}”.`,
  renamed: (id: string, title: string) => `${id} renamed to “${title}”.`,
  noTitle: `missing title: ${sage("sessions rename <id> <title>")}`,
  which: (action: string) =>
    `name the session: ${sage(`sessions ${action} <id>`)} (list them with \`${sage("sessions")}\`)`,
  forked: (id: string, from: string) => `${id} continues from ${from}, without its requests and rules.`,
  goOn: (id: string) => `Resume with:  ${sage(`--resume ${id}`)}`,
  deleteWhat: (lines: readonly string[]) => `These sessions will be deleted permanently:\n${lines.join("\n")}`,
  deleteAsk: "Delete? (y/n) ",
  deleteHow: "nothing deleted; use --yes to delete without asking",
  deleted: (n: number) => `${sessions(n)} deleted. The record of who allowed what is kept (\`${sage("why <id>")}\`).`,
  cancelled: (n: number) => `${n} open ${n === 1 ? "request" : "requests"} cancelled.`,
  retained: (n: number) => `${sessions(n)} past retention deleted ("retention" in settings)`,
  keptOpen: (ids: readonly string[]) => `past retention but kept because a turn is open: ${ids.join(", ")}`,
  forgotten: (n: number) =>
    `records of ${n} deleted ${n === 1 ? "session" : "sessions"} dropped ("retention" in settings)`,
  empty: (n: number) => `empty sessions removed: ${n}`,
  output: (files: number, bytes: number) => `unused output files removed: ${files} (${megabytes(bytes)})`,
  journal: (before: number, after: number) => `journal: ${megabytes(before)} → ${megabytes(after)}`,
  busy: "journal not compacted: it is in use",
  nothingToRemove: "nothing to remove",
  dryRun: "(--dry-run: nothing changed)",
};

export type SessionTexts = typeof en;

const zh: SessionTexts = {
  usage: `\`${sage("sessions")}\` 列出会话；后面可跟 rename <编号> <标题>、fork <编号> [--at …]、delete <编号>… 或 gc`,
  nothingFound: (text) => `没有会话包含“${text}”。`,
  renamed: (id, title) => `${id} 已改名为“${title}”。`,
  noTitle: `缺少标题：${sage("sessions rename <编号> <标题>")}`,
  which: (action) => `请指明会话：${sage(`sessions ${action} <编号>`)}（可用 \`${sage("sessions")}\` 列出）`,
  forked: (id, from) => `${id} 从 ${from} 接续，不含其请求和规则。`,
  goOn: (id) => `继续：  ${sage(`--resume ${id}`)}`,
  deleteWhat: (lines) => `将永久删除以下会话：\n${lines.join("\n")}`,
  deleteAsk: "删除吗？(y/n) ",
  deleteHow: "没有删除；用 --yes 可不询问直接删除",
  deleted: (n) => `已删除 ${n} 个会话。谁允许了什么的记录仍保留（\`${sage("why <编号>")}\`）。`,
  cancelled: (n) => `已取消 ${n} 个待处理的请求。`,
  retained: (n) => `已删除 ${n} 个过期会话（设置中的 retention）`,
  keptOpen: (ids) => `已过期，但有未完成的一轮，予以保留：${ids.join("、")}`,
  forgotten: (n) => `已清除 ${n} 个已删会话的记录（设置中的 retention）`,
  empty: (n) => `已移除空会话：${n} 个`,
  output: (files, bytes) => `已移除无用的输出文件：${files} 个（${megabytes(bytes)}）`,
  journal: (before, after) => `日志：${megabytes(before)} → ${megabytes(after)}`,
  busy: "日志未压缩：正在使用中",
  nothingToRemove: "没有可移除的内容",
  dryRun: "（--dry-run：未作改动）",
};

export const sessionTexts = inBoth<SessionTexts>(en, zh);
