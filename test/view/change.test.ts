import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "../support/properties.ts";
import type { Preview, PreviewLine } from "../../src/protocol/facts/call.ts";
import { detailed, hunksOf } from "../../src/view/items/change.ts";
import { differenceOf } from "../../src/view/items/difference.ts";

const drawn = (before: string, after: string) =>
  differenceOf(before.split(""), after.split(""))
    .map(({ mark, text }) => `${mark}${text}`)
    .join(" ");

suite("what an edit changed", () => {
  test("lines that stay are no change, at the ends and in the middle", () => {
    assert.equal(drawn("abc", "axc"), " a -b +x  c");
    assert.equal(drawn("abcde", "xbcdy"), "-a +x  b  c  d -e +y");
    assert.equal(drawn("", "ab"), "+a +b");
    assert.equal(drawn("ab", ""), "-a -b");
    assert.equal(drawn("aa", "aaa"), " a  a +a");
  });

  test("whatever is changed: without what came it is the old text, without what went the new one", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 30 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const all = differenceOf(before, after);
        const without = (mark: string) => all.filter((line) => line.mark !== mark).map(({ text }) => text);
        assert.deepEqual([without("+"), without("-")], [before, after]);
      }),
      { numRuns: 300 },
    );
  });

  test("thousands of lines are told without comparing each with each", () => {
    const many = (name: string) => Array.from({ length: 5_000 }, (_, n) => `${name}${n}`);
    assert.equal(differenceOf(many("a"), many("b")).length, 10_000);
  });

  test("a long file written again with a few changes: only those, each with its number", () => {
    const before = Array.from({ length: 3_000 }, (_, n) => `line ${n + 1}`);
    const after = [...before.with(9, "ten").toSpliced(1_999, 1).slice(0, -1), "the end"];
    const preview: Preview = {
      path: "/p/a",
      firstLine: 1,
      lines: [
        ...before.map((text): PreviewLine => ({ mark: "-", text })),
        ...after.map((text): PreviewLine => ({ mark: "+", text })),
      ],
    };
    const drawn = hunksOf(preview).map((hunk) =>
      detailed(hunk).map(({ mark, text, number }) => `${number}${mark}${text}`),
    );
    assert.deepEqual(drawn, [
      ["7 line 7", "8 line 8", "9 line 9", "10-line 10", "10+ten", "11 line 11", "12 line 12", "13 line 13"],
      [
        "1997 line 1997",
        "1998 line 1998",
        "1999 line 1999",
        "2000-line 2000",
        "2001 line 2001",
        "2002 line 2002",
        "2003 line 2003",
      ],
      ["2997 line 2997", "2998 line 2998", "2999 line 2999", "3000-line 3000", "3000+the end"],
    ]);
  });

  test("the words of a line that changed are known, also in Chinese; a line that has little in common has none", () => {
    const words = (before: string, after: string) =>
      detailed({
        lines: [
          { mark: "-", text: before },
          { mark: "+", text: after },
        ],
      }).map(({ text, words: ranges }) => ranges?.map(([from, to]) => text.slice(from, to)));
    assert.deepEqual(words("const port = 80;", "const port = 8080;"), [["80"], ["8080"]]);
    assert.deepEqual(words("标题：旧的，第一版", "标题：新的，第一版"), [["旧的"], ["新的"]]);
    assert.deepEqual(words("return a;", "throw new Error(reason, options);"), [undefined, undefined]);
    assert.deepEqual(words("same words", "same words and more"), [[], [" and more"]]);
  });

  test("a line break that is missing at the end is a change of its own", () => {
    const lines: PreviewLine[] = [
      { mark: "-", text: "end", open: true },
      { mark: "+", text: "end" },
    ];
    assert.deepEqual(hunksOf({ path: "/a", firstLine: 1, lines }), [
      {
        from: 1,
        lines: [
          { mark: "-", text: "end‹EOF›" },
          { mark: "+", text: "end" },
        ],
      },
    ]);
  });
});
