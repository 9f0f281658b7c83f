import type { NestedReasonArgs, Sentences } from "../../protocol/reasons/reason.ts";
import type { JournalReasonArgs } from "../../protocol/reasons/journal.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<JournalReasonArgs & NestedReasonArgs["journal"]>;

const en: Table = {
  "journal-busy": ({ path }) => `not recorded: another process keeps ${path} busy; try again`,
  "database-away": ({ path, problem }) =>
    `${path} cannot be reached (${problem}); look whether it runs, then try again`,
  "login-refused": ({ path, problem }) =>
    `${path} does not let this login in (${problem}); check name and password in the address`,
  "database-missing": ({ path, problem }) =>
    `${path} is not there (${problem}); check the name at the end of the address, or create that database first`,
  "login-may-not": ({ path, problem }) =>
    `this login may not do that in ${path} (${problem}). Workers use a worker's login, people and gateways a gateway's, \`sage engine\` the owner's; \`sage doctor --engine …\` says which one this is. After an update of Sage, run \`sage engine prepare\` first`,
  "disk-full": ({ path, problem }) =>
    `not recorded: writing to ${path} failed (${problem}); free some space and continue`,
  "journal-unwritable": ({ path }) =>
    `${path} cannot be opened for writing; check its permissions, or set SAGE_HOME to another directory (in code: another \`journal\`)`,
  "journal-damaged": ({ path, problem }) =>
    `${path} is damaged or not a journal (${problem}); keep a copy, and set SAGE_HOME to another directory (in code: another \`journal\`) to continue`,
  "place-not-served": ({ place }) =>
    `this login runs no sessions of ${place}; the owner of the database names all of its places with \`sage engine prepare … --worker-login <login> --place ${place}\``,
  "worker-may-not-write": () => "a worker's login may not write this: only a gateway's may write what people say",
  "journal-gone": ({ path }) =>
    `${path} was removed or replaced while Sage had it open: nothing can be recorded, so Sage stops here. What was in it is gone unless you put the file back, and this session cannot be resumed without it`,
  "record-damaged": ({ seq, key, session }) =>
    `record ${seq} (${key}) of session ${session} is damaged and cannot be read; \`sage doctor\` checks the whole journal`,
  "record-changed": ({ key, session, path }) =>
    `record ${key} of session ${session} in ${path} was changed after it was written; you can view the session, but not continue it (see \`sage doctor\`)`,
  "taken-over": ({ session }) => `session ${session} was taken over by another process`,
  "runs-elsewhere": ({ session }) => `session ${session} is run by a worker; \`sage workers\` tells which one`,
  "output-missing": ({ call }) => `no more output of call ${call} is kept`,
  "output-away": ({ place }) => `the whole output is kept at ${place}, and no worker of ${place} can be reached now`,
  "no-worker": ({ place }) =>
    `No worker of ${place} runs now. Nothing is lost: the session continues when one is there (\`sage worker --place ${place}\`).`,
  "run-by-process": ({ session, pid }) =>
    `session ${session} is run by process ${pid}; answer from here, or stop that one first`,

  "not-recorded-yet": ({ problem }, say) => `Nothing is lost, but the turn waits: ${say(problem)}. Sage will retry.`,
  "recorded-now": () => "The journal can be written again; the turn continues.",
  "left-unrecorded": ({ facts }) =>
    `Sage exits before it could record the last ${facts === 1 ? "fact" : `${facts} facts`}; if a call is among them, Sage asks about it when you resume.`,
};

const zh: Table = {
  "journal-busy": ({ path }) => `没有记录：另一个进程占用着 ${path}；请再试一次`,
  "database-away": ({ path, problem }) => `连接不上 ${path}（${problem}）；请确认数据库在运行，然后再试一次`,
  "login-refused": ({ path, problem }) => `${path} 不接受这个登录（${problem}）；请检查地址里的用户名和密码`,
  "database-missing": ({ path, problem }) => `没有 ${path}（${problem}）；请检查地址末尾的库名，或先创建这个数据库`,
  "login-may-not": ({ path, problem }) =>
    `这个登录不能在 ${path} 里这样做（${problem}）。工作进程用工作进程的登录，人和网关用网关的，\`sage engine\` 用所有者的；\`sage doctor --engine …\` 会说明这是哪一种。更新 Sage 之后，请先运行 \`sage engine prepare\``,
  "disk-full": ({ path, problem }) => `没有记录：写入 ${path} 失败（${problem}）；腾出空间后再继续`,
  "journal-unwritable": ({ path }) =>
    `无法写入 ${path}；请检查权限，或把 SAGE_HOME 设为另一个目录（代码里：换一个 \`journal\`）`,
  "journal-damaged": ({ path, problem }) =>
    `${path} 已损坏，或不是日志（${problem}）；请保留一份副本，并把 SAGE_HOME 设为另一个目录（代码里：换一个 \`journal\`）`,
  "place-not-served": ({ place }) =>
    `这个登录不能运行 ${place} 的会话；库的所有者用 \`sage engine prepare … --worker-login <登录> --place ${place}\` 列出它的全部地点`,
  "worker-may-not-write": () => "工作进程的登录不能写入这一条：人说的话只能由网关的登录写入",
  "journal-gone": ({ path }) =>
    `Sage 运行期间 ${path} 被删除或替换：再也无法记录，Sage 到此停止。除非把文件放回去，其中的内容已经丢失，本会话也无法继续`,
  "record-damaged": ({ seq, key, session }) =>
    `会话 ${session} 的第 ${seq} 条记录（${key}）已损坏，无法读取；\`sage doctor\` 可检查整个日志`,
  "record-changed": ({ key, session, path }) =>
    `${path} 中会话 ${session} 的记录 ${key} 与写入时不符；可以查看，不能继续（详见 \`sage doctor\`）`,
  "taken-over": ({ session }) => `会话 ${session} 已被另一个进程接管`,
  "runs-elsewhere": ({ session }) => `会话 ${session} 由工作进程运行；用 \`sage workers\` 查看是哪一个`,
  "output-missing": ({ call }) => `没有保存调用 ${call} 的更多输出`,
  "output-away": ({ place }) => `完整输出保存在 ${place}，现在连不上 ${place} 的工作进程`,
  "no-worker": ({ place }) =>
    `${place} 现在没有工作进程。什么都没有丢：有了工作进程（\`sage worker --place ${place}\`），会话就会继续。`,
  "run-by-process": ({ session, pid }) => `会话 ${session} 正由进程 ${pid} 运行；可以在这里回答，或先停止那个进程`,

  "not-recorded-yet": ({ problem }, say) => `内容都还在，但任务在等待：${say(problem)}。Sage 会自动重试。`,
  "recorded-now": () => "日志恢复写入，任务继续。",
  "left-unrecorded": ({ facts }) => `Sage 退出时还有 ${facts} 条事实未能记录；若其中有调用，恢复会话时会询问。`,
};

export const journalReasons: Record<Lang, Table> = { en, zh };
