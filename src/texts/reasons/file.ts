import { type NestedReasonArgs, type Misfit, type Reason, type Sentences } from "../../protocol/reasons/reason.ts";
import type { FileReasonArgs } from "../../protocol/reasons/file.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<FileReasonArgs & NestedReasonArgs["file"]>;

const en: Table = {
  misfits: ({ misfits }, say) => misfits.map((misfit) => misfitEn(misfit, say)).join("\n"),

  "rule-form": ({ expected }) =>
    ({
      tool: "expected Tool or Tool(specifier), such as Bash or Bash(npm test:*)",
      mcp: "expected mcp__server or mcp__server__tool",
      closing: "expected a closing ) at the end; a literal one is written \\)",
      specifier: "expected a specifier between the parentheses, or no parentheses",
      domain: "expected WebFetch(domain:host), with the bare host and nothing of an address around it",
      path: "expected a path; ~name is not understood, only ~/",
      star: "an allow rule may have * in a tool name only after mcp__server__",
    })[expected],
  "rule-too-long": ({ limit, length }) => `a rule has at most ${limit} characters, this one has ${length}`,
  "rule-not-read": ({ rule, problem, behavior, source }, say) =>
    `the ${behavior === undefined ? "" : `${behavior} `}rule "${rule}"${source === undefined ? "" : ` (${source})`} cannot be read: ${say(problem)}`,
  "rule-ignored": ({ rule, source, problem }, say) =>
    `the allow rule "${rule}" (${source}) is ignored: ${say(problem)}`,
  "id-of-two": ({ id, people: [first, second] }) => `${id} belongs to both ${first} and ${second}`,
  "search-without-address": () => "SearXNG needs the address of a server in baseURL",

  "larger-than": ({ limitKb }) => `it is larger than ${limitKb} KB`,
  "front-matter-missing": () => 'it should begin with its front matter: lines like "name: …" between two lines of ---',
  "front-matter-line": ({ line }) => `this line of the front matter is not understood: ${line}`,
  "front-matter-value": ({ value }) => `this value of the front matter is not understood: ${value}`,
  "subagent-text-missing": () => "the text that tells the subagent its task is missing below the front matter",
  "subagent-model-ignored": () => `"model" is ignored; a subagent uses its parent's`,
  "command-text-missing": () => "it holds nothing to say",
  "folder-missing": () => "there is no such folder",
  "remote-unfit": ({ remote, why }) =>
    `${remote} is no repository to clone: ${
      {
        form: "expected git+https://host/path.git#branch",
        scheme: "expected git+https://, git+ssh:// or git+file://",
        password:
          "it holds a name or a password; leave them out, and set up a credential helper of git where the worker runs",
        address: "host or path has characters that an address of a repository does not have",
        branch: "the name of the branch is not one that git allows",
      }[why]
    }`,
  "remote-elsewhere": ({ remote }) =>
    `${remote} is cloned by a worker, and this host runs sessions itself; name a folder, or use \`sage serve --engine\` with \`sage worker\``,
  "remote-not-allowed": ({ remote }) =>
    `this worker does not clone ${remote}; add it, or the start of its address, to "remotes" of the settings where the worker runs`,
  "clone-failed": ({ remote, problem }) =>
    `${remote} could not be cloned: ${problem}. Check address, branch and the worker's rights to it, then say anything: it is tried again`,
  "clone-too-slow": ({ remote, minutes }) =>
    `${remote} was not cloned within ${minutes} minutes. Say anything: it is tried again`,
  "command-name-unfit": () => "the names of the file and its folders should be letters, digits, - and _",
  "name-taken": ({ kind, name }) => `there is a ${kind} "${name}" already`,
};

