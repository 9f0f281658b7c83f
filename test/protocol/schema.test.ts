import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assert as hold, jsonValue, nat, property } from "../support/properties.ts";
import { z as zod } from "zod";
import { listIssues, type Issue } from "../../src/base/issue.ts";
import { reason } from "../../src/protocol/reasons/reason.ts";
import * as own from "../../src/base/z.ts";
import { builtinTools } from "../../src/tools/registry.ts";
import { jsonSchemaOf } from "../../src/tools/definition/json-schema.ts";

const root = join(import.meta.dirname, "../..");

type Z = typeof own;

/** Each is written once and made twice: with our schemas, and with zod. */
const cases: { name: string; make: (z: Z) => own.Schema; values: unknown[]; json?: false }[] = [
  { name: "text", make: (z) => z.string(), values: ["", "长", 1, null, undefined, {}, true] },
  { name: "text of a length", make: (z) => z.string().min(1).max(3).describe("a"), values: ["", "a", "abcd", 5] },
  { name: "own words", make: (z) => z.string().min(2, "longer, please"), values: ["a", "ab"] },
  { name: "pattern", make: (z) => z.string().regex(/^x/), values: ["x", "a", 1] },
  { name: "named pattern", make: (z) => z.string().regex(/^x/, "bot-name"), values: ["x", "a"] },
  { name: "trimmed", make: (z) => z.string().trim().min(1), values: [" a ", "  "] },
  { name: "url", make: (z) => z.url(), values: ["https://a.b/c", "x", "", 1] },
  {
    name: "base64",
    make: (z) => z.base64(),
    values: ["", "AA==", "AAA=", "AAAA", "A", "A===", "A A=", "ÄÄ=="],
    json: false,
  },
  {
    name: "refined",
    make: (z) =>
      z
        .string()
        .min(2)
        .refine((text) => text !== "a", "not a"),
    values: ["a", "b", "ab"],
  },
  {
    name: "refined twice",
    make: (z) =>
      z
        .string()
        .refine(() => false, "one")
        .refine(() => false, "two"),
    values: ["a"],
  },
  { name: "number", make: (z) => z.number(), values: [1, 1.5, Number.NaN, Infinity, "1", null] },
  {
    name: "whole number",
    make: (z) => z.int().min(1).max(9).default(4),
    values: [1, 0, 10, 1.5, "1", undefined, 2 ** 60],
  },
  { name: "positive", make: (z) => z.number().int().positive().max(10), values: [0, 1, 11, -1.5] },
  { name: "share", make: (z) => z.number().gt(0).max(1).optional(), values: [0, 0.5, 1, 2, undefined] },
  { name: "nonnegative", make: (z) => z.number().nonnegative(), values: [-1, 0] },
  { name: "boolean", make: (z) => z.boolean().default(false).describe("a"), values: [true, 1, undefined, null] },
  { name: "choice", make: (z) => z.enum(["a", "b"]), values: ["a", "c", 1, undefined] },
  { name: "literal", make: (z) => z.literal("a"), values: ["a", "b"] },
  { name: "false", make: (z) => z.literal(false), values: [false, true] },
  { name: "list", make: (z) => z.array(z.string().min(1)).min(1).max(2), values: [[], ["a"], ["", 1], "a", null] },
  {
    name: "list of a default",
    make: (z) => z.array(z.string()).default([]).describe("a"),
    values: [undefined, ["a"], 1],
  },
  {
    name: "refined list",
    make: (z) =>
      z
        .array(z.string())
        .max(4)
        .refine(({ length }) => length !== 1, "not one"),
    values: [[], ["a"], [1], ["a", "b"]],
  },
  {
    name: "object",
    make: (z) => z.object({ a: z.string(), b: z.string().optional(), c: z.string().default("x"), d: z.unknown() }),
    values: [
      {},
      { a: "1", d: 1 },
      { a: "1", b: undefined, d: undefined, e: 1 },
      [],
      null,
      "a",
      { a: 1, b: 2, c: 3, d: 4 },
    ],
  },
  {
    name: "strict object",
    make: (z) => z.strictObject({ a: z.string(), b: z.int().optional() }).describe("a"),
    values: [{ a: "1" }, { a: "1", c: 1, d: 2 }, { b: 1.5, c: 1 }, JSON.parse('{"a":"1","__proto__":1}')],
  },
  {
    name: "loose object",
    make: (z) => z.looseObject({ a: z.string() }),
    values: [{ a: "1", b: [1] }, { b: 1 }, JSON.parse('{"a":"1","__proto__":{"b":1}}')],
  },
  {
    name: "refined object",
    make: (z) => z.strictObject({ a: z.string().min(1), b: z.string() }).refine(({ a, b }) => a !== b, "the same"),
    values: [{ a: "", b: "" }, { a: "a", b: "a" }, { a: "a" }, { a: "a", b: "a", c: 1 }, { a: "a", b: "b" }],
  },
  {
    name: "prefault",
    make: (z) => z.strictObject({ a: z.strictObject({ b: z.array(z.string()).default([]) }).prefault({}) }),
    values: [{}, { a: {} }, { a: { b: ["1"] } }, { a: 1 }],
  },
  {
    name: "record",
    make: (z) => z.record(z.string().regex(/^x/, "bot-name"), z.int()),
    values: [{}, { x: 1 }, { "a b": 1 }, { x: "1" }, [], null, Object.create(null)],
  },
  {
    name: "record of some keys",
    make: (z) => z.partialRecord(z.enum(["a", "b"]), z.array(z.string())).default({}),
    values: [undefined, { a: ["1"] }, { c: [], d: [] }, { a: [1] }],
  },
  {
    name: "union of types",
    make: (z) => z.union([z.string(), z.array(z.string())]),
    values: ["a", ["a"], 3, [3], null],
  },
  {
    name: "union of forms",
    make: (z) => z.union([z.enum(["wait", "fail"]), z.strictObject({ to: z.array(z.string()).min(1) })]).optional(),
    values: ["wait", "stay", { to: ["a"] }, { to: [] }, { to: 1 }, undefined, 7],
  },
  { name: "two bare types", make: (z) => z.union([z.string(), z.number()]).describe("a"), values: [1, "a", true] },
  {
    name: "union by a key",
    make: (z) =>
      z.discriminatedUnion("type", [
        z.strictObject({ type: z.literal("a"), n: z.number() }),
        z.object({ type: z.literal("b"), list: z.array(z.string()) }),
      ]),
    values: [{ type: "a", n: 1 }, { type: "a" }, { type: "b", list: [1] }, { type: "c" }, {}, 1, null],
    json: false,
  },
  { name: "nullable", make: (z) => z.string().nullable(), values: ["a", null, 1] },
  {
    name: "never there",
    make: (z) => z.object({ a: z.undefined().optional() }),
    values: [{}, { a: 1 }, { a: undefined }],
    json: false,
  },
  {
    name: "transformed",
    make: (z) =>
      z
        .union([z.string(), z.array(z.string())])
        .transform((tools) => String(tools).length)
        .optional(),
    values: ["abc", ["a", "b"], 1, undefined],
  },
  {
    name: "custom",
    make: (z) =>
      z.object({
        f: z.custom((value) => typeof value === "function", { params: { why: reason("hands-on-task", {}) } }),
      }),
    values: [{ f: 1 }, { f: String }],
    json: false,
  },
];

