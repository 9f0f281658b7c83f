import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bashIn } from "./asking.ts";

/** Commands that ask in bypass without any rule, and therefore under every rule too. */
let root: string;
let cwd: string;
let home: string;
before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "sage-bypass-")));
  cwd = join(root, "home/w");
  home = join(root, "home");
  for (const folder of [".git/hooks", "sub", "vendor", "scripts"]) mkdirSync(join(cwd, folder), { recursive: true });
  writeFileSync(join(root, "evil.py"), "");
  writeFileSync(join(cwd, "scripts/a.py"), "");
  symlinkSync(join(root, "evil.py"), join(cwd, "scripts/link.py"));
});
after(() => rmSync(root, { recursive: true }));

function told(expected: "ask" | "allow", commands: readonly string[], rules: readonly string[] = []): void {
  for (const command of commands) {
    const bypassed = bashIn({ cwd, home, roots: [cwd], mode: "bypass" }, command, ...rules);
    assert.equal(bypassed.behavior, expected, `${command} (${bypassed.reason.code})`);
    if (expected === "ask") assert.equal(bypassed.hard, true, command);
    const ruled = bashIn({ cwd, home, roots: [cwd] }, command, "+ Bash", ...rules);
    assert.equal(ruled.behavior, expected, `${command} under Bash (${ruled.reason.code})`);
  }
}

test("A6 code that may put a protected path together from its texts asks", () => {
  told("ask", [
    `python3 -c "open('.git' + '/hooks/pre-commit', 'w').write('x')"`,
    `python3 -c "d = '.git'; open(d + '/hooks/x', 'w')"`,
    `python3 -c "import os; open(os.path.join('.git', 'hooks', 'pre-commit'), 'w')"`,
    `python3 -c "open('.g' 'it/con' 'fig', 'a').write('x')"`,
    `node -e "const p = '.git'; require('fs').writeFileSync(p + '/config', 'x')"`,
    `node -e "require('fs').writeFileSync(['.g','it','/','config'].join(''), 'x')"`,
    `node -e 'require("fs").appendFileSync(require("os").homedir() + "/" + ".bash" + "rc", "x")'`,
    `ruby -e "File.write('.git' + '/config', 'x')"`,
    `perl -e 'open(F, ">", ".g" . "it/config")'`,
    `php -r "file_put_contents('.git' . '/config', 'x'); fopen('a','w');"`,
    `python3 <<'E'\nopen('.git' + '/hooks/pre-commit', 'w')\nE`,
    `python3 - <<'E'\nfrom pathlib import Path\nPath('.git').joinpath('hooks', 'post-merge').write_text('x')\nE`,
  ]);
});

test("A6 code that decodes a text, and may write or run something, asks", () => {
  told("ask", [
    `python3 -c "exec(bytes.fromhex('70').decode())"`,
    `python3 -c "import base64; exec(base64.b64decode('cA=='))"`,
    `python3 -c "open(chr(46) + 'git/config', 'w')"`,
    `node -e "eval(Buffer.from('cA==', 'base64').toString())"`,
    `node -e "require('fs').writeFileSync('\\x2egit/config', 'x')"`,
    `perl -e 'system(pack("H*", "6c73"))'`,
  ]);
});

test("A6 code that computes, or names the files it writes, runs", () => {
  told("allow", [
    `python3 -c "print(1 + 1)"`,
    `python3 -c "import json; print(json.load(open('package.json'))['name'])"`,
    `python3 -c "open('out.txt', 'w').write('a' + 'b')"`,
    `python3 -c "import base64; print(base64.b64decode('cA=='))"`,
    `node -e "require('fs').writeFileSync('dist/a.js', 'x' + 1)"`,
    `node -p "'a' + 'b'"`,
    `node -e "console.log(require('./package.json').version)"`,
    `ruby -e "puts 'a' + '.b'"`,
  ]);
});

test("A3 code that may put together a path that a rule is against asks", () => {
  told(
    "ask",
    [`python3 -c "print(open('.e' + 'nv').read())"`, `node -e "require('fs').openSync('.' + 'env')"`],
    ["- Read(**/.env)"],
  );
});

