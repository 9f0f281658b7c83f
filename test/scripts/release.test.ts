import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { releaseChangelog } from "../../scripts/release/changelog.ts";
import { packageEntries } from "../../scripts/entries.ts";
import { stage } from "../../scripts/release/stage.ts";
import { version as ownVersion } from "../../src/config/version.ts";
import { printed } from "../docs/printed.ts";
import { workspace } from "../support/sage.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

/** Libraries in the bundle try these and do without: undici downloads what a message points to, and Sage's messages are text. */
const neverLoaded = ["pg-native", "supports-color", "undici"];

test("what was unreleased goes under the new version", () => {
  const before = "# Changelog\n\n## [Unreleased]\n\n### Added\n- This.\n\n## [0.1.0] - 2026-01-01\n- That.\n";
  assert.equal(
    releaseChangelog(before, "0.2.0", "2026-03-04"),
    "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n### Added\n- This.\n\n## [0.1.0] - 2026-01-01\n- That.\n",
  );
  assert.throws(() => releaseChangelog(before, "0.1.0", "2026-03-04"), /has a section 0\.1\.0 already/);
  assert.throws(() => releaseChangelog("## [Unreleased]\n\n## [0.1.0]\n- That.\n", "0.2.0", "x"), /says nothing/);
});

test("each version in the changelog has its journals, and the newest of them is this one", () => {
  const read = (file: string) => readFileSync(join(root, file), "utf8");
  const released = [...read("CHANGELOG.md").matchAll(/^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$/gm)].map(
    ([, version]) => version,
  );
  const journals = globSync("*", { cwd: join(root, "test/fixtures/journals") });
  assert.equal(released[0], JSON.parse(read("package.json")).version);
  assert.equal(released[0], ownVersion);
  for (const version of released)
    for (const name of [`${version}.sql`, `${version}-finished.jsonl`, `${version}-open.jsonl`])
      assert.ok(journals.includes(name), name);
  // Those of a state between two releases go when the next one is prepared.
  const [, unreleased = ""] = /^## \[Unreleased\]\n([^]*?)^## /m.exec(read("CHANGELOG.md")) ?? [];
  if (unreleased.trim() === "") assert.deepEqual(globSync("next*", { cwd: join(root, "test/fixtures/journals") }), []);
});

