import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Machine } from "../support/cli.ts";
import { calls, hostile, tool } from "../support/mcp.ts";

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