test("A6 an archive is not unpacked into a repository, nor a container given the home folder", () => {
  told("ask", [
    ...[
      "tar xf a.tgz",
      "tar -xzf a.tgz",
      "tar --extract -f a.tgz",
      "tar xf a.tgz -C .",
      "tar xf a.tgz --directory=.",
      "bsdtar -xf a",
    ],
    ...[
      "unzip a.zip",
      "unzip -o a.zip -d .",
      "cd sub && tar xf ../a.tgz -C ..",
      "7z x a.7z",
      "cpio -id < a",
      "curl x | tar xz",
    ],
    ...[
      "docker run -v /:/host alpine ls",
      "docker run -v ~/:/h alpine ls",
      'docker run -v "$HOME":/h alpine ls',
      "docker run --mount type=bind,source=/,target=/h x",
    ],
    ...[
      "podman run --volume=/:/h alpine",
      "docker run -v ../..:/x alpine",
      "ssh localhost rm -rf /",
      "ssh me@127.0.0.1 'echo x > .git/config'",
    ],
  ]);
  told("allow", [
    ...[
      "tar tf a.tgz",
      "tar czf a.tgz sub",
      "tar xf a.tgz -C vendor",
      "unzip -l a.zip",
      "unzip a.zip -d vendor",
      "cd sub && tar xf a.tgz",
    ],
    ...[
      "docker run -v .:/w alpine ls",
      'docker run -v "$PWD":/w alpine ls',
      "docker run --rm alpine ls",
      "ssh host ls",
      "docker exec web ls",
    ],
  ]);
  // The exact command was meant.
  assert.equal(bashIn({ cwd, home, roots: [cwd] }, "tar xf a.tgz", "+ Bash(tar xf a.tgz)").behavior, "allow");
});

test("A6 all that a root holds is the root, also one by one and elsewhere", () => {
  told("ask", [
    ...["mv * /tmp", "mv ./* /tmp/x", "mv -t /tmp *", "mv * ..", "mv * ~", 'ls | while read f; do rm "$f"; done'],
    ...[
      'ls -A | while read -r f; do rm -rf "$f"; done',
      "find . | while read f; do rm -r $f; done",
      'while read f; do rm "$f"; done < <(ls)',
    ],
  ]);
  told("allow", [
    ...["mv * sub", "mv *.log /tmp", "mv sub/* /tmp", "cd sub && mv * ..", 'ls *.log | while read f; do rm "$f"; done'],
    ...[
      "ls sub | while read f; do rm sub/$f; done",
      "find . -name '*.o' | while read f; do rm $f; done",
      "ls | grep o | while read f; do rm $f; done",
    ],
  ]);
});

test("A6 a root by an expansion, or printed by another command, is a root", () => {
  told("ask", [
    ...[
      "rm -rf ${x:-~}",
      "rm -rf ${x:-/}",
      "rm -rf ${x:=~}",
      "rm -rf ${x-$HOME}",
      'rm -rf "${x:-$HOME}"',
      "rm -rf ${x:+/}",
    ],
    ...["rm -rf ${HOME%/}", "rm -rf ${HOME:0}", 'rm -rf "${HOME:?}"', "rm -rf ${x:-..}", "rm -rf ${x:-${y:-~}}"],
    ...["rm -rf ${x:-*}", "rm ${x:-*}", "rm -rf ${PWD%/*}", "rm -rf ~+", "rm -rf $(git rev-parse --show-toplevel)"],
    ...['rm -rf "$(git rev-parse --show-toplevel)"', "rm -rf `git rev-parse --show-toplevel`", "rm -rf $(realpath .)"],
    ...[
      "x=$(git rev-parse --show-toplevel); rm -rf $x",
      "rm -rf $(dirname $PWD)",
      "rm -rf $(echo ~)",
      "nobody-knows-it -x 3 rm -rf ~",
      "nobody-knows-it 'rm -rf /'",
      "find $(git rev-parse --show-toplevel) -delete",
      "bwrap --bind / / rm -rf ..",
      "rm -rf $(printf /)",
    ],
  ]);
  told("allow", [
    ...[
      "rm -rf ${x:-dist}",
      'rm -rf "${BUILD_DIR:-build}"',
      "rm -rf $(git rev-parse --show-toplevel)/dist",
      'rm -rf "$x"',
    ],
    ...[
      'd=$(mktemp -d); rm -rf "$d"',
      "rm -rf $(npm root)",
      'rm -rf "$(mktemp -d)"',
      "nobody-knows-it rm -rf dist",
      "rm -rf ${x:-dist}/cache",
    ],
  ]);
});

