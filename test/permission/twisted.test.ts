import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { isPlain, isPrinting } from "../../src/permission/programs/files/sed.ts";
import { answer, bash, bashIn, rulesOf } from "./asking.ts";

/** A repository with a few files, and a folder in it that git would take for another one. */
function workspace(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sage-twisted-")));
  t.after(() => rmSync(root, { recursive: true }));
  const put = (name: string, text = "x\n") => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  for (const name of ["w/a.txt", "w/sub/b.txt", "w/config", "w/odd/--eval=x", "loose/pkg/a", "out/secret"]) put(name);
  for (const folder of ["w/far", "loose/pkg"]) {
    put(`${folder}/HEAD`, "ref: refs/heads/main\n");
    put(`${folder}/config`, "[core]\n\talternateRefsCommand = ./evil\n");
  }
  for (const folder of ["w", "loose"])
    execFileSync("git", ["init", "-q", folder], {
      cwd: root,
      env: { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" },
    });
  return (expected: string, commands: readonly string[], rules: readonly string[] = [], folder = "w") => {
    const cwd = join(root, folder);
    const where = { cwd, home: join(root, "home"), roots: [cwd] };
    for (const command of commands) assert.equal(bashIn(where, command, ...rules).behavior, expected, command);
  };
}

test("A2 options of git before its subcommand hide neither the subcommand nor what it runs", (t) => {
  const expect = workspace(t);
  const rules = ["+ Bash(git:*)"];
  expect(
    "ask",
    [
      "git -C . rebase -x ./evil HEAD~1",
      "git -C sub submodule foreach ./evil",
      "git --namespace n bisect run ./evil",
      'git --namespace a"$x" rebase -x ./evil',
      "git -C . config core.pager ./evil",
      "git clone --con core.sshCommand=./evil u",
      "git clone -qu ./evil u",
      "git archive -vo x HEAD",
      "git merge-index -o ./evil -a",
      "git remote-ext x ./evil",
      "git submodule--helper foreach ./evil",
      "git config -- core.pager '--list;./evil'",
      "git --bare st",
      "git commit -qF/etc/passwd",
    ],
    rules,
  );
  expect(
    "allow",
    [
      "git -C sub status",
      "git --no-pager log -3",
      "git add config",
      "git log -- config archive",
      "git config --global --get user.name",
      "git config get user.name",
      "git checkout -b archive",
      "git commit -qm message",
    ],
    rules,
  );
  expect("allow", ["git config user.name me"], ["+ Bash(git config:*)"]);
});

test("A7 a folder that git would take for a repository is none that a rule for git was about", (t) => {
  const expect = workspace(t);
  const rules = ["+ Bash(git:*)"];
  expect(
    "ask",
    [
      "git push ./far",
      "git push far HEAD:x",
      "git ls-remote far",
      "git remote add far ./far",
      "git archive --remote=./far HEAD",
      "git clone ./far new",
      'git push "file://$PWD/far"',
      "cd sub && git push ../far",
    ],
    rules,
  );
  expect("allow", ["git push origin main", "git add far", "git fetch --all", "git remote -v"], rules);
  // Made of mere files, in the folder of the session itself.
  expect("ask", ["git st", "git status"], rules, "loose/pkg");
  expect("allow", ["git commit -m x"], rules, "loose");
  expect("ask", ["git st"], rules, "loose"); // an alias, which may be any program
});

test("A3 what a line may put in place is not opened by the same line", (t) => {
  const expect = workspace(t);
  const rules = ["+ Bash(git:*)", "+ Bash(npm test:*)", "+ Bash(unzip:*)", "+ Edit(./**)"];
  expect(
    "ask",
    [
      "git checkout other && cat notes",
      "git checkout other && echo x > notes",
      "git stash pop; cd sub && npm test",
      "git pull && (cat < notes)",
      "git reset --hard other && { npm test; } > log",
      "(sleep 1; cat notes) | git checkout other",
      "unzip a.zip && cat notes",
      "git -C . checkout other && cat notes",
    ],
    rules,
  );
  expect(
    "allow",
    [
      "cd sub && git pull 2>&1 | tail -5",
      "cat a.txt && git checkout other",
      "git checkout other && npm test 2>/dev/null | tail -3",
      "git stash && npm test; git stash pop",
      "git pull && ls",
      "git checkout -b new && echo x > notes",
      "git reset HEAD~1 && cat a.txt",
      "git checkout other && git diff other",
    ],
    rules,
  );
});

test("A2 values glued to options, options that a pattern stands for, and what is behind a double dash", (t) => {
  const expect = workspace(t);
  expect("ask", ["jq . -- --arg x /etc/passwd", "jq . a.txt -- --arg /etc/passwd y"]);
  expect("allow", ["jq --arg a b .x a.txt", "jq --arg a -- . a.txt", "jq . -- a.txt"]);
  expect("ask", ["date -f/etc/shadow", "date -uf../out/secret"], ["+ Bash(date:*)"]);
  expect("ask", ["grep --exclude-from=a.txt -vf/etc/shadow a.txt"], ["+ Bash(grep:*)"]);
  expect("allow", ["grep --exclude-from=a.txt -n5 x a.txt"], ["+ Bash(grep:*)"]);
  expect("ask", ["cd odd && make *", "cd odd && make -k -- *", "make V='1;./evil'"], ["+ Bash(make:*)"]);
  expect("allow", ["make -j4 test V=1", "make odd/*", "cd sub && make *"], ["+ Bash(make:*)"]);
  expect("ask", ["make --dir=/etc", "make -kC /etc", "make -kC/etc", "make --directory /etc"], ["+ Bash(make:*)"]);
  expect("allow", ["make -kC sub", "make --dir sub -j4", "make -C"], ["+ Bash(make:*)"]);
  expect("ask", ["find . -files0-from a.txt"], ["+ Bash(find:*)"]);
  expect("ask", ["npm test --prefi /etc"], ["+ Bash(npm test:*)"]);
  expect("ask", ["npm test --userconfig=./x", "npm test --globalc x"], ["+ Bash(npm test:*)"]);
  expect("ask", ["pnpm test --config.script-shell=./x"], ["+ Bash(pnpm test:*)"]);
  expect("ask", ["cargo test --manifest-path=/x/Cargo.toml"], ["+ Bash(cargo test:*)"]);
});

test("a deny meets patterns of program names, names that are bound to it, and files in code", (t) => {
  for (const command of [
    "/bin/r? x",
    "/bin/r[m] x",
    "r* x",
    "alias q='rm x'; q",
    "hash -p /bin/rm ls; ls x",
    "mapfile -C 'rm x' a",
  ])
    assert.equal(answer(rulesOf("- Bash(rm:*)"), "Bash", { command }, { mode: "bypass" }).behavior, "deny", command);
  assert.equal(bash("alias ll='ls -l'", "+ Bash", "- Bash(rm:*)"), "allow");
  const expect = workspace(t);
  const rules = ["+ Bash", "- Read(config*)"];
  expect(
    "deny",
    [
      'cat "$(pwd)/config"',
      "cat `pwd`/config",
      `python3 -c "print(open('config').read())"`,
      `node -p 'require("fs").readFileSync("config")'`,
    ],
    rules,
  );
  expect("ask", ["tar czf a.tgz .", "zip -r a.zip sub .", "rsync -a ./ host:", "scp -r . host:"], rules);
  expect("allow", ["tar czf a.tgz sub", `python3 -c "print('hello')"`, "git commit -m 'the config is new'"], rules);
});

test("A6 more that shells and agents start with is protected, also under the name of a stream", () => {
  for (const file_path of [
    ".git::$INDEX_ALLOCATION/config",
    "GEMINI.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
    "/etc/profile.d/x.sh",
    "/etc/zsh/zshrc",
    "/home/me/.config/autostart/x.desktop",
  ])
    assert.equal(
      answer(rulesOf("+ Edit"), "Write", { file_path, content: "" }, { mode: "bypass" }).behavior,
      "ask",
      file_path,
    );
  assert.equal(answer(rulesOf("+ Edit(./**)"), "Write", { file_path: ".github/x.yml", content: "" }).behavior, "allow");
});

test("a server's rule is not for one whose name only begins alike, and a host has no empty label", () => {
  assert.equal(answer(rulesOf("+ mcp__a"), "mcp__a___b", {}).behavior, "ask");
  assert.equal(answer(rulesOf("+ mcp__a__*"), "mcp__a___b", {}).behavior, "ask");
  assert.equal(answer(rulesOf("- mcp__a"), "mcp__a___b", {}).behavior, "deny");
  assert.equal(answer(rulesOf("+ mcp__a___b"), "mcp__a___b", {}).behavior, "allow");
  const fetch = (url: string) => answer(rulesOf("+ WebFetch(domain:*.x.org)"), "WebFetch", { url }).behavior;
  for (const url of ["https://..x.org", "https://a.x.org..", "https://*.x.org", "https://a..x.org"])
    assert.equal(fetch(url), "ask", url);
  for (const url of ["https://a.x.org.", "https://a_b.c.x.org", "https://A.x.org:8443/"])
    assert.equal(fetch(url), "allow", url);
});

test("a command called like what every object has is a command like any other", () => {
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    for (const command of [name, `git ${name}`, `alias ${name}`, `${name} x; ls`]) {
      const rules = rulesOf(`- Bash(${command.split(";")[0]}:*)`, "+ Bash");
      assert.equal(answer(rules, "Bash", { command }).behavior, "deny", command);
      assert.equal(bash(command), "ask", command);
    }
    assert.equal(bash(`git ${name} -x`, "+ Bash(git:*)"), "ask", name);
    assert.equal(bash(`git ${name} -x`, `+ Bash(git ${name}:*)`), "allow", name);
  }
});

