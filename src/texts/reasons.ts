import { reasonFrom, type Reason, type ReasonArgs, type ReasonCode } from "../protocol/reason.ts";
import type { Lang } from "./language.ts";

/** A reason in the reader's language. Facts of version 0.1.0 hold sentences in its place; they are read as they are. */
export function sentence(stored: Reason | string, lang: Lang): string {
  const { code, args } = reasonFrom(stored);
  const say = (inner: Reason): string => sentence(inner, lang);
  const write = tables[lang][code] as ((args: unknown, say: (inner: Reason) => string) => string) | undefined;
  return write === undefined ? code : write(args, say); // a later version may have written a code that this one lacks
}

/** A sentence for each code; `say` writes a reason that is part of another one. */
type Sentences = { [C in ReasonCode]: (args: ReasonArgs[C], say: (inner: Reason) => string) => string };

const tables: Record<Lang, Sentences> = {
  en: { said: ({ text }) => text },
  zh: { said: ({ text }) => reasonIn("zh", text) },
};

function reasonIn(lang: Lang, reason: string): string {
  if (lang === "en" || reason === "") return reason;
  for (const { pattern, parts } of patterns()) {
    const found = pattern.exec(reason);
    if (found === null) continue;
    let at = 0;
    return parts
      .map((part) => (part === "{}" ? found[++at]! : part === "{r}" ? reasonIn(lang, found[++at]!) : part))
      .join("");
  }
  return reason;
}

type Pattern = { pattern: RegExp; parts: string[] };
let made: Pattern[] | undefined;

