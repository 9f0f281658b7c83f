import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, bash } from "./asking.ts";

test("A1 an index in a name that read sets is code, and runs only when a person says so", () => {
  const commands = [
    "read 'a[$(touch x)]' <<< y",
    "read -r b 'a[`touch x`]'",
    "n='a[$(touch x)]'; read \"$n\"",
    "for n in a 'a[$(touch x)]'; do read $n; done",
  ];
  for (const command of commands) assert.equal(bash(command), "ask", command);
  assert.equal(bash("read -r a b <<< y"), "allow");
});

test("A1 a variable that a builtin sets, by whatever way it is called, may hold anything", () => {
  const setters = [
    ...["command read x <<< push", "time read x <<< push", "r=read; $r x <<< push", "n=x; read $n <<< push"],
    ...["for n in x; do read $n <<< push; done", "c=command; $c read x <<< push", "declare x=push", "eval x=push"],
    ...["printf -v x push", "p=printf; $p -v x push", "mapfile x < f", "getopts a x", "unset x", "trap x=push DEBUG"],
  ];
  for (const setter of setters) {
    assert.equal(bash(`x=status; ${setter}; git $x`, "+ Bash(git:*)", "- Bash(git push:*)"), "ask", setter);
    assert.notEqual(bash(`x=status; ${setter}; git $x`, "+ Bash", "- Bash(git push:*)"), "allow", setter);
    assert.equal(bash(`x=a; ${setter}; cat $x`), "ask", setter);
  }
  const exported = "NODE_ENV=status; export NODE_ENV=push; git $NODE_ENV";
  assert.notEqual(bash(exported, "+ Bash(git:*)", "- Bash(git push:*)"), "allow");
  assert.equal(bash("x=a; cat $x; wait; cd b; cat $x"), "allow");
  assert.equal(bash("p=cat; x=a; $p $x"), "allow");
});

test("A1 a value that is not known is asked about also behind another assignment", () => {
  for (const command of ["COLUMNS=$b; ls", "x=$a COLUMNS=$b; ls", "x=1 y=$a COLUMNS=$b; ls"])
    assert.equal(bash(command), "ask", command);
  assert.equal(bash("x=$a y=$b COLUMNS=80; ls"), "allow");
});

test("A1 an assignment that another shell makes, or nobody, leaves a variable empty", () => {
  const rules = ["+ Bash(git:*)", "+ Bash(rm:*)", "+ Edit(./**)", "- Bash(git push:*)"];
  const commands = [
    ...["x=status && true & git $x push", "x=status || true & git $x push", 'x=a && true & cat "$x"/etc/passwd'],
    ...['true && x=a && true & rm "$x"/b', 'false && x=a; for y in "$x"/b; do rm "$y"; done'],
    ...['false && x=a; for y in b "$x"/b; do rm "$y"; done', 'false && x=a; "$x"/b'],
  ];
  for (const command of commands) assert.notEqual(bash(command, ...rules), "allow", command);
  for (const command of ['x=a && rm "$x"/b &', 'x=a; true & rm "$x"/b', 'true && x=a && rm "$x"/b'])
    assert.equal(bash(command, ...rules), "allow", command);
});

test("A4 a secret that the line inherits is not printed by way of a here-document either", () => {
  const commands = [
    ...["cat <<< $API_TOKEN", 'cat <<< "a${API_TOKEN}b"', "cat <<E\n$API_TOKEN\nE", "cat <<E\n${API_TOKEN:-x}\nE"],
    ...["x=$API_TOKEN; cat <<< $x", "read x <<< $API_TOKEN; echo $x", "{ cat; } <<< $API_TOKEN"],
    ...["while read x; do echo $x; done <<< $API_TOKEN", "(cat) <<E\n$API_TOKEN\nE"],
  ];
  for (const command of commands) assert.equal(bash(command), "ask", command);
  for (const command of ["cat <<< $HOME", "cat <<'E'\n$API_TOKEN\nE", "x=a; cat <<E\n$x\nE", "cat <<E\n$(ls)\nE"])
    assert.equal(bash(command), "allow", command);
});

test("A6 git and sed write a protected file under an option or in a script, and bypass asks too", () => {
  const bypass = (command: string) => answer([], "Bash", { command }, { mode: "bypass" }).behavior;
  const commands = [
    ...["git diff --output=.git/hooks/x", "git log -p --output .git/hooks/x", "git show --outp=.git/config"],
    ...["sed -n 'w .git/config' a", "sed 's/a/b/w .git/config' a", "sed -e '/x/w.git/config' a"],
  ];
  for (const command of commands) assert.equal(bypass(command), "ask", command);
  for (const command of ["git diff --output=a.patch", "git log -- .gitattributes", "sed -n 'w out' a", "sed s/a/b/ a"])
    assert.equal(bypass(command), "allow", command);
});

test("A1 beside a deny rule, words are split as the line says, and scripts of sed and editors are looked into", () => {
  const commands = [
    ...["IFS=,; x=rm,f; $x", "export IFS=,; x=rm,f; $x", "for IFS in ,; do x=rm,f; $x; done", "IFS=, ; x=rm,f; $x"],
    ...["sed '1e rm f' a", "sed 's/x/rm f/e' a", "sed -n '/x/s,a,rm f,ge' a", "vim +'!rm f' a", "less '+!rm f' a"],
    ...["rg --pre rm x", "sqlite3 a '.shell rm f'"],
  ];
  for (const command of commands) assert.notEqual(bash(command, "+ Bash", "- Bash(rm:*)"), "allow", command);
  for (const command of ["sed 's/a/b/g' a", "sed -e 's/the/one/' a", "IFS=, read x y; ls", "vim a"])
    assert.equal(bash(command, "+ Bash", "- Bash(rm:*)"), "allow", command);
});

test("A1 an option or a script that a loop goes through is spelled out", () => {
  for (const command of ["for x in all -fa.mk; do make $x; done", 'for x in all SHELL=a; do make "$x"; done'])
    assert.equal(bash(command, "+ Bash(make:*)"), "ask", command);
  assert.equal(bash("for x in all test; do make $x; done", "+ Bash(make:*)"), "allow");
  assert.equal(bash("cd sub && for x in a b; do bash scripts/$x; done", "+ Bash(bash scripts/*)"), "ask");
  assert.equal(bash("for x in a b; do bash scripts/$x; done", "+ Bash(bash scripts/*)"), "allow");
});

test("A6 a root that a variable holds is not removed in passing", () => {
  const roots = [
    ...["x=~; rm -rf $x", 'x=$HOME; rm -rf "$x"', 'for x in ~; do rm -rf "$x"; done', "x=/; rm -r $x"],
    ...["for x in *; do rm -rf $x; done", 'for x in ~/*; do rm -rf "$x"; done', 'for x in a ./*; do rm -rf "$x"; done'],
  ];
  const bypass = (command: string) => answer([], "Bash", { command }, { mode: "bypass" }).behavior;
  for (const command of roots) assert.equal(bypass(command), "ask", command);
  for (const command of [
    "x=dist; rm -rf $x",
    "for x in dist build; do rm -rf $x; done",
    "for x in *.o; do rm -r $x; done",
  ])
    assert.equal(bypass(command), "allow", command);
});
