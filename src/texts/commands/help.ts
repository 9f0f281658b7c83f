import { inBoth } from "../language.ts";
import { serving } from "./help-serving.ts";

export type ExitName =
  | "success"
  | "failure"
  | "usage"
  | "needsPerson"
  | "timeout"
  | "maxSteps"
  | "incomplete"
  | "interrupted";

type HelpTexts = {
  usage: string;
  /** For a command that has another name here. */
  insteadOf: (command: string) => string;
  exitTitle: string;
  exit: Record<ExitName, string>;
};

const en: HelpTexts = {
  usage: `Sage: an agent that knows how to wait for you.

  sage [task]                 work with the agent in this folder
  sage -p "task"              run one task, print the result and exit
  cat log | sage -p "why?"    the same, with stdin as context
  sage sessions               list sessions
  sage inbox                  list open requests in all sessions
  sage answer <id> …          answer a request, from any terminal
  sage rewind <session>       go back to before a message: conversation, files or both
  sage tasks                  list commands that run in the background
  sage why [what]             show who allowed what, when and by which rule
  sage stats                  show how often you were asked, by what, and how long you took
  sage export [session]       save a session as JSON lines or as a page
  sage backup <file>          save the journal to a file while Sage runs; --restore brings it back
  sage permissions …          list, add, remove, explain and import rules; try and suggest them
  sage mcp …                  list, add, remove, test and import MCP servers; log in to them
  sage acp                    run in an editor that speaks the Agent Client Protocol (Zed, JetBrains, Neovim)
  sage mcp-server [--name <n>]
                              lets other agents ask you through Sage, over MCP (stdio)
  sage trust [--yes|--revoke] review and trust this folder's settings
  sage models [words]         list models: tokens in a prompt, price, pictures; --json
  sage agents                 other agents for --agent: which are installed, what Sage keeps and can refuse; --json
  sage agents stop            end Codex's app-server, which Sage keeps for its open requests
  sage hook install claude    put prompts of your own Claude Code (or codex) into Sage's inbox; shows the change and asks
  sage hook uninstall claude  take that back, without a trace
  sage sandbox [off|contain|autoAllow|try -- command]
                              commands confined by the operating system
  sage doctor [--rebuild] [--engine postgres://…]
                              check the installation; rebuild the index of open requests; look at a shared journal
  sage serve                  serve the page, Feishu and waiting sessions
  sage worker, sage workers   run sessions of a journal that machines share; list who does
  sage devices [add|remove]   devices that may open the page, or come from another terminal
  sage hosts [add|remove]     other machines on which to work with --host; pairs with one by its link
  sage feishu setup|doctor    set up Feishu or Lark, and check the setup
  sage setup                  choose a model and save its key
  sage demo                   try Sage without a model

Running
  -p, --print                 print the result and exit
  --output-format <f>         with -p: text, json (one object) or stream-json (one line per event)
  --yes                       do not ask; grant ordinary permissions
  --deny                      do not ask; refuse permissions and questions
                              (-p without either stops at the first request, exit code 3)
  --mode <m>                  ask, accept-edits (edits in the workspace need no permission) or
                              plan (only reads until you approve its plan); --plan is short for it
  --bypass                    skip ordinary permission requests; deny and ask rules still apply
  --model <provider/name>     for example anthropic/claude-sonnet-5-5, openai/gpt-6.1-sol;
                              scripted/<file> plays a script (JSON) instead
  --fallback-model <p/name>   used when the model is unavailable
  --effort <low|medium|high>  how long models think (default: the model or its provider decides)
  --agent <name>              another agent does the work and Sage does the asking: claude, codex, …
  --max-steps <n>             model replies per turn (100)
  --max-tokens <n>            tokens per reply (what the model is known to write)
  --timeout <d>               working time per turn; time spent waiting for you does not count
  --prompt-timeout <d>        how long a request waits (default: forever)
                              durations: 30s, 5m, 2h, 7d, or milliseconds
  --if-silent <what>          when nobody answers: wait, fail, deny, or escalate to further
                              people of the settings (after 10m unless something else is set)
  -c, --continue              resume the last session in this folder
  -r, --resume [id]           resume a session; the start of its id is enough, without one you choose
  --cwd <dir>                 work in this folder; with --resume: where the session's folder was moved to
  --host <name|address|link>  work with an agent on another machine (docs/remote.md); also with
                              sessions, inbox, answer and why
  --engine <postgres://…>     with sessions, inbox, answer, why, stats, export and doctor: the journal
                              that machines share (docs/scale.md)
  --record <file>             save the model's replies for --replay <file>
  --record-answers <file>     save people's answers for -p --replay-answers <file>;
                              an unanswered request then exits with code 3
  -p --persona <file>         for tests: a person described in words answers, played by
                              the model, in a journal of its own
  --plain                     plain lines instead of a drawn screen
  --lang <en|zh>              language
  --version, --help

Answering
  sage answer <id> --yes [--comment <text>] [--input <json>] [--accept-edits]
  sage answer <id> --yes --outside
                              run it outside the sandbox, once, where the request offers that
  sage answer <id> --always [n] [--to session|local|project|user] [--rule <text>]
                              always allow, with the nth offered rule or your own
  sage answer <id> --no [--reason <text>]
  sage answer <id> --choose <label> [--other <text>] [--remark <text>] [--partial]
                              several questions: repeat --choose "question=label"
  sage answer <id> --text <text>
  sage answer <id> --decline [--reason <text>]
  sage answer <id> --stop     cancel the request and its turn
  sage answer <id> --json <response>
  sage answer <id> --ask <question>
                              ask about it; the agent replies, the request stays open
  sage answer <id> --all-like --yes | --no
                              answer it and all that are alike, after their list;
                              --seen <code> where nobody can be asked
  --run                       resume the session here afterwards
  --json                      with sessions or inbox: JSON output
  sage inbox [<id>] [--watch] [--json]
                              one line each; with an id the whole request; --watch shows them as they open and close

Sessions
  sage sessions [--search <text>] [--json]
  sage sessions rename <id> <title>
  sage sessions fork <id> [--at <t2|t2/5|number>]
                              a new session that continues from here, or from that point, without requests and rules
  sage sessions delete <id>… [--yes]
                              permanent; open requests are cancelled, the record of decisions is kept
  sage sessions gc [--dry-run]
                              remove empty sessions and unused output; "retention" in settings deletes old sessions

Commands in the background
  sage tasks [--all] [--json] those that run; --all also those that ended
  sage tasks output|stop|keep <id>
                              show its output, stop it, or keep it running when Sage exits

Looking back
  sage rewind <session> [--to t3] [--files | --conversation | --both] [--dry-run | --yes] [--overwrite]
                              go back to before a message; without --to, list the messages;
                              what would change is listed first, --overwrite is for files in doubt
  sage why [session|call|file] [--all] [--json]
                              who allowed what, when, where, and by which rule;
                              for a file: which calls changed it
  sage stats [--all] [--since <d>] [--session <id>] [--json]
                              of this project; --all: of every folder, --since 7d: of the last seven days
  sage export [session] [--format jsonl|html|script|answers|receipts] [-o <file>]
                              the facts, a self-contained page, or files for --replay and
                              --replay-answers; secrets are removed
  sage backup <file>          every session with its open requests and kept files, secrets included;
                              an existing file is not replaced
  sage backup --restore <file>
                              make the journal of it, where there is none (another SAGE_HOME or machine)

Permissions
  sage permissions list [--json]
  sage permissions add <allow|ask|deny> <rule> [--to local|project|user]
  sage permissions remove <rule> [--to local|project|user]
  sage permissions explain <tool> <input> [--json] [--bypass] [--plan]
                              show how a call would be decided here, and by which rule
  sage permissions backtest [rule…] [--behavior allow|ask|deny] [--json]
                              what a rule would have meant for the past calls of this project
  sage permissions suggest [--json]
                              the fewest rules that would have spared the most questions
  sage permissions check --stdin
                              JSON lines in, decisions out; see docs/settings.md
  sage permissions import [file] [--to user|local|project] [--dry-run] [--yes]
                              import rules from Claude Code

MCP servers
  sage mcp list [--json]
  sage mcp add <name> [--env NAME=value] [--header "Name: value"] [--to user|project] <url | command …>
                              put -- before a command that has flags
  sage mcp remove <name> [--to user|project]
  sage mcp test [name] [--json]
                              starts servers and lists their tools
  sage mcp login <name>       logs in to a remote server
  sage mcp import [file] [--dry-run] [--yes]
                              takes over Claude Code's servers

${serving.en}

Environment
  ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, ANTHROPIC_BASE_URL, OPENAI_BASE_URL
  FEISHU_APP_ID, FEISHU_APP_SECRET, FEISHU_APPROVERS, FEISHU_ALLOWED_USERS, FEISHU_MODE,
  FEISHU_DOMAIN, FEISHU_PORT, FEISHU_ENCRYPT_KEY, FEISHU_VERIFICATION_TOKEN
  SAGE_HOME                   state directory (~/.sage)
  SAGE_HOST                   as --host
  SAGE_ENGINE                 as --engine
  SAGE_LANG, SAGE_PLAIN, NO_COLOR, SAGE_DEBUG`,
  insteadOf: (command) => `(Started with npm: type “${command}” instead of “sage …”.)`,
  exitTitle: "Exit codes",
  exit: {
    success: "done",
    failure: "the turn failed, or an answer was not accepted",
    usage: "invalid or missing flag, setting or model",
    needsPerson: "waiting for a person: `sage inbox`, `sage answer`, then `sage --resume`",
    timeout: "timed out",
    maxSteps: "step limit reached",
    incomplete: "the last reply was cut off, withheld or empty",
    interrupted: "interrupted or cancelled",
  },
};

