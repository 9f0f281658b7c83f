import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { bash as bashTool } from "../../src/tools/bash.ts";
import type { ToolScope } from "../../src/tools/tool.ts";
import { answer, bashIn, rulesOf } from "./asking.ts";

/** A real folder with a real repository; `marker` is what an attack leaves behind. */
class Ground {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "sage-threat-")));
  readonly cwd = join(this.root, "w");
  readonly home = join(this.root, "home");
  readonly marker = join(this.root, "marker");
  readonly roots = [this.cwd];

  constructor() {
    mkdirSync(this.cwd);
    mkdirSync(this.home);
    this.put("a.txt", "a\n");
    this.put("evil", `#!/bin/sh\n: > '${this.marker}'\nexec cat\n`, 0o755);
  }

  put(name: string, content: string, mode = 0o644): void {
    mkdirSync(dirname(join(this.cwd, name)), { recursive: true });
    writeFileSync(join(this.cwd, name), content, { mode });
  }

  git(...args: string[]): void {
    const env = { PATH: process.env["PATH"], HOME: this.home, GIT_CONFIG_NOSYSTEM: "1" };
    const who = ["-c", "user.name=me", "-c", "user.email=me@x"];
    execFileSync("git", [...who, ...args], { cwd: this.cwd, env, stdio: "pipe" });
  }

  ask(command: string, ...rules: string[]): string {
    return bashIn({ cwd: this.cwd, home: this.home, roots: this.roots }, command, ...rules).behavior;
  }

  /** As the Bash tool runs it. */
  async run(command: string): Promise<string> {
    rmSync(this.marker, { force: true });
    const scope = {
      signal: new AbortController().signal,
      cwd: this.cwd,
      home: this.home,
      keepDir: this.root,
      env: { PATH: process.env["PATH"] },
      output() {},
      spawned() {},
    } as unknown as ToolScope;
    return (await bashTool.execute(bashTool.inputSchema.parse({ command }), scope)).text;
  }

  marked(): boolean {
    return existsSync(this.marker);
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

function isInstalled(program: string): boolean {
  return spawnSync("bash", ["-c", `command -v ${program}`]).status === 0;
}

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

const protectedPlaces = [
  ...[
    ".sage/settings.json",
    ".sage/settings.local.json",
    ".mcp.json",
    ".git/config",
    ".git/hooks/pre-commit",
    "sub/.git/config",
  ],
  ...[
    ".gitmodules",
    ".husky/pre-commit",
    ".pre-commit-config.yaml",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".envrc",
    ".vscode/tasks.json",
  ],
  ...[
    ".idea/x",
    ".devcontainer/devcontainer.json",
    ".cargo/config.toml",
    ".yarnrc.yml",
    ".npmrc",
    ".ripgreprc",
    ".GIT/config",
  ],
  ...[".ssh/authorized_keys", ".config/git/config", ".config/fish/config.fish", "AGENTS.md"],
];

test("A6: no rule and no mode lets the agent write where it would grant itself rights, there or not, by tool or by shell", () => {
  using here = new Ground();
  const rules = rulesOf("+ Edit(./**)", "+ Edit", "+ Write", "+ Bash", "+ Edit(/**)");
  const where = { cwd: here.cwd, home: here.home, roots: here.roots };
  const asks = (tool: string, input: object, mode: "default" | "bypass") => {
    const { behavior, hard } = answer(rules, tool, input, { ...where, mode });
    assert.deepEqual([behavior, hard], ["ask", true], `${tool} ${JSON.stringify(input)} ${mode}`);
  };
  symlinkSync(join(here.cwd, ".git"), join(here.cwd, "innocent"));
  for (const exists of [false, true])
    for (const place of protectedPlaces) {
      if (exists) here.put(place, "");
      for (const mode of ["default", "bypass"] as const) {
        asks("Write", { file_path: place, content: "" }, mode);
        asks("Edit", { file_path: place, old_string: "a", new_string: "b" }, mode);
        const shell = [
          ...[
            `echo x > ${place}`,
            `echo x >> ./${place}`,
            `echo x | tee ${place}`,
            `cp a.txt ${place}`,
            `mv a.txt ${place}`,
          ],
          ...[
            `ln -sf a.txt ${place}`,
            `touch ${place}`,
            `rm -f ${place}`,
            `sed -i s/a/b/ ${place}`,
            `dd if=a.txt of=${place}`,
          ],
          ...[
            `install a.txt ${place}`,
            `truncate -s 0 ${place}`,
            `chmod +x ${place}`,
            `: 2> ${place}`,
            `sudo tee ${place} < a.txt`,
          ],
          ...[
            `bash -c 'echo x > ${place}'`,
            `for i in a; do echo x > ${place}; done`,
            `find . -exec cp {} ${place} \\;`,
          ],
          ...[
            `cd ${dirname(place)} && echo x > ${place.split("/").at(-1)}`,
            `echo x | xargs cp a.txt ${place}`,
            `(echo x) > ${place}`,
            `echo x > "$PWD/${place}"`,
            `cp a.txt \${PWD}/${place}`,
          ],
        ];
        for (const command of shell) asks("Bash", { command }, mode);
      }
    }
  asks("Write", { file_path: "innocent/config", content: "" }, "bypass");
  asks("Bash", { command: "echo x > innocent/config" }, "bypass");
  asks("Write", { file_path: join(here.home, ".ssh/config"), content: "" }, "bypass");
});

test("A6: what is protected is not carried in by a folder or put in under its own name", () => {
  using here = new Ground();
  here.put("template/.vscode/tasks.json", "{}");
  here.put("template/plain.txt", "");
  here.put("plain/x.txt", "");
  here.put("box/.envrc", "");
  mkdirSync(join(here.cwd, "out"));
  const rules = ["+ Bash(cp:*)", "+ Bash(mv:*)", "+ Edit(./**)", "+ Bash(mkdir:*)"];
  for (const command of [
    ...["cp -r template out", "cp -r template/. .", "cp -a template new", "mv template new", "cp box/.envrc out"],
    ...["cp box/.envrc out/", "mkdir d && cp box/.envrc d", "cp -t out box/.envrc", "mv box/.envrc out"],
  ])
    assert.equal(here.ask(command, ...rules), "ask", command);
  for (const command of ["cp -r plain out", "cp -r plain new", "mv plain out", "cp template/plain.txt out"])
    assert.equal(here.ask(command, ...rules), "allow", command);
});

test("A6: removing a root is asked about in every mode and under every rule", () => {
  using here = new Ground();
  mkdirSync(join(here.cwd, "sub/.git"), { recursive: true });
  const removals = [
    ...[
      "rm -rf /",
      "rm -rf /*",
      "rm -rf /usr",
      "rm -rf /usr/*",
      "rm -rf ~",
      "rm -rf ~/*",
      "rm -rf $HOME",
      "rm -rf $HOME/*",
    ],
    ...[
      "rm -rf .",
      "rm -rf ./*",
      "rm -rf *",
      "rm -rf ..",
      "rm -rf ../w",
      'rm -rf "$X"/*',
      "rm -rf $X/*",
      "rm -rf ${X}/",
      "rmdir /",
    ],
    ...[
      "sudo rm -rf /",
      "bash -c 'rm -rf /'",
      "cd / && rm -rf *",
      "cd .. && rm -r w",
      "find . -exec rm -rf / \\;",
      "echo / | xargs rm -rf /",
    ],
    ...[
      "/bin/rm -rf /",
      "rm -rf -- /",
      "rm -r -f //",
      "rm -rf /./",
      "rm -rf sub",
      `rm -rf ${here.cwd}`,
      `rm -rf ${here.home}/`,
      "rm -rf '/'",
    ],
    ...["rm -rf $(pwd)", "rm -rf `pwd`", "rm -rf ${PWD}", 'rm -rf "$PWD"', "rm -rf {.,x}", "rm -rf ${HOME}/"],
    ...["find / -delete", "find . -depth -delete", "find -delete", "xargs rm -rf < list", "echo / | xargs rm -r"],
    ...["for i in a; do rm -rf /; done", "x() { rm -rf ~; }; x", "true && rm -rf .[!.]* *"],
  ];
  const where = { cwd: here.cwd, home: here.home, roots: here.roots, mode: "bypass" } as const;
  for (const command of removals) {
    const { behavior, hard } = bashIn(where, command, "+ Bash", "+ Edit");
    assert.deepEqual([behavior, hard], ["ask", true], command);
  }
  for (const command of [
    "rm -rf build",
    "rm -rf ./node_modules",
    "rm -rf *.o",
    "rm -rf sub/build",
    "rm -f /tmp/x/y",
    'rm -rf "$X"',
    "find . -name '*.o' -delete",
    "find build -delete",
    "git ls-files | xargs rm",
  ])
    assert.equal(bashIn(where, command).behavior, "allow", command);
});

const readOnlyGit = [
  ...[
    "git status",
    "git status -sb",
    "git diff",
    "git diff --stat",
    "git diff HEAD~1 -- a.txt",
    "git log -p",
    "git log --oneline -5",
  ],
  ...[
    "git show",
    "git show HEAD:a.txt",
    "git blame a.txt",
    "git shortlog -sn HEAD",
    "git rev-parse HEAD",
    "git rev-list --count HEAD",
  ],
  ...[
    "git ls-files",
    "git ls-files -m",
    "git ls-tree HEAD",
    "git cat-file -p HEAD",
    "git describe --always --dirty",
    "git merge-base HEAD HEAD",
  ],
  ...[
    "git branch --show-current",
    "git branch -a",
    "git branch -vv",
    "git branch",
    "git tag --list",
    "git tag -l 'v*'",
    "git remote -v",
    "git remote",
  ],
  ...["git stash list", "git worktree list", "git config --get user.name", "git config --list"],
];

test("A7: what a repository says about programs never runs unasked", async () => {
  using here = new Ground();
  here.git("init", "-q");
  here.put(".gitattributes", "*.txt diff=evil filter=evil\n");
  here.git("add", ".");
  here.git("commit", "-qm", "one");
  here.put("a.txt", "b\n");
  for (const command of readOnlyGit) assert.equal(here.ask(command), "allow", command);

  const config = join(here.cwd, ".git/config");
  const evil = join(here.cwd, "evil");
  const settings = [
    `[core]\n\tfsmonitor = ${evil}\n`,
    `[core]\n\tfsmonitor = true\n`,
    `[diff]\n\texternal = ${evil}\n`,
    `[diff "evil"]\n\tcommand = ${evil}\n`,
    `[diff "evil"]\n\ttextconv = ${evil}\n`,
    `[filter "evil"]\n\tclean = ${evil}\n`,
    `[filter "evil"]\n\tsmudge = ${evil}\n`,
    `[filter "evil"]\n\tprocess = ${evil}\n`,
    `[core]\n\tpager = ${evil}\n`,
    `[pager]\n\tlog = ${evil}\n`,
    `[core]\n\tsshCommand = ${evil}\n`,
    `[gpg]\n\tprogram = ${evil}\n`,
    `[log]\n\tshowSignature = true\n`,
    `[include]\n\tpath = ../evil.config\n`,
    `[includeIf "gitdir:/"]\n\tpath = ../evil.config\n`,
    `[core]\n\thooksPath = .\n`,
    `[core]\n\tworktree = /\n`,
    `[CORE]fsmonitor=${evil}\n`,
    `[alias]\n\tx = !${evil}\n`,
    `[a] [core]\n\tfsmonitor = ${evil}\n`,
    `[remote "o"]\n\tuploadpack = ${evil}\n`,
    `[extensions]\n\tpartialClone = origin\n`,
    "not a configuration\n",
  ];
  const { readFileSync } = await import("node:fs");
  const clean = readFileSync(config, "utf8");
  for (const setting of settings) {
    writeFileSync(config, clean + setting);
    for (const command of readOnlyGit) {
      assert.equal(here.ask(command), "ask", `${setting} ${command}`);
      assert.equal(here.ask(command, "+ Bash(git:*)"), "allow", `${setting} ${command}`);
    }
  }
  // That the setting would have run it is what makes this a test.
  writeFileSync(config, clean + settings[2]!);
  await here.run("git diff");
  assert.equal(here.marked(), true);
  // This one does not run even then.
  writeFileSync(config, clean + settings[0]!);
  here.git("status");
  assert.equal(here.marked(), true);
  await here.run("git status");
  assert.equal(here.marked(), false);
  writeFileSync(config, clean);
  writeFileSync(join(here.cwd, ".git/config.worktree"), settings[2]!);
  assert.equal(here.ask("git diff"), "ask");
  rmSync(join(here.cwd, ".git/config.worktree"));

  appendFileSync(
    config,
    '[remote "origin"]\n\turl = https://h/x\n\tfetch = +a:b\n[branch "main"]\n\tremote = origin\n[user]\n\tname = x\n',
  );
  for (const command of readOnlyGit) {
    assert.equal(here.ask(command), "allow", command);
    await here.run(command);
    assert.equal(here.marked(), false, command);
  }
});

test("A7: another repository inside of this one, bare or nested, is not looked at unasked", async () => {
  using here = new Ground();
  here.git("init", "-q");
  here.git("commit", "-qm", "one", "--allow-empty");
  mkdirSync(join(here.cwd, "nested"));
  here.git("-C", "nested", "init", "-q");
  here.git("init", "-q", "--bare", "bare");
  here.put("plain/x.txt", "");
  assert.equal(here.ask("git status"), "allow");
  assert.equal(here.ask("cd plain && git status"), "allow");
  assert.equal(here.ask("cd nested && git status"), "ask");
  assert.equal(here.ask("cd bare && git log"), "ask");
  assert.equal(here.ask("cd bare/objects && git log"), "ask");
  // Git looks into a nested repository by itself once it is part of the outer one, and runs what that one says.
  here.git("-C", "nested", "commit", "-qm", "one", "--allow-empty");
  here.git("add", "nested");
  assert.equal(here.ask("git status"), "ask");
  assert.equal(here.ask("git log"), "allow");
  appendFileSync(join(here.cwd, "nested/.git/config"), `[core]\n\tfsmonitor = ${join(here.cwd, "evil")}\n`);
  here.git("status");
  assert.equal(here.marked(), true);
});

test("A7: git is only free in the forms that look", () => {
  using here = new Ground();
  here.git("init", "-q");
  const others = [
    ...[
      "git",
      "git -C .. status",
      "git -C /etc log",
      "git -C $X log",
      "git -C other log",
      "git -C other/.. -C other log",
      "git -C out log",
      "git -C . -C .. log",
      "git -c a=b status",
      "git -c pager.status=evil status",
      "git -c core.pager=evil status",
      "git --no-pager -c core.fsmonitor=evil status",
      "git -p log",
      "git --git-dir=x status",
      "git branch new",
      "git branch -d x",
    ],
    ...[
      "git tag v1",
      "git tag -d v1",
      "git remote add a b",
      "git remote show origin",
      "git stash",
      "git stash pop",
      "git worktree add x",
    ],
    ...[
      "git config a.b c",
      "git config --unset a.b",
      "git config --get -f /etc/x a",
      "git config -e",
      "git diff --no-index a /etc/passwd",
    ],
    ...[
      "git diff /etc/passwd a.txt",
      "git diff ../x a.txt",
      "git log --ext-diff",
      "git log --textconv",
      "git show --output=x",
      "git log --format=%G?",
    ],
    ...[
      "git log --show-signature",
      "git blame --contents /etc/passwd a",
      "git cat-file --textconv HEAD:a",
      "git cat-file --batch",
      "git add a",
      "git push",
    ],
    ...[
      "git log $X",
      "git show *",
      "git ls-files -X /etc/passwd",
      "git grep -Oevil a",
      "git grep --open-files-in-pager=evil a",
      "git grep --no-index a /etc",
      "git grep -f /etc/passwd",
      "git grep a -- /etc",
      "git symbolic-ref HEAD refs/heads/x",
      "git symbolic-ref -d HEAD",
      "git for-each-ref --format='%(signature)'",
      "git remote get-url --push a b",
      "git remote set-url a b",
      "git reflog delete HEAD@{1}",
      "git fetch",
      "git reflog expire",
      "GIT_OPTIONAL_LOCKS=1 git status",
    ],
    ...["GIT_DIR=x git status", "git log --stdin", "git describe --dirty=x --contains /etc/x ../../y"],
  ];
  mkdirSync(join(here.cwd, "sub"));
  const looking = [
    ...["git --no-pager log", "git -C sub status", "git -C . --no-pager -c color.ui=never diff", "git -P show HEAD"],
    ...["git grep a", "git grep -n a -- sub", "git reflog -5", "git symbolic-ref --short HEAD", "git config user.name"],
  ];
  for (const command of looking) assert.equal(here.ask(command), "allow", command);
  assert.equal(here.ask("git checkout x && git -C sub log", "+ Bash(git checkout:*)"), "ask");
  // A repository that is not the session's, and a link that leads out.
  here.git("init", "-q", "other");
  symlinkSync("/", join(here.cwd, "out"));
  for (const command of others) assert.equal(here.ask(command), "ask", command);
});

test("A7: a configuration file of ripgrep is not read by the commands that run unasked", async () => {
  if (!isInstalled("rg")) return;
  using here = new Ground();
  here.put(".ripgreprc", "--pre=./evil\n");
  assert.equal(here.ask("rg a a.txt"), "allow");
  await here.run("rg a a.txt");
  assert.equal(here.marked(), false);
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

test("A7 a repository that hides what its configuration names is not looked at without asking", async (t) => {
  const { programKeyIn } = await import("../../src/permission/programs/repository.ts");
  assert.notEqual(programKeyIn('[core]\n\tlongpaths = x \\\n[user]\n\tfsmonitor = "touch x"'), undefined);
  assert.notEqual(programKeyIn("[blame]\n\tignoreRevsFile = /etc/passwd"), undefined);
  const { mkdtempSync, mkdirSync, rmSync, writeFileSync } = await import("node:fs");
  const { tmpdir } = await import("node:os");
  const { join } = await import("node:path");
  const { troubleInRepository } = await import("../../src/permission/programs/repository.ts");
  const dir = mkdtempSync(join(tmpdir(), "sage-repository-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, ".git"));
  assert.equal(troubleInRepository(dir, dir, { tree: false })?.code, "repository-incomplete");
  writeFileSync(join(dir, ".git/HEAD"), "ref: refs/heads/main\n");
  assert.equal(troubleInRepository(dir, dir, { tree: false }), undefined);
  mkdirSync(join(dir, ".git/hooks"));
  writeFileSync(join(dir, ".git/hooks/post-index-change"), "");
  assert.equal(troubleInRepository(dir, dir, { tree: false })?.code, "repository-hook");
  mkdirSync(join(dir, "sub"));
  writeFileSync(join(dir, "sub/HEAD"), "");
  assert.equal(troubleInRepository(join(dir, "sub"), dir, { tree: false })?.code, "repository-bare");
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
