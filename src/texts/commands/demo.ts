import { sage, sageElsewhere } from "../command.ts";
import { inBoth } from "../language.ts";

const en = {
  intro: [
    "Demo: the model is a script, everything else is real.",
    "It works in a temporary folder, which is deleted at the end.",
  ],
  itself: "[demo answers itself]",
  task: "Write a small program that greets the reader of README.md, and run it.",
  readme: "# Lighthouse\n\nA small light for people who come home late.\n",
  hello: "Before I write anything, one question.",
  question: "Which language should the greeting use?",
  header: "Greeting",
  options: [
    { label: "English", description: "Welcome home." },
    { label: "Chinese", description: "欢迎回家。" },
    { label: "Both", description: "one line each" },
  ],
  remark: "Keep it short.",
  reading: "Thanks. Let me see what the project is called.",
  unanswered: "No answer, so I will use English.",
  writing: "Now I will write the program. Please review it.",
  running: "Written. Next I will run it.",
  runWords: "Run the greeting",
  notWritten: "You refused the file, so there is nothing to run. Nothing was changed.",
  refused: "You refused the command, so the program is written and did not run.",
  notRun: (why: string) => `The program is written but did not run.\n${why}`,
  greets: (name: string, line: string) => `${name}: ${line}`,
  ran: (output: string) => `The program printed:\n\n${output}`,
  removing: "Last, I will remove the program. The process that asks you is killed in a moment, with kill -9.",
  removeWords: "Remove the program",
  removed: "Removed. A process was killed while it waited for you; the same turn went on in another one.",
  kept: "You refused, so the program stays. The same turn went on in another process.",
  killed: "The process that asked is gone. Its request is on disk, and any process may answer it.",
  answerHere: "\nAllow it, from this other process? (y/n) > ",
  inquired: "I am a script, so I cannot answer that. A model replies here, and the request stays open as it does now.",
  over: "The script of the demo ends here. A new task begins it again; with a model of your own, Sage continues.",
  summary: "From the journal:",
  asked: { question: "asked a question", permission: "asked for permission", text: "asked for input" },
  next: [
    "Every step was on disk before the next one began: killing Sage at any point loses nothing.",
    `Next: choose a model with \`${sage("setup")}\` (or set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENAI_BASE_URL), then run \`${sageElsewhere()}\` in your project.`,
  ],
};

export type DemoTexts = typeof en;

const zh: DemoTexts = {
  intro: ["演示：模型是一份脚本，其余都是真的。", "它在临时目录中工作，结束后删除。"],
  itself: "[演示自动回答]",
  task: "写一个小程序，问候 README.md 的读者，并运行它。",
  readme: "# 灯塔\n\n给晚归的人的一盏小灯。\n",
  hello: "动手之前，先问一个问题。",
  question: "问候语用哪种语言？",
  header: "问候语言",
  options: [
    { label: "中文", description: "欢迎回家。" },
    { label: "英文", description: "Welcome home." },
    { label: "两种都要", description: "各一行" },
  ],
  remark: "简短一点。",
  reading: "谢谢。我先看看项目叫什么。",
  unanswered: "没有回答，我就用英文。",
  writing: "现在写程序，请过目。",
  running: "写好了，接下来运行。",
  runWords: "运行问候程序",
  notWritten: "写文件被拒绝，所以没有可运行的程序。没有任何改动。",
  refused: "你拒绝了这条命令：程序写好了，但没有运行。",
  notRun: (why) => `程序写好了，但没有运行。\n${why}`,
  greets: (name, line) => `${name}：${line}`,
  ran: (output) => `程序的输出：\n\n${output}`,
  removing: "最后，删除这个程序。正在问你的进程马上会被 kill -9 结束。",
  removeWords: "删除程序",
  removed: "已删除。等你回答的进程被杀掉了，同一轮在另一个进程里继续做完。",
  kept: "你拒绝了，程序保留。同一轮在另一个进程里继续做完。",
  killed: "提问的进程已经不在了。它的请求在磁盘上，任何进程都可以回答。",
  answerHere: "\n在这个进程里允许它吗？(y/n) > ",
  inquired: "我只是一份脚本，答不了这个问题。换成模型，回答会出现在这里；请求照样等着你。",
  over: "演示脚本到此为止。新任务会从头开始；配置自己的模型后，Sage 会继续做下去。",
  summary: "日志记录：",
  asked: { question: "提问", permission: "请求许可", text: "请求输入" },
  next: [
    "每一步都在下一步开始之前写入磁盘：无论何时结束 Sage，都不会丢失内容。",
    `下一步：用 \`${sage("setup")}\` 选择模型（或设置 ANTHROPIC_API_KEY、OPENAI_API_KEY、GEMINI_API_KEY 或 OPENAI_BASE_URL），然后在你的项目中运行 \`${sageElsewhere()}\`。`,
  ],
};

export const demoTexts = inBoth<DemoTexts>(en, zh);