const zh: Table = {
  misfits: ({ misfits }, say) => misfits.map((misfit) => misfitZh(misfit, say)).join("\n"),

  "rule-form": ({ expected }) =>
    ({
      tool: "应写成 Tool 或 Tool(specifier)，如 `Bash` 或 `Bash(npm test:*)`",
      mcp: "应写成 mcp__server 或 mcp__server__tool",
      closing: "末尾缺少 )；括号本身写作 \\)",
      specifier: "括号里要有内容，否则不要写括号",
      domain: "应写成 WebFetch(domain:host)，只写主机名，不写地址的其他部分",
      path: "应是路径；只认识 ~/，不认识 ~name",
      star: "允许规则的工具名里，* 只能写在 mcp__server__ 之后",
    })[expected],
  "rule-too-long": ({ limit, length }) => `一条规则最多 ${limit} 个字符，这条有 ${length} 个`,
  "rule-not-read": ({ rule, problem, behavior, source }, say) =>
    `${source === undefined ? "" : `${sourcesZh[source]}的`}${behavior === undefined ? "" : behaviorsZh[behavior]}规则“${rule}”读不懂：${say(problem)}`,
  "rule-ignored": ({ rule, source, problem }, say) =>
    `没有采用${sourcesZh[source]}的允许规则“${rule}”：${say(problem)}`,
  "id-of-two": ({ id, people: [first, second] }) => `${id} 同时属于 ${first} 和 ${second}`,
  "search-without-address": () => "SearXNG 需要在 baseURL 里写服务器的网址",

  "larger-than": ({ limitKb }) => `它超过 ${limitKb} KB`,
  "front-matter-missing": () => "开头应有 front matter：两行 --- 之间写“name: …”这样的行",
  "front-matter-line": ({ line }) => `front matter 里这一行读不懂：${line}`,
  "front-matter-value": ({ value }) => `front matter 里这个值读不懂：${value}`,
  "subagent-text-missing": () => "front matter 之下缺少给子智能体的说明",
  "subagent-model-ignored": () => "“model”不起作用；子智能体用上级的模型",
  "command-text-missing": () => "里面没有内容",
  "remote-unfit": ({ remote, why }) =>
    `${remote} 不是可以克隆的仓库：${
      {
        form: "应写成 git+https://host/path.git#branch",
        scheme: "应以 git+https://、git+ssh:// 或 git+file:// 开头",
        password: "里面有用户名或密码；请去掉，并在工作进程所在的机器上为 git 设置凭据助手",
        address: "主机或路径里有仓库地址不会有的字符",
        branch: "git 不允许这样的分支名",
      }[why]
    }`,
  "remote-elsewhere": ({ remote }) =>
    `${remote} 要由工作进程克隆，而这台主机自己运行会话；请指定目录，或使用 \`sage serve --engine\` 和 \`sage worker\``,
  "remote-not-allowed": ({ remote }) =>
    `这个工作进程不克隆 ${remote}；请把它或其地址的开头加进工作进程所在机器的设置 "remotes"`,
  "clone-failed": ({ remote, problem }) =>
    `无法克隆 ${remote}：${problem}。请检查地址、分支和工作进程的权限，再发一条消息就会重试`,
  "clone-too-slow": ({ remote, minutes }) => `${remote} 在 ${minutes} 分钟内没有克隆完。再发一条消息就会重试`,
  "folder-missing": () => "没有这个目录",
  "command-name-unfit": () => "文件名和目录名只能用字母、数字、- 和 _",
  "name-taken": ({ kind, name }) =>
    `已有名为“${name}”的${{ skill: "技能", subagent: "子智能体", command: "命令", tool: "工具" }[kind]}`,
};

export const fileReasons = { en, zh } satisfies Record<Lang, Table>;

export const behaviorsZh = { allow: "允许", ask: "询问", deny: "拒绝" };
export const sourcesZh = {
  user: "个人设置",
  project: "项目设置",
  local: "本地设置",
  session: "本会话",
  managed: "本机策略",
};

/** Formats that settings and front matter expect, by the name that their schemas use instead of a message. */
const formats: Record<Lang, Record<string, string>> = {
  en: {
    url: "an address (URL)",
    "open-id": "the open id of a person, ou_…",
    "chat-id": "the id of a chat, oc_…",
    "quiet-hours": "two times of the day, such as 22:00-08:00",
    "time-span": "seconds, minutes, hours or days, such as 30m",
    "package-name": "the name of a package, such as @ai-sdk/groq",
    "bot-name": "a short name, such as ops",
    "agent-name": "the short name of an agent, such as claude",
    "person-id": "feishu:ou_…, account:…, device:… or proxy:…",
    "web-origin": "an https address without a path, such as https://sage.example.org",
    "header-name": "the name of a header",
    "tool-name": "a name of letters, digits, - and _ (at most 64) that begins with a letter and not with mcp__",
    "server-name": "a name of letters, digits, - and single _ (at most 32), such as github",
    "file-name": "a name of letters, digits, - and _ (at most 64)",
  },
  zh: {
    url: "网址",
    "open-id": "人员的 open id（ou_…）",
    "chat-id": "群聊的 id（oc_…）",
    "quiet-hours": "一天中的两个时刻，如 22:00-08:00",
    "time-span": "秒、分、时或天，如 30m",
    "package-name": "包名，如 @ai-sdk/groq",
    "bot-name": "短名，如 ops",
    "agent-name": "智能体的短名，如 claude",
    "person-id": "feishu:ou_…、account:…、device:… 或 proxy:…",
    "web-origin": "不带路径的 https 地址，如 https://sage.example.org",
    "header-name": "请求头的名称",
    "tool-name": "由字母、数字、- 和 _ 组成的名字（最多 64 个字符），以字母开头，且不以 mcp__ 开头",
    "server-name": "由字母、数字、- 和单个 _ 组成的名字（最多 32 个字符），如 github",
    "file-name": "由字母、数字、- 和 _ 组成的名字（最多 64 个字符）",
  },
};

