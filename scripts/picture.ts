// Draws docs/demo.svg: the demo in a real pseudo-terminal, read off a terminal emulator. Run with `npm run picture`.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";

const columns = 84;
const lines = 60;
const palette = [
  "#5c6370",
  "#e06c75",
  "#98c379",
  "#e5c07b",
  "#61afef",
  "#c678dd",
  "#56b6c2",
  "#d7dae0",
  "#7f848e",
  "#e06c75",
  "#98c379",
  "#e5c07b",
  "#61afef",
  "#c678dd",
  "#56b6c2",
  "#ffffff",
];
const root = join(import.meta.dirname, "..");
const home = mkdtempSync(join(tmpdir(), "sage-picture-"));
const terminal = new xterm.Terminal({ cols: columns, rows: lines, allowProposedApi: true });
const pty = spawn(process.execPath, [join(root, "src/cli/main.ts"), "demo"], {
  cols: columns,
  rows: lines,
  cwd: home,
  env: {
    ...process.env,
    HOME: home,
    SAGE_HOME: join(home, ".sage"),
    SAGE_LANG: "en",
    USER: "you",
    TERM: "xterm", // sixteen colours, which the palette above has
  },
});
pty.onData((data) => terminal.write(data));

// What the person presses, each when its panel has come and has rested a moment, as people do.
await press(/In which language/, "1", "\r");
await press(/hello\.mjs[\s\S]*Allow once/, "1");
writeFileSync(join(root, "docs/demo.svg"), draw());
pty.kill("SIGKILL");
rmSync(home, { recursive: true, force: true });
process.exit(0);

async function press(shown: RegExp, ...keys: string[]): Promise<void> {
  const giveUp = Date.now() + 20_000;
  while (!shown.test(text())) {
    if (Date.now() > giveUp) throw new Error(`${shown} did not come; the screen shows:\n${text()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const key of keys) {
    await new Promise((resolve) => setTimeout(resolve, 600));
    pty.write(key);
  }
  await new Promise((resolve) => setTimeout(resolve, 600));
}

function text(): string {
  const rows = Array.from(
    { length: terminal.buffer.active.length },
    (_, n) => terminal.buffer.active.getLine(n)?.translateToString(true) ?? "",
  );
  return `${rows.join("\n").trimEnd()} `;
}

function draw(): string {
  const last = text().trimEnd().split("\n").length - 1;
  const [width, height] = [8.4, 18];
  const rows: string[] = [];
  for (let y = 0; y <= last; y++) rows.push(`<text y="${(y + 1) * height + 30}" xml:space="preserve">${row(y)}</text>`);
  const size = { w: Math.ceil(columns * width) + 40, h: (last + 2) * height + 44 };
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size.w}" height="${size.h}" viewBox="0 0 ${size.w} ${size.h}" role="img" aria-label="Sage asks a question and for permission in a terminal">
<rect width="100%" height="100%" rx="8" fill="#16181d"/>
<circle cx="20" cy="18" r="5" fill="#ff5f57"/><circle cx="38" cy="18" r="5" fill="#febc2e"/><circle cx="56" cy="18" r="5" fill="#28c840"/>
<g transform="translate(20 0)" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#d7dae0">
${rows.join("\n")}
</g>
</svg>
`;
}

function row(y: number): string {
  const line = terminal.buffer.active.getLine(y);
  const spans: { style: string; text: string }[] = [];
  for (let x = 0; x < columns; x++) {
    const cell = line?.getCell(x);
    if (!cell || cell.getWidth() === 0) continue;
    const style = [
      cell.isFgPalette() ? `fill="${palette[cell.getFgColor()] ?? "#d7dae0"}"` : "",
      cell.isBold() ? 'font-weight="bold"' : "",
      cell.isDim() ? 'opacity="0.65"' : "",
    ]
      .filter(Boolean)
      .join(" ");
    const known = spans.at(-1);
    if (known?.style === style) known.text += cell.getChars() || " ";
    else spans.push({ style, text: cell.getChars() || " " });
  }
  const end = spans.at(-1);
  if (end) end.text = end.text.trimEnd();
  return spans
    .map(({ style, text: chars }) => (style ? `<tspan ${style}>${escape(chars)}</tspan>` : escape(chars)))
    .join("");
}

function escape(chars: string): string {
  return chars.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
