import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import type { ConfinePolicy } from "../../src/permission/confined.ts";
import { answer, environment } from "./asking.ts";

const autoAllow: ConfinePolicy = { mode: "autoAllow", outside: [], git: "read", blocked: [] };
const dir = realpathSync(mkdtempSync(join(tmpdir(), "sage-keeping-")));
after(() => rmSync(dir, { recursive: true, force: true }));

type Repository = { cwd: string; home: string; git(...args: string[]): string; put(name: string, text: string): void };
let made = 0;

/** A repository with two commits and a branch `other`, and a home with nothing in it. */
function repository(): Repository {
  const place = join(dir, `${made++}`);
  const [cwd, home] = [join(place, "w"), join(place, "home")];
  for (const folder of [cwd, home]) mkdirSync(folder, { recursive: true });
  const env = { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  const who = "-c user.name=a -c user.email=a@b -c init.defaultBranch=main -c protocol.file.allow=always".split(" ");
  const git = (...args: string[]) =>
    execFileSync("git", [...who, ...args], { cwd, env, stdio: "pipe", encoding: "utf8" });
  const put = (name: string, text: string) => {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  };
  git("init", "-q");
  put("a.txt", "a\n");
  put("src/b.ts", "b\n");
  git("add", "-A");
  git("commit", "-qm", "one");
  git("branch", "other");
  git("commit", "-qm", "two", "--allow-empty");
  return { cwd, home, git, put };
}

function verdict({ cwd, home }: Repository, command: string, more = {}): string {
  const where = { cwd, home, roots: [cwd], effect: "writes" as const, confine: autoAllow, ...more };
  const { behavior, confined } = answer([], "Bash", { command }, where);
  return behavior === "allow" ? (confined && confined !== "outside" ? confined.repository : "allow") : behavior;
}

const keeps = [
  "git add a.txt",
  "git add -A",
  "git add .",
  "git add -u src",
  "git add -- a.txt src/b.ts",
  "git add src/*.ts",
  'git commit -m "a change"',
  "git commit -am 'R&D | more'",
  'git commit -q -s --message="x $y"',
  "git commit -m one -m two",
  "git add -A && git commit -m x",
  "git add a.txt && git status --short && git commit -m x",
  "git add -A && git commit -m \"$(cat <<'E'\nfix: a\n\nmore\nE\n)\"",
  "git status && git add -A && git commit -m x",
  "cd src && git add b.ts && git commit -m x",
  "git -C src add b.ts",
  "git --no-pager commit -m x",
  "git switch other",
  "git switch -q other",
  "git switch -c new",
  "git switch --create=new other",
  "git checkout -b new",
  "git checkout -q -b feat/new && git add -A && git commit -m x",
  "git branch new",
  "git branch new HEAD~1",
  "git commit -m x; git switch -c new",
];

const asks = [
  "git add -p",
  "git add -f .env",
  "git add -i",
  "git add *.txt",
  "git add $f",
  "git add --pathspec-from-file=x",
  "git commit",
  "git commit --amend -m x",
  "git commit -m x --no-verify",
  "git commit -n -m x",
  "git commit -S -m x",
  "git commit -m $x",
  'git commit -m -m "$x"',
  'git commit -m x "$y"',
  "git commit -F msg",
  "git commit -m x --author 'a <b>'",
  "git -c core.editor=x commit -m x",
  "git --git-dir=x commit -m x",
  "GIT_EDITOR=x git commit -m x",
  "GIT_DIR=x git add a.txt",
  "git switch -f other",
  "git switch --discard-changes other",
  "git switch -C other",
  "git switch --detach other",
  "git switch --orphan x",
  "git switch -m other",
  "git switch nothing",
  "git switch -",
  "git switch -c new origin/new",
  "git checkout other",
  "git checkout -- a.txt",
  "git checkout -B other",
  "git checkout -b new other",
  "git branch -D other",
  "git branch -f other HEAD",
  "git branch -m other x",
  "git branch new origin/new",
  "git stash",
  "git stash drop",
  "git reset --hard",
  "git restore a.txt",
  "git clean -fd",
  "git merge other",
  "git rebase other",
  "git tag -d v1",
  "git gc --prune=now",
  "git rm a.txt",
  "git reflog expire --all",
  "git update-ref -d HEAD",
  "git add -A && git status",
  "git add -A && git commit -am x",
  "git switch other && git add -A",
  "git commit -m x && git reset --hard HEAD~1",
  "for f in a b; do git commit -m x; done",
];

test("git that keeps everything runs confined without asking in autoAllow; the rest asks; `write` runs both", () => {
  const here = repository();
  const plan = { sessionMode: "plan" as const };
  const write = { confine: { ...autoAllow, git: "write" as const } };
  const contain = { confine: { ...autoAllow, mode: "contain" as const } };
  const seen = (command: string) =>
    [{}, plan, write, contain, { confine: undefined }].map((more) => verdict(here, command, more)).join(" ");
  for (const command of keeps) assert.equal(seen(command), "write deny write ask ask", command);
  for (const command of asks) {
    // Nobody who understands the line less than git does gives it a writable repository: it runs, and changes nothing.
    const [auto, inPlan, free, contained, plain] = seen(command).split(" ");
    assert.ok(auto === "ask" || auto === "read", `${command}: ${auto}`);
    assert.deepEqual([inPlan, contained, plain], ["deny", "ask", "ask"], command);
    assert.ok(free === "write" || auto === free, `${command}: ${free}`);
  }
});

/** Ways in which a repository names programs, or in which something could be lost. */
const reasons: Record<string, [make: (here: Repository) => void, commands: string[], fine?: string[]]> = {
  "a hook": [
    (here) => hook(here, "pre-commit"),
    ["git commit -m x", "git add -A && git commit -m x"],
    ["git add -A", "git switch other", "git branch new"],
  ],
  "a hook that is run whatever changes": [(here) => hook(here, "post-index-change"), keeps],
  "a hook of references": [
    (here) => hook(here, "reference-transaction"),
    ["git branch new", "git switch other"],
    ["git add -A"],
  ],
  "hooks elsewhere": [(here) => here.git("config", "core.hooksPath", "tools"), keeps],
  "hooks of husky": [
    (here) => {
      here.git("config", "core.hooksPath", ".husky/_");
      here.put(".husky/_/pre-commit", "");
    },
    ["git commit -m x"],
    ["git add -A", "git switch -c new"],
  ],
  "hooks of the person": [
    (here) => writeFileSync(join(here.home, ".gitconfig"), "[core]\nhooksPath=.githooks\n"),
    keeps,
  ],
  "an included file": [
    (here) => {
      writeFileSync(join(here.home, ".gitconfig"), "[include]\n path = more\n");
      writeFileSync(join(here.home, "more"), '[filter "x"]\n clean = ./x.sh\n');
    },
    keeps,
  ],
  "a filter": [(here) => here.git("config", "filter.x.clean", "./x.sh"), keeps],
  "the filter of large files": [
    (here) => writeFileSync(join(here.home, ".gitconfig"), '[filter "lfs"]\n clean = git-lfs clean -- %f\n'),
    [],
    ["git add -A"],
  ],
  "a monitor": [(here) => here.git("config", "core.fsmonitor", "./x.sh"), keeps],
  "a program of the collection of objects": [(here) => here.git("config", "gc.recentObjectsHook", "./x.sh"), keeps],
  "another editor": [(here) => here.git("config", "core.editor", "./x.sh"), keeps],
  signatures: [
    (here) => writeFileSync(join(here.home, ".gitconfig"), "[commit]\n gpgSign = true\n"),
    ["git commit -m x"],
    ["git add -A"],
  ],
  "a repository inside": [
    (here) => {
      execFileSync("git", ["init", "-q", "in"], { cwd: here.cwd });
      here.git("-C", "in", "commit", "-qm", "x", "--allow-empty");
      here.git("add", "in");
    },
    keeps,
  ],
  "a detached HEAD": [
    (here) => here.git("checkout", "-q", "--detach"),
    ["git switch other", "git switch -c new other"],
    ["git add -A", "git commit -m x", "git switch -c new", "git branch new"],
  ],
  "a merge under way": [
    (here) => here.put(".git/MERGE_HEAD", ""),
    ["git switch other", "git checkout -b new"],
    ["git add -A", "git commit -m x", "git branch new"],
  ],
  "an alias that runs a program": [(here) => here.git("config", "alias.x", "!rm -rf .git"), [...keeps, "git x"]],
  "plain aliases": [
    (here) => {
      here.git("config", "alias.st", "status -sb");
      here.git("config", "alias.ci", "commit");
    },
    ["git ci --amend", "git ci"],
    ["git add -A", "git ci -m x", "git st && git ci -m x"],
  ],
};

for (const [what, [make, commands, fine = []]] of Object.entries(reasons))
  test(`git asks where it could run or lose something: ${what}`, () => {
    const here = repository();
    make(here);
    for (const command of commands) assert.match(verdict(here, command), /^(ask|read)$/, command);
    for (const command of fine) assert.equal(verdict(here, command), "write", command);
  });

test("variables that lead git elsewhere make it ask", () => {
  const here = repository();
  for (const name of ["GIT_DIR", "GIT_CONFIG_COUNT", "GIT_EXEC_PATH"])
    assert.equal(verdict(here, "git add -A", { environment: new Set([...environment, name]) }), "ask", name);
});

test("another repository inside of the workspace asks, with -C and with cd", () => {
  const here = repository();
  execFileSync("git", ["init", "-q", "in"], { cwd: here.cwd });
  for (const command of ["git -C in add -A", "cd in && git add -A", "cd in; git add -A"])
    assert.equal(verdict(here, command), "ask", command);
});

test("a linked worktree of one's own keeps everything, too", () => {
  const here = repository();
  here.git("worktree", "add", "-q", "../tree", "other");
  const tree = { ...here, cwd: join(here.cwd, "../tree") };
  for (const command of ["git add -A", "git commit -m x", "git switch -c new"])
    assert.equal(verdict(tree, command), "write", command);
});

test("one plain alias leaves git free that looks; one that runs a program does not", () => {
  const here = repository();
  const plain = () => verdict(here, "git status", { confine: undefined });
  here.git("config", "alias.st", "status");
  assert.equal(plain(), "allow");
  here.git("config", "alias.lg", "log --oneline --graph");
  assert.equal(plain(), "allow");
  for (const value of ["!sh x", "log --output=x", "-c core.pager=x log"]) {
    here.git("config", "alias.lg", value);
    assert.equal(plain(), "ask", value);
  }
});

function hook({ cwd }: Repository, name: string): void {
  const path = join(cwd, ".git/hooks", name);
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
}
