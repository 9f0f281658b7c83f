import type { PermissionBehavior, RuleDestination } from "../protocol/index.ts";
import { sage } from "./command.ts";
import type { Lang } from "./language.ts";

/** Why something of Claude Code's settings is not taken over, or means something else here. */
export type ImportReason =
  | "mode"
  | "directories"
  | "hooks"
  | "no-counterpart"
  | "no-tool"
  | "unreadable"
  | "specifier"
  | "pattern"
  | "star"
  | "any-program"
  | "narrower"
  | "wider"
  | "write-is-edit"
  | "start-folder";

const en = {
  usage: `say what to do: ${sage("permissions list")} | add <allow|ask|deny> <rule> | remove <rule> | explain <tool> <input> | check --stdin | import [file]`,
  source: {
    session: "this session",
    local: "yours, in this project",
    project: "the project's, shared",
    user: "yours, everywhere",
  } satisfies Record<RuleDestination, string>,
  notCounting: `does not count: not trusted, see \`${sage("trust")}\``,
  noRules: "There are no rules: reading inside the working directory is free, everything else asks.",
  addHow: `${sage("permissions add")} <allow|ask|deny> <rule> [--to local|project|user]`,
  removeHow: `${sage("permissions remove")} <rule> [--to local|project|user]`,
  saved: (rule: string, file: string) => `Saved in ${file}: ${rule}`,
  removed: (rule: string, file: string) => `Removed from ${file}: ${rule}`,
  notFound: (rule: string) =>
    `no settings file that counts here has the rule ${rule}; \`${sage("permissions list")}\` shows them`,
  inSeveral: (rule: string, places: readonly string[]) =>
    `${rule} stands in several files; say which one: --to ${places.join(" | --to ")}`,

  explainHow: `${sage("permissions explain")} <tool> <input>: a command line for Bash, else JSON; or the path, pattern or address`,
  noTool: (tool: string, tools: readonly string[]) => `there is no tool "${tool}"; there are ${tools.join(", ")}`,
  behavior: {
    allow: "would run without asking",
    deny: "would be refused",
    ask: "would be asked about",
    passthrough: "would be asked about",
  } satisfies Record<PermissionBehavior, string>,
  hard: "Only a person may allow it; no rule and no mode does.",
  byRule: (rule: string, source: string, file: string | undefined) =>
    `by the rule ${rule} (${source}${file ? `: ${file}` : ""})`,
  parts: "Part by part:",
  step: (number: number, name: string) => `at step ${number} of 10: ${name}`,
  steps: {
    deny: "does a deny rule match any part?",
    refused: "does the tool itself say no?",
    ask: "does an ask rule match any part?",
    guarded: "may only a person allow it?",
    person: "does the tool need a person?",
    free: "does it only read, inside the workspace?",
    bypass: "bypass",
    tool: "does the tool itself ask?",
    allow: "do allow rules cover every part?",
    nothing: "nothing else answered",
  },

  checkHow: `${sage("permissions check")} --stdin reads one JSON object per line: {rules, mode, cwd, tool, input}`,

  importNothing: (files: readonly string[]) =>
    `There is nothing to import: none of these files exists:\n${files.map((file) => `  ${file}`).join("\n")}`,
  importFrom: (from: string, to: string) => `From ${from} to ${to}`,
  importTaken: "Taken over:",
  importDifferent: "Taken over, and means something else here:",
  importLost: "Not taken over:",
  importThere: (n: number) => `${n} of them stand there already.`,
  importLooser: (n: number) =>
    `${n === 1 ? "One rule that forbids or asks is" : `${n} rules that forbid or ask are`} not taken over: without a rule of your own, Sage holds to less than Claude Code did.`,
  importAsk: "Write these rules? (y/n) ",
  importHow: "Nothing was written. `--yes` writes what is shown here.",
  importDry: "Nothing was written (--dry-run).",
  importDone: (n: number, file: string) => `${n} ${n === 1 ? "rule" : "rules"} written to ${file}.`,
  why: {
    mode: "the mode is chosen when Sage is started (--bypass), never by a file",
    directories: "Sage works in one folder; allow others with rules such as Read(/other/folder/**)",
    hooks: "hooks speak another protocol here: see docs/settings.md, and write them anew",
    "no-counterpart": "there is nothing like it here",
    "no-tool": "there is no such tool here",
    unreadable: "it cannot be read as a rule",
    specifier: "such a condition for this tool is not understood here",
    pattern: "such a pattern is not understood here",
    star: "a star glued to the first word would catch less here: write a rule for each program",
    "any-program": "an allow rule here begins with the name of a program",
    narrower: "a star glued into a word stays within this word here, so it allows less",
    wider: "a star glued into a word stays within this word here; the rule ends at that star, so it catches more",
    "write-is-edit": "a path for Write is one for Edit here, and holds for both",
    "start-folder": "counted from the folder Sage is started in, which may lie below the project's",
  } satisfies Record<ImportReason, string>,
};

