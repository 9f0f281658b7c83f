import assert from "node:assert/strict";
import { test } from "node:test";
import { readFlags } from "../../src/cli/process/flags.ts";

test("flags that are misused are told in the reader's language, with what to write", () => {
  const options = { output: { type: "string", short: "o" }, json: { type: "boolean" } } as const;
  const cases: [args: string[], en: string, zh: string][] = [
    [["-o"], "--output needs a value; one that begins with a dash is written --output=-…", "--output 后面要有值"],
    [
      ["--output", "--json"],
      "--output needs a value; one that begins",
      "--output 后面要有值；以 - 开头的值写成 --output=-…",
    ],
    [["--json=yes"], "--json takes no value", "--json 不带值"],
    [["--jsno"], "unknown flag --jsno; did you mean --json? (see sage --help)", "未知参数 --jsno；是不是 --json？"],
  ];
  for (const [args, ...told] of cases)
    for (const [n, words] of told.entries())
      assert.throws(
        () => readFlags([...args, `--lang=${n === 0 ? "en" : "zh"}`], options),
        (error: Error & { code?: string }) => error.code === "usage" && error.message.includes(words),
        words,
      );
});
