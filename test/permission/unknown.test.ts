import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { bash, bashIn } from "./asking.ts";

/** A repository with others inside of it, and one place outside. */
function workspace(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sage-unknown-")));
  t.after(() => rmSync(root, { recursive: true }));
  const put = (name: string, text = "x\n") => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  for (const name of ["w/src/a.ts", "w/src/sub/b.ts", "w/dst/src/a.ts", "w/far/other/f", "out/secret", "home/x"])
    put(name);
  put("w/bare/HEAD", "ref: refs/heads/main\n");
  put("w/bare/config", "[core]\n\tfsmonitor = ./evil\n");
  const git = (folder: string) =>
    execFileSync("git", ["init", "-q", folder], {
      cwd: root,
      env: { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" },
    });
  for (const folder of ["w", "w/kept", "w/evil", "w/nest/deep", "out"]) git(folder);
  put("w/evil/.git/config", "[core]\n\tfsmonitor = ./evil\n");
  symlinkSync(join(root, "out/secret"), join(root, "w/dst/src/link"));
  symlinkSync(join(root, "out"), join(root, "w/far/other/out"));
  mkdirSync(join(root, "w/via"));
  symlinkSync("../far/other", join(root, "w/via/o"));
  const where = { cwd: join(root, "w"), home: join(root, "home"), roots: [join(root, "w")] };
  return (expected: string, commands: readonly string[], ...rules: string[]) => {
    for (const command of commands) assert.equal(bashIn(where, command, ...rules).behavior, expected, command);
  };
}

test("A3 a recursive copy or comparison neither reads nor writes through links that lead away", (t) => {
  const expect = workspace(t);
  const rules = ["+ Bash(cp:*)", "+ Edit(./**)"];
  expect(
    "ask",
    ["cp -r src dst", "cp -r src/. dst/src", "cp -rT src dst/src", "cp -a far new", "cp -rL via new"],
    ...rules,
  );
  expect(
    "ask",
    ["cp -r via new", "diff -r src via", "diff src/sub via", "grep -R x via", "ls .*", "cat .*/x"],
    ...rules,
  );
  expect(
    "allow",
    ["cp -r src new", "cp -r src .", "diff -r src src/sub", "grep -R x src", "cp src/a.ts dst"],
    ...rules,
  );
});

test("A6 a folder is not removed with what is protected somewhere in it", (t) => {
  const expect = workspace(t);
  const rules = ["+ Bash(rm:*)", "+ Bash(chmod:*)", "+ Bash(mv:*)", "+ Edit(./**)"];
  expect("ask", ["rm -r nest", "rm -rf nest/deep", "chmod -R a+x nest", "mv nest other", "rm -r ./ne*"], ...rules);
  expect("allow", ["rm -r src", "rm -rf dst far", "rm -rf missing", "mv src other"], ...rules);
});

test("A7 a rule for git is none for a repository elsewhere that names programs, wherever cd and -C lead", (t) => {
  const expect = workspace(t);
  const git = ["+ Bash(git:*)", "+ Bash(git status:*)"];
  expect(
    "ask",
    ["git -C evil status", "git -C bare status", "cd evil && git status", "cd bare && git commit -m x"],
    ...git,
  );
  expect("ask", ["git -C ../out log", "git -C /tmp gc", "git -C $X status", "git --git-dir=bare status"], ...git);
  expect("ask", ["git --git-dir evil/.git gc", "git --work-tree=.. add .", "git -C kept -C ../evil status"], ...git);
  expect("allow", ["git commit -m x", "git -C src add .", "git -C kept status", "cd kept && git status"], ...git);
  expect("allow", ["git -C evil status"], "+ Bash(git -C evil status)");
});

test("A2 what comes out of an archive, or from another host, has to stand in the rule", (t) => {
  const expect = workspace(t);
  expect(
    "ask",
    ["tar xf a.tgz", "tar -xzf a.tgz", "tar --extract -f a.tgz", "tar --get -f a", "tar tf host:x"],
    "+ Bash(tar:*)",
  );
  expect(
    "ask",
    ["tar cPf a.tar src", "tar cf a.tar -C /etc .", "tar cf .git/hooks/x src", "tar --file=h:x -t"],
    "+ Bash(tar:*)",
  );
  expect(
    "allow",
    ["tar czf a.tgz src", "tar tf a.tgz", "tar cf a.tar -C src .", "tar cf a --exclude=a:b src"],
    "+ Bash(tar:*)",
  );
  expect("allow", ["tar xf a.tgz"], "+ Bash(tar xf:*)");
});

test("A6 a rule for a program that nobody knows is none for a protected path or for a folder elsewhere", (t) => {
  const expect = workspace(t);
  const rules = ["+ Bash(node:*)", "+ Bash(make:*)", "+ Bash(npx prettier:*)"];
  expect(
    "ask",
    ["node a.js .git/config", "node a.js --out=.git/hooks/x", "node a.js ~/.bashrc", "node a.js .gi*/config"],
    ...rules,
  );
  expect(
    "ask",
    ["node a.js .{git,x}/config", "npx prettier --write AGENTS.md", "make -C /tmp", "make -C../out"],
    ...rules,
  );
  expect("allow", ["node a.js src/a.ts", "make -C src", "npx prettier --write src"], ...rules);
  expect("allow", ["npx prettier --write AGENTS.md"], "+ Bash(npx prettier --write AGENTS.md)");
});

test("a rule for every command covers every call, files included, and no more than a person may be spared", () => {
  const calls = ["npm test > out", "rm x", "cat /etc/passwd", "for i in a; do npm > $i; done", "export A=b; npm test"];
  for (const command of calls)
    for (const rule of ["+ Bash", "+ Bash(*)"]) assert.equal(bash(command, rule), "allow", command);
  for (const command of ["echo x > .git/config", "rm -rf ~", "cat a; sage trust"])
    assert.equal(bash(command, "+ Bash", "+ Edit"), "ask", command);
  for (const command of ["npm test > out", "rm x"])
    assert.equal(bash(command, "+ Bash", "- Edit(./**)"), "deny", command);
});

test("A1, A2 what a second red team got through: programs of other folders, paths that git is given, and options of builders", (t) => {
  const expect = workspace(t);
  const rules = [
    ...["git", "make test", "go test", "cargo test", "npm test", "awk", "rsync", "./src/run.sh", "touch"].map(
      (program) => `+ Bash(${program}:*)`,
    ),
    "+ Edit(./**)",
  ];
  expect("ask", ["cd far && ./src/run.sh", "cd far; ./src/run.sh", "cd src && ../far/../src/run.sh"], ...rules);
  const read = ["diff --no-index /etc/passwd x", "--no-pager diff --no-index /etc/passwd x", "grep --no-index x /etc"];
  const given = [
    "commit -F /etc/passwd",
    "notes add -F/etc/passwd",
    "hash-object -w ../out/secret",
    "apply ../x.patch",
  ];
  const made = ["format-patch -o /tmp/x HEAD", "worktree add ../x", "clone . ../y", "bundle create /tmp/b HEAD"];
  const through = [
    "clone . far/other/out/y",
    "add far/other/out/secret",
    "blame --contents=/etc/passwd x",
    "clone file:///x y",
  ];
  const run = [
    "fetch ext::./evil",
    "archive --remote=ext::./evil HEAD",
    "credential fill",
    "send-email x",
    "daemon",
    "maintenance start",
  ];
  for (const list of [read, given, made, through, run])
    expect(
      "ask",
      list.map((rest) => `git ${rest}`),
      ...rules,
    );
  expect(
    "ask",
    ["make test SHELL=./evil", "make test -f x.mk", "make test --eval='x'", "make test X='$(shell id)'"],
    ...rules,
  );
  expect(
    "ask",
    ["go test -exec ./evil", "go test --toolexec=./evil", "go test -vettool=x", "cargo test --config x"],
    ...rules,
  );
  expect("ask", ["npm test --script-shell=./evil", "rsync -e ./evil a b", "rsync --rsh=./evil a b:c"], ...rules);
  expect(
    "ask",
    ["awk '{print}' /etc/passwd", "awk 'BEGIN{ARGV[1]=\"/etc/passwd\"}'", "awk '{print}' f=1 ../out/secret"],
    ...rules,
  );
  expect("ask", ["touch .claude/settings.json", "touch GIT~1/config", "touch sub/.Cursor/mcp.json"], ...rules);
  const long = "很长的说明 ".repeat(300);
  const message = [
    `git commit --message='fix: /etc ${long}'`,
    `git commit -am '/etc/passwd ${long}'`,
    `git tag -m'${long}' v1`,
  ];
  expect(
    "allow",
    ["./src/run.sh", "git push https://h.org/x.git HEAD:main", "git push git@h.org:/x.git", ...message],
    ...rules,
  );
  expect(
    "allow",
    ["git log origin/main..origin/dev", "git add src/a.ts", "git fetch origin +a:b", "git rebase main"],
    ...rules,
  );
  expect(
    "allow",
    ["make test -j8 V=1", "go test ./... -run 'X' $PKG", "npm test $X", "awk '/x/ {print $1}' src/a.ts"],
    ...rules,
  );
  expect("allow", ["git worktree add ../x"], "+ Bash(git worktree add ../x)");
  expect("ask", ["wait -p PATH; npm test", "fc -s npm; npm test"], "+ Bash(wait:*)", "+ Bash(fc:*)", "+ Bash(npm:*)");
});
