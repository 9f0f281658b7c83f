// Tools and subagents of a module that settings name, in real processes.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { openDaemon } from "../../src/cli/serve/daemon.ts";
import { sageHome } from "../../src/config/home/home.ts";
import { projectTrust, trust } from "../../src/config/trust/trust.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import { openSurfaceStores } from "../../src/host/surface-store.ts";
import { bash, Machine, type Ended } from "../support/cli.ts";
import { until } from "../support/until.ts";

const example = readFileSync(join(import.meta.dirname, "../../examples/sage-tools.mjs"), "utf8");
const home = (machine: Machine) => machine.env["SAGE_HOME"] ?? "";
const deploy = { tool: "Deploy", input: { version: "2.0" } };

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const named = (...modules: string[]) => JSON.stringify({ modules });
/** The person's own module, beside their settings. */
function own(machine: Machine, text: string, name = "own.mjs"): void {
  write(join(home(machine), "settings.json"), named(`./${name}`));
  write(join(home(machine), name), text);
}
/** A project whose module says what the file beside it says. */
function project(machine: Machine, helper = 'export const word = "first";'): void {
  mkdirSync(join(machine.cwd, ".git"), { recursive: true });
  write(join(machine.cwd, ".sage/settings.json"), named("../tools/deploy.mjs"));
  write(
    join(machine.cwd, "tools/deploy.mjs"),
    `import { word } from "./lib/word.mjs";\n${tool('{ ok: true, text: "deployed " + word }')}`,
  );
  write(join(machine.cwd, "tools/lib/word.mjs"), helper);
}
function tool(result: string, { name = "Deploy", before = "" } = {}): string {
  return `export default async ({ z }) => { ${before}; return { tools: [{ name: "${name}", description: "x", effect: "writes",
    inputSchema: z.object({ version: z.string() }), execute: async () => (${result}) }] }; };`;
}

async function results(machine: Machine): Promise<unknown[]> {
  return (await machine.facts("call.finished")).map(({ data }) => data["text"]);
}
const go = (machine: Machine, ...flags: string[]): Promise<Ended> =>
  machine.sage(["-p", "go", "--model", machine.script({ calls: [deploy] }, { text: "over" }), ...flags]);

