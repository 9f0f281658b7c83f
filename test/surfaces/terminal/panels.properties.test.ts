import type { InputRequest, Question } from "../../../src/protocol/facts/request.ts";
import { said } from "../../../src/protocol/reasons/reason.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../../support/properties.ts";
import { CURSOR_MARKER, visibleWidth } from "../../../src/surfaces/terminal/draw/tui.ts";
import { colour, extras, keys, opened, permission, questions, text } from "./asked.ts";
import { thorough } from "../../faults/rounds.ts";

/** All these runs when asked to be thorough, and half of them otherwise. */
const runs = (many: number) => ({ numRuns: thorough ? many : many / 2 });

const bash = permission(
  "Bash",
  { command: "git push" },
  {
    suggestions: [
      { type: "addRule", rule: "Bash(git push)", behavior: "allow", destination: "session" },
      { type: "addRule", rule: "Bash(git push)", behavior: "allow", destination: "local", file: "/p/s.json" },
    ],
  },
);
const { enter, up, down, paste, ...others } = keys;
const harmless = [...Object.values(others).filter((key) => typeof key === "string"), "a", "e", "y", "n", "好", "\x03"];
const moving = [up, down, "1", "2", "3", "4", "5", "6", "7", "１"];
const pastes = ["1\r", "y\n", "是"].map(paste);

const pressed = (...among: string[]) =>
  fc.array(fc.record({ key: fc.constantFrom(...among), wait: fc.constantFrom(0, 250, 400) }), { maxLength: 40 });

test("no key but Enter answers anything", () => {
  fc.assert(
    fc.property(
      fc.constantFrom<InputRequest>(bash, { ...bash, hard: true }, questions(colour, extras), text("Name?")),
      pressed(...harmless, ...moving, ...pastes),
      (request, sequence) => {
        const asked = opened(request);
        for (const { key, wait } of sequence) {
          asked.wait(wait);
          asked.press(key);
        }
        assert.deepEqual(asked.responses, []);
      },
    ),
    runs(150),
  );
});

test("nothing is allowed without going to it first: Enter, letters and pastes alone never do", () => {
  fc.assert(
    fc.property(fc.boolean(), pressed(enter, ...harmless, ...pastes), (hard, sequence) => {
      const asked = opened({ ...bash, hard });
      for (const { key, wait } of sequence) {
        asked.wait(wait);
        asked.press(key);
      }
      assert.deepEqual(
        asked.responses.filter(({ type }) => type === "granted"),
        [],
      );
    }),
    runs(150),
  );
});

test("whatever is pressed, a grant is what the screen pointed at when Enter came, and there is one", () => {
  let grants = 0;
  fc.assert(
    fc.property(fc.boolean(), pressed(enter, enter, down, "2", "1", ...moving, ...harmless), (hard, sequence) => {
      const asked = opened({ ...bash, hard });
      for (const { key, wait } of sequence) {
        asked.wait(wait);
        const [before, answered] = [asked.seen(), asked.responses.length];
        asked.press(key);
        if (answered === 0 && asked.responses[0]?.type === "granted") {
          grants++;
          assert.equal(key, enter);
          assert.match(before, /❯ (1 Allow once|✓ Always allow with|✎ Allow, and tell the agent|✎ Edit the command)/);
        }
      }
      assert.ok(asked.responses.length <= 1);
    }),
    { numRuns: 400 },
  );
  assert.ok(grants > 0, "some sequences do allow it, or this shows nothing");
});

test("typing without a pause when the panel comes up answers nothing, whatever it is", () => {
  fc.assert(
    fc.property(
      fc.constantFrom<InputRequest>(bash, questions(colour), text("Name?")),
      fc.array(fc.constantFrom(enter, ...moving, ...harmless, ...pastes), { maxLength: 60 }),
      (request, sequence) => {
        const asked = opened(request, { unarmed: true });
        asked.press(...sequence);
        assert.deepEqual(asked.responses, []);
        assert.equal(asked.collapsed(), 0);
      },
    ),
    runs(100),
  );
});

// Characters that widths go wrong with: wide, narrow, joined, combined, turned around, invisible, and steering.
const piece = fc.oneof(
  fc.constantFrom(
    "中文输入",
    "日本語テキスト",
    "한국어",
    "👩‍💻",
    "❤️",
    "🇩🇪",
    "👍🏽",
    "é",
    "ｆｕｌｌ",
    "ｱｲ",
    "กำ",
    "नि",
    "…—",
    "　",
  ),
  fc.constantFrom("\u202e", "\u200b", "\x1b[31m", "\x1b]0;x\x07", "\r", "\t", "\n", "\u0301", "\x9b2J", "‹U+0041›"),
  fc.constantFrom("averyveryverylongwordwithoutanybreakinitthatgoesonandonandon", "a b c d e f", "x", "/", "   "),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const words = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(""));
const question: fc.Arbitrary<Question> = fc.record({
  question: words,
  header: words,
  multiSelect: fc.boolean(),
  options: fc.array(fc.record({ label: words, description: words }), { minLength: 2, maxLength: 4 }),
});
const request: fc.Arbitrary<InputRequest> = fc.oneof(
  fc.array(question, { minLength: 1, maxLength: 4 }).map((asked) => questions(...asked)),
  words.map((prompt) => text(prompt)),
  fc.record({ command: words, why: words, rule: words, path: words, name: words, value: words }).map((made) =>
    permission(
      "Bash",
      { command: made.command, [made.name]: made.value },
      {
        why: said(made.why),
        agent: [made.name],
        description: made.value,
        parts: [
          { text: made.command, behavior: "ask", reason: said(made.why), writes: [{ path: made.path, outside: true }] },
          { text: made.value, behavior: "allow", reason: said(made.name) },
        ],
        suggestions: [
          { type: "addRule", rule: made.rule, behavior: "allow", destination: "session", note: said(made.why) },
          { type: "addRule", rule: made.rule, behavior: "allow", destination: "user", file: made.path },
        ],
      },
    ),
  ),
);

test("every row fits, from 20 columns to 120, in both languages, and nothing in it steers the screen", () => {
  fc.assert(
    fc.property(
      request,
      fc.record({ width: fc.integer({ min: 20, max: 120 }), rows: fc.integer({ min: 6, max: 40 }) }),
      fc.array(fc.oneof(words.map(paste), fc.constantFrom(up, down, enter, keys.tab, keys.esc, "2", "4", "e")), {
        maxLength: 12,
      }),
      fc.constantFrom("en" as const, "zh" as const),
      (asked, { width, rows }, sequence, lang) => {
        const shown = opened(asked, { rows, lang, color: "256" });
        for (const key of ["", ...sequence]) {
          shown.wait(400);
          if (key !== "") shown.press(key);
          for (const line of shown.lines(width)) {
            assert.ok(visibleWidth(line) <= width, `${visibleWidth(line)} of ${width}: ${JSON.stringify(line)}`);
            const bare = line.replaceAll(CURSOR_MARKER, "").replace(/\x1b\[[\d;]*m/g, "");
            assert.doesNotMatch(
              bare,
              /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f\u2028\u2029]/u,
              JSON.stringify(line),
            );
          }
        }
      },
    ),
    runs(250),
  );
});
