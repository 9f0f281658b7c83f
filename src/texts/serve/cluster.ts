import { inBoth } from "../language.ts";

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

const counted = (n: number, singular: string) => `${n} ${n === 1 ? singular : `${singular}s`}`;

/** Why a login can do more than workers may. */
const beyondInEnglish = {
  owner: "owns the journal",
  gateway: "is a gateway's, too",
  rights: "has rights that workers do not have",
};
const beyondInChinese: typeof beyondInEnglish = {
  owner: "拥有日志",
  gateway: "也是网关的登录",
  rights: "有工作进程没有的权限",
};

const en = {
  engineMissing: "which database? give --engine postgres://… or set SAGE_ENGINE",
  noDemo: "--demo does not go with --engine: the demo keeps nothing; leave one of them out",
  engineUnfit: (given: string) =>
    `--engine takes the address of a PostgreSQL database, postgres://user@host/name; given: ${given}`,
  placeUnfit: (given: string) => `a place is named with letters, digits, - and _, at most 40 of them; given: ${given}`,
  works: (place: string, engine: string) => `works at ${place}, on ${engine}`,
  runFailed: (session: string, problem: string) => `${session} stopped: ${problem}`,
  opensAt: (place: string, engine: string) => `a gateway of ${engine}; sessions that begin here run at ${place}`,
  gatewayLeaves: "stopping: sessions run on with their workers",
  listens: (address: string) => `gateways follow what runs here at ${address}`,
  listenUnfit: (given: string) =>
    `--listen takes an address and a port, such as 0.0.0.0:7878, or none; given: ${given}`,
  addressUnfit: (given: string) =>
    `--address takes a name or an address that gateways reach, with a port; given: ${given}`,
  listenFailed: (address: string, problem: string) =>
    `cannot listen at ${address}: ${problem}; give another --listen, or none`,
  unreachable: ({ place, address, problem }: { place: string; address: string; problem: string }) =>
    `the worker of ${place} cannot be reached at ${address} (${problem}): people see each step when it is done, and no text as it is written. Start it with a --listen and --address that this machine reaches`,
  leaving: "leaving: what runs here continues elsewhere, or when a worker of this place is back",
  left: "left",
  noWorkers: "No worker runs. Start one where the files are: sage worker --engine postgres://… --place <name>",
  /** Columns of `sage workers`. */
  workerColumns: { place: "place", worker: "worker", since: "since (UTC)", sessions: "sessions", address: "address" },
  gatewayColumns: { gateway: "gateway", host: "machine", since: "since (UTC)", bots: "bots" },
  notFollowed: "not followed",
  noWorker: "none",
  waiting: (sessions: number) => `${sessions} ${sessions === 1 ? "waits" : "wait"}`,
  engineUsage:
    "use one of:\n  sage engine migrate <postgres://…> [--from <journal.db>] [--place <name>]\n  sage engine prepare <postgres://…> [--worker-login <name> [--place <name>]…] [--gateway-login <name>]",
  placesOfWhom: "--place says which sessions a worker's login runs: name the login with --worker-login",
  prepared: (engine: string) => `${engine} is ready for workers and gateways`,
  loginsOf: ({ worker, gateway }: { worker: string; gateway: string }) =>
    `Give each its own login, with passwords of yours:\n\n  CREATE ROLE … LOGIN PASSWORD '…' IN ROLE ${worker};\n  CREATE ROLE … LOGIN PASSWORD '…' IN ROLE ${gateway};`,
  madeLogin: (login: string) =>
    `made login ${login}, without a password: set one with \\password in psql, unless your server asks for none`,
  loginPlaces: (login: string, places: readonly string[]) =>
    places.length === 0
      ? `login ${login} runs sessions of every place`
      : `login ${login} runs sessions of ${places.join(", ")} and of no other place`,
  oneLogin: (login: string) =>
    `${login} cannot be both: whoever has a worker's login could then answer for people. Name two logins`,
  loginBeyond: ({ login, as }: { login: string; as: keyof typeof beyondInEnglish | "group" }) =>
    as === "group"
      ? `${login} is no login but a role that logins are in, and places limit logins alone. Name a login`
      : `login ${login} ${beyondInEnglish[as]}: with it a worker can answer for people and write at every place. Give workers another login`,
  nothingChanged: "no login and no place was changed",
  openSchema: `anybody may create functions in the schema "public", and a worker could have a gateway call one: REVOKE CREATE ON SCHEMA public FROM PUBLIC;`,
  notOwner: "this login may not make the journal's tables: give the address of the owner of the database",
  mayNotMakeRoles: ({ worker, gateway }: { worker: string; gateway: string }) =>
    `this login may not make or give roles. Run it as one with CREATEROLE, or have an administrator run\n\n  CREATE ROLE ${worker} NOLOGIN;\n  CREATE ROLE ${gateway} NOLOGIN;\n\nand then this again, without --worker-login and --gateway-login`,
  journalMissing: (path: string) => `there is no journal at ${path}`,
  stayed: (session: string, why: "owned" | "differs" | "damaged") => `${session} stays here: ${stays.en[why]}`,
  migrated: ({ brought, there, stayed, place }: { brought: number; there: number; stayed: number; place: string }) =>
    `${brought} brought to place ${place}, ${there} were there already, ${stayed} stay here`,
  moveUsage: "use sage move <session> --to <place> --engine postgres://…",
  moved: (session: string, place: string) => `${session} belongs to ${place} now`,
  nobodyThere: (place: string) =>
    `no worker of ${place} runs yet: start one there with \`sage worker --place ${place}\`, or move the session again if the name is wrong`,
  notMoved: (session: string, place: string) =>
    `${session} runs at ${place} right now; stop it first, or wait until it asks somebody`,
  noSession: (session: string) =>
    `there is no session ${session} in this database; \`sage sessions --engine …\` lists them`,
  journalNotThere: (engine: string) => `there is no journal in ${engine} yet; the first worker or gateway makes one`,
  peopleComeIn:
    "--engine does not go with a session: sessions of a shared journal run on its workers, and people come in through a gateway. Start `sage serve --engine …`, then work with `sage --host …`",
  waitsFor: (place: string) => `waits for ${place}`,
  /** A session that a worker has to take up. */
  forWorker: "waits for a worker",
  goesOnAt: (place: string) => `A worker of ${place} continues with it.`,
  goesOnOnce: (place: string) =>
    `No worker of ${place} runs now: the session continues once you start one there, with \`sage worker --engine … --place ${place}\`.`,
  inquiredAt: (place: string) => `Recorded. The agent replies once a worker of ${place} has taken the session up.`,
  clonesRemoved: (count: number) => `clones of deleted sessions removed: ${count}`,
  cloneKept: (path: string) => `kept, because work in it was not pushed: ${path}`,
  atPlace: (place: string) => `at ${place}`,
  doctor: {
    away: (engine: string, problem: string) => `${engine} cannot be reached: ${problem}`,
    reached: (engine: string, version: number) => `${engine} answers (PostgreSQL ${version})`,
    old: (version: number, oldest: number) => `PostgreSQL ${version} is too old; ${oldest} or newer is needed`,
    standby: "this server is a standby and takes no writes; give the address of the primary",
    off: (setting: string) => `${setting} is off: a power cut can damage the journal; switch it on`,
    losesCommits: (value: string) =>
      `synchronous_commit is ${value}: a crash loses facts that were acknowledged, and a command may run twice; set it to on`,
    noSync: (standbys: string) =>
      `synchronous_standby_names is ${standbys}, and no such standby follows: nothing can be recorded until one does`,
    inSync: (count: number) => `${count} synchronous ${count === 1 ? "standby follows" : "standbys follow"}`,
    asynchronous: (count: number) =>
      `${count} ${count === 1 ? "standby follows" : "standbys follow"}, none synchronously: a failover loses acknowledged facts, unless the storage below is replicated`,
    alone: "no standby follows: back this database up",
    noJournal: "there is no journal in it yet; the first worker or gateway makes one",
    holds: ({ sessions, open, workers }: { sessions: number; open: number; workers: number }) =>
      `shared journal: ${counted(sessions, "session")}, ${counted(open, "open request")}, ${counted(workers, "worker")}`,
    grace:
      "after an outage nobody is taken for dead for ten seconds; a frozen worker's sessions continue elsewhere after about as long",
    /** This login, by what it may do. */
    owns: "this login owns the journal: a worker that uses it can answer for people; see `sage engine prepare`",
    speaks: "this login is a gateway's: it writes what people say; give workers another one",
    onlyRuns: "this login is a worker's: it cannot answer for people",
    /** Places of a worker's login, where it was made for some. */
    boundTo: (places: readonly string[]) => `it runs sessions of ${places.join(", ")} and of no other place`,
    everywhere:
      "it runs sessions of every place: whoever gets hold of it can write into all of them; `sage engine prepare --worker-login … --place …` gives it places",
    /** Workers whose login may write what people say. */
    trusted: (workers: number) =>
      `${workers} running ${workers === 1 ? "worker uses a login that can" : "workers use logins that can"} answer for people: whoever gets hold of one can approve its own requests; see \`sage engine prepare\``,
  },
};

