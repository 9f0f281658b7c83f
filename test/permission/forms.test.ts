import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { bashIn } from "./asking.ts";

let base: string;
let cwd: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "sage-forms-")));
  cwd = join(base, "w");
  for (const name of ["src/a.ts", "src/b.ts", "docs/c.md", "-n", "words"]) put(name, `${name}\n`);
  writeFileSync(join(base, "outer"), "what nobody may see\n");
});
after(() => rmSync(base, { recursive: true }));

function put(name: string, text: string): void {
  mkdirSync(dirname(join(cwd, name)), { recursive: true });
  writeFileSync(join(cwd, name), text);
}

const judge = (command: string, ...rules: string[]) =>
  bashIn({ cwd, home: join(base, "home"), roots: [cwd] }, command, ...rules).behavior;

/** Output of bash, with a program that leaves a mark. */
function output(command: string): string {
  const bin = join(base, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "mark"), "#!/bin/sh\necho MARKED; echo MARKED >&2\n", { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env["PATH"]}`, HOME: join(base, "home") };
  const { stdout, stderr } = spawnSync("bash", ["--noprofile", "--norc", "-c", command], {
    cwd,
    env,
    encoding: "utf8",
  });
  return stdout + stderr;
}

/** Forms with a place for a command that no rule allows. Bash runs what stands there; it must never run by itself. */
const forms = [
  "case a in a) @;; esac",
  "case a in (b|a*) @;; *) :;; esac",
  "case a in b) :;; *) @; esac",
  "case $(@) in *) :;; esac",
  "case `@` in *) :;; esac",
  "case a in\n'a')\n  @\n  ;;\nesac",
  "case a in a) : ;& b) @;; esac",
  "case a in a) : ;;& a*) @;; esac",
  "case MARKED in $(@)) echo MARKED;; esac",
  "case a in a) case b in b) @;; esac;; esac",
  "for ((i=0; i<1; i++)); do @; done",
  "for ((i=0; i<$(@ | wc -l); i++)); do echo MARKED; done",
  "i=0; while [ $i -lt 1 ]; do @; i=$((i+1)); done",
  'a="b[\\$(@ >&2)]"; echo $((a))',
  'a="b[\\$(@ >&2)]"; c=a; echo $((c + 1))',
  'a=0; a="b[\\$(@ >&2)]"; echo $((a))',
  'for a in 1 "b[\\$(@ >&2)]"; do echo $((a)); done',
  'echo "b[\\$(@ >&2)]" | while read a; do echo $((a)); done',
  "echo $((b[$(@ >&2)]))",
  "echo $(( $(@ >&2) ))",
  'a="b[\\$(@ >&2)]"; cat <<EOF\n$((a))\nEOF',
  'a="b[\\$(@ >&2)]"; for ((i=0; i<a; i++)); do :; done',
  'case $((a)) in 0) a="b[\\$(@ >&2)]"; echo $((a));; esac',
  "ls src | xargs -I{} @",
  "find src -type f | xargs @",
  "echo a | xargs -n1 @",
  "pushd src && @ && popd",
];

test("a command in one of these forms runs only by a rule for itself, and bash runs it there", () => {
  for (const form of forms) {
    const command = form.replaceAll("@", "mark");
    assert.match(output(command), /MARKED/, command);
    assert.notEqual(judge(command), "allow", command);
    assert.equal(judge(command, "- Bash(mark:*)"), "deny", command);
  }
});

test("the same forms run by themselves where every part of them is free", () => {
  const known = forms.filter((form) => judge(form.replaceAll("@", "true")) === "allow");
  for (const form of known) assert.doesNotMatch(output(form.replaceAll("@", "true")), /MARKED/, form);
  assert.ok(known.length >= 8, known.join("\n"));
});

test("sums are taken for what bash makes of them", () => {
  for (const [command, printed] of [
    ["i=3; echo $((i+1))", "4"],
    ["i=3; j=$((i*2)); echo $(( (j - 1) % 4 ))", "1"],
    ["i=0; while [ $i -lt 2 ]; do i=$((i+1)); done; echo $i", "2"],
    ["n=5; for ((i=0; i<3; i++)); do n=$((n-1)); done; echo $n", "2"],
    ["echo a{} x{}", "a{} x{}"],
  ] as const) {
    assert.equal(judge(command), "allow", command);
    assert.equal(output(command).trim(), printed);
  }
  // Sets a variable, so that another file is read.
  for (const command of [
    "i=words; echo $((i=5)); cat $i",
    "i=1; echo $((i++)); cat $i",
    "echo $((PATH))",
    "for ((PATH=0; PATH<1; PATH++)); do ls; done",
    "IFS=1; i=213; cat $((i))",
  ])
    assert.equal(judge(command), "ask", command);
});

const lists = [
  "find . -type f | xargs cat",
  "find . -type f -print | xargs -n1 cat",
  "grep -rl . . | xargs cat",
  "rg -l . | xargs cat",
];

test("xargs reads what is listed, unless a name would be taken apart", () => {
  rmSync(join(cwd, "-n"));
  for (const command of lists) assert.equal(judge(command), "allow", command);
  const asks = (why: string) => {
    for (const command of lists) assert.equal(judge(command), "ask", `${why}: ${command}`);
  };
  // As a list, the name of this file is also the name of one outside.
  put(`src/x ${base}/outer`, "");
  assert.match(output(lists[0]!), /nobody may see/);
  asks("blank");
  assert.equal(judge("find src -type f -print0 | xargs -0 cat"), "allow");
  assert.doesNotMatch(output("find src -type f -print0 | xargs -0 cat"), /nobody may see/);
  rmSync(join(cwd, "src"), { recursive: true });
  put("--files0-from=words", "");
  asks("option");
  rmSync(join(cwd, "--files0-from=words"));
  put('src/"a', "");
  asks("quote");
  rmSync(join(cwd, "src"), { recursive: true });
  symlinkSync(join(base, "outer"), join(cwd, "docs/link"));
  asks("link");
  assert.match(output("find docs | xargs cat"), /nobody may see/);
});

test("xargs asks where it is not known what is listed, or what is done with it", () => {
  rmSync(join(cwd, "-n"));
  for (const command of [
    ...["echo /etc/passwd | xargs cat", "cat words | xargs cat", "ls | xargs cat", "xargs cat < words"],
    ...[
      "find src | xargs cat < words",
      "find src |& xargs cat",
      "find src 2>&1 | xargs cat",
      "find src | xargs -a words cat",
    ],
    ...[
      "find src -printf '/etc/passwd' | xargs cat",
      "find src -ls | xargs cat",
      "find src -exec echo {} \\; | xargs cat",
    ],
    ...["find src -print0 | xargs cat", "find src | xargs -0 cat", "find src -print -print0 | xargs -0 cat"],
    ...[
      "find .. | xargs cat",
      "find $x | xargs cat",
      "grep -l a | xargs cat",
      "grep -r a src | xargs cat",
      "rg a src | xargs cat",
    ],
    ...["find src | xargs uniq", "find src | xargs xxd", "find src | xargs grep", "find src | xargs grep -r a"],
    ...["find src | xargs", "find src | xargs find", "find src | xargs sh -c cat", "find src | xargs env cat"],
    ...[
      "find src | xargs -I cat echo cat cat",
      "find src | xargs -I{} cat {}",
      "find src | xargs rg a",
      "find src | xargs diff",
    ],
    ...["touch 'src/a b'; find src | xargs cat", "cat words > 'src/a b'; find src | xargs cat"],
    ...["find src | head -3 | xargs cat", "LC_ALL=C find src | xargs sort -o x", "echo x | xargs printf"],
  ])
    // The names are the text of `-I`: what is then printed was printed before.
    assert.equal(
      judge(command, "+ Bash(touch:*)", "+ Edit(./**)"),
      /-I cat echo/.test(command) ? "allow" : "ask",
      command,
    );
});

test("popd leads back to where a pushd left", () => {
  assert.equal(judge("pushd src && cat a.ts && popd && cat src/b.ts"), "allow");
  assert.equal(judge("pushd src && popd && cat ../outer"), "ask");
  assert.equal(judge("pushd src; cd ..; popd; cat ../outer"), "ask");
  assert.equal(judge("for i in 1 2; do popd; pushd src; done"), "ask");
  for (const command of ["popd +1", "popd -n", "dirs", "pushd", "pushd +1", "pushd .. && ls"])
    assert.equal(judge(command), "ask", command);
});

test("variables that may be secrets are not printed, and pagers are given no orders", () => {
  for (const command of ["printenv", "printenv API_TOKEN", "printenv PATH API_TOKEN", "printenv $x", "printenv -0"])
    assert.equal(judge(command), "ask", command);
  for (const command of [
    "less -o x words",
    "less +!id words",
    "more +1 words",
    "LESSOPEN='|id' less words",
    "less ../outer",
  ])
    assert.equal(judge(command), "ask", command);
  rmSync(join(cwd, "-n"));
  assert.equal(judge("ls -d */", "- Read(./src/a.ts)"), "allow");
  assert.equal(judge("grep -d recurse a src", "- Read(./src/a.ts)"), "ask");
});
