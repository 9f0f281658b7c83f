import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bashIn } from "./asking.ts";

const env = { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1", GIT_PAGER: "cat" };

/** A file that a Read deny is about was committed once; it is neither in the index nor on the disk any more. */
let root: string;
let cwd: string;
let blob: string;
before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "sage-history-")));
  cwd = join(root, "w");
  mkdirSync(join(cwd, "src"), { recursive: true });
  writeFileSync(join(cwd, ".env"), "TREASURE\n");
  writeFileSync(join(cwd, "src/a.ts"), "one\n");
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "first");
  blob = git("rev-parse", "HEAD:.env").trim();
  git("stash", "push", "-q", "--include-untracked");
  writeFileSync(join(cwd, ".env"), "TREASURE 2\n");
  git("stash", "push", "-q");
  git("rm", "-q", ".env");
  git("commit", "-qm", "second");
  writeFileSync(join(cwd, "src/a.ts"), "two\n");
});
after(() => rmSync(root, { recursive: true }));

function git(...args: string[]): string {
  const who = ["-c", "user.name=me", "-c", "user.email=me@x"];
  return execFileSync("git", [...who, ...args], { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

const judge = (command: string, ...rules: string[]) =>
  bashIn({ cwd, home: root, roots: [cwd] }, command, ...rules).behavior;

const forms = [
  ...[
    "git log -p",
    "git log --patch",
    "git log -U3",
    "git log -p -1",
    "git log -p HEAD~1",
    "git log -p -- .",
    "git log",
  ],
  ...[
    "git log -L1,1:.env HEAD~1",
    "git log --cc",
    "git log --word-diff",
    "git log -S TREASURE",
    "git log --full-diff -p -- src/a.ts",
  ],
  ...[
    "git show",
    "git show HEAD",
    "git show HEAD~1",
    "git show HEAD~1:.env",
    "git show HEAD~1:src/a.ts",
    "git show HEAD -- .env",
  ],
  ...[
    "git show HEAD~1:./.env",
    "git show --stat HEAD",
    "git show HEAD^{tree}",
    "git show stash@{0}",
    "git show $X",
    "git show HEAD~1 -- src/a.ts",
  ],
  ...[
    "git cat-file blob HEAD~1:.env",
    "git cat-file -p HEAD~1:.env",
    "git cat-file -p BLOB",
    "git cat-file blob BLOB",
    "git show BLOB",
  ],
  ...[
    "git cat-file -t BLOB",
    "git cat-file blob HEAD~1:src/a.ts",
    "git grep TREASURE",
    "git grep TREASURE HEAD~1",
    "git grep -e TREASURE HEAD~1",
  ],
  ...[
    "git grep TREASURE HEAD~1 -- src",
    "git grep --cached TREASURE",
    "git grep TREASURE $(git rev-list --all)",
    "git grep one",
  ],
  ...[
    "git stash show",
    "git stash show -p",
    "git stash show -p stash@{0}",
    "git stash list",
    "git stash list -p",
    "git reflog -p",
  ],
  ...[
    "git diff",
    "git diff HEAD",
    "git diff HEAD~1",
    "git diff HEAD~1 HEAD",
    "git diff HEAD~1..HEAD",
    "git diff HEAD~1 HEAD -- src/a.ts",
  ],
  ...[
    "git diff --stat HEAD~1",
    "git diff --cached HEAD~1",
    "git diff --cached",
    "git diff HEAD~1 -- .env",
    "git diff src",
    "git diff -- src",
  ],
  ...[
    "git diff-tree -p HEAD",
    "git diff-index -p HEAD~1",
    "git diff-tree HEAD",
    "git format-patch --stdout HEAD~1",
    "git archive HEAD~1",
  ],
  ...[
    "git fast-export HEAD",
    "git rev-list HEAD",
    "git range-diff HEAD~1 HEAD HEAD",
    "git -C src log -p",
    "git --no-pager show HEAD",
  ],
  ...[
    "git -C src show HEAD~1:.env",
    "git blame HEAD~1 -- .env",
    "git blame HEAD~1 -- src/a.ts",
    "git whatchanged -p",
    "git log -p src/a.ts",
  ],
];

test("A3 what git shows of a file's past asks or is denied under a Read deny, whatever is left of the file", () => {
  const rules = ["+ Bash", "- Read(**/.env)"];
  let shown = 0;
  for (const form of forms) {
    const command = form.replace("BLOB", blob);
    const { stdout } = spawnSync("bash", ["--norc", "-c", command], { cwd, env, maxBuffer: 1 << 24 });
    if (!stdout.includes("TREASURE")) continue;
    shown++;
    assert.notEqual(judge(command, ...rules), "allow", command);
    assert.notEqual(
      bashIn({ cwd, home: root, roots: [cwd], mode: "bypass" }, command, rules[1]!).behavior,
      "allow",
      command,
    );
  }
  assert.ok(shown > 25, `${shown} commands that show it are too few to mean anything`);
});

test("A3 a path that is named is denied", () => {
  for (const command of [
    "git show HEAD~1:.env",
    "git cat-file blob HEAD~1:.env",
    "git diff HEAD~1 -- .env",
    "git log -p -- .env",
  ])
    assert.equal(judge(command, "- Read(**/.env)"), "deny", command);
});

test("A3 what shows no past, or that of other files alone, runs", () => {
  const commands = [
    ...[
      "git log",
      "git log --stat",
      "git show --stat HEAD",
      "git diff",
      "git diff src",
      "git diff -- src/a.ts",
      "git status",
    ],
    ...[
      "git diff HEAD~1 HEAD -- src/a.ts",
      "git show HEAD~1:src/a.ts",
      "git cat-file blob HEAD~1:src/a.ts",
      "git grep one",
    ],
    ...[
      "git log -p src/a.ts",
      "git show HEAD~1 -- src/a.ts",
      "git stash list",
      "git blame src/a.ts",
      "git cat-file -t HEAD",
    ],
  ];
  for (const command of commands) assert.equal(judge(command, "- Read(**/.env)"), "allow", command);
  assert.equal(judge("git commit -m show", "- Read(**/.env)", "+ Bash(git commit:*)"), "allow");
  // A rule about another place is not about this repository.
  for (const command of ["git log -p", "git show HEAD", "git diff --cached"])
    assert.equal(judge(command, "- Read(~/.ssh/**)", "- Read(/etc/**)"), "allow", command);
});
