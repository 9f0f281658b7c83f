import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { createFiles, rank } from "../../src/host/commands/surroundings.ts";
import { createHistory } from "../../src/cli/open/terminal.ts";
import { personEditor, personNotifier, personShell } from "../../src/cli/open/terminal/programs.ts";
import { sageHome } from "../../src/config/home/home.ts";
import { createRedaction } from "../../src/config/secrets/redact.ts";
import { workspace } from "../support/sage.ts";
import { untilGone } from "../support/until.ts";

const never = new AbortController().signal;

suite("what the terminal is given", () => {
  test("files: what git ignores is not among them, hidden ones are, and the best fit comes first", async () => {
    using folder = workspace();
    for (const [name, text] of [
      [".gitignore", "dist\n*.log\n"],
      ["dist/main.js", ""],
      ["a.log", ""],
      ["src/main.ts", ""],
      ["src/domain.ts", ""],
      ["docs/maintenance.md", ""],
      ["src/my file 中文.ts", ""],
    ] as const) {
      mkdirSync(join(folder.path(name), ".."), { recursive: true });
      writeFileSync(folder.path(name), text);
    }
    const files = createFiles(folder.dir);
    assert.deepEqual(await files("main"), ["src/main.ts", "docs/maintenance.md", "src/domain.ts"]);
    assert.deepEqual(await files("srcmts"), ["src/main.ts", "src/my file 中文.ts", "src/domain.ts"]);
    assert.deepEqual(await files("中"), ["src/my file 中文.ts"]);
    assert.equal((await files(""))[0], ".gitignore");
    assert.deepEqual(rank(["a/b.ts", "ab.ts", "xaxb.ts"], "ab"), ["ab.ts", "a/b.ts", "xaxb.ts"]);
  });

  test("history: by project, for its owner alone, and a torn line costs only itself", () => {
    using folder = workspace();
    const home = sageHome({ SAGE_HOME: folder.path("home") });
    const [one, two] = [createHistory(home, "/a"), createHistory(home, "/b")];
    one.add("first\nwith two lines");
    one.add("第二");
    two.add("other");
    assert.deepEqual(createHistory(home, "/a").load(), ["first\nwith two lines", "第二"]);
    assert.deepEqual(createHistory(home, "/b").load(), ["other"]);
    const [file = ""] = filesHolding(join(home.dir, "history"), "第二");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    appendFileSync(file, '"torn');
    for (let n = 0; n < 1_200; n++) one.add(`${n}`);
    assert.equal(createHistory(home, "/a").load().length, 500);
    assert.equal(readFileSync(file, "utf8").split("\n").length, 501, "and the file is cut");
    const broken = createHistory({ ...home, dir: "/dev/null/nowhere" }, "/a");
    broken.add("x");
    assert.deepEqual(broken.load(), []);
  });

  test("a command of one's own: what it printed without secrets, its code, and all of it ends when stopped", async () => {
    using folder = workspace();
    const env = { ...process.env, MY_TOKEN: "hunter2hunter2", SHELL: "/bin/sh" };
    const shell = personShell(folder.dir, env, createRedaction(env).text);
    let shown = "";
    const output = (text: string) => void (shown += text);
    const line = "pwd; printf hunter2; sleep 0.1; echo hunter2; echo err >&2; exit 3";
    const { code, told } = await shell(line, { output, signal: never });
    assert.equal(code, 3);
    assert.match(told, new RegExp(`${folder.dir}\n\\[secret: MY_TOKEN\\]\n`));
    assert.match(told, /err/);
    assert.match(shown, /hunter2hunter2/, "on the person's own screen it is theirs");
    const stop = new AbortController();
    const running = shell("sleep 60 & echo $! > child; echo started; wait", {
      output: (text) => text.includes("started") && stop.abort(),
      signal: stop.signal,
    });
    assert.deepEqual(await running, { code: 130, told: "started\n" });
    const child = Number(readFileSync(folder.path("child"), "utf8"));
    await untilGone(child);
  });

  test("an editor with arguments; what it leaves behind is read and removed, and a failure is told", async () => {
    using folder = workspace();
    writeFileSync(folder.path("edit.sh"), `cp "$2" seen; printf ' and %s' "$1" >> "$2"; dirname "$2" > where`);
    const edit = personEditor({ ...process.env, VISUAL: "", EDITOR: `cd ${folder.dir}; sh edit.sh more` });
    assert.equal(await edit?.("你好"), "你好 and more");
    assert.equal(readFileSync(folder.path("seen"), "utf8"), "你好");
    assert.equal(existsSync(readFileSync(folder.path("where"), "utf8").trim()), false);
    await assert.rejects(async () => personEditor({ ...process.env, VISUAL: "false" })?.("x"), /false: 1/);
    assert.equal(personEditor({}), undefined);
  });

  test("the command that tells of a waiting request reads it from its environment, never from a shell", async () => {
    using folder = workspace();
    const text = 'Bash $(touch owned) `touch owned` "; touch owned';
    await personNotifier(`cd ${folder.dir}; printf %s "$SAGE_NOTICE" > told`, process.env)(text);
    assert.equal(readFileSync(folder.path("told"), "utf8"), text);
    assert.equal(existsSync(folder.path("owned")), false);
    await assert.rejects(personNotifier("exit 7", process.env)("x"), /it ended with 7/);
  });
});

function filesHolding(dir: string, text: string): string[] {
  return readdirSync(dir)
    .map((name) => join(dir, name))
    .filter((file) => readFileSync(file, "utf8").includes(text));
}
