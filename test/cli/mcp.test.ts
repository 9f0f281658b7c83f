import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Machine } from "../support/cli.ts";
import { calls, hostile, tool } from "../support/mcp.ts";
import { until } from "../support/until.ts";

/** Our server in the folder's `.mcp.json`. */
function inFolder(machine: Machine): void {
  mkdirSync(join(machine.cwd, ".git"), { recursive: true });
  const { transport } = hostile(machine.dir, [tool("echo"), tool("ask")]);
  assert.ok(transport.type === "stdio");
  writeFileSync(join(machine.cwd, ".mcp.json"), JSON.stringify({ mcpServers: { bad: transport } }));
}

test("a folder's server: not started before trust, shown in full, and then an ordinary tool", async () => {
  using machine = new Machine();
  inFolder(machine);
  const model = machine.script({ calls: [{ tool: "mcp__bad__echo", input: { n: 1 } }] }, { text: "End." });
  const before = await machine.sage(["-p", "go", "--yes", "--model", model]);
  assert.match(before.err, /are ignored because you have not trusted them/);
  assert.deepEqual(calls(machine.dir), []);
  const shown = await machine.sage(["trust"]);
  assert.match(shown.out, /starts the MCP server bad:.*mcp-server\.mjs/s);
  assert.equal((await machine.sage(["trust", "--yes"])).code, 0);
  const after = await machine.sage(["-p", "go", "--yes", "--output-format", "json", "--model", model]);
  assert.equal(after.code, 0, after.err);
  assert.deepEqual(calls(machine.dir), ["echo"]);
});

test("kill -9 while a server asks: the server dies too, the request is superseded, and the call's end is unknown", async () => {
  using machine = new Machine();
  inFolder(machine);
  assert.equal((await machine.sage(["trust", "--yes"])).code, 0);
  const model = machine.script({ calls: [{ tool: "mcp__bad__ask", input: {} }] }, { text: "End." });
  const running = machine.start(["--model", model, "go"]);
  await running.until(/mcp__bad__ask/);
  running.type("y\n");
  await running.until(/The MCP server "bad" asks while it runs mcp__bad__ask: Where to\?/);
  const [request] = await machine.pending();
  assert.equal(request?.source, "mcp");
  running.kill("SIGKILL");
  await running.ended;
  await until(() => serversOf(machine).length === 0, "the server outlived Sage");
  const session = request?.session ?? "";
  const again = await machine.sage(["-p", "--resume", session, "--model", model]);
  assert.equal(again.code, 3, again.err);
  const facts = [...(await machine.facts("call.unknown")), ...(await machine.facts("input.resolved"))];
  assert.deepEqual(
    facts.map(({ data }) => data["outcome"] ?? (data["reason"] as { code: string }).code),
    ["end-unknown", "answered", "superseded"],
  );
  assert.deepEqual(calls(machine.dir), ["ask"]);
  assert.deepEqual(
    (await machine.pending()).map(({ source }) => source),
    ["recovery"],
  );
});

/** Processes that run our server for this machine. */
function serversOf(machine: Machine): string[] {
  const all = execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" }).split("\n");
  return all.filter((line) => line.includes("mcp-server.mjs") && line.includes(machine.dir));
}

test("sage mcp: add, list, test, remove, import; doctor tells of servers", async () => {
  using machine = new Machine();
  const { transport } = hostile(machine.dir, [tool("echo")]);
  assert.ok(transport.type === "stdio");
  const { command, args } = transport;
  const run = async (...words: string[]) => {
    const { code, out, err } = await machine.sage(words);
    return { code, told: out + err };
  };
  assert.equal((await run("mcp", "add", "good", "--env", "A=b", "--", command, ...args)).code, 0);
  assert.match(
    (await run("mcp", "add", "good", "x")).told,
    /there is an MCP server "good" in .*settings\.json already; .*mcp remove good/,
  );
  assert.equal((await run("mcp", "add", "far", "https://127.0.0.1:1/mcp")).code, 0);
  const insecure = await run("mcp", "add", "open", "http://mcp.example.com/mcp");
  assert.deepEqual([insecure.code, /is not https/.test(insecure.told)], [2, true], "told before it is saved");
  const tested = await run("mcp", "test");
  assert.equal(tested.code, 1);
  assert.match(tested.told, /✓ good: 1 tool, 1 prompt .*\n {2}mcp__good__echo\n✗ far: it cannot be reached/s);
  assert.equal((await run("mcp", "remove", "far")).code, 0);
  assert.match((await run("doctor")).told, /✓ MCP good: 1 tool/);
  writeFileSync(
    join(machine.dir, ".claude.json"),
    JSON.stringify({
      mcpServers: {
        good: { command: "other" },
        old: { type: "sse", url: "https://a" },
        more: { type: "stdio", command: "more", args: ["--x"] },
      },
      projects: {
        [machine.cwd]: { mcpServers: { here: { type: "http", url: "https://b.example.com", headers: { K: "v" } } } },
      },
    }),
  );
  const imported = await run("mcp", "import", "--yes");
  assert.equal(imported.code, 0);
  assert.match(imported.told, /good is left out: .*already/);
  assert.match(imported.told, /"old" is left out: .*"sse" are not supported/);
  const after = JSON.parse((await run("mcp", "list", "--json")).told) as { name: string; how: string }[];
  assert.deepEqual(
    after.slice(1).map(({ name, how }) => [name, how]),
    [
      ["more", "more --x"],
      ["here", "https://b.example.com"],
    ],
  );
});

test("a message names what servers have: a prompt as a command, a resource by its address", async () => {
  using machine = new Machine();
  const { transport } = hostile(machine.dir, [tool("echo")]);
  mkdirSync(machine.env["SAGE_HOME"] ?? "", { recursive: true });
  writeFileSync(
    join(machine.env["SAGE_HOME"] ?? "", "settings.json"),
    JSON.stringify({ mcpServers: { bad: { ...transport } } }),
  );
  const model = machine.script({ text: "Hello." });
  assert.equal((await machine.sage(["-p", "/mcp__bad__greet 小林", "--model", model])).code, 0);
  assert.equal(
    (await machine.sage(["-p", "look at @bad:demo://a/b, please", "--model", machine.script({ text: "Seen." })])).code,
    0,
  );
  const said = (await machine.facts("user.said")).map(({ data }) => data["expanded"]);
  assert.equal(said[0], "Say hello to 小林");
  assert.match(
    String(said[1]),
    /^look at @bad:demo:\/\/a\/b, please\n\n\[@bad:demo:\/\/a\/b: data from the MCP server "bad", not the person's words\]\ncontent of demo:\/\/a\/b$/,
  );
});
