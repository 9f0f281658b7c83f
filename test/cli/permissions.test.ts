import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { convertRule, type Origin } from "../../src/cli/govern/permissions/claude-code.ts";
import { knownTools } from "../../src/config/config.ts";
import { bash, Machine } from "../support/cli.ts";

const put = (path: string, value: unknown) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
};
const get = (path: string) => JSON.parse(readFileSync(path, "utf8"));

suite("sage permissions backtest, suggest; sage stats", () => {
  test("a rule is tried against the past of this project before it is kept, in both languages", async () => {
    using machine = new Machine();
    assert.match(
      (await machine.sage(["permissions", "backtest", "Bash(make:*)"])).out,
      /^No calls in this project yet/,
    );
    assert.match((await machine.sage(["permissions", "backtest"])).out, /^No rules are in force here\. Name one/);
    assert.match((await machine.sage(["stats"])).out, /^No calls yet\./);
    const task = machine.script({ calls: [bash("make a"), bash("make a"), bash("make b \u4e2d")] }, { text: "done" });
    await machine.sage(["-p", "--model", task, "go"]);
    const [first, second, third] = await machine.pending();
    for (const one of [first, second]) await machine.sage(["answer", one?.id ?? "", "--yes"]);
    await machine.sage(["answer", third?.id ?? "", "--no", "--run"]);
    const { out } = await machine.sage(["permissions", "backtest", "Bash(make:*)"]);
    assert.match(
      out,
      /The last 3 calls in this project[^]*allowed 3 calls without asking\. 1 of them was refused by a person\.\n  Among them:\n    make b \u4e2d  refused by you/,
    );
    const json = JSON.parse((await machine.sage(["permissions", "backtest", "--json", "Bash(make:*)"])).out);
    assert.deepEqual([json[0].changed, json[0].against], [3, 1]);
    assert.match(
      (await machine.sage(["permissions", "add", "allow", "Bash(make a:*)"])).out,
      /Saved to[^]*Would have allowed 2 calls/,
    );
    assert.match(
      (await machine.sage(["stats", "--lang", "zh"])).out,
      /询问了 3 次（100 %），拒绝 1 次[^]*你（命令行） +3 +2 +1/,
    );
    const bad = await machine.sage(["permissions", "backtest", "Bash(make"]);
    assert.equal(bad.code, 2);
    assert.match(bad.err, /Bash\(make/);
  });
});

suite("sage permissions list, add, remove", () => {
  test("a rule goes where it is told to, is listed with its file, and can be taken back", async () => {
    using machine = new Machine();
    const permissions = (...args: string[]) => machine.sage(["permissions", ...args]);
    assert.match((await permissions("list")).out, /No rules\./);
    const local = join(machine.cwd, ".sage/settings.local.json");
    const user = join(machine.env["SAGE_HOME"] ?? "", "settings.json");
    assert.equal(
      (await permissions("add", "allow", "Bash(npm test:*)")).out,
      `Saved to ${local}: Bash(npm test:*)\nRuns whatever package.json says at that time.\n`,
    );
    await permissions("add", "deny", "Read(~/.ssh/**)", "--to", "user");
    await permissions("add", "allow", "Bash(npm test:*)", "--to", "user");
    assert.equal(
      (await permissions("list")).out,
      [
        `${user} (you, in all projects)`,
        "  deny",
        "  │ Read(~/.ssh/**)",
        "  allow",
        "  │ Bash(npm test:*)",
        `${local} (you, in this project)`,
        "  allow",
        "  │ Bash(npm test:*)",
        "",
      ].join("\n"),
    );
    const { rules, warnings } = JSON.parse((await permissions("list", "--json")).out);
    assert.deepEqual(rules[0], { behavior: "deny", rule: "Read(~/.ssh/**)", source: "user", file: user, counts: true });
    assert.deepEqual([rules.length, warnings], [3, []]);

    const several = await permissions("remove", "Bash(npm test:*)");
    assert.deepEqual([several.code, several.out], [2, ""]);
    assert.match(several.err, /is in several files; choose one: --to local \| --to user/);
    assert.equal((await permissions("remove", "Bash(npm test:*)", "--to", "user")).code, 0);
    assert.equal((await permissions("remove", "Bash(npm test:*)")).out, `Removed from ${local}: Bash(npm test:*)\n`);
    assert.equal((await permissions("remove", "Bash(npm test:*)")).code, 2);
    assert.deepEqual(get(user).permissions, { deny: ["Read(~/.ssh/**)"], allow: [] });
  });

  test("what cannot be read, names no tool or is said wrongly is told, and nothing is written for it", async () => {
    using machine = new Machine();
    const permissions = (...args: string[]) => machine.sage(["permissions", ...args]);
    for (const [args, message] of [
      [[], /usage: /],
      [["lsit"], /usage: /],
      [["add", "permit", "Bash"], /add <allow\|ask\|deny> <rule>/],
      [["add", "allow"], /add <allow\|ask\|deny> <rule>/],
      [["add", "allow", "Bash", "--to", "session"], /one of local, project, user/],
      [["add", "deny", "Bash("], /cannot be read/],
      [["remove"], /remove <rule>/],
      [["remove", "Bash"], /no settings file here has the rule Bash/],
    ] as const) {
      const { code, err } = await permissions(...args);
      assert.equal(code, 2, err);
      assert.match(err, message);
    }
    assert.equal(existsSync(join(machine.cwd, ".sage")), false);
    assert.match((await permissions("add", "deny", "Bsah(rm)")).err, /there is no such tool/);
    const { err } = await permissions("add", "deny", "Read(/no-such-folder/**)");
    assert.match(
      err,
      /is about \/no-such-folder, which does not exist; for a folder of the project write \.\/no-such-folder/,
    );
  });

  test("F1: rules of an untrusted folder are listed as not counting, and nothing is written beside them", async () => {
    using machine = new Machine();
    const file = join(machine.cwd, ".sage/settings.json");
    put(file, { permissions: { allow: ["Bash(\u202e)"] } });
    const listed = await machine.sage(["permissions", "list"]);
    assert.match(listed.out, /ignored: not trusted[^]*Bash\(‹U\+202E›\)/);
    for (const args of [
      ["add", "deny", "Bash"],
      ["remove", "Bash(\u202e)"],
    ])
      assert.equal((await machine.sage(["permissions", ...args])).code, 2);
    assert.deepEqual(get(file), { permissions: { allow: ["Bash(\u202e)"] } });
  });

  test("F3: what changed behind a trusted folder's back is not trusted by saving a rule there", async () => {
    using machine = new Machine();
    const file = join(machine.cwd, ".sage/settings.json");
    await machine.sage(["permissions", "add", "allow", "Bash(ls)", "--to", "project"]);
    put(file, { permissions: { allow: ["Bash"] } });
    const { code, err } = await machine.sage(["permissions", "add", "allow", "Bash(id)"]);
    assert.equal(code, 2);
    assert.match(err, /are not trusted, or changed since, so nothing is saved there/);
  });
});

suite("sage permissions explain", () => {
  test("says what would happen, by which rule of which file, and runs nothing", async () => {
    using machine = new Machine();
    const explain = (...args: string[]) => machine.sage(["permissions", "explain", ...args]);
    const user = join(machine.env["SAGE_HOME"] ?? "", "settings.json");
    await machine.sage(["permissions", "add", "deny", "Bash(touch:*)", "--to", "user"]);
    const denied = await explain("Bash", "touch ran.txt");
    assert.match(denied.out, /^Bash is refused\n  step 1 of 11: a deny rule matches any part\n/);
    assert.ok(denied.out.includes(`  rule: Bash(touch:*) (you, in all projects: ${user})\n`), denied.out);
    assert.match((await explain("Bash", "mkdir a; touch b")).out, /is refused/);
    assert.match((await explain("Write", '{"file_path":"a","content":"b"}')).out, /^Write asks\n/);
    assert.match((await explain("Read", "a.txt")).out, /^Read runs without asking\n/);
    assert.match((await explain("Edit", ".git/config")).out, /asks[^]*Only a person can allow this/);
    assert.match((await explain("Write", "a.txt", "--bypass")).out, /runs without asking/);
    const json = JSON.parse((await explain("Bash", "touch x", "--json")).out);
    const { behavior, rule, source, file, step, stepName } = json;
    assert.deepEqual([behavior, rule, source, file], ["deny", "Bash(touch:*)", "user", user]);
    assert.deepEqual([step, stepName], [1, "deny"]);
    for (const args of [[], ["Bash"], ["mcp__x__y", "text"], ["Bsah", "ls"]])
      assert.equal((await explain(...args)).code, 2);
    assert.equal(machine.file("ran.txt"), undefined);
  });
});

test("explain and check know the sandbox and plan mode", async () => {
  using machine = new Machine();
  const explain = async (...args: string[]) => (await machine.sage(["permissions", "explain", ...args])).out;
  assert.match(await explain("Bash", "touch a"), /^Bash asks\n/);
  assert.match(await explain("Bash", "touch a", "--plan"), /^Bash is refused\n/);
  assert.match(await explain("Read", "a.txt", "--plan"), /^Read runs without asking\n/);
  mkdirSync(machine.env["SAGE_HOME"] ?? "", { recursive: true });
  writeFileSync(
    join(machine.env["SAGE_HOME"] ?? "", "settings.json"),
    JSON.stringify({ sandbox: { mode: "autoAllow" } }),
  );
  // For root the setting counts as `contain`, which asks.
  const confined = process.getuid?.() === 0 ? /^Bash asks\n/ : /^Bash runs without asking\n/;
  assert.match(await explain("Bash", "touch a"), confined);
  assert.match(await explain("Bash", "touch a", "--plan"), /^Bash is refused\n/);
  const call = { cwd: machine.cwd, tool: "Bash", input: { command: "touch a" } };
  const sandbox = { mode: "autoAllow" };
  const lines = [
    call,
    { ...call, sandbox },
    { ...call, sandbox, sessionMode: "plan" },
    { ...call, sandbox: { mode: "always" } },
  ];
  const { out } = await machine.sage(["permissions", "check", "--stdin"], {
    input: lines.map((line) => JSON.stringify(line)).join("\n"),
  });
  const answers = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    answers.map(({ behavior }) => behavior),
    ["ask", "allow", "deny", undefined],
  );
  assert.match(answers[3].error, /sandbox\.mode/);
});

