import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.ts";
import { sageHome } from "../../src/config/home/home.ts";
import { readSettings } from "../../src/config/settings/settings.ts";
import { projectTrust, trust } from "../../src/config/trust/trust.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { workspace } from "../support/sage.ts";
import { worded } from "../support/worded.ts";

test("servers in settings: a command or an address, a name that rules can read, variables by name", () => {
  using here = workspace();
  const file = here.path("settings.json");
  const write = (servers: object) => writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  for (const [servers, expected] of [
    [{ a: {} }, /mcpServers\.a: a server should have either "command" or "url"/],
    [{ a: { command: "x", url: "https://a" } }, /either "command" or "url"/],
    [{ a: { url: "https://a", type: "sse" } }, /type "sse" are not supported/],
    [{ a__b: { command: "x" } }, /letters, digits, - and single _/],
    [{ a_: { command: "x" } }, /letters, digits, - and single _/],
    [{ a: { command: "x", comand: "y" } }, /did you mean "command"/],
  ] as const) {
    write(servers);
    assert.throws(() => readSettings(file), worded(expected));
  }
  write({
    files: {
      command: "node",
      args: ["${HERE}/s.js"],
      env: { TOKEN: "${MY_TOKEN}", MODE: "${MODE:-fast}" },
      reads: ["get*"],
    },
    remote: { type: "http", url: "https://mcp.example.com", headers: { Authorization: "Bearer ${MY_TOKEN}" } },
    poor: { command: "x", env: { A: "${MISSING}" } },
    off: { command: "x", disabled: true },
    beside: { command: "./bin/x" },
  });
  using home = workspace();
  const env = { HERE: "/h", MY_TOKEN: "t0k", SAGE_HOME: home.dir };
  writeFileSync(home.path("settings.json"), JSON.stringify({ mcpServers: readSettings(file).mcpServers }));
  const { servers, warnings } = loadConfig(sageHome(env, here.dir), here.dir, env);
  assert.deepEqual(
    servers.map(({ name, source, transport, reads }) => ({ name, source, transport, reads })),
    [
      {
        name: "files",
        source: "user",
        transport: { type: "stdio", command: "node", args: ["/h/s.js"], env: { TOKEN: "t0k", MODE: "fast" } },
        reads: ["get*"],
      },
      {
        name: "remote",
        source: "user",
        transport: { type: "http", url: "https://mcp.example.com", headers: { Authorization: "Bearer t0k" } },
        reads: [],
      },
      {
        name: "beside",
        source: "user",
        transport: { type: "stdio", command: home.path("bin/x"), args: [], env: {} },
        reads: [],
      },
    ],
  );
  assert.deepEqual(
    warnings.map((why) => sentence(why, "en")),
    ['the MCP server "poor" is left out: the environment variable MISSING is not set'],
  );
});

test(".mcp.json counts once the folder is trusted, with the files it runs and exactly as they were", () => {
  using here = workspace();
  using home = workspace();
  mkdirSync(here.path(".git"));
  const env = { SAGE_HOME: home.dir };
  const at = sageHome(env, here.dir);
  const file = (args: string[]) => ({
    mcpServers: {
      local: { command: "node", args, reads: ["*"] },
      "bad name": { command: "x" },
      old: { type: "sse", url: "https://a" },
    },
    other: "program",
  });
  const write = (args: string[]) => writeFileSync(here.path(".mcp.json"), JSON.stringify(file(args)));
  write(["server.js"]);
  writeFileSync(here.path("server.js"), "// one");
  const names = () => loadConfig(at, here.dir, env).servers.map(({ name }) => name);
  const state = () => projectTrust(at.trust, here.dir).state;
  assert.deepEqual([state(), names()], ["untrusted", []]);
  trust(at.trust, projectTrust(at.trust, here.dir));
  assert.deepEqual([state(), names()], ["trusted", ["local"]]);
  const { servers, warnings, rules } = loadConfig(at, here.dir, env);
  // A folder's word that its tools only read counts for nothing.
  assert.deepEqual([servers[0]?.source, servers[0]?.reads, servers[0]?.changed?.()], ["project", [], undefined]);
  assert.equal(warnings.length, 2);
  assert.ok(rules.some(({ behavior, text }) => behavior === "ask" && text === `Edit(${here.path("server.js")})`));
  writeFileSync(here.path("server.js"), "// two");
  assert.equal(servers[0]?.changed?.(), here.path("server.js"));
  assert.deepEqual([state(), names()], ["changed", []]);
  writeFileSync(here.path("server.js"), "// one");
  write(["server.js", "--more"]);
  assert.deepEqual([state(), names()], ["changed", []]);
  write(["server.js"]);
  assert.deepEqual([state(), names()], ["trusted", ["local"]]);
  // A server of the person's own goes before one of the folder.
  writeFileSync(home.path("settings.json"), JSON.stringify({ mcpServers: { local: { command: "mine" } } }));
  const both = loadConfig(at, here.dir, env);
  assert.deepEqual(
    both.servers.map(({ source }) => source),
    ["user"],
  );
  assert.match(both.warnings.map((why) => sentence(why, "en")).join(), /your own settings have a server "local"/);
});

test("a broken .mcp.json is told, and everything else goes on", () => {
  using here = workspace();
  using home = workspace();
  const env = { SAGE_HOME: home.dir };
  writeFileSync(here.path(".mcp.json"), "{ broken");
  const { servers, warnings, trust: found } = loadConfig(sageHome(env, here.dir), here.dir, env);
  assert.deepEqual([servers, found.state], [[], "nothing-to-trust"]);
  assert.match(sentence(warnings[0]!, "en"), /\.mcp\.json should be JSON/);
});
