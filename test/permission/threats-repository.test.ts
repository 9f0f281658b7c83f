import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Ground, isInstalled } from "./ground.ts";

const readOnlyGit = [
  ...[
    "git status",
    "git status -sb",
    "git diff",
    "git diff --stat",
    "git diff HEAD~1 -- a.txt",
    "git log -p",
    "git log --oneline -5",
  ],
  ...[
    "git show",
    "git show HEAD:a.txt",
    "git blame a.txt",
    "git shortlog -sn HEAD",
    "git rev-parse HEAD",
    "git rev-list --count HEAD",
  ],
  ...[
    "git ls-files",
    "git ls-files -m",
    "git ls-tree HEAD",
    "git cat-file -p HEAD",
    "git describe --always --dirty",
    "git merge-base HEAD HEAD",
  ],
  ...[
    "git branch --show-current",
    "git branch -a",
    "git branch -vv",
    "git branch",
    "git tag --list",
    "git tag -l 'v*'",
    "git remote -v",
    "git remote",
  ],
  ...["git stash list", "git worktree list", "git config --get user.name", "git config --list"],
];

test("A7: what a repository says about programs never runs unasked", async () => {
  using here = new Ground();
  here.git("init", "-q");
  here.put(".gitattributes", "*.txt diff=evil filter=evil\n");
  here.git("add", ".");
  here.git("commit", "-qm", "one");
  here.put("a.txt", "b\n");
  for (const command of readOnlyGit) assert.equal(here.ask(command), "allow", command);

  const config = join(here.cwd, ".git/config");
  const evil = join(here.cwd, "evil");
  const settings = [
    `[core]\n\tfsmonitor = ${evil}\n`,
    `[core]\n\tfsmonitor = true\n`,
    `[diff]\n\texternal = ${evil}\n`,
    `[diff "evil"]\n\tcommand = ${evil}\n`,
    `[diff "evil"]\n\ttextconv = ${evil}\n`,
    `[filter "evil"]\n\tclean = ${evil}\n`,
    `[filter "evil"]\n\tsmudge = ${evil}\n`,
    `[filter "evil"]\n\tprocess = ${evil}\n`,
    `[core]\n\tpager = ${evil}\n`,
    `[pager]\n\tlog = ${evil}\n`,
    `[core]\n\tsshCommand = ${evil}\n`,
    `[gpg]\n\tprogram = ${evil}\n`,
    `[log]\n\tshowSignature = true\n`,
    `[include]\n\tpath = ../evil.config\n`,
    `[includeIf "gitdir:/"]\n\tpath = ../evil.config\n`,
    `[core]\n\thooksPath = .\n`,
    `[core]\n\tworktree = /\n`,
    `[CORE]fsmonitor=${evil}\n`,
    `[alias]\n\tx = !${evil}\n`,
    `[a] [core]\n\tfsmonitor = ${evil}\n`,
    `[remote "o"]\n\tuploadpack = ${evil}\n`,
    `[extensions]\n\tpartialClone = origin\n`,
    "not a configuration\n",
  ];
  const { readFileSync } = await import("node:fs");
  const clean = readFileSync(config, "utf8");
  for (const setting of settings) {
    writeFileSync(config, clean + setting);
    for (const command of readOnlyGit) {
      assert.equal(here.ask(command), "ask", `${setting} ${command}`);
      assert.equal(here.ask(command, "+ Bash(git:*)"), "allow", `${setting} ${command}`);
    }
  }
  // That the setting would have run it is what makes this a test.
  writeFileSync(config, clean + settings[2]!);
  await here.run("git diff");
  assert.equal(here.marked(), true);
  // This one does not run even then.
  writeFileSync(config, clean + settings[0]!);
  here.git("status");
  assert.equal(here.marked(), true);
  await here.run("git status");
  assert.equal(here.marked(), false);
  writeFileSync(config, clean);
  writeFileSync(join(here.cwd, ".git/config.worktree"), settings[2]!);
  assert.equal(here.ask("git diff"), "ask");
  rmSync(join(here.cwd, ".git/config.worktree"));

  appendFileSync(
    config,
    '[remote "origin"]\n\turl = https://h/x\n\tfetch = +a:b\n[branch "main"]\n\tremote = origin\n[user]\n\tname = x\n',
  );
  for (const command of readOnlyGit) {
    assert.equal(here.ask(command), "allow", command);
    await here.run(command);
    assert.equal(here.marked(), false, command);
  }
});

test("A7: another repository inside of this one, bare or nested, is not looked at unasked", async () => {
  using here = new Ground();
  here.git("init", "-q");
  here.git("commit", "-qm", "one", "--allow-empty");
  mkdirSync(join(here.cwd, "nested"));
  here.git("-C", "nested", "init", "-q");
  here.git("init", "-q", "--bare", "bare");
  here.put("plain/x.txt", "");
  assert.equal(here.ask("git status"), "allow");
  assert.equal(here.ask("cd plain && git status"), "allow");
  assert.equal(here.ask("cd nested && git status"), "ask");
  assert.equal(here.ask("cd bare && git log"), "ask");
  assert.equal(here.ask("cd bare/objects && git log"), "ask");
  // Git looks into a nested repository by itself once it is part of the outer one, and runs what that one says.
  here.git("-C", "nested", "commit", "-qm", "one", "--allow-empty");
  here.git("add", "nested");
  assert.equal(here.ask("git status"), "ask");
  assert.equal(here.ask("git log"), "allow");
  appendFileSync(join(here.cwd, "nested/.git/config"), `[core]\n\tfsmonitor = ${join(here.cwd, "evil")}\n`);
  here.git("status");
  assert.equal(here.marked(), true);
});

