import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, bash } from "./asking.ts";

test("A4 a line that prints its words as they turn out holds no inherited secret", () => {
  const commands = [
    ...[
      "set -x; true $API_TOKEN",
      "set -o xtrace; true $API_TOKEN",
      "set -v; true $API_TOKEN",
      "set -ex; x=$API_TOKEN",
    ],
    ...["set -eo xtrace; x=$API_TOKEN; true $x", "set -euxo pipefail; for x in ${API_TOKEN:-a}; do true; done"],
    ...["(set -x; true $API_TOKEN)", "set -x; { true; } < a$API_TOKEN", "set -x; true $(true $API_TOKEN)"],
  ];
  for (const command of commands) assert.equal(bash(command), "ask", command);
  for (const command of [
    "set -ex; echo $HOME",
    "set -x; x=a; cat $x",
    "set -e; true $API_TOKEN",
    "set +x; true $API_TOKEN",
  ])
    assert.equal(bash(command), "allow", command);
});

test("A1 an option of which only the dash is known may be any", () => {
  for (const command of ["make -$x", 'make "-$1" all', "npm run -$(cat a) b", "cargo -$x build"])
    assert.equal(bash(command, "+ Bash(make:*)", "+ Bash(npm:*)", "+ Bash(cargo:*)"), "ask", command);
  for (const command of ["make -j$(nproc)", "make $x", "x=k; make -$x", "for x in k s; do make -$x; done"])
    assert.equal(bash(command, "+ Bash(make:*)"), "allow", command);
  assert.equal(bash("for x in k fa.mk; do make -$x; done", "+ Bash(make:*)"), "ask");
});

test("A1 a star at the beginning of a script's name stays in the workspace", () => {
  for (const command of ["python /tmp/x.py", "python ~/x.py", "for x in a /tmp/x; do python $x.py; done"])
    assert.equal(bash(command, "+ Bash(python *.py)"), "ask", command);
  for (const command of ["python x.py", "python sub/x.py", "python /w/x/sub/x.py"])
    assert.equal(bash(command, "+ Bash(python *.py)"), "allow", command);
  assert.equal(bash("python /tmp/x.py", "+ Bash(python /tmp/*.py)"), "allow");
  assert.equal(bash("python /tmp/x.py", "+ Bash(python /tmp/x.py)"), "allow");
  assert.equal(bash("cd sub && python /w/x/x.py", "+ Bash(python /w/x/x.py)"), "allow");
});

const bypass = (command: string) => answer([], "Bash", { command }, { mode: "bypass" }).behavior;

test("A6 a root is not removed in passing by find, by mv, or under the name of the folder before", () => {
  const roots = [
    ...[
      "find ~ -type f -delete",
      "find . -mindepth 1 -delete",
      "find . -type f,l -print -delete",
      "find / -maxdepth 3 -delete",
    ],
    ...["mv ~ /tmp", "mv $HOME /tmp/x", "mv -t /tmp ~", "mv --target-directory=/tmp a ~", "sudo mv /w/x /tmp"],
    ...["rm -rf $OLDPWD", 'rm -rf "$OLDPWD"', "rm -r ${OLDPWD}", "rm -rf ~-"],
  ];
  for (const command of roots) assert.equal(bypass(command), "ask", command);
  const others = [
    ...["find dist -type f -delete", "find . -type f -name '*.o' -delete", "find . -type d -empty -delete"],
    ...[
      "find . -xtype l -delete",
      "find . -type l -delete",
      "mv a b",
      "mv a .",
      "mv a /tmp",
      "mv -t . a b",
      "mv a /tmp 2>/dev/null",
    ],
    ...["mv sub/* .", "mv * sub", "cd sub && mv a ..", "mv a ~ && ls", "mv a ~; ls", "mv a /tmp > log", "rm $OLDPWD/a"],
  ];
  for (const command of others) assert.equal(bypass(command), "allow", command);
});

test("A6 after a cd to a folder that is not known, a file named like a hook may be one", () => {
  const commands = [
    ...["cd $(git rev-parse --git-dir)/hooks && cp /tmp/x pre-commit", 'cd "$d" && echo x > hooks/post-checkout'],
    ...[
      "cd $d; cp /tmp/pre-push .",
      "cd - && tee config < a",
      "pushd $d && mv a commit-msg",
      "cd /etc && cp /tmp/x passwd",
    ],
    ...["cd / && cd etc && cp /tmp/x passwd"],
  ];
  for (const command of commands) assert.equal(bypass(command), "ask", command);
  const others = [
    "cd $(mktemp -d) && cp /tmp/x a",
    "cd $d && mkdir config",
    "cd $d && cat config",
    "cp a config; cd $d",
  ];
  for (const command of [...others, "cd /tmp && cp a b", "cd sub && cp a config", "cd $d && cp a /tmp/config"])
    assert.equal(bypass(command), "allow", command);
});