function patterns(): Pattern[] {
  return (made ??= Object.entries(chinese).map(([english, translated]) => ({
    pattern: new RegExp(
      `^${english
        .split(/\{r?\}/)
        .map(literal)
        .join("([^]+?)")}$`,
    ),
    parts: translated.split(/(\{r?\})/),
  })));
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** `{}` stands for what is the same in both, `{r}` for another reason. The first that fits counts. */
const chinese: Record<string, string> = {
  "No rule covers this call.": "没有规则涵盖这次调用。",
  "No rule covers this call ({r}).": "没有规则涵盖这次调用（{r}）。",
  "Denied by the rule {r}.": "被规则拒绝：{r}。",
  "Allowed by the rule {r}.": "由规则允许：{r}。",
  "Allowed by the rules {r}.": "由这些规则共同允许：{r}。",
  "A person is asked because of the rule {r}.": "规则要求先问人：{r}。",
  "A person is asked because nobody can read the rule {r}.": "先问人，因为这条规则无法读懂：{r}。",
  "{r} of this session, {r}": "{r}（本会话），{r}",
  "{r} of your settings for this project, {r}": "{r}（你在本项目的设置），{r}",
  "{r} of the project's settings, {r}": "{r}（项目的设置），{r}",
  "{r} of your own settings, {r}": "{r}（你自己的设置），{r}",
  "{} of this session": "{}（本会话）",
  "{} of your settings for this project": "{}（你在本项目的设置）",
  "{} of the project's settings": "{}（项目的设置）",
  "{} of your own settings": "{}（你自己的设置）",
  "Bypass mode: nothing forbids it.": "bypass 模式：没有任何禁止。",
  "{} needs a person to answer.": "{} 需要人来回答。",
  "{} is no longer described as it was when its rule was saved.": "{} 的描述与保存规则时不同。",
  "The call could not be judged: {}": "无法判断这次调用：{}",
  "The input of {} cannot be judged: {r}.": "无法判断 {} 的输入：{r}。",
  "the command is not a text": "命令不是文本",
  "its path is not a text": "路径不是文本",
  "a path must not be empty": "路径不能为空",
  "a path must not contain control characters": "路径不能包含控制字符",
  "~name is not supported; write the whole path": "不支持 ~name；请写完整路径",
  "not a usable path, {}: {r}": "路径 {} 无法使用：{r}",
  "too many links on the way to {}": "通往 {} 的链接太多",
  "the path is too long": "路径太长",
  "The tool's own check gave no usable answer.": "工具自己的检查没有给出可用的答复。",
  "The tool's own check failed: {}": "工具自己的检查失败：{}",
  "Only reads, inside of the workspace.": "只读，且在工作区内。",
  "reads inside the workspace": "在工作区内读取",
  "The command runs Sage itself, which only a person may do.": "这条命令会运行 Sage 本身，只有人可以这样做。",
  "The command needs a person: {r}.": "这条命令需要人来决定：{r}。",
  "approved with this input": "已按此输入批准",
  "approved, and unchanged since": "已批准，且此后没有变化",
  "what would run is not what was approved: it changed in between": "将要运行的不是已批准的内容：其间有变化",
  "the person refused this very call before, and nothing was said since": "这次调用之前已被拒绝，此后你没有说过别的",

  "no rule covers it": "没有规则涵盖它",
  "no rule covers it, and {r}": "没有规则涵盖它，并且{r}",
  "only reads": "只读",
  "sets nothing that matters": "没有设置要紧的东西",
  "stays inside of the workspace": "不离开工作区",
  "denied by {}": "被 {} 拒绝",
  "{} asks about it": "{} 要求先问",
  "allowed by {}": "由 {} 允许",
  "which program runs is known only when it does": "运行哪个程序，到运行时才知道",
  "{} may change what later names mean": "{} 可能改变后面名称的含义",
  "{} may change what {} does": "{} 可能改变 {} 的行为",
  "{} is not the program of that name in {}": "{} 不是 {} 中的那个同名程序",
  "{} is given an option that a rule must spell out": "给 {} 的某个选项必须在规则中写明",
  "writes {}, allowed by {}": "写入 {}，由 {} 允许",
  "reads {}, allowed by {}": "读取 {}，由 {} 允许",
  "writes {}: no Edit rule covers it": "写入 {}：没有 Edit 规则涵盖它",
  "reads {}: outside of the workspace": "读取 {}：在工作区之外",
  "{} is protected: {r}": "{} 受保护：{r}",
  "{} holds what {} is about": "{} 中有 {} 所指的内容",
  "{} is a repository": "{} 是一个仓库",
  "{} would be removed": "{} 会被删除",
  "what would be removed may be anything": "会删除什么无法确定",
  "{} may be anything, / included": "{} 可能是任何东西，包括 /",
  "there is too much below {} to look through": "{} 之下内容太多，无法逐一查看",
  "{} leads to {}": "{} 指向 {}",
  "which file it means is known only when it runs": "指的是哪个文件，到运行时才知道",
  "it stands for more files than can be looked at": "它代表的文件太多，无法逐一查看",
  "a file is called like an option": "有文件的名字像选项",
  "it names no file": "它没有指明文件",
  "{} is not a file": "{} 不是文件",
  "what it writes is not clear": "它写入什么并不清楚",
  "git {} would show what {} is about": "git {} 会显示 {} 所指的内容",
  "what git {} would show cannot be told": "无法确定 git {} 会显示什么",
  "a link is made and may be followed in the same line": "同一行里建立的链接可能随即被跟随",
  "it holds no command": "其中没有命令",
  "where {} leads is not known": "{} 通往何处无法确定",
  "where this {} leads is not known": "这个 {} 通往何处无法确定",
  "there are too many folders it may lead to": "它可能通往的目录太多",
  "{} is outside of the workspace": "{} 在工作区之外",
  "{} is outside the workspace": "{} 在工作区之外",

  "{} can be denied or asked about, not allowed by a rule": "{} 只能拒绝或询问，不能由规则允许",
  "{} is not understood": "无法理解 {}",
  "it cannot be parsed": "无法解析",
  "it can be read in two ways": "有两种读法",
  "its continued lines can be read in two ways": "续行有两种读法",
  "it has too many parts": "段数太多",
  "it has {} characters; more than {} are not taken apart": "共 {} 个字符；超过 {} 个就不再拆解",
  "it holds the character U+{}, which does not show as what it is": "其中有字符 U+{}，显示出来的与实际不符",
  "it holds half a character": "其中有半个字符",
  "the shell grammar is not available, so no command is taken apart": "shell 语法不可用，因此不拆解任何命令",
  "a {} is missing": "缺少 {}",
  "a quote is not closed": "引号没有闭合",
  "a quote of this kind is not closed, or stands inside backticks": "这种引号没有闭合，或在反引号之内",
  "arithmetic is not understood": "无法理解算术",
  "process substitution is not understood": "无法理解进程替换",
  "what follows a $ is not understood": "无法理解 $ 之后的内容",
  "this kind of assignment is not understood": "无法理解这种赋值",
  "this kind of redirection is not understood": "无法理解这种重定向",
  "a backslash inside backticks": "反引号内有反斜杠",
  "a backslash stands at the end of a line": "行末有反斜杠",
  "a blank that the shell does not know as one": "有 shell 不当作空白的空白字符",
  "backticks inside backticks": "反引号内又有反引号",
  "a comment inside backticks": "反引号内有注释",
  "a here-document inside backticks": "反引号内有 here 文档",
  "a here-document has no end": "here 文档没有结束",
  "a here-document does not begin before its command ends": "here 文档在命令结束之前没有开始",
  "a here-document's end is inside of a substitution": "here 文档的结束处在替换之内",
  "where a here-document ends is not clear": "here 文档在哪里结束并不清楚",
  "several here-documents on one line": "一行中有多个 here 文档",
  "parentheses stand where no command begins": "不是命令开头的地方有括号",
  "commands are nested too deeply": "命令嵌套太深",
  "a command does not end where one should": "命令没有在该结束的地方结束",
  "a command is missing after an operator": "运算符之后缺少命令",
  "a command is missing where one should stand": "该有命令的地方没有命令",
  "a redirection leads nowhere": "重定向没有目标",
  "a change of folder is negated": "切换目录被取反",
  "a group is negated": "命令组被取反",
  "a group holds no command": "命令组中没有命令",

  "{} looks like a bare repository": "{} 像是一个裸仓库",
  "{} is another repository than the session's": "{} 不是本会话的仓库",
  "{} is not a whole repository": "{} 不是完整的仓库",
  "{} has {}, which may name a program": "{} 中有 {}，可能指定一个程序",
  "{} cannot be read": "{} 无法读取",
  "{} is not a file that can be looked through": "{} 不是可以查看的文件",
  "a hook runs whenever git looks at its index": "git 每次查看索引都会运行一个钩子",
  "it may write to the index": "它可能写入索引",
  "it holds other repositories": "其中有别的仓库",
  "the index is split, so nested repositories cannot be ruled out": "索引被拆分，无法排除其中有别的仓库",
  "the index is too large to look through": "索引太大，无法查看",
  "which repository it means is known only when it runs": "指的是哪个仓库，到运行时才知道",

  "Sage's own state": "Sage 自己的状态",
  "Sage's own settings": "Sage 自己的设置",
  "instructions that agents follow": "代理遵循的指令",
  "settings of another agent": "其他代理的设置",
  "keys and credentials": "密钥和凭据",
  "git runs programs named here": "git 会运行其中指定的程序",
  "run by the shell when it starts": "shell 启动时会运行",
  "started by the system": "由系统启动",
  "configures programs that tools run": "配置工具会运行的程序",

  "reads {}//{}": "读取 {}//{}",
  "The address is not one of the web that can be judged.": "这不是可以判断的网址。",
  "{} is on this machine or its own network.": "{} 在本机或本地网络上。",
  "The address carries {} characters after the ?, which is enough to carry data away.":
    "网址在 ? 之后带有 {} 个字符，足以带走数据。",
  "The address may carry a secret away.": "网址可能带走秘密。",
  "Answer questions?": "回答问题？",
  "the settings of {} are not trusted, or changed since, so nothing is saved there; run `sage trust` there first":
    "{} 的设置未受信任，或此后有改动，所以不在那里保存；请先在那里运行 `sage trust`",
  "writes {}": "写入 {}",
  "reads {}": "读取 {}",
};
