// Threats A6, F1, F3: which file a hook runs is the person's to say, not the repository's, and not the agent's.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { bash, Machine } from "../support/cli.ts";

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

const settingsWith = (...commands: string[]) =>
  JSON.stringify({ hooks: { beforeCall: commands.map((command) => ({ matcher: "Bash", command })) } });
const script = (mark: string) =>
  `#!/bin/sh\ncat > /dev/null\necho "${mark} in $(pwd) for $SAGE_CWD" >> "$HOME/hooks.log"\n`;
const log = (machine: Machine) => machine.file("../hooks.log") ?? "";
const home = (machine: Machine) => machine.env["SAGE_HOME"] ?? "";
const edit = (path: string) => ({ tool: "Write", input: { file_path: path, content: "exit 0\n" } });

suite("hooks", () => {
  test("F1: a relative command of the person's own settings is the file beside them, never the repository's", async () => {
    using machine = new Machine();
    for (const name of ["check.sh", "tools/check.js"]) {
      write(
        join(machine.cwd, name),
        name.endsWith("js") ? "require('fs').appendFileSync(process.env.HOME + '/hooks.log', 'evil')" : script("evil"),
        0o755,
      );
      write(
        join(home(machine), name),
        name.endsWith("js")
          ? "require('fs').appendFileSync(process.env.HOME + '/hooks.log', 'mine\\n')"
          : script("mine"),
        0o755,
      );
    }
    write(
      join(home(machine), "settings.json"),
      settingsWith("./check.sh", "sh check.sh", "true; ./check.sh", "cd . && sh ./check.sh", "node tools/check.js"),
    );
    const model = machine.script({ calls: [bash("true")] }, { text: "ok" });
    const { code, err } = await machine.sage(["-p", "go", "--model", model]);
    assert.equal(code, 0, err);
    const mine = `mine in ${home(machine)} for ${machine.cwd}\n`;
    assert.equal(log(machine), `${mine.repeat(4)}mine\n`);
  });

  test("F3: trust covers the scripts that a project's hooks name; a changed one is shown, and asks for trust again", async () => {
    using machine = new Machine();
    write(join(machine.cwd, ".sage/settings.json"), settingsWith("sh scripts/check.sh --strict"));
    write(join(machine.cwd, "scripts/check.sh"), script("first"));
    for (const folder of ["sub", ".git"]) mkdirSync(join(machine.cwd, folder));
    const seen = await machine.sage(["trust"]);
    assert.match(seen.out, /scripts\/check\.sh[^]*run by a hook:[^]*echo "first in/, "it is read before it is trusted");
    assert.equal((await machine.sage(["trust", "--yes"])).code, 0);
    const run = (...args: string[]) =>
      machine.sage(["-p", "go", "--model", machine.script({ calls: [bash("true")] }, { text: "ok" }), ...args]);
    await run();
    await run("--cwd", "sub");
    assert.equal(
      log(machine),
      `first in ${machine.cwd} for ${machine.cwd}\nfirst in ${machine.cwd} for ${join(machine.cwd, "sub")}\n`,
    );

    write(join(machine.cwd, "scripts/check.sh"), script("second"));
    const { err } = await run();
    assert.match(err, /are ignored/);
    assert.doesNotMatch(log(machine), /second/);
    const changed = await machine.sage(["trust"]);
    assert.match(changed.out, /changed since you trusted them[^]*- .*first[^]*\+ .*second/);
  });

  test("A6: a script that changes while a session runs is not run, and its call is asked about", async () => {
    using machine = new Machine();
    write(join(machine.cwd, ".sage/settings.json"), settingsWith("sh scripts/check.sh"));
    write(join(machine.cwd, "scripts/check.sh"), script("trusted"));
    await machine.sage(["trust", "--yes"]);
    write(join(machine.cwd, "swap.sh"), `printf '%s' '${script("swapped")}' > scripts/check.sh\n`);
    await machine.sage(["permissions", "add", "allow", "Bash(sh swap.sh)", "--to", "user"]);
    const model = machine.script({ calls: [bash("sh swap.sh")] }, { calls: [bash("ls")] }, { text: "ok" });
    const { code, err } = await machine.sage(["-p", "go", "--model", model]);
    assert.equal(code, 3, "a call that its guard did not see waits for the person");
    assert.match(err, /scripts\/check\.sh has changed since you trusted it/);
    assert.equal(log(machine), `trusted in ${machine.cwd} for ${machine.cwd}\n`);
  });

  test("A6: the agent's edit of a hook is asked about whatever allows edits, by tool and by shell, there or not yet", async () => {
    using machine = new Machine();
    write(join(machine.cwd, ".sage/settings.json"), settingsWith("sh scripts/check.sh", "./later/hook.sh || true"));
    write(join(machine.cwd, "scripts/check.sh"), script("mine"));
    write(join(machine.cwd, "scripts/other.sh"), script("other"));
    await machine.sage(["trust", "--yes"]);
    await machine.sage(["permissions", "add", "allow", "Edit(./**)", "--to", "user"]);
    const tries = [
      edit("scripts/check.sh"),
      edit("later/hook.sh"),
      bash("echo exit 0 > scripts/check.sh"),
      bash("cp scripts/other.sh scripts/check.sh"),
    ];
    for (const call of tries)
      for (const flags of [[], ["--bypass"]]) {
        const read = { tool: "Read", input: { file_path: "scripts/check.sh" } };
        const model = machine.script({ calls: [read] }, { calls: [call] }, { text: "ok" });
        const { code, err } = await machine.sage(["-p", "go", ...flags, "--model", model]);
        assert.equal(code, 3, `${JSON.stringify(call)} ${flags.join("")}\n${err}`);
      }
    const free = machine.script({ calls: [edit("scripts/free.sh")] }, { text: "ok" });
    assert.equal((await machine.sage(["-p", "go", "--model", free])).code, 0);
  });
});
