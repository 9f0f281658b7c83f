import type { PermissionBehavior, RuleSource } from "../../protocol/decision.ts";
import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

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
  usage: `usage: ${sage("permissions list")} | add <allow|ask|deny> <rule> | remove <rule> | explain <tool> <input> | backtest [rule…] | suggest | check --stdin | import [file]`,
  source: {
    session: "this session",
    local: "you, in this project",
    project: "everyone, in this project",
    user: "you, in all projects",
    managed: "policy of this machine",
  } satisfies Record<RuleSource, string>,
  notCounting: `ignored: not trusted, see \`${sage("trust")}\``,
  approvals: (count: number) => (count === 1 ? "1 approval" : `${count} approvals`),
  notAsker: "not by whoever asked",
  noRules: "No rules. Reading inside the workspace is allowed; everything else asks.",
  addHow: `${sage("permissions add")} <allow|ask|deny> <rule> [--to local|project|user]`,
  removeHow: `${sage("permissions remove")} <rule> [--to local|project|user]`,
  saved: (rule: string, file: string) => `Saved to ${file}: ${rule}`,
  removed: (rule: string, file: string) => `Removed from ${file}: ${rule}`,
  notFound: (rule: string) =>
    `no settings file here has the rule ${rule}; list them with \`${sage("permissions list")}\``,
  inSeveral: (rule: string, places: readonly string[]) =>
    `${rule} is in several files; choose one: --to ${places.join(" | --to ")}`,

  explainHow: `${sage("permissions explain")} <tool> <input>: a command for Bash; otherwise JSON, or the path, pattern or address`,
  noTool: (tool: string, tools: readonly string[]) => `no tool "${tool}"; the tools are ${tools.join(", ")}`,
  behavior: {
    allow: "runs without asking",
    deny: "is refused",
    ask: "asks",
    passthrough: "asks",
  } satisfies Record<PermissionBehavior, string>,
  hard: "Only a person can allow this; no rule or mode can.",
  byRule: (rule: string, source: string, file: string | undefined) =>
    `rule: ${rule} (${source}${file ? `: ${file}` : ""})`,
  parts: "Commands:",
  step: (number: number, count: number, name: string) => `step ${number} of ${count}: ${name}`,
  steps: {
    deny: "a deny rule matches any part",
    refused: "the tool itself refuses",
    ask: "an ask rule matches any part",
    guarded: "only a person can allow it",
    person: "the tool needs a person",
    free: "only reads, inside the workspace",
    mode: "the mode of the session, or bypass",
    tool: "the tool itself asks",
    allow: "allow rules cover every part",
    confined: "runs confined, or was kept from something",
    nothing: "nothing else decided",
  },

  checkHow: `${sage("permissions check")} --stdin reads one JSON object per line: {rules, mode, cwd, tool, input}`,

  importNothing: (files: readonly string[]) =>
    `Nothing to import. None of these files exists:\n${files.map((file) => `  ${file}`).join("\n")}`,
  importMissing: (file: string) => `there is no file ${file}`,
  importFrom: (from: string, to: string) => `${from} → ${to}`,
  importTaken: "Imported:",
  importDifferent: "Imported with a different meaning:",
  importLost: "Not imported:",
  importThere: (n: number) => `${n} already present.`,
  importLooser: (n: number) =>
    `${n === 1 ? "1 deny or ask rule was" : `${n} deny or ask rules were`} not imported: unless you add your own, Sage is less strict than Claude Code was.`,
  importAsk: "Write these rules? (y/n) ",
  importHow: "Nothing written. Use --yes to write these rules.",
  importDry: "Nothing written (--dry-run).",
  importDone: (n: number, file: string) => `${n} ${n === 1 ? "rule" : "rules"} written to ${file}.`,
  why: {
    mode: "the mode is chosen on the command line (--bypass), not in a file",
    directories: "Sage works in one folder; allow others with a rule such as Read(/other/folder/**)",
    hooks: "hooks use a different protocol here; rewrite them (see docs/settings.md)",
    "no-counterpart": "no equivalent",
    "no-tool": "no such tool",
    unreadable: "not a valid rule",
    specifier: "this condition is not supported for this tool",
    pattern: "this pattern is not supported",
    star: "a * attached to the first word matches less here; write one rule per program",
    "any-program": "an allow rule must start with a program name",
    narrower: "a * inside a word matches only within that word, so this allows less",
    wider: "a * inside a word matches only within that word; the rule is cut at the *, so it matches more",
    "write-is-edit": "a path for Write is a path for Edit here and applies to both",
    "start-folder": "relative to the folder Sage starts in, which may be inside the project",
  } satisfies Record<ImportReason, string>,
};

