import assert from "node:assert/strict";
import { test } from "node:test";
import xterm from "@xterm/headless";
import { visible } from "../../src/base/visible.ts";
import type { PermissionRequest } from "../../src/protocol/facts/request.ts";
import { said } from "../../src/protocol/reasons/reason.ts";
import { createPaint } from "../../src/view/lines/paint.ts";
import { requestLines } from "../../src/view/lines/request.ts";
import { texts } from "../../src/texts/shared/texts.ts";

const asked = (command: string): PermissionRequest => ({
  id: "s/t0/0/0/permit0",
  session: "s",
  at: 0,
  source: "approval",
  agent: [],
  why: said("no rule covers it"),
  digest: "",
  kind: "permission",
  tool: "Bash",
  input: { command },
  suggestions: [],
  hard: false,
});

/** Rows that a terminal of this width makes of the lines; a row that it had to wrap by itself is told. */
async function drawn(lines: readonly string[], cols: number): Promise<{ text: string; wrapped: boolean }[]> {
  const terminal = new xterm.Terminal({ cols, rows: 50, scrollback: 50_000, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(lines.join("\r\n"), resolve));
  const { active } = terminal.buffer;
  const rows = Array.from({ length: active.length }, (_, n) => active.getLine(n));
  const shown = rows.map((row) => ({ text: row?.translateToString(true) ?? "", wrapped: row?.isWrapped ?? false }));
  terminal.dispose();
  return shown.slice(0, shown.findLastIndex(({ text }) => text !== "") + 1);
}

const tricks = [
  "echo start \x1b[2J\x1b[H\x1b]0;title\x07\x1b[31m",
  "a\rb\bc\vd\x9b1A\x84",
  "\u202eemoc\u2066 \u200b\u200d\ufeff\u{e0041}\u00a0\u3000",
  "一二三四五六七八九十一二三四五六七八九十 👩‍💻❤️ 한국어 T恤",
  `x${" ".repeat(10_000)}; rm -rf ~`,
  "\ttab\t  ",
  "pаypal",
  "── Permission needed ──────",
  "Allow? (y/n/…) > y",
].join("\n");

for (const cols of [20, 200])
  test(`B1, B2: on a terminal of ${cols} columns every character is on the screen, behind the margin, and the frame is whole`, async () => {
    const paint = createPaint(true);
    const lines = requestLines(asked(tricks), { t: texts("en"), paint, width: cols });
    const from = lines.findIndex((line) => line.includes("Run this command?")) + 1;
    const until = lines.findIndex((line) => line.includes("Careful:"));
    const box = await drawn(lines.slice(from, until), cols);
    assert.equal(box.length, until - from, "one row of the screen for each row of the box");
    assert.ok(
      box.every(({ text, wrapped }) => !wrapped && /^ {2}[│┊]( |$)/.test(text)),
      JSON.stringify(box),
    );
    const whole = box.map(({ text }) => text.slice(4).trimEnd()).join("");
    // A terminal drops no glyph; blanks at the end of a row cannot be told from an empty screen.
    assert.equal(whole.replaceAll(" ", ""), visible(tricks).replaceAll("\n", "").replaceAll(" ", ""));
  });