export type PermissionTexts = typeof en;

const zh: PermissionTexts = {
  usage: `请指明要做什么：${sage("permissions list")} | add <allow|ask|deny> <规则> | remove <规则> | explain <工具> <输入> | check --stdin | import [文件]`,
  source: {
    session: "本会话",
    local: "你的，仅本项目",
    project: "本项目的，共享",
    user: "你的，所有项目",
  },
  notCounting: `不起作用：尚未信任，见 \`${sage("trust")}\``,
  noRules: "没有规则：在工作目录内读取不用问，其余都要问。",
  addHow: `${sage("permissions add")} <allow|ask|deny> <规则> [--to local|project|user]`,
  removeHow: `${sage("permissions remove")} <规则> [--to local|project|user]`,
  saved: (rule, file) => `已存入 ${file}：${rule}`,
  removed: (rule, file) => `已从 ${file} 删除：${rule}`,
  notFound: (rule) => `这里起作用的设置文件中没有规则 ${rule}；\`${sage("permissions list")}\` 列出所有规则`,
  inSeveral: (rule, places) => `${rule} 出现在多个文件中；请指明是哪一个：--to ${places.join(" | --to ")}`,

  explainHow: `${sage("permissions explain")} <工具> <输入>：Bash 为一行命令，其余为 JSON，或路径、模式、地址`,
  noTool: (tool, tools) => `没有工具 "${tool}"；有 ${tools.join("、")}`,
  behavior: { allow: "不用问就会运行", deny: "会被拒绝", ask: "会先问你", passthrough: "会先问你" },
  hard: "只有人能批准；任何规则和模式都不行。",
  byRule: (rule, source, file) => `依据规则 ${rule}（${source}${file ? `：${file}` : ""}）`,
  parts: "逐段判断：",
  step: (number, name) => `在第 ${number} 步（共 10 步）：${name}`,
  steps: {
    deny: "是否有 deny 规则匹配任何一段",
    refused: "工具自身是否拒绝",
    ask: "是否有 ask 规则匹配任何一段",
    guarded: "是否只能由人允许",
    person: "工具是否需要人",
    free: "是否只读取工作区内的内容",
    bypass: "bypass",
    tool: "工具自身是否要求询问",
    allow: "allow 规则是否覆盖每一段",
    nothing: "前面都没有答案",
  },

  checkHow: `${sage("permissions check")} --stdin 每行读取一个 JSON 对象：{rules, mode, cwd, tool, input}`,

  importNothing: (files) => `没有可导入的内容：以下文件都不存在：\n${files.map((file) => `  ${file}`).join("\n")}`,
  importFrom: (from, to) => `从 ${from} 到 ${to}`,
  importTaken: "照搬：",
  importDifferent: "已采用，但在这里含义不同：",
  importLost: "未采用：",
  importThere: (n) => `其中 ${n} 条已经在那里了。`,
  importLooser: (n) => `${n} 条拒绝或询问的规则未采用：若不自己补上，Sage 会比 Claude Code 宽松。`,
  importAsk: "写入这些规则吗？(y/n) ",
  importHow: "什么都没有写入。`--yes` 写入这里显示的内容。",
  importDry: "什么都没有写入（--dry-run）。",
  importDone: (n, file) => `已把 ${n} 条规则写入 ${file}。`,
  why: {
    mode: "模式在启动 Sage 时选择（--bypass），从不由文件决定",
    directories: "Sage 在一个目录中工作；其他目录请用规则允许，如 Read(/other/folder/**)",
    hooks: "这里的钩子使用另一种协议：见 docs/settings.md，请重新编写",
    "no-counterpart": "这里没有对应的设置",
    "no-tool": "这里没有这个工具",
    unreadable: "读不懂这条规则",
    specifier: "这里不支持对该工具使用这样的条件",
    pattern: "这里不支持这样的模式",
    star: "连在第一个词上的星号在这里匹配得更少：请为每个程序写一条规则",
    "any-program": "这里的 allow 规则必须以程序名开头",
    narrower: "词中的星号在这里只匹配这个词，因此允许得更少",
    wider: "词中的星号在这里只匹配这个词；规则在该星号处截断，因此匹配得更多",
    "write-is-edit": "Write 的路径在这里就是 Edit 的路径，对两者都有效",
    "start-folder": "从启动 Sage 的目录算起，它可能在项目目录之下",
  },
};

const tables = { en, zh } satisfies Record<Lang, PermissionTexts>;

/** What `sage permissions` says. */
export function permissionTexts(lang: Lang): PermissionTexts {
  return tables[lang];
}
