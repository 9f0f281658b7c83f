import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

const en = {
  usage: `name a file: \`${sage("backup <file>")}\`, or \`${sage("backup --restore <file>")}\``,
  shared:
    "a journal on PostgreSQL is saved with pg_dump and restored with pg_restore; `sage backup` saves the journal of this machine (without --engine and SAGE_ENGINE)",
  noJournal: (path: string) => `there is no journal to save: ${path}`,
  exists: (path: string) => `${path} exists already; name another file`,
  unwritable: (path: string, why: string) => `${path} cannot be written: ${why}`,
  unreadable: (path: string, why: string) => `${path} cannot be read: ${why}`,
  progress: (percent: number) => `${percent} % of the journal copied`,
  written: (path: string) =>
    `saved to ${path}. It holds everything that was said, secrets included: keep it like a key.`,
  notBackup: (path: string) => `${path} is no file of \`${sage("backup")}\``,
  occupied: (path: string) =>
    `there is a journal already: ${path}. Restore into an empty directory with SAGE_HOME, or move the journal away`,
  broken: (path: string, session: string, seq: number) =>
    `${path} was changed after it was written: the record of session ${session} is broken at fact ${seq}. Nothing was restored`,
  restored: (sessions: number, open: number) =>
    `restored: ${sessions} ${sessions === 1 ? "session" : "sessions"}, records intact; ${open} open ${open === 1 ? "request" : "requests"} (\`${sage("inbox")}\`)`,
};

type BackupTexts = typeof en;

const zh: BackupTexts = {
  usage: `请写出文件：\`${sage("backup <文件>")}\`，或 \`${sage("backup --restore <文件>")}\``,
  shared:
    "PostgreSQL 上的日志用 pg_dump 保存、用 pg_restore 恢复；`sage backup` 保存本机的日志（不带 --engine 和 SAGE_ENGINE）",
  noJournal: (path) => `没有可保存的日志：${path}`,
  exists: (path) => `${path} 已经存在；请换一个文件名`,
  unwritable: (path, why) => `写不了 ${path}：${why}`,
  unreadable: (path, why) => `读不了 ${path}：${why}`,
  progress: (percent) => `日志已复制 ${percent} %`,
  written: (path) => `已保存到 ${path}。其中有说过的一切，包括机密：请像密钥一样保管。`,
  notBackup: (path) => `${path} 不是 \`${sage("backup")}\` 写的文件`,
  occupied: (path) => `这里已经有日志：${path}。请用 SAGE_HOME 恢复到一个空目录，或先把日志移走`,
  broken: (path, session, seq) =>
    `${path} 写成后被改动过：会话 ${session} 的记录在第 ${seq} 条事实处断开。没有恢复任何内容`,
  restored: (sessions, open) => `已恢复 ${sessions} 个会话，记录完好；待处理的请求 ${open} 个（\`${sage("inbox")}\`）`,
};

export const backupTexts = inBoth<BackupTexts>(en, zh);
