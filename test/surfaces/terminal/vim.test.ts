// Vim's keys: a table for the machine, then the real editor.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { vimKey, type Vim } from "../../../src/surfaces/terminal/widgets/vim.ts";
import { sageOnScreen } from "../../support/terminal.ts";

/** Presses keys in normal mode on a text whose cursor is at ‸, and shows what came of it; `i` at the end for insert mode. */
function pressed(before: string, keys: string): string {
  let at = before.indexOf("‸");
  let text = before.replace("‸", "");
  let vim: Vim = { mode: "normal", register: { text: "", lines: false }, pending: "" };
  for (const key of keys) {
    if (vim.mode === "insert") break;
    const result = vimKey(vim, key, text, at);
    vim = result.vim;
    for (const step of result.steps) {
      if (step.type === "move") at = step.to;
      else if (step.type === "insert")
        [text, at] = [text.slice(0, at) + step.text + text.slice(at), at + step.text.length];
      else if (step.type === "delete") [text, at] = [text.slice(0, step.from) + text.slice(step.to), step.from];
      else at = { up: -1, down: -2, undo: -3 }[step.type];
    }
  }
  return `${text.slice(0, at)}‸${text.slice(at)}${vim.mode === "insert" ? "i" : ""}`;
}

suite("the machine", () => {
  const table: [string, string, string][] = [
    ["a‸bc", "h", "‸abc"],
    ["‸abc", "h", "‸abc"],
    ["a‸bc", "l", "ab‸c"],
    ["ab‸c", "l", "ab‸c"],
    ["one\ntw‸o", "0", "one\n‸two"],
    ["one\n  t‸wo", "^", "one\n  ‸two"],
    ["‸one\ntwo", "$", "on‸e\ntwo"],
    ["‸foo.bar baz", "w", "foo‸.bar baz"],
    ["‸foo.bar baz", "www", "foo.bar ‸baz"],
    ["foo ba‸r", "b", "foo ‸bar"],
    ["foo ‸bar", "b", "‸foo bar"],
    ["‸foo bar", "e", "fo‸o bar"],
    ["fo‸o bar", "e", "foo ba‸r"],
    ["‸修改 文件", "w", "修改 ‸文件"],
    ["a‸bc", "x", "a‸c"],
    ["‸foo bar", "dw", "‸bar"],
    ["foo ‸bar\nbaz", "dw", "foo ‸\nbaz"],
    ["‸foo bar", "cw", "‸ bari"],
    ["foo ba‸r", "db", "foo ‸r"],
    ["f‸oo bar", "d$", "f‸"],
    ["f‸oo bar", "D", "f‸"],
    ["f‸oo bar", "C", "f‸i"],
    ["one\nt‸wo\nthree", "dd", "one\n‸three"],
    ["one\nt‸wo", "dd", "one‸"],
    ["o‸ne", "dd", "‸"],
    ["o‸ne\ntwo", "cc", "‸\ntwoi"],
    ["o‸ne\ntwo", "yyp", "one\none‸\ntwo"],
    ["‸ab", "xp", "ba‸"],
    ["‸foo bar", "yw$p", "foo barfoo ‸"],
    ["a‸b", "i", "a‸bi"],
    ["a‸b", "a", "ab‸i"],
    ["  a‸b", "I", "  ‸abi"],
    ["‸ab\nc", "A", "ab‸\nci"],
    ["‸ab\nc", "o", "ab\n‸\nci"],
    ["ab\n‸c", "O", "ab\n‸\nci"],
    ["‸ab", "dz", "‸ab"],
    ["‸ab", "qZ;", "‸ab"],
    ["‸", "xdwebhl$p", "‸"],
    ["‸", "dd", "‸"],
  ];
  for (const [before, keys, after] of table)
    test(`${JSON.stringify(before)} ${keys} → ${JSON.stringify(after)}`, () =>
      assert.equal(pressed(before, keys), after));
});

suite("on the screen", () => {
  const said = (sage: { facts(): { type: string; data: object }[] }) =>
    sage.facts().flatMap(({ type, data }) => (type === "user.said" ? [(data as { text: string }).text] : []));

  test("Esc, edits, undo and Enter; the next message begins in insert mode", async () => {
    await using at = await sageOnScreen([{ text: "First." }, { text: "Second." }], { editor: "vim" });
    await at.until("What would you like to do?");
    at.type("hello bad wörld 👍🏽 end");
    at.press("\x1b");
    await at.until("-- NORMAL --");
    at.type("bbx"); // the thumb is one letter
    at.type("bbdw"); // bad
    at.type("u");
    at.type("dw");
    at.type("0cwbye");
    at.press("\x1b");
    at.type("$a!");
    at.press("\r");
    await at.until("First.");
    assert.equal(said(at.sage)[0], "bye wörld  end!");
    at.enter("dd is text here");
    await at.until("Second.");
    assert.equal(said(at.sage)[1], "dd is text here");
  });

  test("a paste that is folded is one letter, and is sent whole", async () => {
    await using at = await sageOnScreen([{ text: "Got it." }], { editor: "vim" });
    await at.until("What would you like to do?");
    const long = Array.from({ length: 30 }, (_, n) => `line ${n}`).join("\n");
    at.type("see ");
    at.press(`\x1b[200~${long}\x1b[201~`);
    at.type(" xy");
    at.press("\x1b");
    at.type("x0iNow ");
    at.press("\r");
    await at.until("Got it.");
    assert.equal(said(at.sage)[0], `Now see ${long} x`);
  });

  test("without the setting Esc and letters are what they were", async () => {
    await using at = await sageOnScreen([{ text: "Ok." }], {});
    await at.until("What would you like to do?");
    at.type("a");
    at.press("\x1b");
    await new Promise((resolve) => setTimeout(resolve, 50));
    at.enter("dd");
    await at.until("Ok.");
    assert.equal(said(at.sage)[0], "add");
  });
});
