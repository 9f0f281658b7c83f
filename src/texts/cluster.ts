import type { Lang } from "./language.ts";

/** Texts for whoever runs a shared journal. */
export type ClusterTexts = {
  engineMissing: string;
  engineUnfit: (given: string) => string;
  placeUnfit: (given: string) => string;
  works: (place: string, engine: string) => string;
  leaving: string;
  left: string;
  noWorkers: string;
  worker: (worker: { place: string; process: string; since: string; runs: number }) => string;
  waiting: (place: string, sessions: number) => string;
  engineUsage: string;
  journalMissing: (path: string) => string;
  stayed: (session: string, why: "owned" | "differs" | "damaged") => string;
  migrated: (counts: { brought: number; there: number; stayed: number; place: string }) => string;
  moveUsage: string;
  moved: (session: string, place: string) => string;
  notMoved: (session: string, place: string) => string;
  noSession: (session: string) => string;
};

const stays = {
  en: {
    owned: "a process runs it; end that, then run this again",
    differs: "it has gone on in the database since, so what was said here afterwards cannot follow",
    damaged: "its records do not hold; see `sage doctor`",
  },
  zh: {
    owned: "有进程正在运行它；先结束那个进程，再运行一次",
    differs: "它在数据库里已经继续了，这里后来的内容接不上去",
    damaged: "它的记录对不上；见 `sage doctor`",
  },
};

const en: ClusterTexts = {
  engineMissing: "which database? give --engine postgres://… or set SAGE_ENGINE",
  engineUnfit: (given) =>
    `--engine takes the address of a PostgreSQL database, postgres://user@host/name; given: ${given}`,
  placeUnfit: (given) => `a place is named with letters, digits, - and _, at most 40 of them; given: ${given}`,
  works: (place, engine) => `works at ${place}, on ${engine}`,
  leaving: "leaving: what runs here goes on elsewhere, or when a worker of this place is back",
  left: "left",
  noWorkers: "No worker runs. Start one where the files are: sage worker --engine postgres://… --place <name>",
  worker: ({ place, process, since, runs }) => `${place}  ${process}  since ${since}  runs ${runs}`,
  waiting: (place, sessions) =>
    `${place}  no worker: ${sessions} ${sessions === 1 ? "session waits" : "sessions wait"} for one`,
  engineUsage: "sage engine migrate <postgres://…> [--from <journal.db>] [--place <name>]",
  journalMissing: (path) => `there is no journal at ${path}`,
  stayed: (session, why) => `${session} stays here: ${stays.en[why]}`,
  migrated: ({ brought, there, stayed, place }) =>
    `${brought} brought to place ${place}, ${there} were there already, ${stayed} stay here`,
  moveUsage: "sage move <session> --to <place> --engine postgres://…",
  moved: (session, place) => `${session} belongs to ${place} now`,
  notMoved: (session, place) => `${session} runs at ${place} right now; stop it first, or wait until it asks somebody`,
  noSession: (session) => `there is no session ${session} in this database`,
};

const zh: ClusterTexts = {
  engineMissing: "用哪个数据库？请给出 --engine postgres://…，或设置 SAGE_ENGINE",
  engineUnfit: (given) => `--engine 要的是 PostgreSQL 数据库的地址 postgres://用户@主机/库名；给出的是：${given}`,
  placeUnfit: (given) => `地点的名称由字母、数字、- 和 _ 组成，最多 40 个；给出的是：${given}`,
  works: (place, engine) => `在 ${place} 工作，数据库 ${engine}`,
  leaving: "正在离开：这里运行的会话会在别处继续，或等这个地点的工作进程回来",
  left: "已离开",
  noWorkers: "没有工作进程在运行。请在文件所在的机器上启动：sage worker --engine postgres://… --place <名称>",
  worker: ({ place, process, since, runs }) => `${place}  ${process}  自 ${since}  运行 ${runs} 个会话`,
  waiting: (place, sessions) => `${place}  没有工作进程：${sessions} 个会话在等`,
  engineUsage: "sage engine migrate <postgres://…> [--from <journal.db>] [--place <名称>]",
  journalMissing: (path) => `${path} 没有日志`,
  stayed: (session, why) => `${session} 留在这里：${stays.zh[why]}`,
  migrated: ({ brought, there, stayed, place }) =>
    `已把 ${brought} 个会话带到地点 ${place}，${there} 个早已在那里，${stayed} 个留在这里`,
  moveUsage: "sage move <会话> --to <地点> --engine postgres://…",
  moved: (session, place) => `${session} 现在属于 ${place}`,
  notMoved: (session, place) => `${session} 正在 ${place} 运行；先停下它，或等它向人提问`,
  noSession: (session) => `这个数据库里没有会话 ${session}`,
};

const tables = { en, zh } satisfies Record<Lang, ClusterTexts>;

export function clusterTexts(lang: Lang): ClusterTexts {
  return tables[lang];
}
