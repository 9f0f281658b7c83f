import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before } from "node:test";
import type { DecisionInput } from "../../src/permission/decide.ts";
import { bashIn } from "./asking.ts";

/** A workspace and a home for the edges of what rules, deny rules and protected paths promise. */
export let root: string;
export let cwd: string;
export let home: string;
before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "sage-promise-")));
  cwd = join(root, "w");
  home = join(root, "home");
  const files =
    ".env src/a.ts src/b.ts scripts/x.sh scripts/deploy.py sub/script.py script.py package.json vault/key a.json";
  for (const name of files.split(" ")) put(join(cwd, name), "x\n");
  for (const name of [".ssh/id", ".aws/credentials", "notes/a.md", "proj/a.ts", ".sage/keys.json"])
    put(join(home, name), "x\n");
  put(join(root, "evil.sh"), "x\n");
  symlinkSync(join(root, "evil.sh"), join(cwd, "scripts/link.sh"));
  const env = { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  execFileSync("git", ["init", "-q"], { cwd, env });
  execFileSync("git", ["add", "-f", ".env", "src"], { cwd, env });
});
after(() => rmSync(root, { recursive: true }));

export function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

export const where = (more: Partial<DecisionInput> = {}) => ({ cwd, home, roots: [cwd], ...more });
export const told = (command: string, rules: readonly string[], more: Partial<DecisionInput> = {}) => {
  const { behavior, hard } = bashIn(where(more), command, ...rules);
  return hard === true ? `${behavior}!` : behavior;
};
/** The same answer for each, also in bypass, where a hard ask and a deny hold. */
export const all = (
  expected: string,
  rules: readonly string[],
  commands: readonly string[],
  more: Partial<DecisionInput> = {},
) => {
  for (const command of commands) {
    assert.equal(told(command, rules, more), expected, `${command} under ${rules.join(", ")}`);
    if (expected !== "ask")
      assert.equal(told(command, rules, { ...more, mode: "bypass" }), expected, `${command} in bypass`);
  }
};