suite("sage permissions check", () => {
  const ask = async (machine: Machine, lines: readonly (object | string)[]) => {
    const input = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
    const { code, out, err } = await machine.sage(["permissions", "check", "--stdin"], { input });
    assert.deepEqual([code, err], [0, ""]);
    return out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  };

  test("one answer per line, in order; a line that cannot be read does not stop the rest", async () => {
    using machine = new Machine();
    const rules = {
      deny: ["Bash(rm:*)"],
      ask: ["Bash(git push:*)"],
      allow: ["Bash(git:*)", "mcp__x", "Edit(./src/**)"],
    };
    const call = { rules, mode: "default", cwd: machine.cwd, tool: "Bash" };
    const mcp = { ...call, tool: "mcp__x__y", input: {} };
    const answers = await ask(machine, [
      { id: 1, ...call, input: { command: "git status && rm -r x" } },
      { id: "two", ...call, input: { command: "git push origin" } },
      "not json",
      "",
      { id: 4, tool: "Bash" },
      { id: 5, ...call, rules: { deny: ["Bash("] }, input: { command: "ls" } },
      { ...call, input: { command: "git commit -m x" } },
      { ...call, mode: "bypass", input: { command: "make" } },
      { ...call, mode: "bypass", input: { command: "rm x" } },
      mcp,
      { ...mcp, mcpTools: { mcp__x__y: { requiresUserInteraction: true } } },
      { ...call, tool: "Edit", input: { file_path: "src/a", old_string: "a", new_string: "b" } },
      { ...call, tool: "Write", input: { file_path: "other", content: "" } },
      { ...call, tool: "Read", input: { file_path: "/etc/hosts" } },
      { ...call, tool: "Read", input: { file_path: "/etc/hosts" }, roots: ["/etc"] },
      { ...call, tool: "Task", input: { agent: "Explore", description: "x", prompt: "y" } },
      { ...call, tool: "AskUserQuestion", mode: "bypass", input: { questions: [] } },
    ]);
    assert.deepEqual(
      answers.map(({ id, behavior, rule, error }) => [id, behavior ?? (error ? "error" : "?"), rule]),
      [
        [1, "deny", "Bash(rm:*)"],
        ["two", "ask", "Bash(git push:*)"],
        [undefined, "error", undefined],
        [4, "error", undefined],
        [5, "error", undefined],
        [undefined, "allow", "Bash(git:*)"],
        [undefined, "allow", undefined],
        [undefined, "deny", "Bash(rm:*)"],
        [undefined, "allow", "mcp__x"],
        [undefined, "ask", undefined],
        [undefined, "allow", "Edit(./src/**)"],
        [undefined, "ask", undefined],
        [undefined, "ask", undefined],
        [undefined, "allow", undefined],
        [undefined, "allow", undefined],
        [undefined, "ask", undefined],
      ],
    );
    assert.ok(answers.every(({ message, error }) => typeof (message ?? error) === "string"));
    assert.equal(answers[0].reason.code, "denied-by-rule");
    assert.equal(answers[0].source, "user");
  });

  test("it is the decision of the loop: the same calls come out the same", async () => {
    using machine = new Machine();
    const commands = [
      "ls",
      "rm -r x",
      "git log",
      "cat /etc/passwd",
      "echo $(id)",
      "npm test > out",
      "cd .. && ls",
      "a; b",
    ];
    const rules = ["Bash(npm test:*)", "Bash(a)"];
    const calls = commands.map((command) => ({ tool: "Bash", input: { command } }));
    for (const rule of rules) await machine.sage(["permissions", "add", "allow", rule, "--to", "user"]);
    const model = machine.script({ calls }, { text: "End." });
    await machine.sage(["-p", "go", "--model", model, "--deny"]);
    const [judged] = await machine.facts("calls.judged");
    const verdicts = judged?.data["verdicts"] as { behavior: string }[] | undefined;
    const answers = await ask(
      machine,
      calls.map((call) => ({ ...call, rules: { allow: rules }, mode: "default", cwd: machine.cwd, home: machine.dir })),
    );
    assert.deepEqual(
      answers.map(({ behavior }) => behavior),
      verdicts?.map(({ behavior }) => behavior),
    );
  });

  test("thousands of lines stream through", async () => {
    using machine = new Machine();
    const allow = Array.from({ length: 200 }, (_, n) => `Bash(tool${n}:*)`);
    const lines = Array.from({ length: 5_000 }, (_, id) => ({
      id,
      rules: { allow },
      mode: "default",
      cwd: machine.cwd,
      tool: "Bash",
      input: { command: `tool${id % 250} --flag ${id}` },
    }));
    const answers = await ask(machine, lines);
    assert.deepEqual(
      answers.map(({ id, behavior }) => [id, behavior]),
      lines.map(({ id }) => [id, id % 250 < 200 ? "allow" : "ask"]),
    );
  });
});

