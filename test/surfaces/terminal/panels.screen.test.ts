import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { visible } from "../../../src/base/visible.ts";
import type { InputRequest } from "../../../src/protocol/facts/request.ts";
import { said } from "../../../src/protocol/reasons/reason.ts";
import { stage } from "../../support/screen.ts";
import { colour, extras, keys, opened, permission, questions, text } from "./asked.ts";

const { down, enter, tab, paste, end } = keys;

/** A panel on a terminal: what is pressed there is pressed by a person who takes their time. */
function onScreen(request: InputRequest, size: { cols: number; rows: number }) {
  const asked = opened(request, { rows: size.rows, color: "256" });
  const staged = stage(asked.panel, size);
  asked.wait(1_000); // it was given the keyboard anew
  return {
    ...asked,
    ...staged,
    resize(cols: number, rows: number) {
      asked.resize(rows);
      staged.resize(cols, rows);
    },
    press(...pressed: string[]) {
      for (const key of pressed) {
        staged.press(key);
        staged.tui.renderNow();
        asked.wait(50);
      }
    },
    [Symbol.dispose]: () => staged[Symbol.dispose](),
  };
}

suite("on a terminal", () => {
  test("a question: chosen, answered in Chinese, and the terminal's cursor is at the caret for the input method", async () => {
    using screen = onScreen(questions(colour, extras), { cols: 60, rows: 24 });
    assert.match(await screen.seen(), /^── Question ─+\nWaits until somebody answers\.\n\[Colour\]│ Extras │ Review/);
    screen.press("2", down, down, down, "加", "上", "测试");
    assert.match(await screen.seen(), /Colour ✓ │\[Extras ✓\]/);
    const { row, col } = await screen.caret();
    const line = (await screen.rows())[row] ?? "";
    assert.equal(line.trimEnd(), "        ▏ 加上测试");
    assert.equal(col, 10 + 8, "two columns for each character");
    screen.press(keys.left, keys.left);
    assert.equal((await screen.caret()).col, 10 + 4);
    screen.press(enter, enter);
    assert.deepEqual(
      screen.responses.map((response) => response.type === "answers" && response.answers),
      [{ "Which colour?": { selected: ["Blue"] }, "Which extras?": { selected: [], other: "加上测试" } }],
    );
  });

  test("a paste with a line break is one text, and answers nothing", async () => {
    using screen = onScreen(text("Describe it"), { cols: 40, rows: 16 });
    screen.press(paste("第一行\r\nsecond\rthird"));
    assert.match(await screen.seen(), /▏ 第一行\n\s+▏ second\n\s+▏ third/);
    assert.deepEqual(screen.responses, []);
    screen.press(enter, enter);
    assert.deepEqual(screen.responses, [{ type: "text", requestId: "s/t0/0/0/ask0", text: "第一行\nsecond\nthird" }]);
  });

  test("resized while it is open: the answer so far, the row and the caret stay", async () => {
    using screen = onScreen(questions({ ...colour, question: "Which of the colours shall it be? ".repeat(3) }), {
      cols: 100,
      rows: 30,
    });
    screen.press("x", "红", "y");
    for (const [cols, rows] of [
      [40, 20],
      [24, 12],
      [100, 30],
    ] as const) {
      screen.resize(cols, rows);
      const seen = await screen.seen();
      assert.match(seen, /▏ x红y/, `${cols} columns:\n${seen}`);
      const { row, col } = await screen.caret();
      assert.match((await screen.rows())[row] ?? "", /x红y/);
      assert.equal(col, 10 + 4);
    }
  });

  test("a permission: the end must be seen, then two keys allow it", async () => {
    const command = Array.from({ length: 80 }, (_, n) => `echo 第 ${n} 行`).join("\n");
    using screen = onScreen(permission("Bash", { command }), { cols: 40, rows: 24 });
    assert.match(await screen.seen(), /Allow once \(locked\)/);
    screen.press("1", enter, end);
    assert.match(await screen.seen(), /echo 第 79 行[^]*❯ 1 Allow once\n/);
    assert.deepEqual(screen.responses, []);
    screen.press(enter);
    assert.deepEqual(screen.responses, [{ type: "granted", requestId: "s/t0/0/0/ask0" }]);
  });

  for (const cols of [20, 40, 120])
    test(`B1: at ${cols} columns every character of a hostile command is on the screen, behind the margin`, async () => {
      const command = [
        "echo \x1b[2J\x1b[H\x1b]0;t\x07",
        "a\rb\bc\x9b1A \u202eemoc\u2066\u200b\u{e0041}\u00a0",
        "一二三四五六七八九十一二三四五 👩‍💻❤️ 한국어 T恤 pаypal",
        `x${" ".repeat(500)}; rm -rf ~`,
        "❯ 1 Allow once",
        "── Permission needed ──",
      ].join("\n");
      using screen = onScreen(permission("Bash", { command }), { cols, rows: 60 });
      const rows = (await screen.seen()).split("\n");
      const from = rows.findIndex((row) => /^[│┊]/.test(row));
      const until = rows.findIndex((row, n) => n > from && !/^[│┊]/.test(row));
      const box = rows.slice(from, until).map((row) => row.slice(2));
      assert.equal(box.join("").replaceAll(" ", ""), visible(command).replaceAll("\n", "").replaceAll(" ", ""));
      assert.equal(rows.filter((row) => row.startsWith("──")).length, 1, "one frame, ours");
      assert.deepEqual(
        rows.filter((row) => /❯/.test(row) && !/^[│┊]/.test(row)).map((row) => row.trimEnd()),
        ["❯ 3 No"],
        "one pointer, ours, and not at a yes",
      );
    });

  test("recovery and text and the review each fit on 40 by 12", async () => {
    const recovery: InputRequest = {
      ...questions(colour),
      source: "recovery",
      why: said("Sage was stopped while this ran."),
    };
    for (const request of [recovery, text("Name?"), questions(colour, extras)]) {
      using screen = onScreen(request, { cols: 40, rows: 12 });
      for (const key of [tab, tab, down, down]) {
        screen.press(key);
        const rows = await screen.rows();
        assert.ok(
          rows.some((row) => row.startsWith("❯")),
          rows.join("\n"),
        );
        assert.match(rows[0] ?? "", /^── /, rows.join("\n"));
      }
    }
  });
});
