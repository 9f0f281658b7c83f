import type { Lang } from "./language.ts";

export type ExitName = "success" | "failure" | "usage" | "needsPerson" | "timeout" | "maxSteps" | "interrupted";

export type HelpTexts = {
  usage: string;
  /** Where the command has another name. */
  insteadOf: (command: string) => string;
  exitTitle: string;
  exit: Record<ExitName, string>;
};

const en: HelpTexts = {
  usage: `Sage: an agent that knows how to wait for you.

  sage [task]                 work with the agent in this directory
  sage -p "task"              do one task, print the result and exit
  cat log | sage -p "why?"    the same, with stdin as context
  sage sessions               list sessions
  sage inbox                  list what waits for a person, in all sessions
  sage answer <id> …          answer one of them, from any terminal
  sage why [what]             who allowed what, when and by which rule
  sage export [session]       write a session as JSON lines or as a page to read
  sage permissions …          see, add, remove, explain and import rules
  sage trust [--yes|--revoke] see and trust the settings of this folder
  sage doctor [--rebuild]     check this installation; make the list of open requests again
  sage serve                  stay, for people in Feishu and for sessions that wait
  sage feishu setup|doctor    set up Sage in Feishu or Lark, and find out what is missing
  sage setup                  choose a model and keep its key
  sage demo                   see how it works, without a model

Running
  -p, --print                 no conversation: print the result and exit
  --output-format <f>         with -p: text, json (one object) or stream-json (one line per event)
  --yes                       nobody is asked; ordinary permissions are granted
  --deny                      nobody is asked; permissions and questions are refused
                              (-p without either: stops at the first request with exit code 3)
  --bypass                    ask for no ordinary permission at all; deny and ask rules still hold
  --model <provider/name>     for example anthropic/claude-sonnet-5-5, openai/gpt-6.1-sol;
                              scripted/<file> plays a JSON list of turns instead
  --fallback-model <p/name>   goes on with the turn when the model cannot be had
  --max-steps <n>             model replies per turn (100)
  --timeout <d>               working time per turn; waiting for you never counts
  --prompt-timeout <d>        how long a request waits for a person (for ever)
                              durations: 30s, 5m, 2h, or milliseconds
  -c, --continue              go on with the last session of this directory
  -r, --resume <id>           go on with this session; the start of its id is enough
  --cwd <dir>                 work there
  --record <file>             write the model's replies, to be played again by --replay <file>
  --record-answers <file>     write what people answered, for -p --replay-answers <file>;
                              what nobody answered then ends with exit code 3
  --plain                     lines of text instead of a screen that is drawn
  --lang <en|zh>              language of what you read
  --version, --help

Answering
  sage answer <id> --yes [--comment <text>] [--input <json>]
  sage answer <id> --always [n] [--to session|local|project|user] [--rule <text>]
                              allow it from now on, with the nth rule offered or one of your own
  sage answer <id> --no [--reason <text>]
  sage answer <id> --choose <label> [--other <text>] [--remark <text>] [--partial]
                              several questions: --choose "question=label", as often as needed
  sage answer <id> --text <text>
  sage answer <id> --decline [--reason <text>]
  sage answer <id> --stop     cancel the request and its turn
  sage answer <id> --json <response>
  --run                       go on with the session at once, here
  --json                      with sessions or inbox: machine-readable
  sage inbox [--watch] [--json]
                              --watch shows what opens and ends as it happens

Sessions
  sage sessions [--search <text>] [--json]
  sage sessions rename <id> <title>
  sage sessions fork <id> [--at <t2|t2/5|number>]
                              a new session that begins where this one is, or was then; requests and rules stay behind
  sage sessions delete <id>… [--yes]
                              for good; its open requests are cancelled, and who allowed what stays on record
  sage sessions gc [--dry-run]
                              remove what nobody can miss; "retention" in your settings deletes old sessions

Looking back
  sage why [session|call|file] [--all] [--json]
                              who allowed what, when, from where, by which rule of which file;
                              for a file: which calls changed it
  sage export [session] [--format jsonl|html|script|answers] [-o <file>]
                              the facts, a page that needs nothing else, or what --replay and
                              --replay-answers play; secrets are left out

Permissions
  sage permissions list [--json]
  sage permissions add <allow|ask|deny> <rule> [--to local|project|user]
  sage permissions remove <rule> [--to local|project|user]
  sage permissions explain <tool> <input> [--json] [--bypass]
                              what would become of a call here, and by which rule of which file
  sage permissions check --stdin
                              JSON lines in, decisions out; see docs/settings.md
  sage permissions import [file] [--to user|local|project] [--dry-run] [--yes]
                              take over the rules of Claude Code

Serving
  sage serve [--port <n>] [--host <address>] [--model <provider/name>]
                              listens on 127.0.0.1:8787; docs/feishu.md has every setting

Environment
  ANTHROPIC_API_KEY, OPENAI_API_KEY, ANTHROPIC_BASE_URL, OPENAI_BASE_URL
  FEISHU_APP_ID, FEISHU_APP_SECRET, FEISHU_APPROVERS, FEISHU_ALLOWED_USERS, FEISHU_MODE,
  FEISHU_DOMAIN, FEISHU_PORT, FEISHU_ENCRYPT_KEY, FEISHU_VERIFICATION_TOKEN
  SAGE_HOME                   where Sage keeps its state (~/.sage)
  SAGE_LANG, SAGE_PLAIN, NO_COLOR, SAGE_DEBUG`,
  insteadOf: (command) => `(Started through npm, “sage …” is typed as “${command}” here.)`,
  exitTitle: "Exit codes",
  exit: {
    success: "done",
    failure: "the turn failed, or an answer was refused",
    usage: "a flag, a setting or the model is wrong or missing",
    needsPerson: "a person is needed; `sage inbox`, `sage answer`, then `sage --resume`",
    timeout: "the time was up",
    maxSteps: "the step limit was reached",
    interrupted: "interrupted or cancelled",
  },
};

