import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, bashIn, table } from "./asking.ts";

test("allow: exact words, or words before a star", () => {
  table(
    [
      ["npm test", "+ Bash(npm test)"],
      ["  npm   'test' ", "+ Bash(npm test)"],
      ["npm te\\st", "+ Bash(npm test)"],
      ["npm $'te\\x73t'", "+ Bash(npm test)"],
      ["npm test", '+ Bash(npm "test")'],
      ["cargo test --all -- --nocapture", "+ Bash(cargo test:*)"],
      ["cargo test", "+ Bash(cargo test:*)"],
      ["npm run build", "+ Bash(npm run *)"],
      ["npm run build:prod", "+ Bash(npm run build*)"],
      ["git log main --oneline", "+ Bash(git log * --oneline)"],
      ['git commit -m "fix: a (b) * #1"', "+ Bash(git commit:*)"],
      ["git commit -m 'a\nb'", "+ Bash(git commit:*)"],
      ["git commit -m 修复", "+ Bash(git commit -m 修复)"],
      ['git commit --message="a b"', "+ Bash(git commit '--message=a b')"],
      ["./run.sh a", "+ Bash(./run.sh:*)"],
      ["make ~/x", "+ Bash(make ~/x)"],
      ["make /home/me/x", "+ Bash(make ~/x)"],
      ["make a\\ b", "+ Bash(make 'a b')"],
      ["make # a comment", "+ Bash(make)"],
      ["make \\\n  all", "+ Bash(make all)"],
      ["make", "+ Bash(*)"],
      ["a; b | c > d", "+ Bash(*)"],
      ["for x in 1 2; do a $x; done 2>&1", "+ Bash"],
      ["for i in 1; do $x; done", "+ Bash"],
    ],
    "allow",
  );
});

test("allow: what a rule does not say is asked about", () => {
  table(
    [
      ["cargo test-all", "+ Bash(cargo test:*)"],
      ["cargo testing", "+ Bash(cargo test *)"],
      ["npm 'test x'", "+ Bash(npm test x)"],
      ["npm", "+ Bash(npm test)"],
      ["npm test x", "+ Bash(npm test)"],
      ["git log --oneline -n 5 -x", "+ Bash(git log * --oneline)"],
      ["/tmp/npm test", "+ Bash(npm test)"],
      ["/tmp/npmx", "+ Bash(/tmp/npm*)"],
      ["rm -r y --help", "+ Bash(* --help)"],
      ["make", "+ Bash(:*)"],
      ["'A=1' npm", "+ Bash(A=1 npm)"],
      ["make '~/x'", "+ Bash(make ~/x)"],
      ["", "+ Bash(make:*)"],
      ["  # only a comment", "+ Bash(make:*)"],
    ],
    "ask",
  );
});

test("allow: every part needs its own, and a star never crosses into another", () => {
  const npm = "+ Bash(npm:*)";
  const joints = [
    "; @",
    " && @",
    " || @",
    " | @",
    " |& @",
    " & @",
    "\n@",
    " $(@)",
    " `@`",
    ' "$(@)"',
    " <(@)",
    "\n\n@\n",
  ];
  for (const joint of joints) assert.equal(bash(`npm a${joint.replace("@", "make")}`, npm), "ask", joint);
  for (const joint of joints.filter((each) => !each.includes("<(")))
    assert.equal(bash(`npm a${joint.replace("@", "make")}`, npm, "+ Bash(make)"), "allow", joint);
  table(
    [
      ["(npm a)", npm],
      ["{ npm a; npm b; }", npm],
      ["! npm a", npm],
      ["npm a <<EOF\nx $(npm b)\nEOF", npm],
      ["npm a <<'EOF'\n$(make)\nEOF", npm],
      ['npm a <<< "$(npm b)"', npm],
      ["(npm a; (npm b | npm c)) 2>&1", npm],
    ],
    "allow",
  );
  table(
    [
      ["(npm a; make)", npm],
      ["{ npm a; make; }", npm],
      ["! make", npm],
      ["npm a <<EOF\nx $(make)\nEOF", npm],
      ["npm a <<EOF\nx `make`\nEOF", npm],
      ["npm a <<-EOF\n\t$(make)\nEOF", npm],
      ['npm a <<< "$(make)"', npm],
      ["npm a <<EOF && make\nx\nEOF", npm],
      ["npm a 0< <(make)", npm],
      ["npm ${x:-`make`}", npm],
      ["npm ${x#$(make)}", npm],
      ["npm a # \\\nmake", npm],
      ["npm a \\\n; make", npm],
    ],
    "ask",
  );
});

