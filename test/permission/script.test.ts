import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bash, bashIn } from "./asking.ts";

let cwd: string;
before(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "sage-script-")));
  mkdirSync(join(cwd, "src"));
  mkdirSync(join(cwd, "secret"));
  for (const name of ["a.txt", "b.txt", "src/c.ts", "src/d.ts", "secret/key.txt"])
    writeFileSync(join(cwd, name), "x\n");
});
after(() => rmSync(cwd, { recursive: true }));

const here = (command: string, ...rules: string[]) =>
  bashIn({ cwd, home: "/home/me", roots: [cwd] }, command, ...rules);

test("loops and conditions over parts that are free or have a rule need no person", () => {
  for (const command of [
    "for f in *.txt; do wc -l $f; done",
    'for f in *.txt; do echo "== $f"; head -3 "$f"; done',
    "for f in a.txt b.txt\ndo\n  cat $f\ndone",
    'for d in src/; do ls "$d"; done | sort',
    "if [ -d src ]; then ls src; else echo none; fi",
    "if grep -q x a.txt; then cat a.txt; elif [ -f b.txt ]; then cat b.txt; fi",
    'while read -r line; do echo "$line"; done < a.txt',
    'while IFS=: read -r a b; do echo "$a $b"; done < a.txt',
    "cat a.txt | while read l; do echo $l; done",
    "until npm test; do sleep 1; done",
    "for i in 1 2 3; do npm test && break; done",
    "for i in $(seq 3); do echo $i; npm test; done",
    "[ -d src ] || echo no",
    "[ -f a.txt -a -d src ] && echo yes",
    '[ "$(git rev-parse HEAD)" = abc ] && echo yes',
    "[[ -f a.txt && ! -d b ]] && npm test",
    "diff <(sort a.txt) <(sort b.txt)",
    "set -o pipefail; npm test | tail -3",
    "set -euo pipefail\nnpm test",
    "export NODE_ENV=test CI=1 && npm test",
    'v=$(ls) && echo "$v"',
    "n=3; echo $((1 + 2)) $n",
    "f=a.txt; cat $f",
    "f=a; cat $f.txt; echo ${f%.txt} ${#f} ${f:-b}",
    'cd src && for f in *.ts; do head -1 "$f"; done',
    'f=a.txt && cat "$f" && g=b && cat $g.txt',
    "x=npm; $x test",
  ])
    assert.equal(here(command, "+ Bash(npm test)", "+ Bash(git rev-parse:*)").behavior, "allow", command);
});

test("A1 a part of a loop or a condition that has no rule is asked about, wherever it stands", () => {
  for (const command of [
    "for f in *.txt; do make $f; done",
    "for f in $(make); do echo $f; done",
    "if make; then ls; fi",
    "if ls; then make; fi",
    "if ls; then ls; elif make; then ls; fi",
    "if ls; then ls; else make; fi",
    "while make; do ls; done",
    "while ls; do make; done",
    "until make; do ls; done",
    "for f in a; do ls; done > out.txt",
    "if ls; then ls; fi > out.txt",
    "[ $(make) = x ]",
    "[ -f $(make) ]",
    "[[ -n $(make) ]]",
    "diff <(make) a.txt",
    "cat < <(make)",
    "v=$(make)",
    "for f in a; do for g in b; do make; done; done",
    "while read l; do make; done < a.txt",
    "while read l; do echo $l; done < <(make)",
    "while read l; do echo $l; done < /etc/passwd",
  ])
    assert.equal(here(command, "+ Bash(npm test)").behavior, "ask", command);
});

