import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTheme } from "../../../src/surfaces/terminal/draw/theme.ts";
import { visibleWidth } from "../../../src/surfaces/terminal/draw/tui.ts";
import type { Picking } from "../../../src/surfaces/terminal/index.ts";
import {
  filled,
  pickerRows,
  pressPicker,
  startPicker,
  createPickers,
} from "../../../src/surfaces/terminal/screen/picker.ts";
import type { Picked } from "../../../src/surfaces/terminal/screen/options.ts";
import { texts } from "../../../src/texts/shared/texts.ts";
import { pickerTexts } from "../../../src/texts/surfaces/picker.ts";
import { bash } from "../../support/sage.ts";
import { actsOf } from "../../support/slash.ts";
import { sageOnScreen } from "../../support/terminal.ts";

const theme = createTheme({ color: "none", background: "dark" });
const look = (lang: "en" | "zh", width = 60) => ({
  ...{ theme, w: pickerTexts(lang), title: "Models", width, rows: 12, focused: true },
});
const many = Array.from({ length: 10_000 }, (_, n) => ({
  value: `${n}`,
  label: `模型 model-${n}`,
  detail: `第 ${n} 个`,
}));

function typed(text: string, entries = many) {
  let state = filled(startPicker(), { entries });
  for (const letter of text) state = pressPicker(state, { name: letter, text: letter }).state;
  return state;
}

suite("a list to choose from", () => {
  test("closed while a choice is being done: how it ended is told all the same, and nothing else opens", async () => {
    const told: unknown[] = [];
    const pickers = createPickers({
      ...{ lang: "en", t: texts("en"), theme, rows: () => 12, redraw() {}, focus() {} },
      done: (result) => told.push(result),
    });
    const ends: { done(result: Picked): void; fail(error: Error): void }[] = [];
    const leaveBusy = () => {
      pickers.show({
        title: "Sure?",
        load: (show) => show({ entries: [{ value: "yes", label: "是" }] }),
        choose: () => new Promise<Picked>((done, fail) => ends.push({ done, fail })),
      });
      for (const key of ["\r", "\x1b"]) pickers.open()?.handleInput(key);
      assert.equal(pickers.open(), undefined);
    };
    for (let n = 0; n < 3; n++) leaveBusy();
    ends[0]?.fail(new Error("the disk is full"));
    ends[1]?.done({ text: "2 files put back" });
    ends[2]?.done({ pick: { title: "More?" } });
    await new Promise(setImmediate);
    assert.deepEqual(told, [{ text: "the disk is full" }, { text: "2 files put back" }]);
    assert.equal(pickers.open(), undefined);
  });

  test("words filter in any order and width of letters; arrows go around; Enter chooses what is marked", () => {
    assert.deepEqual(
      typed("９９９ ＭＯＤＥＬ-1").fitting.map(({ value }) => value),
      ["1999"],
    );
    let state = typed("模型 77");
    const [first, second] = state.fitting;
    state = pressPicker(state, { name: "down" }).state;
    assert.equal(pressPicker(state, { name: "enter" }).choose, second);
    state = pressPicker(pressPicker(state, { name: "up" }).state, { name: "up" }).state;
    assert.equal(pressPicker(state, { name: "enter" }).choose, state.fitting.at(-1));
    state = pressPicker(state, { name: "down" }).state;
    assert.equal(pressPicker(state, { name: "enter" }).choose, first);
    assert.equal(pressPicker(typed("nothing like it"), { name: "enter" }).choose, undefined);
    assert.equal(pressPicker(state, { name: "enter", repeat: true }).choose, undefined, "a held key decides nothing");
    assert.equal(pressPicker(state, { name: "escape" }).close, true);
  });

  test("what comes later moves nobody away from where they are", () => {
    let state = filled(startPicker(), { entries: many.slice(5, 10), loading: true });
    state = pressPicker(state, { name: "down" }).state;
    state = filled(state, { entries: many });
    assert.equal(pressPicker(state, { name: "enter" }).choose?.value, "6");
  });

  for (const lang of ["en", "zh"] as const)
    test(`no row is too wide and the marked one is always there, ${lang}`, () => {
      for (const width of [12, 20, 41, 80])
        for (const at of [0, 1, 5_000, 9_999]) {
          const rows = pickerRows({ ...typed(""), at, note: "失败：".repeat(30) }, look(lang, width));
          for (const row of rows) assert.ok(visibleWidth(row) <= width, `${width}: ${row}`);
          assert.ok(rows.length <= 13);
          assert.equal(rows.filter((row) => row.startsWith("❯")).length, 1);
        }
      const loading = pickerRows(startPicker(), look(lang)).join("\n");
      assert.match(loading, lang === "en" ? /Loading…/ : /正在加载…/);
      assert.match(pickerRows(typed("zzz"), look(lang)).join("\n"), lang === "en" ? /Nothing matches/ : /没有匹配的项/);
    });

  test("on the screen: a command opens it, a request goes before it, and the choice is made afterwards", async () => {
    let chosen = "";
    const pick: Picking = {
      title: "Which one?",
      load: (show) => show({ entries: many }),
      async choose({ value }) {
        if (value === "7") throw new Error("not this one");
        chosen = value;
        return { text: `It is ${value}.` };
      },
    };
    await using at = await sageOnScreen([{ calls: [bash("echo x > x.txt")], delayMs: 700 }, { text: "End." }], {
      acts: actsOf({ model: async () => ({ pick }) }),
      task: "go",
    });
    at.enter("/model");
    await at.until("Which one? · 10,000");
    at.type("model-7");
    await at.until("Permission needed");
    await at.answer("1", "\r");
    await at.until("End.");
    await at.until(/⌕ model-7[^]*❯ 模型 model-7 /);
    at.press("\r");
    await at.until("not this one");
    at.press("\x1b[B", "\r");
    await at.until("It is 70.");
    assert.equal(chosen, "70");
    at.enter("still here");
    await at.until("❯ still here");
  });

  test("Ctrl-R finds an earlier message and puts it into the editor; Esc leaves what was typed", async () => {
    const sent = ["fix the lexer", "写一个灯塔", "fix the parser\nand its tests", "写一个灯塔"];
    await using at = await sageOnScreen([{ text: "Done so." }], {
      history: { load: () => sent, add: (text) => void sent.push(text) },
    });
    at.type("half");
    at.press("\x12");
    await at.until(/Your earlier messages · 0 of 3/);
    at.press("\x1b");
    await at.until(/\nhalf/);
    at.press("\x15", "\x12");
    await at.until("Your earlier messages · 3");
    at.type("灯");
    await at.until(/❯ 写一个灯塔/);
    at.press("\r");
    await at.until(/\n写一个灯塔 +\n─/);
    at.press("\r");
    await at.until("Done so.");
    const [said] = at.sage.store.since(at.sage.session, 0).filter((fact) => fact.type === "user.said");
    assert.equal(said?.data.text, "写一个灯塔");
  });
});