test("A7: git is only free in the forms that look", () => {
  using here = new Ground();
  here.git("init", "-q");
  const others = [
    ...[
      "git",
      "git -C .. status",
      "git -C /etc log",
      "git -C $X log",
      "git -C other log",
      "git -C other/.. -C other log",
      "git -C out log",
      "git -C . -C .. log",
      "git -c a=b status",
      "git -c pager.status=evil status",
      "git -c core.pager=evil status",
      "git --no-pager -c core.fsmonitor=evil status",
      "git -p log",
      "git --git-dir=x status",
      "git branch new",
      "git branch -d x",
    ],
    ...[
      "git tag v1",
      "git tag -d v1",
      "git remote add a b",
      "git remote show origin",
      "git stash",
      "git stash pop",
      "git worktree add x",
    ],
    ...[
      "git config a.b c",
      "git config --unset a.b",
      "git config --get -f /etc/x a",
      "git config -e",
      "git diff --no-index a /etc/passwd",
    ],
    ...[
      "git diff /etc/passwd a.txt",
      "git diff ../x a.txt",
      "git log --ext-diff",
      "git log --textconv",
      "git show --output=x",
      "git log --format=%G?",
    ],
    ...[
      "git log --show-signature",
      "git blame --contents /etc/passwd a",
      "git cat-file --textconv HEAD:a",
      "git cat-file --batch",
      "git add a",
      "git push",
    ],
    ...[
      "git log $X",
      "git show *",
      "git ls-files -X /etc/passwd",
      "git grep -Oevil a",
      "git grep --open-files-in-pager=evil a",
      "git grep --no-index a /etc",
      "git grep -f /etc/passwd",
      "git grep a -- /etc",
      "git symbolic-ref HEAD refs/heads/x",
      "git symbolic-ref -d HEAD",
      "git for-each-ref --format='%(signature)'",
      "git remote get-url --push a b",
      "git remote set-url a b",
      "git reflog delete HEAD@{1}",
      "git fetch",
      "git reflog expire",
      "GIT_OPTIONAL_LOCKS=1 git status",
    ],
    ...["GIT_DIR=x git status", "git log --stdin", "git describe --dirty=x --contains /etc/x ../../y"],
  ];
  mkdirSync(join(here.cwd, "sub"));
  const looking = [
    ...["git --no-pager log", "git -C sub status", "git -C . --no-pager -c color.ui=never diff", "git -P show HEAD"],
    ...["git grep a", "git grep -n a -- sub", "git reflog -5", "git symbolic-ref --short HEAD", "git config user.name"],
  ];
  for (const command of looking) assert.equal(here.ask(command), "allow", command);
  assert.equal(here.ask("git checkout x && git -C sub log", "+ Bash(git checkout:*)"), "ask");
  // A repository that is not the session's, and a link that leads out.
  here.git("init", "-q", "other");
  symlinkSync("/", join(here.cwd, "out"));
  for (const command of others) assert.equal(here.ask(command), "ask", command);
});

test("A7: a configuration file of ripgrep is not read by the commands that run unasked", async () => {
  if (!isInstalled("rg")) return;
  using here = new Ground();
  here.put(".ripgreprc", "--pre=./evil\n");
  assert.equal(here.ask("rg a a.txt"), "allow");
  await here.run("rg a a.txt");
  assert.equal(here.marked(), false);
});

test("A7 a repository that hides what its configuration names is not looked at without asking", async (t) => {
  const { programKeyIn } = await import("../../src/permission/programs/git/repository.ts");
  assert.notEqual(programKeyIn('[core]\n\tlongpaths = x \\\n[user]\n\tfsmonitor = "touch x"'), undefined);
  assert.notEqual(programKeyIn("[blame]\n\tignoreRevsFile = /etc/passwd"), undefined);
  const { mkdtempSync, mkdirSync, rmSync, writeFileSync } = await import("node:fs");
  const { tmpdir } = await import("node:os");
  const { join } = await import("node:path");
  const { troubleInRepository } = await import("../../src/permission/programs/git/repository.ts");
  const dir = mkdtempSync(join(tmpdir(), "sage-repository-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, ".git"));
  assert.equal(troubleInRepository(dir, dir, { tree: false })?.code, "repository-incomplete");
  writeFileSync(join(dir, ".git/HEAD"), "ref: refs/heads/main\n");
  assert.equal(troubleInRepository(dir, dir, { tree: false }), undefined);
  mkdirSync(join(dir, ".git/hooks"));
  writeFileSync(join(dir, ".git/hooks/post-index-change"), "");
  assert.equal(troubleInRepository(dir, dir, { tree: false })?.code, "repository-hook");
  mkdirSync(join(dir, "sub"));
  writeFileSync(join(dir, "sub/HEAD"), "");
  assert.equal(troubleInRepository(join(dir, "sub"), dir, { tree: false })?.code, "repository-bare");
});