const zh: HelpTexts = {
  usage: `Sage：会等你的智能体。

  sage [任务]                 在当前目录与智能体一起工作
  sage -p "任务"              运行一个任务，打印结果后退出
  cat log | sage -p "为什么?" 同上，并以标准输入为上下文
  sage sessions               列出会话
  sage inbox                  列出所有会话中待处理的请求
  sage answer <编号> …        在任何终端回答请求
  sage rewind <会话>          回退到某条消息之前：对话、文件或两者
  sage tasks                  列出后台命令
  sage why [对象]             查看谁在何时、依据哪条规则允许了什么
  sage stats                  查看询问过多少次、由什么引起、回答用了多久
  sage export [会话]          把会话保存为 JSON 行或网页
  sage backup <文件>          在 Sage 运行时把日志存成一个文件；--restore 恢复
  sage permissions …          列出、添加、删除、解释和导入规则；试用规则、给出建议
  sage mcp …                  列出、添加、删除、测试和导入 MCP 服务器，登录服务器
  sage acp                    在支持 Agent Client Protocol 的编辑器（Zed、JetBrains、Neovim）中运行
  sage mcp-server [--name <n>]
                              让其他智能体经 MCP（stdio）通过 Sage 向你提问
  sage trust [--yes|--revoke] 查看并信任本目录的设置
  sage models [words]         列出模型：提示的 token 数、价格、图片；--json
  sage agents                 可用于 --agent 的其他智能体：装了哪些，Sage 能保留和拒绝什么；--json
  sage agents stop            结束 Codex 的 app-server（Sage 用它保留待处理的请求）
  sage hook install claude    让你自己的 Claude Code（或 codex）的提示也出现在 Sage 的收件箱；先显示对其设置的改动，再询问
  sage hook uninstall claude  撤销，不留痕迹
  sage sandbox [off|contain|autoAllow|try -- 命令]
                              由操作系统限制命令
  sage doctor [--rebuild] [--engine postgres://…]
                              检查安装；重建待处理请求的索引；检查共用的日志
  sage serve                  提供网页、飞书和等待中的会话
  sage worker、sage workers   运行多台机器共用的日志中的会话；列出工作进程
  sage devices [add|remove]   可以打开网页、或从别的终端进来的设备
  sage hosts [add|remove]     可用 --host 工作的其他机器；用链接与它配对
  sage feishu setup|doctor    设置飞书或 Lark，并检查设置
  sage setup                  选择模型并保存密钥
  sage demo                   不用模型试用 Sage

运行
  -p, --print                 打印结果后退出
  --output-format <格式>      与 -p 合用：text、json（一个对象）或 stream-json（每个事件一行）
  --yes                       不询问；自动给予普通许可
  --deny                      不询问；拒绝许可和提问
                              （-p 不带二者：遇到第一个请求即停，退出码 3）
  --mode <m>                  ask、accept-edits（不询问即可编辑工作区文件）或 plan（只读取，
                              直到你允许它的计划）；--plan 等于 --mode plan
  --bypass                    跳过普通许可请求；deny 和 ask 规则仍然有效
  --model <提供方/名称>       例如 anthropic/claude-sonnet-5-5、openai/gpt-6.1-sol；
                              scripted/<文件> 改为播放脚本（JSON）
  --fallback-model <提供方/名称> 模型不可用时使用
  --effort <low|medium|high>  模型思考多久（默认由模型或提供方决定）
  --agent <名字>              由另一个智能体干活，Sage 负责询问：claude、codex 等
  --max-steps <n>             每轮的模型回复数（100）
  --max-tokens <n>            每次回复的 token 数（默认为模型已知的上限）
  --timeout <时长>            每轮的工作时间；等你的时间不计
  --prompt-timeout <时长>     请求等待多久（默认一直等）
                              时长：30s、5m、2h、7d，或毫秒数
  --if-silent <做法>          无人回答时：wait、fail、deny，或 escalate 询问设置中的其他人
                              （未另行设置时为 10 分钟后）
  -c, --continue              继续本目录的上一个会话
  -r, --resume [编号]         继续一个会话；编号的开头即可，不写则从列表中选择
  --cwd <目录>                在该目录工作；与 --resume 合用：会话的目录移到了这里
  --host <名称|地址|链接>     与另一台机器上的智能体一起工作（docs/zh/remote.md）；也可用于
                              sessions、inbox、answer 和 why
  --engine <postgres://…>     与 sessions、inbox、answer、why、stats、export、doctor 合用：
                              多台机器共用的日志（docs/zh/scale.md）
  --record <文件>             保存模型的回复，供 --replay <文件> 重放
  --record-answers <文件>     保存人的回答，供 -p --replay-answers <文件> 使用；
                              没有回答的请求以退出码 3 结束
  -p --persona <文件>         用于测试：由模型扮演文件中描述的人来回答，
                              使用单独的日志
  --plain                     逐行文字，不绘制屏幕
  --lang <en|zh>              语言
  --version, --help

回答
  sage answer <编号> --yes [--comment <附言>] [--input <json>] [--accept-edits]
  sage answer <编号> --yes --outside
                              在沙箱外运行一次（仅当请求提供此选项时）
  sage answer <编号> --always [n] [--to session|local|project|user] [--rule <规则>]
                              始终允许：用所列第 n 条规则，或自己写的规则
  sage answer <编号> --no [--reason <理由>]
  sage answer <编号> --choose <选项> [--other <回答>] [--remark <附言>] [--partial]
                              多个问题：重复 --choose "问题=选项"
  sage answer <编号> --text <文字>
  sage answer <编号> --decline [--reason <理由>]
  sage answer <编号> --stop   取消请求和本轮
  sage answer <编号> --json <回答>
  sage answer <编号> --ask <问题>
                              先追问：智能体回复，请求仍待处理
  sage answer <编号> --all-like --yes | --no
                              先列出同类请求，再一起回答；
                              无法询问时用 --seen <代码>
  --run                       随后在此继续该会话
  --json                      与 sessions 或 inbox 合用：输出 JSON
  sage inbox [<编号>] [--watch] [--json]
                              每个请求一行；加编号则显示完整请求；--watch 实时显示出现和结束的请求

会话
  sage sessions [--search <文字>] [--json]
  sage sessions rename <编号> <标题>
  sage sessions fork <编号> [--at <t2|t2/5|数字>]
                              新会话从现在或该处接续，不含请求和规则
  sage sessions delete <编号>… [--yes]
                              永久删除；待处理的请求被取消，决定的记录仍保留
  sage sessions gc [--dry-run]
                              移除空会话和无用的输出；设置中的 "retention" 会删除旧会话

后台命令
  sage tasks [--all] [--json] 列出正在运行的；--all 也列出已结束的
  sage tasks output|stop|keep <编号>
                              查看输出、停止，或让它在 Sage 退出后继续运行

回顾
  sage rewind <会话> [--to t3] [--files | --conversation | --both] [--dry-run | --yes] [--overwrite]
                              回退到某条消息之前；不带 --to 时列出消息，先列出会改变什么
  sage why [会话|调用|文件] [--all] [--json]
                              谁在何时何处、依据哪条规则允许了什么；
                              对文件：哪些调用改动过它
  sage stats [--all] [--since <时长>] [--session <编号>] [--json]
                              本项目的统计；--all：所有文件夹，--since 7d：最近七天
  sage export [会话] [--format jsonl|html|script|answers|receipts] [-o <文件>]
                              事实、独立的网页，或供 --replay 与
                              --replay-answers 使用的文件；机密会被移除
  sage backup <文件>          所有会话、待处理的请求和保留的文件，机密也在其中；
                              不会替换已有的文件
  sage backup --restore <文件>
                              在没有日志的地方（另一个 SAGE_HOME 或机器）由它恢复日志

许可
  sage permissions list [--json]
  sage permissions add <allow|ask|deny> <规则> [--to local|project|user]
  sage permissions remove <规则> [--to local|project|user]
  sage permissions explain <工具> <输入> [--json] [--bypass] [--plan]
                              查看一次调用在这里会如何决定，依据哪条规则
  sage permissions backtest [规则…] [--behavior allow|ask|deny] [--json]
                              规则对本项目以往的调用会有什么影响
  sage permissions suggest [--json]
                              用最少的规则省去最多的询问
  sage permissions check --stdin
                              逐行读取 JSON，逐行输出决定；见 docs/settings.md
  sage permissions import [文件] [--to user|local|project] [--dry-run] [--yes]
                              导入 Claude Code 的规则

MCP 服务器
  sage mcp list [--json]
  sage mcp add <名字> [--env 变量=值] [--header "名: 值"] [--to user|project] <网址 | 命令 …>
                              命令带选项时在前面写 --
  sage mcp remove <名字> [--to user|project]
  sage mcp test [名字] [--json]
                              启动服务器并列出工具
  sage mcp login <名字>       登录远程服务器
  sage mcp import [文件] [--dry-run] [--yes]
                              接手 Claude Code 的服务器

${serving.zh}

环境变量
  ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, ANTHROPIC_BASE_URL, OPENAI_BASE_URL
  FEISHU_APP_ID, FEISHU_APP_SECRET, FEISHU_APPROVERS, FEISHU_ALLOWED_USERS, FEISHU_MODE,
  FEISHU_DOMAIN, FEISHU_PORT, FEISHU_ENCRYPT_KEY, FEISHU_VERIFICATION_TOKEN
  SAGE_HOME                   状态目录（~/.sage）
  SAGE_HOST                   同 --host
  SAGE_ENGINE                 同 --engine
  SAGE_LANG, SAGE_PLAIN, NO_COLOR, SAGE_DEBUG`,
  insteadOf: (command) => `（经 npm 启动：用“${command}”代替“sage …”。）`,
  exitTitle: "退出码",
  exit: {
    success: "完成",
    failure: "本轮失败，或回答未被接受",
    usage: "参数、设置或模型无效或缺失",
    needsPerson: "等待人处理：`sage inbox`、`sage answer`，然后 `sage --resume`",
    timeout: "超时",
    maxSteps: "达到步数上限",
    incomplete: "最后的回复被截断、被拦下或为空",
    interrupted: "被中断或取消",
  },
};

export const helpTexts = inBoth<HelpTexts>(en, zh);
