import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { bash } from "./asking.ts";

const payloads = [
  ...["mark x", "'mark' x", "m''ark x", "m\\ark x", "$'mark' x", "m\\\nark x", "$(mark x)", "`mark x`", "<(mark x)"],
  ...['"$(mark x)"', "$(echo $(mark x))", "${u:-$(mark x)}", "${u:-`mark x`}", "$(( $(mark x) + 1 ))", "$(\nmark x\n)"],
  ...["$( (mark x) )", "$({ mark x; })", "$(: | mark x)", "$(if :; then mark x; fi)"],
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
];

test("whatever bash runs, wherever it stands, a deny rule has seen", () => {
  const directory = mkdtempSync(join(tmpdir(), "sage-shell-"));
  const marker = join(directory, "marker");
  writeFileSync(join(directory, "mark"), `#!/bin/sh\n: > '${marker}'\n`, { mode: 0o755 });
  const env = { PATH: [directory, process.env["PATH"]].join(delimiter) };
  try {
    const scripts = contexts.flatMap((context) => payloads.map((payload) => context.replaceAll("@", () => payload)));
    const unseen = scripts.filter((script) => bash(script, "- Bash(mark:*)") !== "deny");
    assert.ok(unseen.length < scripts.length / 10, `${unseen.length} of ${scripts.length} were not seen`);
    for (const script of unseen) {
      spawnSync("bash", ["--noprofile", "--norc", "-c", script], { cwd: directory, env, stdio: "ignore" });
      assert.equal(existsSync(marker), false, JSON.stringify(script));
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});