test("allow: whatever is not on the closed list is asked about", () => {
  const loose = ["+ Bash(npm:*)", "+ Bash(echo:*)", "+ Bash(x:*)"];
  const strange = [
    "for ((i=0;i<2;i=i+1)); do npm a; done",
    "for i; do npm a; done",
    "if npm a; then npm b; fi fi",
    "for i in a; do npm a; done <(npm b)",
    "case a in a) npm a;& esac",
    "case a in $x) npm a;; esac",
    "case a in +(a)) npm a;; esac",
    "x() { npm a; }",
    "function x { npm a; }",
    "[[ ( -f a ) ]]",
    "[[ $x -eq 1 ]]",
    "[ $x ]",
    "[ -v x ]",
    "((x = 1))",
    "npm $((x + 1))",
    "npm $[1+1]",
    "npm ${x:=y}",
    "npm ${x:-$y}",
    "npm ${x@P}",
    "npm ${x:1:2}",
    "npm ${!x}",
    "npm ${x[0]}",
    "npm a >(npm b)",
    "npm a<(npm b)",
    "npm a|<(npm b)",
    "x=(npm a)",
    "x[0]=a npm b",
    "x+=a npm b",
    "coproc npm a",
    "select x in a; do npm a; done",
    'npm $"a"',
    "npm a\u00a0b",
    "npm a\u3000b",
    "npm a 0<b",
    "time (npm a)",
    "npm 'a",
    "npm a;; npm b",
    "npm a &&",
    "npm (a)",
    "echo `echo \\`npm a\\``",
    "echo `echo '`'`",
    "npm <<A <<B\nA\nB",
    "npm <<$'A'\nA",
    "npm <<A$b\nA$b",
    "{ npm a }",
  ];
  for (const command of strange) assert.equal(bash(command, ...loose), "ask", command);
});

test("allow: a dynamic argument is matched by a star alone, a dynamic name by nothing", () => {
  table(
    [
      ["npm run $X", "+ Bash(npm run:*)"],
      ['npm run "$X" b', "+ Bash(npm run *)"],
      ["npm $X test", "+ Bash(npm * test)"],
      ["npm *.ts", "+ Bash(npm:*)"],
      ["npm {a,b}", "+ Bash(npm:*)"],
      ["npm ~bob/x", "+ Bash(npm:*)"],
    ],
    "allow",
  );
  table(
    [
      ["npm $X", "+ Bash(npm test)"],
      ["npm a$X", "+ Bash(npm a*)"],
      ["npm $X", "+ Bash(npm \\$X)"],
      ["$X test", "+ Bash(npm:*)"],
      ["n*m test", "+ Bash(npm:*)"],
      ["npm$X test", "+ Bash(npm*)"],
      ["$(npm) test", "+ Bash(npm:*)"],
    ],
    "ask",
  );
});

