import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { InputRequest } from "../../../src/protocol/facts/request.ts";
import { backgroundOf, colorOf, createTheme } from "../../../src/surfaces/terminal/draw/theme.ts";
import { CURSOR_MARKER } from "../../../src/surfaces/terminal/draw/tui.ts";
import { colour, extras, opened, permission, questions, text } from "./asked.ts";
import { up, down, left, enter, esc, tab, erase, pageDown, paste, push } from "./pressed.ts";

suite("nothing that was typed to somebody else answers", () => {
  const ways: [string, InputRequest, string[]][] = [
    ["question", questions(colour), ["1", enter, enter]],
    ["permission", permission("Bash", { command: "ls" }), ["1", enter]],
    ["text", text("Name?"), ["a", enter, enter]],
  ];
  for (const [name, request, answer] of ways) {
    test(`B4, ${name}: not before 300 ms of silence, however long the typing goes on`, () => {
      const asked = opened(request, { unarmed: true });
      for (let n = 0; n < 20; n++) asked.press(...answer);
      assert.deepEqual(asked.responses, []);
      asked.wait(299 - 50);
      asked.press(enter);
      assert.deepEqual(asked.responses, []);
      asked.wait(300);
      asked.press(...answer);
      assert.equal(asked.responses.length, 1);
    });

    test(`B4, ${name}: again after it was put aside and came back`, () => {
      const asked = opened(request);
      asked.press(esc);
      asked.panel.focused = false;
      asked.panel.focused = true;
      asked.press(...answer);
      assert.deepEqual(asked.responses, []);
    });

    test(`B4, ${name}: a paste decides nothing`, () => {
      const asked = opened(request);
      for (let n = 0; n < 5; n++) {
        asked.press(paste("1\r\ry\r\r"));
        asked.wait(1_000);
      }
      assert.deepEqual(asked.responses, []);
    });
  }

  test("a key that was held down when the panel came up is not a fresh one, and one held down later decides nothing", () => {
    const asked = opened(permission("Bash", { command: "ls" }));
    const [held, pressed] = ["\x1b[13;1:2u", "\x1b[13;1:1u"];
    asked.press(held, held);
    asked.press("1", held, held);
    assert.deepEqual(asked.responses, []);
    asked.press(pressed);
    assert.equal(asked.responses.length, 1);
    const question = opened(questions(colour, extras));
    question.press("\x1b[50;1:2u");
    assert.match(question.seen(), /\[Colour\]/);
    question.press("\x1b[50;1:1u");
    assert.match(question.seen(), /\[Extras\]/);
  });

  test("the sentence that a panel came into the middle of is given back, without what would send it", () => {
    const asked = opened(permission("Bash", { command: "ls" }), { unarmed: true });
    asked.type("a 1");
    asked.press(erase, up, enter, esc, paste("b"));
    asked.wait(1_000);
    asked.type("c2");
    asked.press(enter);
    assert.deepEqual(asked.early, ["a", " ", "1", erase, paste("b"), "c", "2"]);
    assert.deepEqual(asked.responses, []);
    const question = opened(questions(colour));
    question.type("mine");
    assert.deepEqual(question.early, [], "what answers is not given away");
  });

  test("a letter takes the choice back", () => {
    const asked = opened(permission("Bash", { command: "ls" }));
    asked.press("1", "x");
    asked.wait(1_000);
    asked.press(enter);
    assert.deepEqual(asked.responses, []);
    assert.match(asked.seen(), /Choose with/);
  });

  test("whoever types a sentence into a permission chooses nothing by its numbers", () => {
    const asked = opened(permission("Bash", { command: "ls" }));
    asked.type("use port 3001");
    asked.press(enter);
    assert.deepEqual(asked.responses, []);
    assert.doesNotMatch(asked.seen(), /❯/);
    assert.match(asked.seen(), /Typing does nothing here/);
  });

  test("a clock that is set back only costs a moment", () => {
    const asked = opened(questions(colour));
    asked.wait(-3_600_000);
    asked.press("1");
    asked.wait(400);
    asked.press("1", enter);
    assert.equal(asked.responses.length, 1);
  });
});