test(
  "the published package installs in an empty folder: command, library and types work there",
  { timeout: 115_000 },
  async (t) => {
    using here = workspace();
    await stage(here.path("package"), { repository: "git+https://example.org/sage.git" });
    const manifest = JSON.parse(readFileSync(here.path("package/package.json"), "utf8"));
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

    await t.test("its files export values: a use of one calls no getter", () => {
      const core = globSync("core-*.cjs", { cwd: here.path("package/dist") }).map((file) =>
        readFileSync(here.path(`package/dist/${file}`), "utf8"),
      );
      const count = (pattern: RegExp) => core.join("").match(pattern)?.length ?? 0;
      assert.ok(count(/exports\.[\w$]+=/g) > 10 * count(/Object\.defineProperty\(exports/g));
    });

    await t.test("its package.json names what is not in the bundle, and nothing else", () => {
      const named = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
      assert.deepEqual(
        importedFrom(here.path("package/dist")).filter((name) => !neverLoaded.includes(name)),
        named.toSorted(),
      );
      assert.deepEqual([manifest.engines, manifest.version], [{ node: ">=24" }, version]);
      assert.deepEqual(manifest.repository, { type: "git", url: "git+https://example.org/sage.git" });
    });

    await t.test("its pages are there in English and Chinese, with everything they link to", () => {
      const pages = globSync("**/*.md", { cwd: here.path("package") });
      for (const page of ["README.md", "README.zh.md", join("docs", "guide.md"), join("docs", "zh", "guide.md")])
        assert.ok(pages.includes(page), page);
      for (const page of pages)
        for (const [, link = ""] of readFileSync(here.path(`package/${page}`), "utf8").matchAll(
          /\]\(((?!http|#)[^)#]+)/g,
        ))
          assert.ok(existsSync(join(here.path("package"), dirname(page), link)), `${page} links to ${link}`);
    });

    mkdirSync(here.path("empty"));
    mkdirSync(here.path("sage"), { mode: 0o700 });
    writeFileSync(here.path("empty/package.json"), "{}");
    const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
    const env = { ...inherited, SAGE_HOME: here.path("sage"), SAGE_LANG: "en" };
    const inside = { cwd: here.path("empty"), env, timeout: 50_000 };
    const { stdout: packed } = await run("npm", ["pack", "--silent", here.path("package")], inside);
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--omit=optional", "--prefer-offline"];
    await run("npm", ["install", ...flags, `./${packed.trim()}`], inside);
    const sage = here.path("empty/node_modules/.bin/sage");

    await t.test("sage --version and the demo", async () => {
      assert.equal((await run(sage, ["--version"], inside)).stdout, `${version}\n`);
      assert.match((await run(sage, ["demo"], inside)).stdout, /demo answers itself/);
    });

    await t.test("compiled code is kept for the next start, and not used where it is damaged", async () => {
      const [kept = ""] = globSync(here.path("sage/compiled/*/core-*.cjs"));
      const whole = readFileSync(kept);
      const damaged = Buffer.from(whole).fill(0, whole.length >> 1);
      writeFileSync(kept, damaged);
      assert.equal((await run(sage, ["--version"], inside)).stdout, `${version}\n`);
      assert.notDeepEqual(readFileSync(kept), damaged, "it is kept anew");
    });

    const program = `
    import { SageAgentSDK, scripted } from "sage-agent";
    const sage = new SageAgentSDK({ model: scripted([{ calls: [{ tool: "Glob", input: { pattern: "*" } }] }, { text: "Found." }]) });
    console.log((await sage.run("look")).text);
    await sage.close();
  `;
    writeFileSync(here.path("empty/program.mjs"), program);
    writeFileSync(here.path("empty/program.cjs"), `console.log(typeof require("sage-agent").SageAgentSDK);`);

    await t.test("import and require", async () => {
      const node = async (file: string) => (await run(process.execPath, [file], inside)).stdout;
      assert.deepEqual([await node("program.mjs"), await node("program.cjs")], ["Found.\n", "function\n"]);
    });

    await t.test("an error that nobody catches shows its message, and not a whole file of code before it", async () => {
      const wrong = `import { SageAgentSDK } from "sage-agent"; new SageAgentSDK({ modle: "" });`;
      writeFileSync(here.path("empty/wrong.mjs"), wrong);
      const { stderr } = await run(process.execPath, ["wrong.mjs"], inside).catch((error: { stderr: string }) => error);
      assert.match(stderr, /did you mean "model"/);
      assert.ok(stderr.length < 3_000, `${stderr.length} characters`);
    });

    await t.test(
      "UnifiedExecutor by itself: commands are judged and run, facts are told, the conversation is compacted",
      async () => {
        symlinkSync(join(root, "node_modules/zod"), here.path("empty/node_modules/zod"), "junction");
        writeFileSync(here.path("empty/executor.mjs"), executorProgram);
        const { stdout } = await run(process.execPath, ["executor.mjs"], inside);
        assert.deepEqual(stdout.trim().split("\n"), [
          "allow:allowed-by-rules deny:denied-by-rule allow:said deny:unfit-input",
          "t0/0/0/run0.finished: hello",
          "t0/0/2/run0: Rain in Oslo",
          "success: Done.",
          "success: 1 compaction",
        ]);
      },
    );

    await t.test("types, without a look the other way", async () => {
      for (const name of ["@types", "undici-types"])
        symlinkSync(join(root, "node_modules", name), here.path(`empty/node_modules/${name}`), "junction");
      writeFileSync(
        here.path("empty/program.mts"),
        `import { z } from "zod";
      import { SageAgentSDK, type AgentOutcome, type Tool } from "sage-agent";
      const tool: Tool<{ city: string }> = {
        name: "Weather", description: "", inputSchema: z.object({ city: z.string() }), effect: "reads",
        checkPermissions: async ({ city }, { signal }) => ({ behavior: signal.aborted || city === "" ? "ask" : "allow", reason: "" }),
        request: () => ({ kind: "text", prompt: "Where?", timeoutMs: 5, timeoutPolicy: { default: { type: "text", text: "here" } } }),
        execute: async ({ city }) => ({ ok: true, text: city }),
      };
      export async function watch(sage: SageAgentSDK): Promise<string[]> {
        const run = sage.run("x", { promptTimeout: 5, timeoutPolicy: "wait" });
        const phases: string[] = [];
        for await (const event of run)
          if (event.type === "delta" && event.delta.state?.state === "executing") phases.push(event.delta.state.phase);
        const response = { type: "granted", requestId: "", removeRules: [{ rule: "Bash(ls)", destination: "session" }] } as const;
        await sage.host.send({ type: "respond", response: { ...response, removeRules: [...response.removeRules] }, by: "x", surface: "x" });
        return [...phases, (await run).text];
      }
      // @ts-expect-error silence never grants
      void new SageAgentSDK().run("x", { timeoutPolicy: "grant" });
      export const outcome: Promise<AgentOutcome> = new SageAgentSDK({ tools: [tool] }).run("x");
      // @ts-expect-error a number is no task
      void new SageAgentSDK().run(1);
      `,
      );
      const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"];
      const tsc = [join(root, "node_modules/typescript/bin/tsc"), ...options, "program.mts"];
      const { stdout } = await run(process.execPath, tsc, inside).catch((error: { stdout: string }) => error);
      assert.equal(stdout, "");
    });

    await t.test("each entry can be imported and required, and examples of the founding documents run", async () => {
      const entries = packageEntries().map(({ name }) => (name === "." ? "sage-agent" : `sage-agent/${name}`));
      const all = entries.map((entry) => `typeof (await import("${entry}")), typeof require("${entry}")`).join(", ");
      const code = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);
        console.log([${all}].filter((type) => type === "object").length);`;
      writeFileSync(here.path("empty/entries.mjs"), code);
      assert.equal((await run(process.execPath, ["entries.mjs"], inside)).stdout, `${2 * entries.length}\n`);
      for (const name of founding) copyFileSync(join(root, `examples/${name}.ts`), here.path(`empty/${name}.mts`));
      const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
      const place = ["--module", "nodenext", "--target", "es2024", "--types", "node"];
      const tsc = [join(root, "node_modules/typescript/bin/tsc"), ...options, ...place];
      const checked = await run(process.execPath, [...tsc, ...founding.map((name) => `${name}.mts`)], inside).catch(
        (error: { stdout: string }) => error,
      );
      assert.equal(checked.stdout, "");
      for (const name of founding) {
        const { stdout } = await run(process.execPath, [`${name}.mts`], inside);
        assert.match(stdout, printed[name] ?? assert.fail(name));
      }
    });

    await t.test("whoever bundles it, or has no zod, is told or can go on", async () => {
      const dist = here.path("empty/node_modules/sage-agent/dist");
      copyFileSync(join(dist, "index.mjs"), here.path("empty/bundled.mjs"));
      await assert.rejects(
        import(pathToFileURL(here.path("empty/bundled.mjs")).href),
        /name it as external to your bundler/,
      );
      assert.match(readFileSync(join(dist, "types/tools/definition/zod.d.ts"), "utf8"), /@ts-ignore/);
    });

    await t.test("an older Node reads one sentence", async () => {
      writeFileSync(
        here.path("old.cjs"),
        `Object.defineProperty(process.versions, "node", { value: "22.1.0" });
       Object.defineProperty(process, "version", { value: "v22.1.0" });`,
      );
      const old = async (...args: string[]) => {
        const failed = await run(process.execPath, ["--require", here.path("old.cjs"), ...args], inside).catch(
          (error: { code: number; stderr: string }) => error,
        );
        return "code" in failed ? [failed.code, failed.stderr] : assert.fail("it ran");
      };
      const sentence = "Node 24 or newer; this is v22.1.0. See https://nodejs.org/en/download";
      assert.deepEqual(await old(sage), [1, `sage needs ${sentence}\n`]);
      const [code, message] = await old("program.mjs");
      assert.equal(code, 1);
      assert.match(String(message), new RegExp(`^Error: sage-agent needs ${sentence}$`, "m"));
    });
  },
);

/** Examples of the founding documents: the SDK with a channel, the executor and its channels, turns, hooks, suggestions. */
const founding = ["answer-from-code", "executor", "turns", "hooks", "suggestions", "auto-responder"];

const executorProgram = `
  import { memoryStore, scripted, UnifiedExecutor } from "sage-agent";
  import { createSubagentRegistry, noHooks } from "sage-agent/executor";
  import { openSession } from "sage-agent/stores";
  import { builtinTools, createToolRegistry } from "sage-agent/tools";
  import { z } from "zod";
  const bash = (command) => ({ tool: "Bash", input: { command } });
  const weather = (city) => ({ tool: "Weather", input: { city } });
  const tool = {
    name: "Weather", description: "Tells the weather", effect: "reads", inputSchema: z.object({ city: z.string().min(1) }),
    checkPermissions: () => ({ behavior: "allow", reason: "only looks" }),
    execute: async ({ city }) => ({ ok: true, text: "Rain in " + city }),
  };
  const store = memoryStore();
  const config = {
    store, tools: createToolRegistry([...builtinTools(), tool]), permissionMode: "default", system: "", home: "/", roots: [], hooks: noHooks,
    model: scripted([{ calls: [bash("echo hello"), bash("rm -r x"), weather("Oslo"), weather("")] }, { text: "Done." }, { text: "A summary." }]),
    rules: [{ behavior: "allow", text: "Bash(echo:*)", source: "session" }, { behavior: "deny", text: "Bash(rm:*)", source: "session" }],
    env: { PATH: process.env.PATH }, keepDir: process.cwd(), subagents: createSubagentRegistry(), subagentSystem: () => "",
    saveRule: () => "", redact: (text) => text,
  };
  const executor = new UnifiedExecutor(config, { workingDirectory: process.cwd() });
  store.create("s", { cwd: process.cwd(), version: "test" });
  const said = { text: "Go. " + "Many words. ".repeat(5_000), by: "test", surface: "test" };
  store.append("s", { key: "said/0", type: "user.said", at: Date.now(), data: said });
  const log = openSession(store, "s");
  const results = [];
  const events = executor.execute({ log });
  for (;;) {
    const { done, value } = await events.next();
    if (done) { console.log([...results.sort(), value.status + ": " + value.text].join("\\n")); break; }
    if (value.type === "call.finished" && value.data.ok) results.push(value.key + ": " + value.data.text);
    if (value.type === "calls.judged")
      console.log(value.data.verdicts.map(({ behavior, reason }) => behavior + ":" + reason.code).join(" "));
  }
  await log.release();
  const again = openSession(store, "s");
  const { status } = await executor.compact({ log: again });
  console.log(status + ":", store.load("s").filter(({ type }) => type === "context.compacted").length, "compaction");
  await again.release();
`;

/** Packages that the bundle loads at run time: imported, imported lazily, or required. */
function importedFrom(dist: string): string[] {
  const names = globSync("*.cjs", { cwd: dist }).flatMap((file) =>
    [
      ...readFileSync(join(dist, file), "utf8").matchAll(
        /(?:require\("\.\/import\.cjs"\)|(?<![.`"'])\brequire|createRequire\(\w+\(\)\)|\.href\))\([`"']([^`"']+)/g,
      ),
    ].map(([, name = ""]) => name),
  );
  const isPackage = (name: string) =>
    /^[a-z@]/.test(name) && !name.startsWith("node:") && !builtinModules.includes(name);
  return [...new Set(names)].filter(isPackage).toSorted();
}