test("what is surely no other option, no option at all, or one file of many is no reason to ask", (t) => {
  const expect = workspace(t);
  const rules = ["+ Bash(git:*)", "+ Bash(rg:*)", "+ Bash(npm test:*)", "+ Bash(go test:*)", "+ Bash(make:*)"];
  expect("allow", ["grep -rn x sub --include=*.ts", 'grep -rn x sub "--exclude=$x"']);
  expect(
    "allow",
    ["rg x --glob=*.ts", "git add *.txt", "git add * && git commit -m x", 'git log --format="$x"'],
    rules,
  );
  expect("allow", ["git config user.name", "git config --global user.name"], rules);
  expect("allow", ["make -j$(nl a.txt)"], rules);
  expect("ask", ["cd odd && git add *", 'rg "--pre=$x" y', 'npm test "--scr$x"', 'go test "-ex$x" ./...'], rules);
  expect(
    "ask",
    ['git fetch "ext::sh -c $x"', 'git log "--out$x"', "git config user.name me", "git config edit"],
    rules,
  );
  expect("ask", ["touch -- -x && git add *"], [...rules, "+ Bash(touch:*)", "+ Edit(./**)"]);
  expect("ask", ['grep "--file=$x" y sub/b.txt', 'grep "--fi$x" y sub/b.txt', 'cp "--target-directory=$x" a.txt sub']);
});

