import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { misfits } from "../../src/protocol/reasons/misfit.ts";
import { reason } from "../../src/protocol/reasons/reason.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";

const cases: [z.ZodType, unknown, string, string][] = [
  [z.object({ a: z.string() }), {}, "a is missing; it should be a string", "缺少 a，它应是字符串"],
  [
    z.object({ a: z.array(z.int()) }),
    { a: [1.5] },
    "a[0] should be a whole number; it is a number",
    "a[0] 应是整数，现在是数",
  ],
  [
    z.object({ a: z.enum(["x", "y"]) }),
    { a: "z" },
    'a should be "x" or "y"; it is "z"',
    'a 应是 "x" 或 "y"，现在是 "z"',
  ],
  [z.string().min(1), "", "it should have at least 1 character", "内容应至少 1 个字符"],
  [z.array(z.string()).max(2), ["a", "b", "c"], "it should have at most 2 entries", "内容应最多 2 项"],
  [z.object({ n: z.number().positive() }), { n: 0 }, "n should be more than 0", "n 应大于 0"],
  [z.strictObject({}), { b: 1 }, 'unknown: "b"', "不认识“b”"],
  [
    z.record(z.string().regex(/^x/, "bot-name"), z.unknown()),
    { "a b": 1 },
    '["a b"] should be a short name, such as ops',
    '["a b"] 应是短名，如 ops',
  ],
  [z.string().regex(/^x/), "a", "it should match /^x/", "内容应符合 /^x/"],
  [z.string().refine(() => false, "must be mine"), "a", "it: must be mine", "内容：must be mine"],
  [
    z.union([z.string(), z.array(z.string())]),
    3,
    "it should be a string or a list; it is 3",
    "内容应是字符串或列表，现在是 3",
  ],
  [
    z.union([z.literal("anyone"), z.array(z.string())]),
    [3],
    "[0] should be a string; it is a number",
    "[0] 应是字符串，现在是数",
  ],
  [z.url(), "x", "it should be an address (URL)", "内容应是网址"],
];

test("a value that does not fit its schema is told by place, expectation and what came, in both languages", () => {
  for (const [schema, value, en, zh] of cases) {
    const { error } = schema.safeParse(value);
    assert.ok(error, en);
    const why = misfits(error, value);
    assert.deepEqual([sentence(why, "en"), sentence(why, "zh")], [en, zh]);
  }
});

test("of many misfits only the first are kept, and a long value is cut", () => {
  const schema = z.array(z.enum(["a"]));
  const value = Array.from({ length: 100 }, () => "长".repeat(1_000));
  const { error } = schema.safeParse(value);
  assert.ok(error);
  const { args } = misfits(error, value);
  assert.equal(args.misfits.length, 20);
  assert.ok(JSON.stringify(args).length < 5_000);
});

test("inputs that earlier versions refused with a sentence are still told", () => {
  assert.equal(
    sentence(reason("unfit-input", { tool: "Bash", problem: "bad" }), "en"),
    "the input of Bash is invalid: bad",
  );
});