/** As far as we read them. Both ways tell the same; zod adds an issue or a field here and there that nobody reads. */
function told({ issues }: { issues: readonly unknown[] }): unknown {
  return (issues as Issue[]).map(
    ({ code, path, message, expected, values, keys, minimum, maximum, errors, params }) => {
      const inner = errors?.map((list) => told({ issues: list }));
      return { code, path: [...path], message, expected, values, keys, minimum, maximum, params, errors: inner };
    },
  );
}

function outcome(
  schema: { safeParse(value: unknown): { success: boolean; data?: unknown; error?: unknown } },
  value: unknown,
) {
  const { success, data, error } = schema.safeParse(value);
  return success ? { data } : told(error as { issues: unknown[] });
}

for (const { name, make, values, json } of cases)
  test(`a schema of ours reads as zod does: ${name}`, () => {
    const ours = make(own);
    const theirs = make(zod as unknown as Z) as unknown as zod.ZodType;
    for (const value of values) assert.deepEqual(outcome(ours, value), outcome(theirs, value), JSON.stringify(value));
    if (json === false) return;
    const { $schema: _, ...expected } = zod.toJSONSchema(theirs, { io: "input" });
    assert.deepEqual(ours.json(), expected);
  });

test("whatever comes, our schemas and zod's take the same values", () => {
  const pairs = cases.map(({ make }) => [make(own), make(zod as unknown as Z)] as const);
  hold(
    property(nat(pairs.length - 1), jsonValue({ maxDepth: 3 }), (n, value) => {
      const [ours, theirs] = pairs[n]!;
      assert.equal(ours.safeParse(value).success, theirs.safeParse(value).success);
    }),
    { numRuns: 500 },
  );
});