export type PermissionTexts = typeof en;

const zh: PermissionTexts = {
  usage: `用法：${sage("permissions list")} | add <allow|ask|deny> <规则> | remove <规则> | explain <工具> <输入> | backtest [规则…] | suggest | check --stdin | import [文件]`,
  source: {
    session: "本会话",
    local: "仅自己，本项目",
    project: "所有人，本项目",
    user: "仅自己，所有项目",
    managed: "本机策略",
  },
  notCounting: `已忽略：尚未信任，见 \`${sage("trust")}\``,
  approvals: (count) => `须 ${count} 人批准`,
  notAsker: "提出者除外",
  noRules: "没有规则。允许在工作区内读取，其余都会询问。",
  addHow: `${sage("permissions add")} <allow|ask|deny> <规则> [--to local|project|user]`,
  removeHow: `${sage("permissions remove")} <规则> [--to local|project|user]`,
  saved: (rule, file) => `已保存到 ${file}：${rule}`,
  removed: (rule, file) => `已从 ${file} 删除：${rule}`,
  notFound: (rule) => `这里的设置文件中没有规则 ${rule}；可用 \`${sage("permissions list")}\` 列出`,
  inSeveral: (rule, places) => `${rule} 在多个文件中；请选择：--to ${places.join(" | --to ")}`,

  explainHow: `${sage("permissions explain")} <工具> <输入>：Bash 为命令，其余为 JSON，或路径、模式、地址`,
  noTool: (tool, tools) => `没有工具 "${tool}"；可用的有 ${tools.join("、")}`,
  behavior: { allow: "直接运行", deny: "被拒绝", ask: "会询问", passthrough: "会询问" },
  hard: "只有人能允许，规则和模式都不行。",
  byRule: (rule, source, file) => `规则：${rule}（${source}${file ? `：${file}` : ""}）`,
  parts: "各条命令：",
  step: (number, count, name) => `第 ${number} 步，共 ${count} 步：${name}`,
  steps: {
    deny: "deny 规则匹配任一部分",
    refused: "工具自身拒绝",
    ask: "ask 规则匹配任一部分",
    guarded: "只有人能允许",
    person: "工具需要人",
    free: "只读取工作区内的内容",
    mode: "会话的模式，或 bypass",
    tool: "工具自身要求询问",
    allow: "allow 规则覆盖每一部分",
    confined: "在沙箱中运行，或曾被挡住",
    nothing: "以上都未决定",
  },

  checkHow: `${sage("permissions check")} --stdin 每行读取一个 JSON 对象：{rules, mode, cwd, tool, input}`,

  importNothing: (files) => `没有可导入的内容。以下文件都不存在：\n${files.map((file) => `  ${file}`).join("\n")}`,
  importMissing: (file) => `没有文件 ${file}`,
  importFrom: (from, to) => `${from} → ${to}`,
  importTaken: "已导入：",
  importDifferent: "已导入，但含义不同：",
  importLost: "未导入：",
  importThere: (n) => `${n} 条已存在。`,
  importLooser: (n) => `${n} 条 deny 或 ask 规则未导入：若不自己补上，Sage 会比 Claude Code 宽松。`,
  importAsk: "写入这些规则？(y/n) ",
  importHow: "未写入。用 --yes 写入这些规则。",
  importDry: "未写入（--dry-run）。",
  importDone: (n, file) => `已把 ${n} 条规则写入 ${file}。`,
  why: {
    mode: "模式在命令行选择（--bypass），不由文件决定",
    directories: "Sage 在一个目录中工作；其他目录可用规则允许，如 Read(/other/folder/**)",
    hooks: "这里的钩子协议不同，请重写（见 docs/settings.md）",
    "no-counterpart": "没有对应项",
    "no-tool": "没有这个工具",
    unreadable: "不是有效的规则",
    specifier: "该工具不支持这种条件",
    pattern: "不支持这种模式",
    star: "连在第一个词上的 * 在这里匹配得更少；请为每个程序写一条规则",
    "any-program": "allow 规则必须以程序名开头",
    narrower: "词中的 * 只在该词内匹配，因此允许得更少",
    wider: "词中的 * 只在该词内匹配；规则在 * 处截断，因此匹配得更多",
    "write-is-edit": "Write 的路径在这里等同于 Edit 的路径，对两者都有效",
    "start-folder": "相对于启动 Sage 的目录，它可能在项目目录之内",
  },
};

/** Texts of `sage permissions`. */
export const permissionTexts = inBoth<PermissionTexts>(en, zh);