const typesEn: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};
const typesZh: Record<string, string> = {
  string: "字符串",
  number: "数",
  int: "整数",
  boolean: "true 或 false",
  array: "列表",
  object: "对象",
  record: "对象",
};

function misfitEn(misfit: Misfit, say: (inner: Reason) => string): string {
  const place = misfit.at === "" ? "it" : misfit.at;
  const several = (names: readonly string[]) => listEn(names.map((name) => typesEn[name] ?? name));
  switch (misfit.kind) {
    case "missing":
      return `${place} is missing; it should be ${several(misfit.expected)}`;
    case "type":
    case "value":
      return `${place} should be ${several(misfit.expected)}; it is ${typesEn[misfit.came] ?? misfit.came}`;
    case "size": {
      const { of, bound, limit } = misfit;
      const words = { least: "at least", most: "at most", above: "more than", below: "less than" }[bound];
      if (of === "number") return `${place} should be ${words} ${limit}`;
      const unit = of === "string" ? "character" : "entry";
      const units = of === "string" ? "characters" : "entries";
      return `${place} should have ${words} ${limit} ${limit === 1 ? unit : units}`;
    }
    case "keys":
      return `${misfit.at === "" ? "" : `${place}: `}unknown: ${misfit.unknown.map((key) => JSON.stringify(key)).join(", ")}${misfit.meant ? `; did you mean ${listEn(misfit.meant.map((key) => JSON.stringify(key)))}?` : ""}${misfit.known ? `; known: ${misfit.known.join(", ")}` : ""}`;
    case "format": {
      const format = formats.en[misfit.expected];
      return format === undefined ? `${place}: ${misfit.expected}` : `${place} should be ${format}`;
    }
    case "pattern":
      return `${place} should match ${misfit.pattern}`;
    case "because":
      return `${misfit.at === "" ? "" : `${place}: `}${say(misfit.why)}`;
    case "unfit":
      return `${place} does not fit`;
    default:
      return misfit satisfies never;
  }
}

function misfitZh(misfit: Misfit, say: (inner: Reason) => string): string {
  const place = misfit.at === "" ? "内容" : `${misfit.at} `;
  const several = (names: readonly string[]) =>
    names
      .map((name) => typesZh[name] ?? ` ${name} `)
      .join("或")
      .trimEnd();
  switch (misfit.kind) {
    case "missing":
      return `缺少 ${place.trimEnd()}，它应是${several(misfit.expected)}`;
    case "type":
    case "value":
      return `${place}应是${several(misfit.expected)}，现在是${typesZh[misfit.came] ?? ` ${misfit.came}`}`;
    case "size": {
      const { of, bound, limit } = misfit;
      if (of === "number")
        return `${place}应${{ least: "不小于", most: "不大于", above: "大于", below: "小于" }[bound]} ${limit}`;
      const words = { least: "至少", most: "最多", above: "多于", below: "少于" }[bound];
      return `${place}应${words} ${limit} ${of === "string" ? "个字符" : "项"}`;
    }
    case "keys":
      return `${misfit.at === "" ? "" : `${misfit.at}：`}不认识${misfit.unknown.map((key) => `“${key}”`).join("、")}${misfit.meant ? `；是不是${misfit.meant.map((key) => `“${key}”`).join("、")}？` : ""}${misfit.known ? `；可用的有 ${misfit.known.join("、")}` : ""}`;
    case "format": {
      const format = formats.zh[misfit.expected];
      return format === undefined ? `${place.trimEnd()}：${misfit.expected}` : `${place}应是${format}`;
    }
    case "pattern":
      return `${place}应符合 ${misfit.pattern}`;
    case "because":
      return `${misfit.at === "" ? "" : `${misfit.at}：`}${say(misfit.why)}`;
    case "unfit":
      return `${place}不合要求`;
    default:
      return misfit satisfies never;
  }
}

/** Not `Intl.ListFormat`: the data for one sentence takes ten milliseconds to load. */
function listEn(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} or ${last}`;
}
