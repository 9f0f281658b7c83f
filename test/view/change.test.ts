import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { differenceOf } from "../../src/view/change.ts";

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
});
