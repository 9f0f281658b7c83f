import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { askUser, bash } from "../test/support/sage.ts";
import { ask, team } from "../test/surfaces/feishu/team.ts";
import { languageOf, type Lang } from "../src/texts/language.ts";
import { feishuTexts } from "../src/texts/surfaces/feishu.ts";
import { page, type Scene } from "./feishu-page.ts";

const en = {
  task: "Delete test.js, then write the new file",
  plan: "I will remove the old file first.",
  prompt: "What should the new file be called?",
  name: "newFile.js",
  database: "Which database should the service use?",
  targets: "What should be built?",
  other: "and the documentation",
  end: "Done: `test.js` is gone and **newFile.js** is there.\n\n```js\nexport const ready = true;\n```",
  scenes: [
    "A mention in a group starts a task in its own thread. One card streams the progress and can stop it.",
    "Before the dangerous command runs, a card asks. It shows what will run, why it asks, and which rule “for this session” would save.",
    "Mei may give tasks but not approve: her click is refused, and nothing changes.",
    "Lin, an approver, allows it once. The card says who answered, the task continues, and the next card asks for text.",
    "A plain message answers the only open request. Two questions come as one form.",
    "Mei fills in the form: one choice, then two choices and her own words. The task ends.",
  ],
  title: "Sage in Feishu: the example dialogue",
  about:
    "Played just now: the real bridge, host, journal and client library against a stand-in for the platform on this machine, with a scripted model.",
};
const zh: typeof en = {
  task: "删除 test.js，然后写一个新文件",
  plan: "我先删除旧文件。",
  prompt: "请输入新的文件名：",
  name: "newFile.js",
  database: "服务应使用哪个数据库？",
  targets: "要构建什么？",
  other: "还有文档",
  end: "完成：`test.js` 已删除，**newFile.js** 已创建。\n\n```js\nexport const ready = true;\n```",
  scenes: [
    "在群里 @ 机器人，任务就在自己的话题里开始。一张卡片实时显示进展，随时可以停止。",
    "危险命令执行之前，卡片先询问：要运行什么、为什么询问、“本会话内允许”会保存哪条规则。",
    "Mei 可以下达任务，但不能审批：她的点击被拒绝，什么都没有改变。",
    "审批人林允许一次。卡片写明是谁回答的，任务继续，下一张卡片请求文字。",
    "直接回复消息，就回答了唯一待处理的请求。两个问题在同一张表单里。",
    "填写表单：单选、多选和自己的话。任务完成。",
  ],
  title: "飞书里的 Sage：示例对话",
  about: "刚刚在本机实际运行：真实的桥接、主机、日志和客户端库，平台由本机上的替身代替，模型是脚本。",
};

const lang: Lang = process.argv.includes("zh") ? "zh" : process.argv.includes("en") ? "en" : languageOf(process.env);
const words = { en, zh }[lang];
const t = feishuTexts(lang);
const question = (text: string, labels: string[], multiSelect: boolean) => ({
  question: text,
  header: labels[0] ?? "",
  options: labels.map((label) => ({ label, description: label })),
  multiSelect,
});

await using sage = await team({
  lang,
  script: [
    { text: words.plan, delayMs: 1_200, calls: [bash("rm -f test.js")] },
    { calls: [ask(words.prompt)] },
    {
      calls: [
        askUser(
          question(words.database, ["PostgreSQL", "SQLite"], false),
          question(words.targets, ["CLI", "Web"], true),
        ),
      ],
    },
    { calls: [bash(`ls ${words.name}`)] },
    { text: words.end },
  ],
});
const { lin, mei, feishu, cwd } = sage;
writeFileSync(join(cwd, "test.js"), "old\n");
const group = feishu.group(lang === "zh" ? "开发组" : "dev", [lin, mei]);
const scenes: Scene[] = [];
const show = async (toast?: string) => {
  await sage.surface.settled();
  scenes.push({
    title: words.scenes[scenes.length] ?? "",
    messages: structuredClone(feishu.seen(group)),
    ...(toast !== undefined && { toast }),
  });
};

mei.say(words.task, { chat: group, mentionBot: true });
await sage.card(group, t.stopButton);
await show();
const permission = await sage.card(group, t.allowOnce);
await show();
const refused = await mei.click(permission.id, "allow_once");
await show(`Mei: ${refused.toast?.content}`);
const allowed = await lin.click(permission.id, "allow_once");
const text = await sage.sees(group, new RegExp(words.prompt.replace("?", "\\?")));
await show(`${lin.name}: ${allowed.toast?.content}`);
mei.say(words.name, { chat: group, replyTo: text.id, mentionBot: true });
const form = await feishu.until(group, ({ fields }) => fields.includes("q1"));
await show();
const submitted = await mei.submit(form.id, { q0: "o1", q1: ["o0", "o1"], q1_other: words.other });
await sage.sees(group, new RegExp(t.done));
await show(`Mei: ${submitted.toast?.content}`);

const file = join(mkdtempSync(join(tmpdir(), "sage-feishu-demo-")), `dialogue.${lang}.html`);
writeFileSync(file, page({ title: words.title, about: words.about, lang, scenes }));
console.log(file);
if (process.argv.includes("--picture"))
  await picture(file, join(import.meta.dirname, `../docs/pictures/feishu.${lang}.png`));

/** The page as a phone shows it. Needs a Chromium on this machine. */
async function picture(html: string, png: string): Promise<void> {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium" });
  const view = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await view.goto(pathToFileURL(html).href);
  await view.screenshot({ path: png, fullPage: true });
  await browser.close();
}
