// The least a drawn terminal can be: one growing piece of Markdown, drawn by the library alone.
// Run with the text in BENCH_TEXT it streams it and prints what that took; run without, it draws one line and stays.
import { Markdown, ProcessTerminal, TuiMainScreen } from "@earendil-works/pi-tui";
import { countingTerminal, mixedAnswer, pieces } from "../terminal-parts.ts";

const same = (text: string) => text;
const theme = {
  heading: same,
  link: same,
  linkUrl: same,
  code: same,
  codeBlock: same,
  codeBlockBorder: same,
  quote: same,
  quoteBorder: same,
  hr: same,
  listBullet: same,
  bold: same,
  italic: same,
  strikethrough: same,
  underline: same,
};

if (process.argv[2] === "stream") {
  const { terminal, bytes } = countingTerminal();
  const tui = new TuiMainScreen(terminal);
  const markdown = new Markdown("", 2, 0, theme);
  tui.addChild(markdown);
  tui.start();
  const before = process.cpuUsage();
  let text = "";
  for (const piece of pieces(mixedAnswer())) {
    markdown.setText((text += piece));
    tui.requestRender();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  const { user, system } = process.cpuUsage(before);
  tui.stop();
  console.log(JSON.stringify({ cpuMs: (user + system) / 1_000, bytes: bytes() }));
} else {
  const tui = new TuiMainScreen(new ProcessTerminal());
  tui.addChild(new Markdown("What would you like to do?", 0, 0, theme));
  tui.start();
}
