// Draws docs/pictures/web/: the page of `sage serve` on a host that is played here. Part of `npm run picture`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { InputRequest } from "../src/protocol/facts/request.ts";
import { reason } from "../src/protocol/reasons/reason.ts";
import { fakeSite, launch, openTab } from "../test/surfaces/web/browser.ts";
import { bashRequest, now, questionRequest, session, snapshot } from "../test/surfaces/web/examples.ts";

const dir = join(import.meta.dirname, "../docs/pictures/web");

const words = {
  en: {
    titles: ["Fix the failing parser test", "Set up storage", "Update the docs for the new flags"],
    clean: "Clean the output folder, then build again",
  },
  zh: {
    titles: ["修复失败的解析器测试", "搭建存储", "更新新选项的文档"],
    clean: "清空输出目录，再重新构建",
  },
};

const scenes = [
  { name: "inbox", at: "#/", phone: false, height: 860 },
  { name: "permission", at: "#/r/r1", phone: true, height: 640 },
  { name: "questions", at: "#/r/q1", phone: true, height: 1_190 },
  { name: "away", at: "#/r/r1", phone: true, height: 640 },
];

mkdirSync(dir, { recursive: true });
const browser = await launch();
await using site = await fakeSite();
for (const lang of ["en", "zh"] as const)
  for (const { name, at, phone, height } of scenes) {
    const tab = await openTab(browser, site.url, { at, lang, phone });
    await tab.page.setViewportSize({ width: phone ? 390 : 960, height });
    await tab.inbox(scene(lang));
    await tab.page.waitForSelector("article");
    await tab.page.waitForTimeout(700);
    if (name === "away") await tab.fake("link('lost')");
    if (name === "questions") await tab.page.click("label:has-text('SQLite')");
    await tab.page.waitForTimeout(400);
    await tab.page.screenshot({ path: join(dir, `${name}.${lang}.png`) });
    await tab.close();
  }
await browser.close();

function scene(lang: keyof typeof words) {
  const { titles, clean } = words[lang];
  const [first = "", second = "", third = ""] = titles;
  const remove = bashRequest("rm -r dist && npm run build", {
    description: clean,
    why: reason("no-rule-command", { part: "rm -r dist" }),
  });
  const path = "/home/you/parser/src/lexer.ts";
  const edit: InputRequest = {
    ...bashRequest("", { id: "e1", ago: 40_000 }),
    tool: "Edit",
    input: { file_path: path, old_string: "  return tokens;", new_string: "  return tokens.filter(isWord);" },
    why: reason("no-rule-write", { path }),
  };
  const idle = { pending: 0, lastAt: now - 12_000 };
  return snapshot(
    [questionRequest(), remove, edit],
    [session("s1", first), session("s2", second), session("s3", third, { ...idle, state: "running" })],
  );
}