test("allow: harmless variables with literal values may come first, others may not", () => {
  for (const name of ["CI", "NODE_ENV", "NO_COLOR", "LC_ALL", "LC_X", "TZ", "RUST_BACKTRACE", "PYTHONUNBUFFERED"]) {
    assert.equal(bash(`${name}=1 npm test`, "+ Bash(npm test)"), "allow", name);
    // Set for good, a locale changes how the rest is read.
    const lasting = name.startsWith("LC_") ? "ask" : "allow";
    assert.equal(bash(`${name}=1; npm test`, "+ Bash(npm test)"), lasting, name);
    assert.equal(bash(`${name}=$(make) npm test`, "+ Bash(npm test)", "+ Bash(make)"), "ask", name);
    assert.equal(bash(`${name}=$x npm test`, "+ Bash(npm test)"), "ask", name);
  }
  assert.equal(bash("DEBUG=app:* npm test", "+ Bash(npm test)"), "allow");
  assert.equal(bash("DEBUG='a b' npm test", "+ Bash(npm test)"), "allow");
  assert.equal(bash("LC_ALL=C; npm test", "+ Bash(npm test)"), "ask");
  for (const name of ["PATH", "LD_PRELOAD", "NODE_OPTIONS", "GIT_SSH_COMMAND", "PAGER", "HOME", "LC", "A"])
    for (const command of [`${name}=x npm test`, `${name}=x; npm test`, `CI=1 ${name}=x npm test`, `${name}=x ls`]) {
      // Set and not given to any program, it matters only where programs inherit it.
      const inherited = command.includes(";") ? { environment: new Set([name]) } : {};
      assert.equal(bashIn(inherited, command, "+ Bash(npm test)").behavior, "ask", command);
    }
});

test("allow: what changes the meaning of later names is covered by the exact text alone", () => {
  const changing = [
    "export A=1",
    "export PATH=x",
    "PATH=x",
    "IFS=x",
    "BASH_ENV=x",
    "alias npm=make",
    "eval x",
    ". ./x",
    "source x",
    "exec npm test",
    "trap x EXIT",
    "set -a",
    "set -f",
    "set -- x",
    "shopt -s extglob",
    "hash -p /x npm",
    "enable -f x npm",
    "declare PATH=/x",
    "readonly A=1",
    "unset PATH",
    "read PATH",
    "mapfile -C make x",
    "printf -v PATH x",
    "let x=1",
    "builtin eval x",
    "command eval x",
    "getopts a PATH",
  ];
  for (const first of changing) {
    const command = `${first} && npm test`;
    const name = first.split(/[ =]/)[0]!;
    const broad = ["+ Bash(npm test)", `+ Bash(${name}:*)`, "+ Bash(eval:*)"];
    assert.equal(bash(command, ...broad), "ask", command);
    assert.equal(bash(`npm test; ${first}`, ...broad), "ask", command);
    assert.equal(bash(command, `+ Bash(${command})`), "allow", command);
    assert.equal(bash(`${command} `, `+ Bash(${command})`), "allow", command);
    assert.equal(bash(`${command}x`, `+ Bash(${command})`), "ask", command);
  }
  assert.equal(bash("x() { make; }; x", "+ Bash(x\\(\\) { make; }; x)"), "ask");
});

test("allow: wrappers are looked through, and a rule for one covers nothing else", () => {
  const wrapped = [
    "timeout 5 npm test",
    "timeout -s KILL -k 3 1.5m npm test",
    "timeout --signal=INT --preserve-status 5 npm test",
    "time npm test",
    "time -p npm test",
    "nice npm test",
    "nice -n 5 npm test",
    "nice -n-5 npm test",
    "nohup npm test",
    "stdbuf -oL -e 0 npm test",
    "command npm test",
    "nohup nice timeout 5 npm test",
  ];
  for (const command of wrapped) {
    assert.equal(bash(command, "+ Bash(npm test)"), "allow", command);
    assert.equal(bash(command, `+ Bash(${command.split(" ")[0]}:*)`), "ask", command);
    assert.equal(bash(command, `+ Bash(${command})`), "allow", command);
  }
  const odd = [
    "timeout $X npm test",
    "timeout npm test",
    "nice -x npm test",
    "time -o f npm test",
    "command -p npm test",
  ];
  for (const command of [...odd, "sudo npm test", "env npm test", "xargs npm test", "stdbuf npm test -x"])
    assert.equal(bash(command, "+ Bash(npm:*)", "+ Bash(timeout:*)", "+ Bash(time:*)"), "ask", command);
});
