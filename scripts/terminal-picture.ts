// A terminal program in a real pseudo-terminal, read off an emulator and drawn as an SVG.
import { spawn, type IPty } from "@lydell/node-pty";
import xterm, { type Terminal } from "@xterm/headless";

const [width, height] = [8.4, 18];
const FRAME_SECONDS = 3;
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
export type Shown = {
  /** Waits until the pattern is on the screen, then presses keys with a pause before each: a panel ignores keys before that. */
  press(shown: RegExp, ...keys: string[]): Promise<void>;
  draw(label: string): string;
  /** The screen as it is now, for a moving picture. */
  frame(): Frame;
  end(): void;
};
/** Rows of a screen as SVG, and for how long they are shown. */
export type Frame = { rows: readonly string[]; seconds: number };

export function show(
  args: readonly string[],
  { columns, rows, cwd, env }: { columns: number; rows: number; cwd: string; env: NodeJS.ProcessEnv },
): Shown {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0 });
  // TERM=xterm: sixteen colours, which the palette above has.
  const pty = spawn(process.execPath, [...args], { cols: columns, rows, cwd, env: { ...env, TERM: "xterm" } });
  pty.onData((data) => terminal.write(data));
  return {
    press: (shown, ...keys) => pressed(terminal, pty, shown, keys),
    draw: (label) => drawn(drawnRows(terminal), { columns, label }),
    frame: () => ({ rows: drawnRows(terminal), seconds: FRAME_SECONDS }),
    end: () => pty.kill("SIGKILL"),
  };
}

async function pressed(terminal: Terminal, pty: IPty, shown: RegExp, keys: readonly string[]): Promise<void> {
  const giveUp = Date.now() + 20_000;
  while (!shown.test(text(terminal))) {
    if (Date.now() > giveUp) throw new Error(`${shown} did not come; the screen shows:\n${text(terminal)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const key of keys) {
    await new Promise((resolve) => setTimeout(resolve, 600));
    pty.write(key);
  }
  await new Promise((resolve) => setTimeout(resolve, 600));
}

function text(terminal: Terminal): string {
  const rows = Array.from(
    { length: terminal.buffer.active.length },
    (_, n) => terminal.buffer.active.getLine(n)?.translateToString(true) ?? "",
  );
  return `${rows.join("\n").trimEnd()} `;
}

function drawnRows(terminal: Terminal): string[] {
  const last = text(terminal).trimEnd().split("\n").length - 1;
  return Array.from({ length: last + 1 }, (_, y) => row(terminal, y)).map(
    (line, y) => `<text y="${(y + 1) * height + 30}" xml:space="preserve">${line}</text>`,
  );
}

type Size = { columns: number; label: string };

function drawn(rows: readonly string[], { columns, label }: Size): string {
  return picture(rows.join("\n"), { columns, label, rows: rows.length });
}

/** Frames one after the other, again and again. Who wants no movement sees the last one. */
export function moving(frames: readonly Frame[], { columns, label }: Size): string {
  const all = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  let at = 0;
  const groups = frames.map(({ rows, seconds }, n) => {
    const [from, to] = [at, (at += seconds)].map((second) => Number(((100 * second) / all).toFixed(2)));
    const isLast = n === frames.length - 1;
    const rule = `@keyframes f${n}{0%{opacity:${n === 0 ? 1 : 0}}${from}%{opacity:1}${to}%{opacity:${isLast ? 1 : 0}}100%{opacity:${isLast ? 1 : 0}}}`;
    const style = `${rule}.f${n}{opacity:${isLast ? 1 : 0};animation:f${n} ${all}s step-end infinite}`;
    return { style, group: `<g class="f${n}">\n${rows.join("\n")}\n</g>` };
  });
  const still = `@media (prefers-reduced-motion:reduce){g{animation:none!important}}`;
  const style = `<style>${groups.map((group) => group.style).join("")}${still}</style>`;
  const rows = Math.max(...frames.map((frame) => frame.rows.length));
  return picture(`${style}\n${groups.map(({ group }) => group).join("\n")}`, { columns, label, rows });
}

function picture(body: string, { columns, label, rows }: Size & { rows: number }): string {
  const size = { w: Math.ceil(columns * width) + 40, h: (rows + 1) * height + 44 };
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size.w}" height="${size.h}" viewBox="0 0 ${size.w} ${size.h}" role="img" aria-label="${label}">
<rect width="100%" height="100%" rx="8" fill="#16181d"/>
<circle cx="20" cy="18" r="5" fill="#ff5f57"/><circle cx="38" cy="18" r="5" fill="#febc2e"/><circle cx="56" cy="18" r="5" fill="#28c840"/>
<g transform="translate(20 0)" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#d7dae0">
${body}
</g>
</svg>
`;
}

function row(terminal: Terminal, y: number): string {
  const line = terminal.buffer.active.getLine(y);
  const spans: { style: string; wide: boolean; column: number; text: string }[] = [];
  for (let x = 0; x < terminal.cols; x++) {
    const cell = line?.getCell(x);
    if (!cell || cell.getWidth() === 0) continue;
    const style = [
      cell.isFgPalette() ? `fill="${palette[cell.getFgColor()] ?? "#d7dae0"}"` : "",
      cell.isBold() ? 'font-weight="bold"' : "",
      cell.isDim() ? 'opacity="0.65"' : "",
      cell.isUnderline() ? 'text-decoration="underline"' : "",
      cell.isStrikethrough() ? 'text-decoration="line-through"' : "",
    ]
      .filter(Boolean)
      .join(" ");
    const wide = cell.getWidth() === 2;
    const known = spans.at(-1);
    if (known?.style === style && known.wide === wide) known.text += cell.getChars() || " ";
    else spans.push({ style, wide, column: x, text: cell.getChars() || " " });
  }
  const end = spans.at(-1);
  if (end) end.text = end.text.trimEnd();
  // Chinese characters come from another font than the rest, so each run says where its column is and how wide it is.
  const placed = spans.some(({ wide }) => wide);
  return spans
    .filter(({ text: chars }) => chars !== "")
    .map(({ style, wide, column, text: chars }) => {
      const at = placed ? `x="${(column * width).toFixed(1)}"` : "";
      const long = wide ? `textLength="${([...chars].length * 2 * width).toFixed(1)}"` : "";
      const attributes = [at, long, style].filter(Boolean).join(" ");
      return attributes ? `<tspan ${attributes}>${escape(chars)}</tspan>` : escape(chars);
    })
    .join("");
}

function escape(chars: string): string {
  return chars.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