suite("the size of a screen", () => {
  const requests = [
    questions(colour, extras, { ...colour, question: "x ".repeat(2_000) }),
    push({ input: { command: "echo 一二三 ".repeat(300) } }),
    text("y ".repeat(3_000)),
  ];
  for (const rows of [4, 8, 12, 24])
    test(`never more than ${rows} rows, and where the person is is among them`, () => {
      for (const request of requests) {
        const asked = opened(request, { rows });
        for (const key of [down, down, tab, "a", down, "2", enter, down, tab, down, down]) {
          asked.press(key);
          const lines = asked.lines(40);
          assert.ok(lines.length <= rows, `${lines.length} rows for ${request.kind}`);
          if (request.kind !== "permission")
            assert.ok(
              lines.some((line) => line.includes(CURSOR_MARKER)),
              `${request.kind}:\n${lines.join("\n")}`,
            );
        }
      }
    });

  test("where rows are few, one of them is for the keys; each question starts at its top", () => {
    const long = { ...colour, question: "x\n".repeat(50) };
    const asked = opened(questions(long, { ...long, question: `first\n${long.question}` }), { rows: 14 });
    assert.match(asked.seen(30), /Enter confirm · Esc later$/);
    asked.press(pageDown, pageDown, tab);
    assert.match(asked.seen(), /│ first\n/);
  });

  test("the caret is there also where deleting joined what stands around it", () => {
    const asked = opened(text("?"));
    asked.press(paste("🇩X🇪"), left, erase);
    const [line = ""] = asked.lines().filter((one) => one.includes("🇩"));
    assert.ok(line.endsWith(`▏ ${CURSOR_MARKER}🇩🇪`), JSON.stringify(line));
  });

  test("the caret of a long text stays on the screen, and the rows that are not are counted", () => {
    const asked = opened(text("?"));
    asked.press(paste(Array.from({ length: 30 }, (_, n) => `line${n}`).join("\n")));
    assert.match(asked.seen(), /↑ 24\n[^]*line29\n/);
    asked.press(...Array.from({ length: 29 }, () => up));
    assert.match(asked.seen(), /▏ line0\n[^]*↓ 24/);
  });
});

suite("colours", () => {
  test("none, 16, 256 or all of them, as the terminal says", () => {
    assert.equal(colorOf({ NO_COLOR: "1", COLORTERM: "truecolor" }), "none");
    assert.equal(colorOf({ NO_COLOR: "", TERM: "xterm" }), "16");
    assert.equal(colorOf({ TERM: "dumb" }), "none");
    assert.equal(colorOf({ TERM: "screen-256color" }), "256");
    assert.equal(colorOf({ TERM: "xterm", COLORTERM: "24bit" }), "true");
    assert.equal(backgroundOf({ COLORFGBG: "0;15" }), "light");
    assert.equal(backgroundOf({ COLORFGBG: "15;0" }), "dark");
    assert.equal(backgroundOf({}), "dark");
  });

  test("without colour nothing is coloured; dark and light differ", () => {
    const none = createTheme({ color: "none", background: "dark" });
    assert.equal(none.danger("x") + none.added("y"), "xy");
    assert.equal(none.bold("x"), "\x1b[1mx\x1b[22m");
    const panel = opened(push({ hard: true })).painted();
    assert.doesNotMatch(panel, /\x1b\[(3|4|9|10)\d/);
    const dark = createTheme({ color: "true", background: "dark" });
    assert.equal(dark.danger("x"), "\x1b[38;2;255;135;135mx\x1b[39m");
    assert.notEqual(dark.danger("x"), createTheme({ color: "true", background: "light" }).danger("x"));
    assert.equal(createTheme({ color: "256", background: "light" }).accent("x"), "\x1b[38;5;25mx\x1b[39m");
  });
});
