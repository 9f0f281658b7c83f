import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "../support/properties.ts";
import { bashIn } from "./asking.ts";
import { thorough } from "../faults/rounds.ts";

test("A2 programs of awk that run unasked write nothing, run nothing and read nothing outside", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sage-awk-")));
  const cwd = join(root, "w");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "a"), "1 two\n3 four\n");
  writeFileSync(join(root, "outside"), "TREASURE\n");
  const before = readdirSync(cwd, { recursive: true }).length;
  const piece = fc.constantFrom(
    ...[
      "{",
      "}",
      "print",
      "$1",
      ";",
      " > ",
      ">>",
      '"x"',
      "1",
      "NR",
      "BEGIN",
      "END",
      '"',
      "/a/",
      '/"/',
      "|",
      "||",
      "&&",
    ],
    ...[
      "system(",
      ")",
      '"touch x"',
      "getline",
      "<",
      '"../outside"',
      "ARGV[1]",
      "=",
      "ARGC",
      "2",
      "x",
      "+=",
      ">=",
      "\n",
    ],
    ...[
      "printf",
      "(",
      ",",
      "!",
      "~",
      "$NF",
      "\\",
      "sub(",
      "close(",
      '"sh"',
      "split($0,x)",
      "if",
      "for(i in x)",
      "ENVIRON",
    ],
  );
  const programs = fc.sample(fc.array(piece, { minLength: 1, maxLength: 12 }), {
    numRuns: thorough ? 1_200 : 500,
    seed: 5,
  });
  const where = { cwd, home: root, roots: [cwd] };
  let ran = 0;
  for (const program of new Set(programs.map((pieces) => pieces.join(" ")))) {
    const command = `awk '${program}' a`;
    if (bashIn(where, command).behavior !== "allow" || ran >= 400) continue;
    ran++;
    const env = { PATH: process.env["PATH"], SECRET: "TREASURE" };
    const { stdout } = spawnSync("bash", ["--norc", "-c", command], { cwd, env, timeout: 2_000, maxBuffer: 1 << 20 });
    assert.ok(!stdout.includes("TREASURE"), program);
    assert.equal(readdirSync(cwd, { recursive: true }).length, before, program);
  }
  assert.ok(ran > 50, `${ran} programs are too few to mean anything`);
  rmSync(root, { recursive: true });
});