test("A6 a protected file that a search comes upon is not written", () => {
  writeFileSync(join(cwd, ".git/config"), "");
  told("ask", [
    ...[
      "find . -exec cp a.txt {} \\;",
      "find . -type f -exec cp a.txt {} \\;",
      "find . -name config -exec cp a.txt {} \\;",
    ],
    ...["find . -exec tee {} \\;", "find . -type f -exec sed -i s/a/b/ {} +", "find . -exec dd if=a of={} \\;"],
    ...["find . -name hooks -execdir cp a.txt {}/pre-commit \\;", "find . -type d -exec cp a.txt {} \\;"],
    ...[
      "find .git -type f -exec cp a.txt {} \\;",
      "fd -H hooks -x cp a.txt {}",
      "find . -exec sh -c 'cp a.txt {}' \\;",
    ],
  ]);
  told("allow", [
    ...["find . -name '*.ts' -exec sed -i s/a/b/ {} +", "find sub -type f -exec cp a.txt {} \\;"],
    ...["find . -name '*.md' -exec cp {} sub \\;"],
    ...["fd -e ts -x sed -i s/a/b/ {}"],
  ]);
});

test("A6 code that sets one text into another, or replaces a piece of it, asks when that may name a protected path", () => {
  told("ask", [
    `python3 -c "open('.%s/hooks/x' % 'git','w')"`,
    `python3 -c "open('.{}/hooks/x'.format('git'),'w')"`,
    `python3 -c "open('{}{}/config'.format('.', 'git'),'w')"`,
    `python3 -c "open('.gXt/config'.replace('X','i'),'w')"`,
    `python3 -c "x='git'; open(f'.{x}/config','w')"`,
    `node -e "require('fs').writeFileSync('.gXt/config'.replace('X','i'),'x')"`,
    'node -e \'require("fs").writeFileSync(`.${"git"}/config`,"x")\'',
    `ruby -e "File.write('.%s/config' % 'git', 'x')"`,
    `perl -e 'open F, sprintf(">.%s/config","git")'`,
  ]);
  told("allow", [
    `python3 -c "open('%s.txt' % 'a','w')"`,
    `python3 -c "open('out-{}.txt'.format(1),'w')"`,
    `python3 -c "s=open('a.txt').read(); open('a.txt','w').write(s.replace('a','b'))"`,
    `node -e "const fs=require('fs'); fs.writeFileSync('a.txt', fs.readFileSync('a.txt','utf8').replace('x','y'))"`,
  ]);
});

test("A6 a group that writes after a cd to an unknown folder may write a hook", () => {
  told("ask", [
    'cd "$d" && { echo x; } > hooks/pre-commit',
    'cd "$d"; (echo x) >> config',
    'cd "$d"; for i in 1; do echo x; done > pre-push',
  ]);
  told("allow", ['{ echo x; } > out.txt; cd "$d"', "cd sub && { echo x; } > out.txt"]);
});

test("A1 a script outside is told from one that a link leads to", () => {
  const why = (command: string) =>
    bashIn({ cwd, home, roots: [cwd] }, command, "+ Bash(python scripts/*)", "+ Bash(python *.py)").reason.code;
  assert.equal(why("python scripts/link.py"), "link-leads");
  assert.equal(why(`python ${root}/evil.py`), "outside");
  assert.equal(
    bashIn({ cwd, home, roots: [cwd] }, "python scripts/a.py", "+ Bash(python scripts/*)").behavior,
    "allow",
  );
});
