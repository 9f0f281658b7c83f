import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import * as fc from "../support/properties.ts";
import { readCommand } from "../../src/permission/shell/judge/flow/command-reading.ts";
import { stepsOf } from "../../src/permission/shell/judge/flow/flow.ts";
import { createReach } from "../../src/permission/rules/access.ts";
import { createRuleBooks } from "../../src/permission/rules/book.ts";
import { openDisk } from "../../src/permission/paths/canonical.ts";
import { answer, bash, environment, grammar, rulesOf } from "./asking.ts";
import { thorough } from "../faults/rounds.ts";

const payloads = [
  ...[
    "mark x",
    "'mark' x",
    "m''ark x",
    "m\\ark x",
    "$'mark' x",
    "$'\\x6dark' x",
    "m\\\nark x",
    "$(mark x)",
    "`mark x`",
  ],
  ...[
    "<(mark x)",
    '"$(mark x)"',
    '"`mark x`"',
    "$(echo $(mark x))",
    "${u:-$(mark x)}",
    "${u:-`mark x`}",
    "${u#$(mark x)}",
  ],
  ...[
    "$(( $(mark x) + 1 ))",
    "$(\nmark x\n)",
    "$( (mark x) )",
    "$({ mark x; })",
    "$(: | mark x)",
    "$(if :; then mark x; fi)",
  ],
  ...['"${u:+a}$(mark x)"', "a$(mark x)b", "`: ; mark x`", "$(mark x # c\n)"],
];

const contexts = [
  ...["@", "echo @", "echo a @ b", ": && @", "false || @", ": | @", "(@)", "{ @; }", "! @", "# c\n@", ":;\t@", "\\\n@"],
  ...[
    "if @; then :; fi",
    "if :; then @; fi",
    "if false; then :; elif @; then :; else @; fi",
    "while @; do break; done",
  ],
  ...["for i in @; do :; done", "for i in a; do @; done", "for ((i=0;i<1;i++)); do @; done", "[[ -n @ ]]", "test @"],
  ...["case @ in *) :;; esac", "case a in a) @;; esac", "case a in (a)@;; esac", "f() { @; }; f", "f() ( @ ); f"],
  ...["X=@", "X=@ :", "A=1 @", "a+=b @", "a[1]=b @", "export X=@", "a=(@)", "let x=@", "declare x=@", "printf -v x @"],
  ...["> /dev/null @", ": > /dev/null @", "2>&1 @", ": > >(@)", "cat < <(@)", ": <<EOF\n@\nEOF", ": <<-EOF\n\t@\nEOF"],
  ...[
    "cat <<EOF > /dev/null && @\nx\nEOF",
    "cat <<EOF | @\nx\nEOF",
    ": <<'EOF'\n@\nEOF",
    "cat <<< @",
    "echo 2>/dev/null @",
  ],
  ...[
    "cat <<'EOF' | bash\n@\nEOF",
    "bash <<< '@'",
    "bash -c '@'",
    'bash -c "@"',
    "eval '@'",
    "eval @",
    "trap '@' EXIT",
  ],
  ...["env A=1 @", "command @", "time -p @", "nice -n 1 @", "timeout 5 @", "exec @", "echo a | xargs @", "env -S '@'"],
  ...["find . -maxdepth 0 -exec @ \\;", 'echo "a @"', 'echo "${u:-@}"', "echo a\\\n @", "echo a # \\\n@", "echo {@,b}"],
  ...["echo 'a'\"'\"'s'; @", 'echo "it\'s"; @', "echo it\\'s; @", "echo 'a\\'; @", 'echo "a\\""; @', "echo '('; @"],
  ...["echo \\\n@", "echo 'a\\\n'; @", "echo a#b @", "echo $# @", "echo \\# ; @", "a=1 b=2 @ ; echo", "(cd . && @)"],
];

let directory: string;
let marker: string;
let env: NodeJS.ProcessEnv;

before(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "sage-shell-")));
  marker = join(directory, "marker");
  mkdirSync(join(directory, "bin"));
  writeFileSync(join(directory, "bin/mark"), `#!/bin/sh\n: > '${marker}'\n`, { mode: 0o755 });
  env = { PATH: [join(directory, "bin"), process.env["PATH"]].join(delimiter), HOME: directory };
});
after(() => rmSync(directory, { recursive: true }));

/** True if the script leaves its mark in a real shell. */
function marks(script: string): boolean {
  rmSync(marker, { force: true });
  spawnSync("bash", ["--noprofile", "--norc", "-c", script], { cwd: directory, env, stdio: "ignore" });
  return existsSync(marker);
}

const scripts = contexts.flatMap((context) => payloads.map((payload) => context.replaceAll("@", () => payload)));

