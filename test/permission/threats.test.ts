import assert from "node:assert/strict";
import { test } from "node:test";
import { Ground, isInstalled } from "./ground.ts";

test("A1: nothing is smuggled past an allow rule: operators, substitutions, here-documents, continued lines, blanks", async () => {
  using here = new Ground();
  const smuggled = [
    ...[
      "npm a; ./evil",
      "npm a && ./evil",
      "npm a | ./evil",
      "npm a & ./evil",
      "npm a\n./evil",
      "npm $(./evil)",
      "npm `./evil`",
    ],
    ...['npm "$(./evil)"', "npm a <(./evil)", "npm a > >(./evil)", "npm a <<E\n$(./evil)\nE", "npm a <<E\n`./evil`\nE"],
    ...[
      "npm a <<-E\n\t$(./evil)\nE",
      "npm ${x:-$(./evil)}",
      "npm ${x:-`./evil`}",
      "npm ${x#`./evil`}",
      "npm $((`./evil`))",
    ],
    ...[
      "npm a # \\\n./evil",
      "npm a \\\n; ./evil",
      "npm a\r./evil",
      "npm 'a\\'; ./evil",
      "npm <<'E' && ./evil\nE",
      "npm a[$(./evil)]",
    ],
    ...[
      "npm\u00a0a; ./evil",
      "x=$(./evil) npm a",
      "npm a=($(./evil))",
      "npm a || ./evil",
      "! npm a; ./evil",
      "(npm a); ./evil",
    ],
  ];
  for (const command of smuggled) assert.notEqual(here.ask(command, "+ Bash(npm:*)"), "allow", command);
  await here.run(smuggled[0]!);
  assert.equal(here.marked(), true);
});

test("A2: no option of an allowed program runs another or writes a file without a prompt", async () => {
  using here = new Ground();
  const m = here.marker;
  const rows: [command: string, real?: boolean][] = [
    [`find . -maxdepth 0 -exec touch ${m} ;`.replace(";", "\\;")],
    [`find . -maxdepth 0 -execdir touch ${m} +`, false],
    [`find . -maxdepth 0 -fprint ${m}`],
    [`find . -maxdepth 0 -fprintf ${m} x`],
    [`find . -maxdepth 0 -fls ${m}`],
    [`fd . -x touch ${m}`],
    [`fd . --exec-batch touch ${m}`],
    ["rg --pre ./evil a"],
    ["rg --hostname-bin ./evil --hyperlink-format default a", false],
    [`sort -o ${m} a.txt`],
    [`sort --outp=${m} a.txt`],
    [`sort -uo${m} a.txt`],
    ["sort --compress-program=./evil a.txt", false],
    [`sed -n 'w ${m}' a.txt`],
    [`sed '1e touch ${m}' a.txt`],
    [`sed 's/a/b/w ${m}' a.txt`],
    ["sed s/a/ls/e a.txt", false],
    [`awk 'BEGIN{system("touch ${m}")}'`],
    [`awk 'BEGIN{print > "${m}"}'`],
    [`awk 'BEGIN{print | "./evil"}'`],
    [`tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='touch ${m}' a.txt`],
    ["tar cf x.tar -I ./evil a.txt"],
    ["tar cf x.tar --use-compress-prog=./evil a.txt"],
    ["git -c alias.x='!./evil' x"],
    ["git -c core.fsmonitor=./evil status", false],
    ["git grep -O./evil a", false],
    [`git diff --no-index --output=${m} a.txt evil`],
    [`git log --outp=${m}`, false],
    ["git clone -c core.sshCommand=./evil ssh://h/x", false],
    ["git clone -u ./evil . /tmp/x", false],
    ["git ls-remote --upload-pack=./evil .", false],
    ["git rebase -x ./evil HEAD", false],
    ["less -P x a.txt", false],
    ["man -P ./evil ls", false],
    [`tree -o ${m}`],
    ["date -s 2020-01-01", false],
    ["file -C -m a.txt", false],
    [`xxd -r a.txt ${m}`],
    [`uniq a.txt ${m}`],
    [`find . $(echo -fprint) ${m}`],
    [`git log "$(echo --output=${m})"`, false],
  ];
  for (const [command, real = true] of rows) {
    const program = command.split(" ")[0]!;
    assert.notEqual(here.ask(command), "allow", command);
    assert.notEqual(here.ask(command, `+ Bash(${program}:*)`, "+ Bash(echo:*)"), "allow", command);
    if (!real || !isInstalled(program)) continue;
    await here.run(command);
    assert.equal(here.marked(), true, `${command} was meant to leave a marker`);
  }
});

test("A2: no variable before an allowed program makes it run another", () => {
  using here = new Ground();
  const variables =
    "PATH LD_PRELOAD NODE_OPTIONS BASH_ENV ENV PAGER GIT_PAGER GIT_EXTERNAL_DIFF GIT_SSH_COMMAND EDITOR IFS".split(" ");
  for (const name of variables)
    for (const command of [
      `${name}=./evil npm test`,
      `export ${name}=./evil; npm test`,
      `${name}=./evil; npm test`,
      `${name}=x cat a.txt`,
    ])
      assert.notEqual(here.ask(command, "+ Bash(npm test)", "+ Bash(cat:*)"), "allow", command);
});

