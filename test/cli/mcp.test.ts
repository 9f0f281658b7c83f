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
  assert.match(shown.out, /starts the MCP server bad:.*mcp-server\.ts/s);
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
  const late = await machine.sage(["answer", request?.id ?? "", "--no"]);
  assert.notEqual(late.code, 0);
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
  return all.filter((line) => line.includes("mcp-server.ts") && line.includes(machine.dir));
}