test("issues are listed as zod lists them", () => {
  const make = (z: Z) => z.strictObject({ a: z.array(z.object({ "b c": z.string() })), d: z.enum(["x", "y"]) });
  const value = { a: [{ "b c": 1 }], d: 2, e: 3 };
  const { error } = make(own).safeParse(value);
  const theirs = (make(zod as unknown as Z) as unknown as zod.ZodType).safeParse(value).error;
  assert.ok(error && theirs);
  assert.equal(listIssues(error), zod.prettifyError(theirs));
});

test("a default belongs to whoever got it", () => {
  const schema = own.object({ list: own.array(own.string()).default([]) });
  schema.parse({}).list.push("a");
  assert.deepEqual(schema.parse({}), { list: [] });
});

test("the keys that a schema knows are told by path, through lists, records and wrappers", () => {
  const schema = own.object({
    a: own.array(own.object({ b: own.string() }).prefault({})).optional(),
    c: own.record(own.string(), own.object({ d: own.string() })).default({}),
    e: own.union([own.object({ f: own.string() }), own.string()]),
  });
  assert.deepEqual(
    [[], ["a", 0], ["c", "any"], ["e"], ["nowhere", 1]].map((path) => schema.keysAt(path)),
    [["a", "c", "e"], ["b"], ["d"], [], []],
  );
});

test("an embedder's zod schema tells the model its input, also where it is of a zod that could not do so by itself", () => {
  const schema = zod.strictObject({ a: zod.string().min(1), b: zod.int().default(1) });
  const old = Object.create(schema, { toJSONSchema: { value: undefined } }) as typeof schema;
  const { $schema: _, ...expected } = zod.toJSONSchema(schema, { io: "input" });
  assert.deepEqual([jsonSchemaOf(schema), jsonSchemaOf(old)], [expected, expected]);
});

test("every built-in tool tells its input as an object", () => {
  for (const { name, inputSchema } of builtinTools()) assert.equal(jsonSchemaOf(inputSchema)["type"], "object", name);
});

test("one file of ours imports zod, and only those who need it load that file", () => {
  const sources = globSync("src/**/*.ts", { cwd: root }).map((path) => [path, readFileSync(join(root, path), "utf8")]);
  const naming = (wanted: RegExp) => sources.filter(([, text]) => wanted.test(text!)).map(([path]) => path);
  assert.deepEqual(naming(/from "zod|import\("zod/), ["src/tools/definition/zod.ts"]);
  assert.deepEqual(naming(/^import (?!type).*\/zod\.ts"/m), []);
});