suite("modules", () => {
  test("a tool of the person's own module runs after a yes, and its subagent takes a task", async () => {
    using machine = new Machine();
    own(machine, example, "sage-tools.mjs");
    write(join(machine.cwd, "sage-tools.mjs"), 'throw new Error("this is the repository\'s file")');
    const script = join(machine.dir, "both.json");
    const task = { tool: "Task", input: { agent: "Proofreader", description: "look", prompt: "read it" } };
    write(
      script,
      JSON.stringify({
        "": [{ calls: [task] }, { calls: [deploy] }, { text: "over" }],
        Proofreader: [{ text: "fine" }],
      }),
    );
    const asked = await machine.sage(["-p", "go", "--model", `scripted/${script}`]);
    assert.equal(asked.code, 3, asked.err);
    const [request] = await machine.pending();
    assert.equal(request?.kind === "permission" && request.tool, "Deploy");
    assert.ok(!(await results(machine)).some((text) => String(text).startsWith("deployed")), "nothing runs unasked");
    const answered = await machine.sage(["answer", request?.id ?? "", "--yes"]);
    assert.equal(answered.code, 0, answered.err);
    assert.equal((await machine.sage(["-p", "--continue"])).code, 0);
    const [first, second] = await results(machine);
    assert.match(String(first), /fine/);
    assert.equal(second, `deployed 2.0 from ${machine.cwd}`);
  });

  test("a rule allows it by its specifier, and a rule for no tool is still told", async () => {
    using machine = new Machine();
    own(machine, example);
    const permissions = { allow: ["Deploy(2.0)", "Depoly(3.0)"] };
    write(join(home(machine), "settings.json"), JSON.stringify({ modules: ["own.mjs"], permissions }));
    const { code, err } = await go(machine);
    assert.equal(code, 0, err);
    assert.match(err, /"Depoly\(3\.0\)" .* there is no such tool; there are .*Deploy/);
    assert.doesNotMatch(err, /"Deploy\(2\.0\)"/);
  });

  test("a project's module is shown with the files it imports, and loaded only once trusted, as it was trusted", async () => {
    using machine = new Machine();
    project(machine);
    const early = await go(machine, "--yes");
    assert.match(early.err, /are ignored/);
    assert.doesNotMatch(String((await results(machine)).at(-1)), /deployed/);
    const shown = await machine.sage(["trust", "--yes"]);
    assert.match(shown.out, /loads the module:\s+│ \.\.\/tools\/deploy\.mjs/);
    assert.match(shown.out, /lib\/word\.mjs[^]*run inside of Sage:\s+│ export const word = "first"/);
    const trusted = await go(machine, "--yes");
    assert.equal(trusted.code, 0, trusted.err);
    assert.equal((await results(machine)).at(-1), "deployed first");

    project(machine, 'export const word = "second";');
    const changed = await go(machine, "--yes");
    assert.match(changed.err, /are ignored/);
    assert.doesNotMatch(String((await results(machine)).at(-1)), /deployed/);
    const difference = await machine.sage(["trust"]);
    assert.match(difference.out, /changed since you trusted them[^]*- .*first[^]*\+ .*second/);
  });

  test("what trust does not cover is said, and a project's other files are not imported", async () => {
    using machine = new Machine();
    project(machine, 'import "zod";\nexport const { word } = await import("./" + "hidden.mjs");');
    write(join(machine.cwd, "tools/lib/hidden.mjs"), 'export const word = "hidden";');
    const shown = await machine.sage(["trust", "--yes"]);
    assert.match(shown.out, /packages, whose content trust does not cover:\s+│ zod/);
    assert.doesNotMatch(shown.out, /word = "hidden"/);
    write(join(machine.cwd, "node_modules/zod/package.json"), '{"main":"index.js"}');
    write(join(machine.cwd, "node_modules/zod/index.js"), "");
    const { err } = await go(machine, "--yes");
    assert.match(err, /deploy\.mjs is not loaded.*imports .*hidden\.mjs, which trust does not cover/);

    using other = new Machine();
    project(other);
    write(join(other.dir, "outside.mjs"), tool('{ ok: true, text: "outside" }'));
    symlinkSync(join(other.dir, "outside.mjs"), join(other.cwd, "tools/link.mjs"));
    write(
      join(other.cwd, ".sage/settings.json"),
      named("../tools/link.mjs", "../tools/none.mjs", "../tools/deploy.mjs"),
    );
    await other.sage(["trust", "--yes"]);
    const partly = await go(other, "--yes");
    assert.match(partly.err, /link\.mjs is not loaded.*should lie in/);
    assert.match(partly.err, /none\.mjs is not loaded.*there is no such file/);
    assert.equal((await results(other)).at(-1), "deployed first");
  });

  test("the agent's edit of a module, or of what it imports, is asked about whatever allows edits", async () => {
    using machine = new Machine();
    project(machine);
    await machine.sage(["trust", "--yes"]);
    await machine.sage(["permissions", "add", "allow", "Edit(./**)", "--to", "user"]);
    const paths = ["tools/deploy.mjs", "tools/lib/word.mjs"];
    const model = machine.script(
      { calls: paths.map((path) => ({ tool: "Read", input: { file_path: path } })) },
      { calls: paths.map((path) => ({ tool: "Write", input: { file_path: path, content: "" } })) },
      { text: "ok" },
    );
    for (const spec of [
      model,
      machine.script({ calls: paths.map((path) => bash(`echo > ${path}`)) }, { text: "ok" }),
    ]) {
      const { code, err } = await machine.sage(["-p", "go", "--bypass", "--model", spec]);
      assert.equal(code, 3, err);
    }
    assert.deepEqual(
      (await machine.pending()).map(({ kind }) => kind),
      paths.flatMap(() => ["permission", "permission"]),
    );
  });

  test("a module that cannot be used is said, and Sage runs without it", async () => {
    const broken: [string, RegExp][] = [
      ['throw new Error("no database")', /it broke while it was loaded: no database/],
      ["export default {", /it broke while it was loaded/],
      ["export const tools = []", /should be \{ tools, agents \}, or a function that returns that; it is undefined/],
      ["export default { tool: [] }", /unknown: "tool"/],
      ['export default { tools: [{ name: "A b" }] }', /tools\[0\]\.name should be a name of letters[^]*inputSchema/],
      [tool("0", { name: "Bash" }), /there is a tool "Bash" already/],
      ["await new Promise(() => {})", /it was not done loading after 10 s/],
    ];
    using all = new Machine();
    write(join(home(all), "settings.json"), named(...broken.map((_, n) => `./own${n}.mjs`)));
    for (const [n, [text]] of broken.entries()) write(join(home(all), `own${n}.mjs`), text);
    const ran = await all.sage(["-p", "go", "--model", all.script({ text: "over" })]);
    assert.equal(ran.code, 0, ran.err);
    assert.match(ran.out, /over/);
    for (const [n, [text, told]] of broken.entries()) {
      const [, said = ""] = ran.err.replaceAll("\\n", "\n").split(`own${n}.mjs is not loaded, its tools are missing`);
      assert.match(said.split(/own\d\.mjs is not loaded/)[0] ?? "", told, text);
    }
    using machine = new Machine();
    own(machine, "export default 1");
    const { err } = await machine.sage(["-p", "go", "--model", machine.script({ text: "好" })], {
      env: { LANG: "zh_CN.UTF-8" },
    });
    assert.match(
      err,
      /没有加载模块 .*own\.mjs，缺少它的工具：默认导出应是 \{ tools, agents \}，或返回它的函数；现在是 number/,
    );
    assert.match((await machine.sage(["doctor"])).out, /own\.mjs is not loaded/);
  });

  test("sage serve has the tools of the folder that a session works in, as they are trusted when a turn begins", async () => {
    using machine = new Machine();
    project(machine);
    await machine.sage(["trust", "--yes"]);
    const script = machine.script({ calls: [deploy] }, { text: "over" });
    const wait = async () => {
      const { code, out, err } = await machine.sage(["-p", "go", "--model", script, "--output-format", "json"]);
      assert.equal(code, 3, err);
      return (JSON.parse(out) as { session: string }).session;
    };
    const session = await wait();
    const stores = openSurfaceStores(join(home(machine), "surfaces.db"));
    stores.of("serve").set(`session/${session}`, true);
    stores.close();
    const daemon = machine.start(["serve", "--port", "0", "--model", script]);
    await daemon.until(/waiting for a person: 1/);
    const [request] = await machine.pending();
    assert.equal((await machine.sage(["answer", request?.id ?? "", "--yes"])).code, 0);
    await until(async () => (await machine.facts("turn.ended")).length === 1);
    assert.deepEqual(await results(machine), ["deployed first"]);
    daemon.kill("SIGTERM");
    assert.equal((await daemon.ended).code, 0, daemon.errors());
  });

  test("a daemon that stays loads what was changed and trusted anew, its imports too, and nothing in between", async () => {
    using machine = new Machine();
    project(machine);
    const paths = sageHome(machine.env);
    const trustIt = () => trust(paths.trust, projectTrust(paths.trust, machine.cwd));
    trustIt();
    write(join(home(machine), "settings.json"), JSON.stringify({ permissions: { allow: ["Deploy"] } }));
    const store = sqliteStore(paths.journal);
    const stores = openSurfaceStores(paths.surfaces);
    const warned: string[] = [];
    const { host } = openDaemon({
      ...{ store, own: stores.of("serve"), env: machine.env, lang: "en" as const, guard: () => true },
      personOf: () => undefined,
      spec: machine.script({ calls: [deploy] }, { text: "over" }),
      warn: (text) => void warned.push(text),
    });
    const turn = async (): Promise<string> => {
      const opened = await host.send({ type: "open", cwd: machine.cwd });
      assert.ok(opened.ok);
      const { session } = opened;
      await host.send({ type: "say", session, text: "go", by: "Lin", surface: "test" });
      await until(() => store.load(session).some(({ type }) => type === "turn.ended"));
      return store.load(session).flatMap((fact) => (fact.type === "call.finished" ? [fact.data.text] : []))[0] ?? "";
    };
    try {
      assert.equal(await turn(), "deployed first");
      project(machine, 'export const word = "second";');
      assert.doesNotMatch(await turn(), /deployed/);
      assert.match(warned.join("\n"), /are ignored/);
      trustIt();
      assert.equal(await turn(), "deployed second");
    } finally {
      await host.close();
      stores.close();
    }
  });
});