test("A2 what the shell would evaluate is not proven harmless", () => {
  for (const command of [
    "[[ $x -eq 1 ]]", // an index in the value of x is evaluated, commands in it run
    "x=$(cat a.txt); [[ $x -gt 1 ]]",
    "x=$(cat a.txt); [ $x -gt 1 ]", // unquoted, the value may be `-v a[$(…)]`
    'x=$(cat a.txt); [ "$x" "$y" ]',
    "x=$(cat a.txt); echo $((x + 1))",
    "[ -v 'a[$(touch x)]' ]",
    "test -v 'a[$(touch x)]'",
    "[[ -v a ]]",
    "echo ${x@P}",
    "echo ${x:$(touch y)}",
    "echo ${!x}",
    "echo ${x:=$(touch y)}",
    "read PATH < a.txt",
    "while read IFS; do ls; done < a.txt",
    "for PATH in /x; do ls; done",
    "for LD_PRELOAD in ./x.so; do ls; done; npm test",
    "set -a; x=1; npm test",
    "set -f; ls *",
    "export PATH=/x; npm test",
    "export NODE_OPTIONS=x; npm test",
    "v=1; export v; npm test",
    "printf -v x y; ls",
    'printf "$(cat a.txt)"; ls',
  ])
    assert.equal(here(command, "+ Bash(npm test)").behavior, "ask", command);
});

test("a variable stands for every text that the line may have put there", () => {
  const cases: [behavior: string, command: string, ...rules: string[]][] = [
    ["deny", "x=rm; $x -rf y", "- Bash(rm -rf:*)"],
    ["deny", "f=secret/key.txt; cat $f", "- Read(./secret/**)"],
    ["deny", "for f in secret/*; do cat $f; done", "- Read(./secret/**)"],
    ["deny", "for d in secret; do cat $d/key.txt; done", "- Read(./secret/**)"],
    ["deny", 'd=secret; f=$d/key.txt; cat "$f"', "- Read(./secret/**)"],
    ["ask", "f=/etc/passwd; cat $f"],
    ["ask", "for f in a.txt /etc/passwd; do cat $f; done"],
    ["ask", "f=a.txt; false && f=/etc/passwd; cat $f"],
    ["ask", "for f in a.txt; do cat $f; f=/etc/passwd; done"],
    ["ask", "ls | f=a.txt; cat $f/etc/passwd"], // unset here: what is set in a pipe stays in it
    ["ask", "f='a b'; cat $f"],
    ["ask", "f='*'; cat $f"],
    ["ask", 'f=$(ls); cat "$f"'],
    ["ask", "for f in *.txt; do cat > $f; done"],
    ["ask", "f=.git/config; echo x > $f", "+ Edit(./**)"],
    ["allow", "for f in *.txt; do cp $f src/$f; done", "+ Edit(./**)", "+ Bash(cp:*)"],
    ["ask", "for f in *.txt; do cp $f ../$f; done", "+ Edit(./**)", "+ Bash(cp:*)"],
    ["ask", "x=sub; cd $x && cat ../../a"],
  ];
  for (const [behavior, command, ...rules] of cases) assert.equal(here(command, ...rules).behavior, behavior, command);
});

test("a variable that programs inherit is not the line's own, and without knowing which do, none is", () => {
  const npm = "+ Bash(npm test)";
  assert.equal(here("API_TOKEN=x; npm test", npm).behavior, "ask");
  assert.equal(here("v=x; npm test", npm).behavior, "allow");
  assert.equal(bashIn({ cwd, roots: [cwd], environment: undefined }, "v=x; npm test", npm).behavior, "ask");
  assert.equal(here('echo "$API_TOKEN"').behavior, "ask");
  assert.equal(here('echo "${API_TOKEN:-x}"').behavior, "ask");
  assert.equal(here("v=$API_TOKEN; echo $v").behavior, "ask");
  assert.equal(bash("for f in secret/a; do cat $f; done", "- Read(./secret)"), "deny");
  const unknown = { cwd, roots: [cwd], environment: undefined };
  assert.equal(bashIn(unknown, "for f in secret/a; do cat $f; done", "- Read(./secret)").behavior, "deny");
  assert.equal(bashIn(unknown, "f=secret/a; cat $f", "- Read(./secret)").behavior, "deny");
});

test("a loop begins again where it ended", () => {
  assert.equal(here("for d in src; do cat ../a.txt; cd $d; done").behavior, "ask");
  assert.equal(here("for d in 1 2; do cd src; done; cat ../a.txt").behavior, "ask");
  assert.equal(here("for d in 1 2; do cd ..; done").behavior, "ask");
  assert.equal(here("if true; then cd src; fi; cat c.ts").behavior, "allow");
  assert.equal(here("for f in 1 2; do cat l/x; ln -s / l; done", "+ Bash(ln:*)", "+ Edit(./**)").behavior, "ask");
});