test("git show of one file is about that file alone", (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sage-show-")));
  t.after(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "sub"));
  for (const name of [".env", "a.txt", "sub/a.txt"]) writeFileSync(join(root, name), "x\n");
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: root, env: { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" } });
  git("init", "-q");
  git("add", "-A");
  const where = { cwd: root, home: join(root, "home"), roots: [root] };
  const judge = (command: string) => bashIn(where, command, "- Read(.env*)", "+ Bash(git:*)").behavior;
  for (const command of ["git show HEAD:a.txt", "git show --textconv HEAD~2:sub/a.txt main:a.txt"])
    assert.equal(judge(command), "allow", command);
  for (const command of ["git show", "git show HEAD", "git show HEAD a.txt:b", "cd sub && git show HEAD:.env"])
    assert.notEqual(judge(command), "allow", command);
  for (const command of ["git show HEAD:.env", "cd sub && git show HEAD:../.env"])
    assert.notEqual(judge(command), "allow", command);
});

test("A1 printf sets a variable with every spelling of %n", (t) => {
  const expect = workspace(t);
  const rules = ["+ Bash(printf:*)"];
  expect("ask", ["printf %hn PATH; ls", "printf -- %n PATH; ls", "printf '%5lln' PATH && ls"], rules);
  expect("ask", ["printf %hn PATH; ls"]);
  expect("allow", ["printf '%s\\n' a", "printf '100%% %d\\n' 1"]);
});

test("A2 a script of sed is read as sed reads it", () => {
  for (const script of [
    String.raw`s/x\/y/p;s/w /tmp/1`,
    String.raw`s/x\/y/./evil;s/e#/x/g`,
    "s/[/]/x/w f",
    "/[/s/]/w x/g",
    "s/a/b/w f",
    "s/a/b/e",
    "s/a/b/;1e",
    "1!w f",
    "s/a/b\\\nw f/",
    "s\\a\\b\\w",
    "s;a;b;w f",
  ])
    assert.equal(isPlain(script), false, script);
  for (const script of [
    "s/a/b/",
    String.raw`s/a\/b/c/g`,
    "s|[/]|x|g;2,$d",
    "s/a;b/c/p",
    "/[a-z]/,$!d",
    "s/[^/x]//".replace("/x", "x"),
  ])
    assert.equal(isPlain(script), true, script);
  for (const script of ["1,3p", "$=", "/a;b/p", "/[[:alpha:]]/,+2p;5q"]) assert.equal(isPrinting(script), true, script);
  for (const script of ["s/a/b/", "1,3d", "/a/p;w f"]) assert.equal(isPrinting(script), false, script);
});
