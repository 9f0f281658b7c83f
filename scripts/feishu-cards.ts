// Draws docs/pictures/feishu/: every card in both languages, as wide as a phone. Needs Chromium; run with `npm run picture:feishu`.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { gallery } from "../test/surfaces/feishu/gallery.ts";
import { cardPage } from "./feishu-page.ts";

const docs = join(import.meta.dirname, "../docs");
const folder = join(docs, "pictures/feishu");
const program = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (program === undefined) throw new Error("there is no Chromium in /usr/bin");

const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
const view = await browser.newPage({ viewport: { width: 375, height: 600 }, deviceScaleFactor: 1 });
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const names: string[] = [];
for (const lang of ["en", "zh"] as const)
  for (const { name, message } of await gallery(lang)) {
    await view.setContent(cardPage(message, lang));
    const picture = await view.locator(".alone").screenshot();
    writeFileSync(join(folder, `${name}.${lang}.png`), picture);
    if (!names.includes(name)) names.push(name);
  }
await browser.close();
writeFileSync(join(docs, "feishu-cards.md"), pageOf(names));
console.log(`${names.length} cards in ${folder}`);

function pageOf(cards: readonly string[]): string {
  const row = (name: string) =>
    `| \`${name}\` | ![${name}](pictures/feishu/${name}.en.png) | ![${name}](pictures/feishu/${name}.zh.png) |`;
  return [
    "# Every card, in both languages",
    "",
    "As wide as a phone, drawn by `npm run picture:feishu` from what the bridge sent to a stand-in for the platform. The client draws them a",
    "little differently; the words, their order and the buttons are these. [How to use them](feishu.md) · [怎样使用](zh/feishu.md)",
    "",
    "| card | English | 中文 |",
    "|---|---|---|",
    ...cards.map(row),
    "",
  ].join("\n");
}