test("A2: an index inside of quotes is a command to the shell: test -v and printf -v are never free", async () => {
  using here = new Ground();
  const commands = [`test -v 'a[$(touch ${here.marker})]'`, `printf -v 'a[$(touch ${here.marker})]' x`];
  for (const command of commands) {
    assert.notEqual(here.ask(command), "allow", command);
    assert.notEqual(here.ask(command, "+ Bash(test:*)", "+ Bash(printf:*)"), "allow", command);
    await here.run(command);
    assert.equal(here.marked(), true, command);
  }
});

test("A6 an agent that runs Sage itself is asked about, whatever the rules and the mode", async () => {
  const { decide } = await import("../../src/permission/decide.ts");
  const { loadGrammar } = await import("../../src/permission/shell/read/grammar.ts");
  const grammar = await loadGrammar();
  const rules = [{ behavior: "allow", text: "Bash", source: "user" } as const];
  for (const command of [
    "sage answer abc --yes",
    "cd x && /usr/bin/sage trust --yes",
    "env A=1 sage permissions add allow Bash",
    "bash -c 'sage answer abc --yes'",
  ])
    for (const mode of ["default", "bypass"] as const) {
      const answer = decide({
        rules,
        mode,
        cwd: "/tmp",
        home: "/root",
        roots: ["/tmp"],
        tool: "Bash",
        input: { command },
        grammar,
      });
      assert.deepEqual([answer.behavior, answer.hard], ["ask", true], `${mode}: ${command}`);
    }
  const harmless = decide({
    rules,
    mode: "default",
    cwd: "/tmp",
    home: "/root",
    roots: ["/tmp"],
    tool: "Bash",
    input: { command: "cat sage" },
    grammar,
  });
  assert.equal(harmless.behavior, "allow");
});

test("A1, A2 what a red team got through is asked about now", async () => {
  const { decide } = await import("../../src/permission/decide.ts");
  const { loadGrammar } = await import("../../src/permission/shell/read/grammar.ts");
  const grammar = await loadGrammar();
  const where = { cwd: "/tmp", home: "/root", roots: ["/tmp"], tool: "Bash", grammar, mode: "default" as const };
  const judge = (command: string, ...allow: string[]) =>
    decide({
      ...where,
      rules: allow.map((text) => ({ behavior: "allow", text, source: "user" }) as const),
      input: { command },
    }).behavior;
  for (const command of [
    "find . -name ''{},-o,-exec,touch,PWNED,\\;}",
    "cat ./{},../../secret}",
    "printf abc%n PATH; ls",
    "printf '%5n' IFS",
    "! cd none && cat ../secret",
    "git stash -- list",
    "git log -p -- ':/.env'",
    "jq -n --arg --arg x env .",
    "jq -n '$ ENV'",
    "jq -n '$__prog_args'",
    "ls -RL .",
    `sed -n '${" ".repeat(4_000)}p' a`,
  ])
    assert.notEqual(judge(command), "allow", command);
  assert.notEqual(judge("ln -s ../secret l && cat l", "Bash(ln:*)", "Edit(./**)"), "allow");
  assert.notEqual(judge("ln .git/config c", "Bash(ln:*)", "Edit(./**)"), "allow");
  assert.notEqual(judge("rm -f /dev/null", "Bash(rm:*)", "Edit(./**)"), "allow");
  assert.notEqual(judge("printf abc%n PATH && npm test", "Bash(printf:*)", "Bash(npm test)"), "allow");
  for (const command of [
    "cat a",
    "printf '%s\\n' x",
    "find . -name '*.ts' -exec {}",
    "jq -r '.name as $n | $n' package.json",
  ])
    assert.ok(["allow", "ask"].includes(judge(command)), command);
  assert.equal(judge("jq -r '.name as $n | $n' package.json"), "allow");
  const web = (deny: string, url: string) =>
    decide({
      ...where,
      tool: "WebFetch",
      input: { url },
      rules: [
        { behavior: "deny", text: deny, source: "user" },
        { behavior: "allow", text: "WebFetch", source: "user" },
      ],
    }).behavior;
  assert.equal(web("WebFetch(domain:bücher.de)", "https://bücher.de/x"), "deny");
  assert.equal(web("WebFetch(domain:evil.com.)", "https://evil.com/x"), "deny");
});

test("A2 a star meant for git, wc or tar at large does not cover what writes elsewhere or names programs", async () => {
  const { decide } = await import("../../src/permission/decide.ts");
  const { loadGrammar } = await import("../../src/permission/shell/read/grammar.ts");
  const grammar = await loadGrammar();
  const judge = (command: string, ...allow: string[]) =>
    decide({
      ...{ cwd: "/tmp", home: "/root", roots: ["/tmp"], tool: "Bash", grammar, mode: "default", input: { command } },
      rules: allow.map((text) => ({ behavior: "allow", text, source: "user" }) as const),
    }).behavior;
  for (const command of ["git archive -o .bashrc HEAD", "git init --template=evil", "git config core.fsmonitor ./evil"])
    assert.equal(judge(command, "Bash(git:*)"), "ask", command);
  assert.equal(judge("git config user.name x", "Bash(git config:*)"), "allow");
  assert.equal(judge("git commit -m x", "Bash(git:*)"), "allow");
  assert.equal(judge("wc --files0-from=list", "Bash(wc:*)"), "ask");
  assert.equal(judge("tar --rmt-command=./e -xf h:x", "Bash(tar:*)", "Edit(./**)"), "ask");
});