const zh: HelpTexts = {
  usage: `Sage：懂得等你的智能体。

  sage [任务]                 在当前目录与智能体一起工作
  sage -p "任务"              做一件事，打印结果后退出
  cat log | sage -p "为什么?" 同上，并以标准输入为上下文
  sage sessions               列出会话
  sage inbox                  列出所有会话中等人回答的请求
  sage answer <编号> …        在任何终端回答其中一个
  sage why [对象]             谁在何时、依据哪条规则允许了什么
  sage export [会话]          把会话写成 JSON 行或可读的网页
  sage permissions …          查看、添加、删除、解释和导入规则
  sage trust [--yes|--revoke] 查看并信任本目录自带的设置
  sage doctor [--rebuild]     检查安装；重新生成待回应请求的列表
  sage serve                  常驻，服务飞书里的人和等人回答的会话
  sage feishu setup|doctor    设置飞书或 Lark，并查出还缺什么
  sage setup                  选择模型并保存密钥
  sage demo                   不用模型，看看它如何工作

运行
  -p, --print                 不对话：打印结果后退出
  --output-format <格式>      与 -p 合用：text、json（一个对象）或 stream-json（每个事件一行）
  --yes                       不问人；普通许可自动给予
  --deny                      不问人；许可和提问一律拒绝
                              （-p 而两者皆无：遇到第一个请求即停，退出码 3）
  --bypass                    普通许可一概不问；deny 和 ask 规则仍然有效
  --model <提供方/名称>       例如 anthropic/claude-sonnet-5-5、openai/gpt-6.1-sol；
                              scripted/<文件> 改为播放 JSON 写成的剧本
  --fallback-model <提供方/名称> 模型不可用时，由它接着做完这一轮
  --max-steps <n>             每轮的模型回复数（100）
  --timeout <时长>            每轮的工作时间；等你的时间不计
  --prompt-timeout <时长>     请求等人多久（永远等）
                              时长：30s、5m、2h，或毫秒数
  -c, --continue              继续本目录的上一个会话
  -r, --resume <编号>         继续这个会话；编号的开头即可
  --cwd <目录>                在那里工作
  --record <文件>             写下模型的回复，供 --replay <文件> 重放
  --record-answers <文件>     写下人的回答，供 -p --replay-answers <文件> 使用；
                              当时无人回答的，以退出码 3 结束
  --plain                     逐行文字，不绘制屏幕
  --lang <en|zh>              界面语言
  --version, --help

回答
  sage answer <编号> --yes [--comment <话>] [--input <json>]
  sage answer <编号> --always [n] [--to session|local|project|user] [--rule <规则>]
                              今后一直允许：按所列第 n 条规则，或自己写的规则
  sage answer <编号> --no [--reason <原因>]
  sage answer <编号> --choose <选项> [--other <话>] [--remark <附言>] [--partial]
                              多个问题：--choose "问题=选项"，可重复
  sage answer <编号> --text <文字>
  sage answer <编号> --decline [--reason <原因>]
  sage answer <编号> --stop   取消请求和它所在的一轮
  sage answer <编号> --json <回答>
  --run                       随即在此继续该会话
  --json                      与 sessions 或 inbox 合用：机器可读
  sage inbox [--watch] [--json]
                              --watch 随时显示新的和已结束的请求

会话
  sage sessions [--search <文字>] [--json]
  sage sessions rename <编号> <标题>
  sage sessions fork <编号> [--at <t2|t2/5|数字>]
                              新会话从它现在或当时之处开始；请求和规则不带过去
  sage sessions delete <编号>… [--yes]
                              永久删除；未决请求被取消，谁允许了什么仍有记录
  sage sessions gc [--dry-run]
                              清理无人需要的东西；设置里的 "retention" 会删除旧会话

回顾
  sage why [会话|调用|文件] [--all] [--json]
                              谁在何时何处、依据哪个文件的哪条规则允许了什么；
                              对文件：哪些调用改动过它
  sage export [会话] [--format jsonl|html|script|answers] [-o <文件>]
                              全部事实、无需其他文件的网页，或供 --replay 与
                              --replay-answers 重放的文件；机密一律略去

权限
  sage permissions list [--json]
  sage permissions add <allow|ask|deny> <规则> [--to local|project|user]
  sage permissions remove <规则> [--to local|project|user]
  sage permissions explain <工具> <输入> [--json] [--bypass]
                              一次调用在这里会怎样，依据哪个文件的哪条规则
  sage permissions check --stdin
                              逐行读取 JSON，逐行输出判断；见 docs/settings.md
  sage permissions import [文件] [--to user|local|project] [--dry-run] [--yes]
                              导入 Claude Code 的规则

常驻
  sage serve [--port <n>] [--host <地址>] [--model <提供方/名称>]
                              监听 127.0.0.1:8787；全部设置见 docs/feishu.zh.md

环境变量
  ANTHROPIC_API_KEY, OPENAI_API_KEY, ANTHROPIC_BASE_URL, OPENAI_BASE_URL
  FEISHU_APP_ID, FEISHU_APP_SECRET, FEISHU_APPROVERS, FEISHU_ALLOWED_USERS, FEISHU_MODE,
  FEISHU_DOMAIN, FEISHU_PORT, FEISHU_ENCRYPT_KEY, FEISHU_VERIFICATION_TOKEN
  SAGE_HOME                   Sage 存放状态之处（~/.sage）
  SAGE_LANG, SAGE_PLAIN, NO_COLOR, SAGE_DEBUG`,
  insteadOf: (command) => `（经 npm 启动时，“sage …”在这里写作“${command}”。）`,
  exitTitle: "退出码",
  exit: {
    success: "完成",
    failure: "本轮失败，或回答未被接受",
    usage: "参数、设置或模型有误或缺失",
    needsPerson: "需要人来回答；`sage inbox`、`sage answer`，然后 `sage --resume`",
    timeout: "超时",
    maxSteps: "达到步数上限",
    interrupted: "被打断或取消",
  },
};

const tables = { en, zh } satisfies Record<Lang, HelpTexts>;

export function helpTexts(lang: Lang): HelpTexts {
  return tables[lang];
}
