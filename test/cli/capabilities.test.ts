// One builder: the command line, the SDK, `sage serve` and a worker can do the same, or the table says why one of them cannot.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { openSage } from "../../src/cli/assemble/open-sage.ts";
import { openDaemon } from "../../src/cli/serve/daemon.ts";
import { readInstallation } from "../../src/config/home/home.ts";
import { projectTrust, trust } from "../../src/config/trust/trust.ts";
import { closeServers } from "../../src/host/assembly/servers.ts";
import type { Store } from "../../src/journal/store/store.ts";
import type { ModelRequest } from "../../src/models/model.ts";
import type { Host } from "../../src/protocol/host/host.ts";
import {
  InputChannel,
  memoryStore,
  SageAgentSDK,
  scripted,
  sqliteStore,
  type Model,
  type SdkOptions,
} from "../../src/sdk/index.ts";
import { program, tool } from "../support/mcp.ts";
import { bash, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

after(() => closeServers());

const doors = ["cli", "sdk", "serve", "worker"] as const;
type Door = (typeof doors)[number];

/** What a session of every door showed. */
type Seen = {
  request: ModelRequest;
  results: string[];
  /** The project's settings file after a grant for the project. */
  projectFile: string;
  /** How a session of an agent that nobody knows ended. */
  stranger: string;
};

const offered =
  (name: string) =>
  ({ request }: Seen) =>
    assert.ok(
      request.tools.some((offer) => offer.name === name),
      name,
    );
const result =
  (pattern: RegExp) =>
  ({ results }: Seen) =>
    assert.ok(
      results.some((text) => pattern.test(text)),
      `${pattern}: ${results.join(" | ")}`,
    );

/** A capability of every door, by what proves it, or with the doors that lack it and the reason of each. */
const table: Record<string, { shows(seen: Seen): void; lacks?: Partial<Record<Door, string>> }> = {
  "rules of settings": { shows: result(/"denied-by-rule".*Bash\(rm:\*\)/) },
  "commands as hooks": { shows: result(/no pushing today/) },
  "hooks in code": {
    shows: result(/not on a Friday/),
    lacks: {
      cli: "a command line has no code of its own: its hooks are commands",
      serve: "its hooks are commands of settings, which it reads anew for each turn",
      worker: "its hooks are commands of settings, which it reads anew for each turn",
    },
  },
  "MCP servers": { shows: offered("mcp__house__lamp") },
  "web search": { shows: offered("WebSearch") },
  "system prompt": {
    shows: ({ request }) => assert.match(request.system, /Answer in verse\.$/),
    lacks: {
      cli: "a person instructs by AGENTS.md, which shows in /context and is trusted with its folder",
      serve: "as for the command line",
      worker: "as for the command line",
    },
  },
  skills: { shows: ({ request }) => assert.match(request.system, /baking/) },
  "subagents of files": { shows: ({ request }) => assert.match(JSON.stringify(request.tools), /Taster/) },
  "tools of modules": { shows: offered("Oven") },
  "tools in code": {
    shows: offered("Own"),
    lacks: {
      cli: "modules that settings name bring them",
      serve: "modules that settings name bring them",
      worker: "modules that settings name bring them",
    },
  },
  "another agent in Sage's place": { shows: ({ stranger }) => assert.match(stranger, /stranger/) },
  // Shown in test/sdk/policy.test.ts, on a machine that has one.
  "the policy of the machine": { shows: () => {} },
  "rules that a person grants are saved": { shows: ({ projectFile }) => assert.match(projectFile, /npm config/) },
  "a channel of one's own": {
    shows: () => {},
    lacks: {
      cli: "its surfaces are clients of the host; `sage answer` and sockets answer from elsewhere",
      serve: "people come in over pages, chats and sockets",
      worker: "nobody speaks to a worker: people answer at the gateway",
    },
  },
  "commands that outlive the process": {
    shows: () => {},
    lacks: {
      cli: "its owner sits before it, and is asked about what a killed one left",
      sdk: "the embedder's process decides what dies with it; a keeper would need a home of its own",
    },
  },
};

test("each door can do what the table says, and each gap has its reason", { timeout: 60_000 }, async (t) => {
  for (const door of doors)
    await t.test(door, async (at) => {
      const seen = await through(door, at);
      for (const [capability, { shows, lacks = {} }] of Object.entries(table)) {
        const reason = lacks[door];
        if (reason === undefined) assert.doesNotThrow(() => shows(seen), `${door} lacks: ${capability}`);
        else assert.ok(reason.length > 10, `${door}, ${capability}: a reason`);
      }
    });
  await t.test("the docs show the table", () => {
    for (const page of ["docs/extending.md", "docs/zh/extending.md"])
      assert.ok(
        readFileSync(join(import.meta.dirname, "../..", page), "utf8")
          .split("\n")
          .filter((line) => line.startsWith("| **")).length >= Object.keys(table).length,
        page,
      );
  });
});

test("the SDK asks through a channel of one's own, and nobody is asked without one", async () => {
  using here = workspace();
  const [channel, handle] = InputChannel.create(4);
  const script = () => scripted([{ calls: [bash("node -e 1")] }, { text: "done" }]);
  await using sage = new SageAgentSDK({ model: script(), workingDirectory: here.dir });
  const run = sage.run("go", { channel });
  const request = await handle.nextRequest();
  await handle.respond({ type: "granted", requestId: request?.id ?? "" });
  assert.equal((await run).toolHistory[0]?.result.ok, true);
  await using other = new SageAgentSDK({ model: script(), workingDirectory: here.dir });
  assert.equal((await other.run("go")).toolHistory[0]?.result.ok, false);
  await using third = new SageAgentSDK({ model: script(), workingDirectory: here.dir });
  const auto = await third.run("go", { channel: InputChannel.nonInteractive("alwaysAllow") });
  assert.equal(auto.toolHistory[0]?.result.ok, true);
});

/** One session through a door, with a home whose settings name everything. */
async function through(door: Door, t: TestContext): Promise<Seen> {
  const here = workspace();
  t.after(() => here[Symbol.dispose]());
  const env = { SAGE_HOME: here.path("home"), PATH: process.env["PATH"], HOME: process.env["HOME"] };
  const cwd = here.path("project");
  furnish(here.path("home"), cwd, here.dir);
  let request: ModelRequest | undefined;
  const model = scripted([
    (given) => {
      request ??= given;
      const calls = ["git push", "rm -r x", "npm config get tag", "npm fund"].map(bash);
      return { calls };
    },
    { text: "done" },
  ]);
  const opened = await open(door, { env, cwd, model, path: here.path("journal.db") });
  t.after(() => opened.close());
  const { host, store } = opened;
  const me = { by: "Lin", surface: "test" };
  const begin = async (agent?: string) => {
    const reply = await host.send({ type: "open", cwd, ...(agent !== undefined && { agent }) });
    assert.ok(reply.ok, JSON.stringify(reply));
    await host.send({ type: "say", session: reply.session, text: "go", ...me });
    return reply.session;
  };
  const session = await begin();
  await until(() => store.pending(session).length > 0);
  for (const { id } of store.pending(session)) {
    const rule = { rule: "Bash(npm config:*)", behavior: "allow", destination: "project" } as const;
    await host.send({ type: "respond", response: { type: "granted", requestId: id, rules: [rule] }, ...me });
  }
  await until(() => {
    for (const { id } of store.pending(session))
      void host.send({ type: "respond", response: { type: "denied", requestId: id }, ...me });
    return store.load(session).some(({ type }) => type === "turn.ended");
  });
  const told: string[] = [];
  const strange = await begin("stranger");
  store.hub.subscribe(strange, { fact() {}, delta: (delta) => void told.push(JSON.stringify(delta)) });
  await until(() => told.length > 0 || store.load(strange).some(({ type }) => type === "turn.ended"));
  return {
    request: request ?? assert.fail("no model was asked"),
    results: store.load(session).flatMap((fact) => {
      if (fact.type === "call.finished") return [fact.data.text];
      return fact.type === "calls.judged" ? fact.data.verdicts.map(({ reason }) => JSON.stringify(reason)) : [];
    }),
    projectFile: readFileSync(join(cwd, ".sage/settings.json"), "utf8"),
    stranger: told.join("") + JSON.stringify(store.load(strange)),
  };
}

type Opened = { host: Host; store: Store; close(): Promise<unknown> };
type Place = { env: NodeJS.ProcessEnv; cwd: string; model: Model; path: string };

async function open(door: Door, { env, cwd, model, path }: Place): Promise<Opened> {
  if (door === "sdk") {
    const store = memoryStore();
    const own: SdkOptions = {
      ...{ model, store, env, settings: true, workingDirectory: cwd },
      hooks: { beforeCall: [{ run: ({ input }) => friday(String(input["command"])) }] },
      systemPrompt: (standard) => `${standard}\nAnswer in verse.`,
      tools: [{ ...ownTool, inputSchema: (await import("zod")).z.object({}) }],
    };
    const sage = new SageAgentSDK(own);
    return { host: sage.host, store, close: () => sage.close() };
  }
  const store = sqliteStore(path);
  if (door === "cli") {
    const choice = { provider: "own", modelId: "m", load: async () => model };
    const installation = readInstallation(env);
    const given = { installation, choice, store, cwd, lang: "en", permissionMode: "default", options: {} } as const;
    const { host } = await openSage(given);
    return { host, store, close: () => host.close() };
  }
  const { host } = openDaemon({
    ...{ store, env, lang: "en", spec: undefined, model: async () => model },
    guard: () => true,
    personOf: () => undefined,
    warn() {},
    ...(door === "worker" && { letsGo: true, sleepAfterMs: 500 }),
  });
  return { host, store, close: () => host.close() };
}

const friday = (command: string) =>
  command === "npm fund" ? ({ decision: "deny", reason: "not on a Friday" } as const) : undefined;

const ownTool = {
  name: "Own",
  description: "Does something.",
  effect: "reads" as const,
  execute: async () => ({ ok: true, text: "" }),
};

/** A home and a project that name everything there is. */
function furnish(home: string, cwd: string, dir: string): void {
  const write = (file: string, text: string) => {
    mkdirSync(join(file, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(file, text);
  };
  write(join(dir, "tools.json"), JSON.stringify([tool("lamp")]));
  const hook = `read -r line; case "$line" in *"git push"*) echo '{"decision":"deny","reason":"no pushing today"}';; esac`;
  const settings = {
    permissions: { deny: ["Bash(rm:*)"] },
    hooks: { beforeCall: [{ matcher: "Bash", command: hook }] },
    modules: ["./oven.mjs"],
    mcpServers: { house: { command: process.execPath, args: [program, join(dir, "tools.json"), join(dir, "calls")] } },
    webSearch: { engine: "searxng", baseURL: "http://127.0.0.1:9" },
  };
  write(join(home, "settings.json"), JSON.stringify(settings));
  write(join(home, "skills/baking/SKILL.md"), "---\nname: baking\ndescription: Bakes bread\n---\nBake.");
  write(join(home, "agents/Taster.md"), "---\nname: Taster\ndescription: Tastes bread\n---\nTaste.");
  write(
    join(home, "oven.mjs"),
    `export default ({ z }) => ({ tools: [{ name: "Oven", description: "x", effect: "writes", inputSchema: z.object({}),
      async execute() { return { ok: true, text: "" }; } }] });`,
  );
  mkdirSync(join(cwd, ".git"), { recursive: true });
  write(join(cwd, ".sage/settings.json"), JSON.stringify({ permissions: { allow: ["Bash(true)"] } }));
  const file = readInstallation({ SAGE_HOME: home }).home.trust;
  trust(file, projectTrust(file, cwd));
}