/** Texts for operators of a shared journal. */
export type ClusterTexts = typeof en;

const zh: ClusterTexts = {
  engineMissing: "用哪个数据库？请给出 --engine postgres://…，或设置 SAGE_ENGINE",
  noDemo: "--demo 不能与 --engine 一起使用：演示什么都不保留；请去掉其中一个",
  engineUnfit: (given) => `--engine 要的是 PostgreSQL 数据库的地址 postgres://用户@主机/库名；给出的是：${given}`,
  placeUnfit: (given) => `地点的名称由字母、数字、- 和 _ 组成，最多 40 个；给出的是：${given}`,
  works: (place, engine) => `在 ${place} 工作，数据库 ${engine}`,
  runFailed: (session, problem) => `${session} 停了：${problem}`,
  opensAt: (place, engine) => `${engine} 的网关；从这里开始的会话在 ${place} 运行`,
  gatewayLeaves: "正在停止：会话由工作进程继续运行",
  listens: (address) => `网关在 ${address} 跟随这里的运行`,
  listenUnfit: (given) => `--listen 要的是地址和端口，例如 0.0.0.0:7878，或 none；给出的是：${given}`,
  addressUnfit: (given) => `--address 要的是网关能连到的主机名或地址，带端口；给出的是：${given}`,
  listenFailed: (address, problem) => `无法监听 ${address}：${problem}；请换一个 --listen，或用 none`,
  unreachable: ({ place, address, problem }) =>
    `连不上 ${place} 的工作进程 ${address}（${problem}）：大家只能在每一步完成后看到它，看不到正在写的文字。启动它时请给出这台机器连得到的 --listen 和 --address`,
  leaving: "正在离开：这里运行的会话会在别处继续，或等这个地点的工作进程回来",
  left: "已离开",
  noWorkers: "没有工作进程在运行。请在文件所在的机器上启动：sage worker --engine postgres://… --place <名称>",
  workerColumns: { place: "地点", worker: "工作进程", since: "始于（UTC）", sessions: "会话", address: "地址" },
  gatewayColumns: { gateway: "网关", host: "机器", since: "始于（UTC）", bots: "机器人" },
  notFollowed: "不可跟随",
  noWorker: "无",
  waiting: (sessions) => `${sessions} 个在等`,
  engineUsage:
    "用法：\n  sage engine migrate <postgres://…> [--from <journal.db>] [--place <名称>]\n  sage engine prepare <postgres://…> [--worker-login <名称> [--place <名称>]…] [--gateway-login <名称>]",
  placesOfWhom: "--place 说明工作进程的登录运行哪些地点的会话：请用 --worker-login 给出登录",
  prepared: (engine) => `${engine} 已为工作进程和网关准备好`,
  loginsOf: ({ worker, gateway }) =>
    `请给两者各建一个登录，密码由你定：\n\n  CREATE ROLE … LOGIN PASSWORD '…' IN ROLE ${worker};\n  CREATE ROLE … LOGIN PASSWORD '…' IN ROLE ${gateway};`,
  madeLogin: (login) => `已建登录 ${login}，还没有密码：除非服务器不要求密码，请在 psql 里用 \\password 设置`,
  loginPlaces: (login, places) =>
    places.length === 0 ? `登录 ${login} 运行所有地点的会话` : `登录 ${login} 只运行 ${places.join("、")} 的会话`,
  oneLogin: (login) => `${login} 不能两者兼用：否则拿到工作进程登录的人就能代人作答。请给出两个登录`,
  loginBeyond: ({ login, as }) =>
    as === "group"
      ? `${login} 不是登录，而是登录所属的角色；地点只限制登录。请给出一个登录`
      : `登录 ${login} ${beyondInChinese[as]}：工作进程用它就能代人作答，并写入每个地点。请给工作进程另一个登录`,
  nothingChanged: "登录和地点都没有改动",
  openSchema: `任何人都能在 "public" 模式里建函数，工作进程可能借此让网关替它执行：REVOKE CREATE ON SCHEMA public FROM PUBLIC;`,
  notOwner: "这个登录不能创建日志的表：请给出数据库所有者的地址",
  mayNotMakeRoles: ({ worker, gateway }) =>
    `这个登录不能创建或授予角色。请用有 CREATEROLE 的登录运行，或请管理员先执行\n\n  CREATE ROLE ${worker} NOLOGIN;\n  CREATE ROLE ${gateway} NOLOGIN;\n\n再运行一次，不带 --worker-login 和 --gateway-login`,
  journalMissing: (path) => `${path} 没有日志`,
  stayed: (session, why) => `${session} 留在这里：${stays.zh[why]}`,
  migrated: ({ brought, there, stayed, place }) =>
    `已把 ${brought} 个会话带到地点 ${place}，${there} 个早已在那里，${stayed} 个留在这里`,
  moveUsage: "用法：sage move <会话> --to <地点> --engine postgres://…",
  moved: (session, place) => `${session} 现在属于 ${place}`,
  nobodyThere: (place) =>
    `${place} 还没有工作进程：请在那里用 \`sage worker --place ${place}\` 启动；名称写错了就再移动一次`,
  notMoved: (session, place) => `${session} 正在 ${place} 运行；先停下它，或等它向人提问`,
  noSession: (session) => `这个数据库里没有会话 ${session}；用 \`sage sessions --engine …\` 列出`,
  journalNotThere: (engine) => `${engine} 里还没有日志；第一个工作进程或网关会创建它`,
  peopleComeIn:
    "--engine 不能用于会话：共用的日志里的会话由工作进程运行，人从网关进来。请启动 `sage serve --engine …`，再用 `sage --host …` 工作",
  waitsFor: (place) => `等待 ${place}`,
  forWorker: "等待工作进程",
  goesOnAt: (place) => `${place} 的工作进程会接着做。`,
  goesOnOnce: (place) =>
    `${place} 现在没有工作进程：在那里用 \`sage worker --engine … --place ${place}\` 启动之后，会话就会继续。`,
  inquiredAt: (place) => `已记录。${place} 的工作进程接手会话之后，智能体才会回复。`,
  clonesRemoved: (count) => `已移除已删会话的克隆：${count} 个`,
  cloneKept: (path) => `里面有未推送的内容，予以保留：${path}`,
  atPlace: (place) => `地点 ${place}`,
  doctor: {
    away: (engine, problem) => `连不上 ${engine}：${problem}`,
    reached: (engine, version) => `${engine} 有应答（PostgreSQL ${version}）`,
    old: (version, oldest) => `PostgreSQL ${version} 太旧；需要 ${oldest} 或更新版本`,
    standby: "这是一台备库，不能写入；请给出主库的地址",
    off: (setting) => `${setting} 已关闭：断电可能损坏日志；请打开它`,
    losesCommits: (value) => `synchronous_commit 是 ${value}：崩溃会丢失已确认的事实，命令可能运行两次；请设为 on`,
    noSync: (standbys) => `synchronous_standby_names 是 ${standbys}，但没有这样的备库跟随：在它跟上之前什么都无法记录`,
    inSync: (count) => `有 ${count} 台同步备库跟随`,
    asynchronous: (count) => `有 ${count} 台备库跟随，但都不是同步的：切换会丢失已确认的事实，除非底层存储有复制`,
    alone: "没有备库跟随：请备份这个数据库",
    noJournal: "里面还没有日志；第一个工作进程或网关会创建它",
    holds: ({ sessions, open, workers }) =>
      `共用的日志：${sessions} 个会话，${open} 个待处理请求，${workers} 个工作进程`,
    grace: "停机恢复后十秒内不会判定任何进程已死；被冻结的工作进程，它的会话大约也在这么久之后由别处继续",
    owns: "这个登录是日志的所有者：用它的工作进程能替人回答；见 `sage engine prepare`",
    speaks: "这是网关的登录：人说的话由它写入；工作进程请用另一个",
    onlyRuns: "这是工作进程的登录：它不能替人回答",
    boundTo: (places) => `它只运行 ${places.join("、")} 的会话`,
    everywhere:
      "它运行所有地点的会话：谁拿到它，就能往所有这些会话里写；用 `sage engine prepare --worker-login … --place …` 给它限定地点",
    trusted: (workers) =>
      `有 ${workers} 个正在运行的工作进程，其登录能替人回答：谁拿到它，就能批准自己的请求；见 \`sage engine prepare\``,
  },
};

export const clusterTexts = inBoth<ClusterTexts>(en, zh);
