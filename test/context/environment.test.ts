import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { environment, gitBranch } from "../../src/context/environment.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "sage-environment-")));
after(() => rmSync(base, { recursive: true }));

function withHead(name: string, head: string): string {
  const root = join(base, name);
  mkdirSync(join(root, ".git"), { recursive: true });
  writeFileSync(join(root, ".git/HEAD"), head);
  return root;
}

test("the day is the person's own, and outside a repository there is no branch", () => {
  const { platform, ...rest } = environment({ cwd: base, date: new Date(2026, 1, 3, 23, 59) });
  assert.match(platform, /^\S+ \S+ \(\w+\)$/);
  assert.deepEqual(rest, { cwd: base, date: "2026-02-03" });
});

test("the branch of a real repository and of its worktree, also from below", () => {
  const root = join(base, "real");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: root, stdio: "ignore" });
  mkdirSync(join(root, "a/b"), { recursive: true });
  git("init", "-b", "feature/one");
  git("commit", "--allow-empty", "-m", "x");
  git("worktree", "add", "-b", "two", join(base, "worktree"));
  assert.equal(gitBranch(join(root, "a/b")), "feature/one");
  assert.equal(gitBranch(join(base, "worktree")), "two");
  git("checkout", "--detach");
  assert.match(gitBranch(root) ?? "", /^detached at [0-9a-f]{7}$/);
});

test("what git would not write is not shown", () => {
  for (const [i, head] of [
    "",
    "ref: refs/heads/a b\n",
    "ref: refs/heads/\u001b[0m\n",
    "hello\n",
    "x".repeat(5_000),
  ].entries())
    assert.equal(gitBranch(withHead(`odd${i}`, head)), undefined, head);
  assert.equal(gitBranch(withHead("reftable", "ref: refs/heads/.invalid\n")), undefined);
  const broken = join(base, "broken");
  mkdirSync(broken);
  writeFileSync(join(broken, ".git"), "gitdir: ../gone\n");
  assert.equal(gitBranch(broken), undefined);
});
