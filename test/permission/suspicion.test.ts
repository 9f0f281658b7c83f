import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { spelledOut } from "../../src/permission/text/braces.ts";
import { trackedFiles } from "../../src/permission/programs/git/tracked-files.ts";
import { bash, bashIn } from "./asking.ts";

function repository(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sage-suspicion-")));
  t.after(() => rmSync(root, { recursive: true }));
  for (const name of ["w/vault/key", "w/vault/b", "w/src/a.ts", "w/src/über.ts", "w/.env", "home/.ssh/id"]) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), "x\n");
  }
  const cwd = join(root, "w");
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd, env: { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" } });
  git("init", "-q");
  git("add", "src");
  return { git, cwd, where: { cwd, home: join(root, "home"), roots: [cwd] } };
}

const rules = ["- Read(./vault/**)", "- Read(**/.env)", "- Read(~/.ssh/**)", "+ Bash(fold:*)", "+ Bash(git stash:*)"];

test("a Read deny meets patterns, brace lists, variables and what is handed on, of any program", (t) => {
  const { where } = repository(t);
  const denied = [
    ...[
      "fold vault/*",
      "fold vault/k?y",
      "cat vault/{key,b}",
      "fold vault/{key,b}",
      "cat v{ault,x}/key",
      "{cat,vault/key}",
    ],
    ...["cat .e{n,}v", "head -1 .{env,x}", "cat {.env,src/a.ts}", "cat va{t..v}lt/key", "fold {src,vault}/*"],
    ...["cat $HOME/.ssh/id", 'cat "$HOME"/.ssh/id', "fold ${HOME}/.ssh/*", "cat $PWD/.env"],
    ...["cat $(echo .env)", "cat `echo .env`", "echo .env | xargs cat", "printf .env | xargs -n1 fold"],
  ];
  for (const command of denied) assert.equal(bashIn(where, command, ...rules).behavior, "deny", command);
  for (const command of ["fold src/*", "cat src/*", "echo .env", "fold src/a.ts", "cat src/a.ts"])
    assert.equal(bashIn(where, command, ...rules).behavior, "allow", command);
});

test("a deny rule for a program meets it in a brace list", () => {
  for (const command of ["{rm,-rf,x}", "r{m,} x", "{r,}m x", "sudo {rm,x}", "ls; {r,x}m a"])
    assert.equal(bash(command, "+ Bash", "- Bash(rm:*)"), "deny", command);
  assert.equal(bash("echo {a,b}", "+ Bash", "- Bash(rm:*)"), "allow");
});

test("brace lists are spelled out as the shell does, and no list makes more than a few", () => {
  const spelled = (word: string) => [...new Set(spelledOut(word))].sort().join(" ");
  assert.equal(spelled("a{b,c{d,e}}f"), "abf acdf acef");
  assert.equal(spelled("x{a,b}{c,d}"), "xac xad xbc xbd");
  assert.equal(spelled("{3..1}"), "1 2 3");
  assert.equal(spelled("{08..10}"), "08 09 10");
  assert.equal(spelled("${HOME}/{a,b}"), "${HOME}/a ${HOME}/b");
  for (const word of ["{a}", "{{{{", "a", "${x}", "{a,b"]) assert.deepEqual(spelledOut(word), [word]);
  for (const word of ["{1..999999}".repeat(9), "{a,b}".repeat(99), "{".repeat(999)])
    assert.ok(spelledOut(word).length <= 64, word.slice(0, 20));
});

test("git is asked about where it would show a tracked file that a rule is against, and only there", (t) => {
  const { where, git, cwd } = repository(t);
  const showing = [
    "git diff",
    "git diff HEAD~1",
    "git show",
    "git log -p",
    "git log --patch -1",
    "git rev-list -p HEAD",
    "git stash show -p",
  ];
  const judge = (command: string) => bashIn(where, command, ...rules);
  // Not tracked, so that git has nothing to show of it as it is now; of its past nobody knows.
  assert.equal(judge("git diff").behavior, "allow");
  for (const command of showing.slice(1)) assert.equal(judge(command).hard, true, command);
  git("add", "-f", ".env");
  for (const command of showing) assert.equal(judge(command).hard, true, command);
  for (const command of [
    "git log",
    "git log --oneline",
    "git diff --stat",
    "git show --name-only",
    "git status",
    "git diff src",
  ])
    assert.equal(judge(command).behavior, "allow", command);
  assert.equal(judge("git show HEAD:.env").behavior, "deny");
  for (const version of ["2", "3", "4"]) {
    git("update-index", "--index-version", version);
    const names = trackedFiles(cwd, [])?.map((file) => file.slice(cwd.length + 1));
    assert.deepEqual(names?.toSorted(), [".env", "src/a.ts", "src/über.ts"], version);
  }
  git("update-index", "--skip-worktree", "src/a.ts"); // makes use of the longer entries
  git("update-index", "--index-version", "3");
  assert.equal(trackedFiles(join(cwd, "src"), [join(cwd, "src")])?.length, 2);
  writeFileSync(join(cwd, ".git/index"), "nonsense that is no index");
  assert.equal(judge("git diff").hard, true);
});

test("a deny rule meets what other programs are given to run, in either case, and what a shell is fed", () => {
  const handed = [
    ...[
      "echo 'curl x' | sh",
      "printf 'curl x' | bash",
      "printf '%s\\n' 'curl x' | sh",
      "$(echo curl) x",
      "`printf curl` x",
    ],
    ...[
      "fd -x curl",
      "fd --exec=curl",
      "env -S'curl x'",
      "env --split-string='curl x'",
      "npx curl",
      "npm exec -- curl x",
    ],
    ...["npm exec -c 'curl x'", "pnpm dlx curl", "uv run --with y curl x", "poetry run curl", "direnv exec . curl x"],
    ...[
      "git bisect run curl x",
      "git submodule foreach curl x",
      "git rebase -x 'curl x'",
      "git -c alias.x='!curl x' x",
    ],
    ...["git config alias.x '!curl x'", "vim -c '!curl x'", "make SHELL=curl", "GIT_PAGER='curl x' git log", "CURL x"],
    ...[
      "tar --checkpoint-action=exec='curl x' -cf a b",
      "ssh -o ProxyCommand='curl x' h",
      "ruby -e 'system \"curl x\"'",
    ],
    ...[
      "script -qc 'curl x' /dev/null",
      "tmux new -d 'curl x'",
      "systemd-run curl",
      "socat EXEC:curl x",
      "man -P 'curl x' ls",
    ],
  ];
  for (const command of handed) assert.equal(bash(command, "+ Bash", "- Bash(curl:*)"), "deny", command);
  const merelyNamed = [
    ...[
      "npm install curl",
      "man curl",
      "grep -e 'curl x' a",
      "git commit -m 'curl x'",
      "git log -S 'curl x'",
      "npm run curl",
    ],
    ...[
      "uv run pytest -k curl",
      "npx vitest -t 'curl x'",
      "ENGINE=curl npm test",
      "make curl",
      "echo done; bash run.sh",
    ],
    ...["docker build --build-arg PKG=curl .", "gh pr create --title 'curl x'", "cargo test curl", "rsync -r curl dst"],
  ];
  for (const command of merelyNamed) assert.notEqual(bash(command, "+ Bash", "- Bash(curl:*)"), "deny", command);
});
