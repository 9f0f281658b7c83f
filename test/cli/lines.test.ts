// Commands of plain lines, what is broken between words at the edge of a terminal, and hints at the start.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { hangingIndent, helpOfCommand } from "../../src/cli/setup/help.ts";
import { table } from "../../src/cli/record/stats.ts";
import { helpTexts } from "../../src/texts/commands/help.ts";
import { pastTexts } from "../../src/texts/setup/past.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { createPaint } from "../../src/view/lines/paint.ts";
import { columns } from "../../src/view/lines/safe.ts";
import { Machine } from "../support/cli.ts";

test("in plain lines /mode, /plan, /tasks and /rewind work; a rewind shows what would change and waits for a yes", async () => {
  using machine = new Machine();
  const model = machine.script(
    { calls: [{ tool: "Write", input: { file_path: "新.txt", content: "x\n" } }] },
    { text: "Written." },
  );
  const at = machine.terminal(["--plain", "--model", model, "--mode", "accept-edits"], { cols: 90 });
  await at.until(/>/);
  at.type("写一个文件\r");
  await at.until(/Done: 1 tool call/);
  assert.ok(existsSync(join(machine.cwd, "新.txt")));
  at.type("/mode\r");
  await at.until(/Mode: accept edits\. Change it with \/mode ask \| accept-edits \| plan/);
  at.type("/plan\r");
  await at.until(/Mode changed by you: plan\./);
  at.type("/tasks\r");
  await at.until(/No commands in the background\./);
  at.type("/rewind\r");
  await at.until(/t0 .*写一个文件[^]*See what would change: \/rewind t0/);
  at.type("/rewind t0\r");
  await at.until(/remove +新\.txt[^]*Do it with: \/rewind t0 yes/);
  assert.ok(existsSync(join(machine.cwd, "新.txt")), "nothing was changed yet");
  at.type("/rewind t0 yes\r");
  await at.until(/1 file restored\.[^]*Your message was: 写一个文件/);
  assert.equal(existsSync(join(machine.cwd, "新.txt")), false);
  at.type("/quit\r");
  await at.code;
});

test("the help is broken between words, below the column where its text begins", () => {
  for (const lang of ["en", "zh"] as const)
    for (const line of helpTexts(lang).usage.split("\n")) {
      const rows = hangingIndent(line, 80);
      for (const row of rows) assert.ok(columns(row) <= 80, row);
      const words = (text: string) => text.replaceAll(/\s+/g, "");
      assert.equal(words(rows.join("\n")), words(line));
    }
  assert.deepEqual(hangingIndent("  --bypass                    skip ordinary permission requests", 60), [
    "  --bypass                    skip ordinary permission",
    "                              requests",
  ]);
  assert.deepEqual(hangingIndent("a line", undefined), ["a line"]);
});

test("rules of Claude Code in a project are hinted at once, and nothing of them counts", async () => {
  using machine = new Machine();
  mkdirSync(join(machine.cwd, ".claude"));
  const settings = join(machine.cwd, ".claude/settings.json");
  writeFileSync(settings, JSON.stringify({ permissions: { allow: ["Bash(npm test:*)"] } }));
  const model = machine.script({ text: "Hello." });
  for (const told of [true, false]) {
    const at = machine.terminal(["--plain", "--model", model, "--lang", told ? "en" : "zh"]);
    await at.until(/session|会话/);
    at.type("hi\r");
    await at.until(/Hello\./);
    assert.equal(/\.claude\/settings\.json has permission rules\. `[^`]*permissions import`/.test(at.screen()), told);
    at.type("/quit\r");
    await at.code;
  }
  assert.equal(existsSync(join(machine.cwd, ".sage")), false);
});

test("the help of a command has its own lines first, then the flags it shares with others", () => {
  for (const lang of ["en", "zh"] as const) {
    const lines = helpOfCommand("stats", helpTexts(lang).usage.split("\n")).filter((line) => !line.startsWith("   "));
    const starts = lines.map((line) => /^ {2}(sage \w+|--\w+)/.exec(line)?.[1]);
    assert.deepEqual(starts, ["sage stats", "sage stats", "--engine", "--lang"]);
  }
});

test("statistics leave out columns where a terminal is too narrow for all of them, and never break a row", () => {
  const tally = { asked: 12, yes: 10, no: 1, none: 0, open: 1, medianMs: 34_000, p90Ms: 90_000 };
  for (const lang of ["en", "zh"] as const)
    for (const width of [undefined, 80, 50, 40]) {
      const style = { t: texts(lang), paint: createPaint(false), width };
      const [, head = "", ...rows] = table(
        "Asked by",
        [tally],
        () => "you (on the command line)",
        pastTexts(lang),
        style,
      );
      for (const row of [head, ...rows]) assert.ok(columns(row) <= (width ?? 100), `${width}: ${row}`);
      const { asked, no, none } = pastTexts(lang).columns;
      assert.ok(head.includes(asked) && head.includes(no));
      if (width !== 80) assert.equal(head.includes(none), width === undefined, head);
    }
});
