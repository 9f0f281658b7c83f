import { sage } from "./command.ts";
import type { Lang } from "./language.ts";

const en = {
  intro: [
    "This is a demo: the model is a script, everything else is real.",
    "Real loop, real tools, real prompts, in a temporary folder that is removed at the end.",
  ],
  itself: "[demo answers itself]",
  task: "Write a small program that greets the reader of README.md, and run it.",
  readme: "# Lighthouse\n\nA small light for people who come home late.\n",
  hello: "Before I write anything I have to know one thing that only you can tell.",
  question: "In which language should the program greet?",
  header: "Greeting",
  options: [
    { label: "English", description: "Welcome home." },
    { label: "Chinese", description: "欢迎回家。" },
    { label: "Both", description: "one line each" },
  ],
  remark: "Keep it short.",
  reading: "Thank you. Let me see what the project is called.",
  unanswered: "You did not choose, so I shall use plain English and say so.",
  writing: "Now I would like to write the program. Look at it before you allow it.",
  running: "It is written. May I run it?",
  runWords: "Run the greeting",
  notWritten: "You did not let me write the file, so there is nothing to run. That is fine: nothing was changed.",
  notRun: (why: string) => `The program is written, but it did not run.\n${why}`,
  ran: (output: string) => `The program ran and printed:\n\n${output}\n\nThat was all you asked for.`,
  summary: "What happened, as the journal has it:",
  asked: { question: "asked you a question", permission: "asked for permission", text: "asked for a text" },
  next: [
    "Every one of these was on disk before the next thing happened: killing Sage at any point would have lost nothing.",
    `To work on your own code: \`${sage("setup")}\` chooses a model (or set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL), then \`${sage()}\`.`,
  ],
};

export type DemoTexts = typeof en;

const zh: DemoTexts = {
  intro: [
    "这是演示：模型是一份剧本，其余都是真的。",
    "真的循环、真的工具、真的提问，在一个结束后就删除的临时目录里进行。",
  ],
  itself: "[演示自动回答]",
  task: "写一个小程序，问候 README.md 的读者，并运行它。",
  readme: "# 灯塔\n\n给晚归的人的一盏小灯。\n",
  hello: "动手之前，有一件事只有你能告诉我。",
  question: "程序应该用哪种语言问候？",
  header: "问候语言",
  options: [
    { label: "中文", description: "欢迎回家。" },
    { label: "英文", description: "Welcome home." },
    { label: "两种都要", description: "各一行" },
  ],
  remark: "简短一点。",
  reading: "谢谢。我先看看项目叫什么。",
  unanswered: "你没有选择，那我就用简单的英文，并如实说明。",
  writing: "现在我想写这个程序。请先看清楚再允许。",
  running: "写好了。可以运行吗？",
  runWords: "运行问候程序",
  notWritten: "你没有允许写文件，所以没有可运行的东西。没关系：什么都没有改动。",
  notRun: (why) => `程序写好了，但没有运行。\n${why}`,
  ran: (output) => `程序运行了，输出是：\n\n${output}\n\n你要的就是这些。`,
  summary: "日志里记下的经过：",
  asked: { question: "向你提问", permission: "请求许可", text: "请你输入" },
  next: [
    "每一步在下一步发生之前都已写入磁盘：无论何时杀掉 Sage，什么都不会丢。",
    `要用在自己的代码上：用 \`${sage("setup")}\` 选择模型（或设置 ANTHROPIC_API_KEY、OPENAI_API_KEY 或 OPENAI_BASE_URL），然后运行 \`${sage()}\`。`,
  ],
};

const tables = { en, zh } satisfies Record<Lang, DemoTexts>;

export function demoTexts(lang: Lang): DemoTexts {
  return tables[lang];
}