test("whatever bash runs, wherever it stands, a deny rule has seen", () => {
  const unseen = scripts.filter((script) => bash(script, "- Bash(mark:*)") !== "deny");
  assert.ok(unseen.length < scripts.length / 10, `${unseen.length} of ${scripts.length} were not seen`);
  for (const script of unseen) assert.equal(marks(script), false, JSON.stringify(script));
});

test("whatever bash runs, wherever it stands, is a part of its own or the line is not allowed", () => {
  // Everything but the payload is allowed, as broadly as one can without allowing everything.
  const names = ["echo", ":", "cat", "command", "nice", "timeout", "find", "test", "printf", "false", "let"];
  const rules = [...names.map((name) => `+ Bash(${name}:*)`), "+ Bash(a)", "+ Bash(a:*)", "+ Edit(/**)", "+ Read(/**)"];
  const where = { cwd: directory, roots: [directory], home: directory };
  const asked = (command: string) => answer(rulesOf(...rules), "Bash", { command }, where).behavior;
  const allowed = scripts.filter((script) => asked(script) === "allow");
  assert.ok(allowed.length > 20, `${allowed.length} allowed scripts are too few to mean anything`);
  for (const script of allowed) assert.equal(marks(script), false, JSON.stringify(script));
});

/** Each takes a shell and the programs that it starts. */
const MOST_COMPARED = thorough ? 2_000 : 250;

test("a script that both readers understand has exactly the commands and the words that bash sees", () => {
  const bin = join(directory, "words");
  mkdirSync(bin, { recursive: true });
  // A file for each process: bash writes line by line, and two that run at once would write into each other's words.
  const log = join(directory, "log");
  for (const name of ["ga", "gb", "gc"])
    writeFileSync(join(bin, name), `#!/bin/bash\nprintf '%s\\0' ${name} "$@" > '${log}'/$$\n`, { mode: 0o755 });
  const disk = openDisk();
  const reach = createReach(createRuleBooks().of([], directory), {
    cwd: directory,
    home: directory,
    roots: [directory],
    disk,
    sageHome: undefined,
  });
  const piece = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.constantFrom("ga", "gb", "gc", "x", "'a b'", '"c d"', "e\\ f", "$'g\\n'", "''", "a=b", "-n"),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(" ", "  ", "\t", " ; ", " && ", " || ", " | ", "\n", " & ", "(", ")", "{ ", "; }"),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom("$(ga y)", "`gb y`", '"$(gc z)"', "'", '"', "\\", "#", " # c\n", "\\\n", "! ", "$"),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        ...[
          "if ",
          "; then ",
          "; else ",
          "; elif ",
          "; fi",
          "for v in ga gb; do ",
          "for v in x; do ",
          "; done",
          "while ga; do ",
        ],
        ...[
          "[ -n x ] && ",
          "[[ x == x ]] && ",
          " <(ga z)",
          "$v",
          '"$v"',
          "v=gb; ",
          "v='x y'; ",
          "$((1+2))",
          "break; ",
          ": ",
        ],
      ),
    },
    {
      weight: 1,
      // Into the scratch folder: what is glued to the name becomes part of it.
      arbitrary: fc.constantFrom(" > out", " 2>&1", " <<< q", " <<E\n", "\nE\n", "$'", "~", "!", "}", "{", "é", "修"),
    },
  );
  const texts = fc.sample(fc.array(piece, { minLength: 2, maxLength: 9 }), {
    numRuns: thorough ? 12_000 : 1_200,
    seed: 11,
  });
  let compared = 0;
  for (const text of new Set(texts.map((pieces) => `ga ${pieces.join("")}`))) {
    const { script } = readCommand(text, grammar, directory);
    if (script === undefined) continue;
    const { steps } = stepsOf(script, directory, { reach, disk, environment });
    const literal = steps.every(({ command }) => command.words.every(({ text }) => text !== undefined));
    if (!literal || compared >= MOST_COMPARED) continue;
    compared++;
    rmSync(log, { recursive: true, force: true });
    mkdirSync(log);
    const path = [bin, process.env["PATH"]].join(delimiter);
    spawnSync("bash", ["--noprofile", "--norc", "-c", `${text}\nwait`], {
      cwd: directory,
      env: { PATH: path, HOME: directory },
    });
    const ran = readdirSync(log).map((name) => readFileSync(join(log, name), "utf8").slice(0, -1));
    const seen = steps.map(({ command }) => command.words.map((word) => word.text).join("\0"));
    for (const line of ran)
      assert.ok(
        seen.includes(line),
        `${JSON.stringify(text)} ran ${JSON.stringify(line)}, seen were ${JSON.stringify(seen)}`,
      );
  }
  assert.ok(compared > 150, `${compared} scripts are too few to mean anything`);
});