suite("sage permissions import", () => {
  const origin: Origin = { kind: "local", root: "/w(1)", to: "local" };
  for (const [behavior, from, expected, reason] of [
    ["allow", "Bash(npm run test:*)", ["Bash(npm run test:*)"]],
    ["allow", "Bash(npm run *)", ["Bash(npm run *)"]],
    ["allow", "Bash(ls*)", ["Bash(ls*)"]],
    ["allow", "Bash(*)", ["Bash"]],
    ["allow", "Bash(git * main)", ["Bash(git * main)"]],
    ["allow", "Bash(git com*it -m)", ["Bash(git com*it -m)"], "narrower"],
    ["allow", "Bash(* --version)", undefined, "any-program"],
    ["deny", "Bash(* --force)", ["Bash(* --force)"]],
    ["deny", "Bash(git push*--force*)", ["Bash(git push*)"], "wider"],
    ["ask", "Bash(*--force*)", undefined, "star"],
    ["deny", "Read(.env)", ["Read(**/.env)"]],
    ["deny", "Read(*.pem)", ["Read(**/*.pem)"]],
    ["deny", "Read(./.env)", ["Read(./.env)"]],
    ["deny", "Read(secrets/)", ["Read(**/secrets/**)"]],
    ["deny", "Read(//etc/**)", ["Read(/etc/**)"]],
    ["deny", "Read(~/.ssh/**)", ["Read(~/.ssh/**)"]],
    ["deny", "Read(/secrets/**)", ["Read(/w\\(1\\)/secrets/**)"]],
    ["allow", "Edit(src/**)", ["Edit(src/**)"]],
    ["allow", "Write(docs/**)", ["Edit(docs/**)"], "write-is-edit"],
    ["allow", "Write", ["Write"]],
    ["deny", "Edit(!keep)", undefined, "pattern"],
    ["deny", "Read([!a])", undefined, "pattern"],
    ["allow", "WebFetch(domain:example.com)", ["WebFetch(domain:example.com)"]],
    ["allow", "WebFetch(domain:*)", ["WebFetch"]],
    ["deny", "WebFetch(domain:example.*)", undefined, "pattern"],
    ["allow", "mcp__github", ["mcp__github"]],
    ["allow", "mcp__github__*", ["mcp__github__*"]],
    ["allow", "mcp__*", undefined, "unreadable"],
    ["deny", "mcp__*", ["mcp__*"]],
    ["deny", "Agent(Explore)", undefined, "specifier"],
    ["deny", "NotebookEdit", undefined, "no-tool"],
    ["deny", "Bash(", undefined, "unreadable"],
    ["deny", 7, undefined, "unreadable"],
  ] as const)
    test(`${behavior} ${from} → ${expected?.join(", ") ?? "nothing"}`, () => {
      const { to, why } = convertRule(from, behavior, origin, knownTools());
      assert.deepEqual([to, why], [expected, reason]);
    });

  test("a leading slash in the person's own settings guards both folders it may have meant, and allows one", () => {
    const own: Origin = { kind: "user", root: "/h/.claude", to: "user" };
    assert.deepEqual(convertRule("Read(/x)", "deny", own, knownTools()).to, ["Read(/h/.claude/x)", "Read(./x)"]);
    assert.deepEqual(convertRule("Read(/x)", "allow", own, knownTools()).to, ["Read(/h/.claude/x)"]);
    const shared = convertRule("Read(/x)", "deny", { ...origin, kind: "project", to: "project" }, knownTools());
    assert.deepEqual([shared.to, shared.why], [["Read(./x)"], "start-folder"]);
  });

  test("shows what becomes of each, writes nothing unasked, and then exactly what it showed", async () => {
    using machine = new Machine();
    put(join(machine.dir, ".claude/settings.json"), { permissions: { deny: ["Read(.env)"] }, model: "opus" });
    put(join(machine.cwd, ".claude/settings.local.json"), {
      permissions: {
        allow: ["Bash(npm test:*)", "Edit(/src/**)", "Agent(Explore)"],
        deny: ["Bash(*--force*)", "Read(a\u202e)"],
        defaultMode: "bypassPermissions",
        additionalDirectories: ["/x"],
      },
      hooks: { PreToolUse: [] },
    });
    const local = join(machine.cwd, ".sage/settings.local.json");
    const user = join(machine.env["SAGE_HOME"] ?? "", "settings.json");
    const run = (...args: string[]) => machine.sage(["permissions", "import", ...args]);
    const shown = await run();
    assert.equal(shown.code, 3);
    const report = [
      `${machine.dir}/.claude/settings.json → ${user}`,
      "Imported:",
      "  │ deny Read(.env) → Read(**/.env)",
      "Not imported:",
      "  │ model",
      "    no equivalent",
      `${machine.cwd}/.claude/settings.local.json → ${local}`,
      "Imported:",
      "  │ deny Read(a‹U+202E›) → Read(**/a‹U+202E›)",
      "  │ allow Bash(npm test:*)",
      `  │ allow Edit(/src/**) → Edit(${machine.cwd}/src/**)`,
      "Not imported:",
      "  │ deny Bash(*--force*)",
      "    a * attached to the first word matches less here; write one rule per program",
      "  │ allow Agent(Explore)",
      "    this condition is not supported for this tool",
      "  │ permissions.defaultMode",
      "    the mode is chosen on the command line (--bypass), not in a file",
      "  │ permissions.additionalDirectories",
      "    Sage works in one folder; allow others with a rule such as Read(/other/folder/**)",
      "  │ hooks",
      "    hooks use a different protocol here; rewrite them (see docs/settings.md)",
      "1 deny or ask rule was not imported: unless you add your own, Sage is less strict than Claude Code was.",
    ].join("\n");
    assert.equal(shown.out, `${report}\nNothing written. Use --yes to write these rules.\n`);
    assert.equal((await run("--dry-run")).code, 0);
    assert.deepEqual([existsSync(local), existsSync(user)], [false, false]);

    assert.equal((await run("--yes")).code, 0);
    assert.deepEqual(get(user), { permissions: { deny: ["Read(**/.env)"] } });
    assert.deepEqual(get(local), {
      permissions: { deny: ["Read(**/a\u202e)"], allow: ["Bash(npm test:*)", `Edit(${machine.cwd}/src/**)`] },
    });
    assert.match((await run("--yes")).out, /3 already present\.[^]*0 rules written/);

    const given = join(machine.dir, "other.json");
    put(given, { permissions: { allow: ["Bash(ls)"] } });
    assert.match((await run(given, "--to", "user", "--yes")).out, new RegExp(`1 rule written to ${user}`));
    assert.deepEqual(get(user).permissions.allow, ["Bash(ls)"]);
    for (const [args, message] of [
      [[join(machine.dir, "none.json")], /there is no file .*none\.json/],
      [["--yes", "--dry-run"], /cannot be combined with/],
      [["--to", "session"], /one of local, project, user/],
    ] as const)
      assert.match((await run(...args)).err, message);
  });

  test("with nothing to import it says where it looked", async () => {
    using machine = new Machine();
    const { code, out } = await machine.sage(["permissions", "import"]);
    assert.equal(code, 0);
    assert.match(
      out,
      /None of these files exists:\n {2}\S+\/\.claude\/settings\.json\n {2}\S+project\/\.claude\/settings\.json/,
    );
  });
});

test("B6 a rule of a session is taken back, and the next call of its kind asks again", async () => {
  using here = new Machine();
  const again = { calls: [bash("env echo one")] };
  const model = here.script(again, { text: "done" }, again, { text: "done" }, again, { text: "done" });
  assert.equal((await here.sage(["-p", "go", "--model", model])).code, 3);
  const [one] = await here.pending();
  assert.ok(one);
  assert.equal((await here.sage(["answer", one.id, "--always"])).code, 0);
  assert.equal((await here.sage(["-p", "--continue"])).code, 0);
  assert.equal((await here.sage(["-p", "more", "--continue"])).code, 0, "the rule holds");
  const rule = "Bash(env echo one)";
  const { code, out } = await here.sage(["permissions", "remove", rule]);
  assert.equal(code, 0);
  assert.match(out, /Bash\(env echo one\)/);
  assert.equal((await here.sage(["permissions", "remove", rule])).code, 2, "it is gone");
  assert.equal((await here.sage(["-p", "more", "--continue"])).code, 3, "it asks again");
});
