import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { stdioTransport } from "../../src/mcp/stdio.ts";
import { reason } from "../../src/protocol/reasons/reason.ts";
import { offerOf } from "../../src/tools/registry.ts";
import { calls, hostile, listNow, serversIn, tool } from "../support/mcp.ts";
import { allow, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { noticeText } from "../../src/texts/shared/error.ts";
import { texts } from "../../src/texts/shared/texts.ts";

test("tools of a server are ordinary tools: asked about, allowed by rules, and their results are read", async () => {
  using folder = workspace();
  const { dir } = folder;
  await using servers = serversIn(
    dir,
    hostile(dir, [tool("echo", { annotations: { readOnlyHint: true } }), tool("fail")]),
  );
  const said = { tool: "mcp__bad__echo", input: { 你好: "世界" } };
  await using sage = await sageWith({
    dir,
    servers,
    rules: [allow("mcp__bad__fail")],
    script: [{ calls: [said, { tool: "mcp__bad__fail", input: {} }] }, { text: "done" }],
  });
  await sage.say("go");
  const [request] = await sage.open();
  assert.ok(request?.kind === "permission");
  assert.deepEqual([request.tool, request.input], ["mcp__bad__echo", { 你好: "世界" }]);
  assert.deepEqual(
    request.suggestions.map(({ rule }) => rule),
    ["mcp__bad__echo"],
  );
  assert.deepEqual(calls(dir), []);
  await sage.answer({ type: "granted", requestId: request.id });
  assert.equal((await sage.outcome()).status, "success");
  assert.equal(sage.result(0, 0), '{"你好":"世界"}');
  assert.equal(sage.result(0, 1), "it did not work");
  assert.deepEqual(calls(dir), ["echo", "fail"]);
  const judged = sage.facts().find((fact) => fact.type === "calls.judged");
  assert.deepEqual(
    judged?.data.verdicts.map(({ effect, behavior }) => [effect, behavior]),
    [
      ["writes", "ask"],
      ["writes", "allow"],
    ],
  );
});

test("bad days: a server that crashes, hangs, fails or floods costs its own call and nothing else", async () => {
  using folder = workspace();
  const { dir } = folder;
  const names = ["crash", "pid", "hang", "flood", "echo"];
  const all = names.map((name) => tool(name));
  await using servers = serversIn(
    dir,
    hostile(dir, all, { timeoutMs: 60_000 }),
    hostile(dir, all, { name: "slow", timeoutMs: 500 }),
  );
  const call = (name: string) => ({
    calls: [{ tool: `mcp__${name === "hang" ? "slow" : "bad"}__${name}`, input: {} }],
  });
  await using sage = await sageWith({
    dir,
    servers,
    rules: [allow("mcp__bad"), allow("mcp__slow")],
    script: [...names.map(call), { text: "done" }],
  });
  await sage.say("go");
  assert.equal((await sage.outcome()).status, "success");
  const ends = sage
    .facts()
    .flatMap((fact) => (fact.type === "call.finished" ? [[fact.data.end, fact.data.text.slice(0, 30)]] : []));
  assert.deepEqual(
    ends.map(([end]) => end),
    ["unknown", "done", "unknown", "done", "done"],
  );
  assert.match(sage.result(0, 0), /lost during this call: it ended \(7\)\. Whether the call took effect is not known/);
  assert.match(sage.result(2, 0), /it did not answer within 0\.5 s/);
  assert.equal(sage.result(3, 0), "survived");
  assert.deepEqual(calls(dir), names);
});

test("a server that cannot be started is told of once, and the agent goes on without it", async () => {
  using folder = workspace();
  const { dir } = folder;
  const lost = hostile(dir, [], {
    name: "lost",
    transport: { type: "stdio", command: "no-such-program-here", args: [], env: {} },
  });
  await using servers = serversIn(dir, lost, hostile(dir, [tool("echo")]));
  await using sage = await sageWith({ dir, servers, script: [{ text: "hello" }, { text: "again" }] });
  const notices: string[] = [];
  sage.store.hub.subscribe(sage.session, {
    fact() {},
    delta: (delta) => void (delta.kind === "notice" && notices.push(noticeText(delta, texts("en")))),
  });
  for (const said of ["hi", "and again"]) {
    await sage.say(said);
    assert.equal((await sage.outcome()).status, "success");
  }
  assert.equal(notices.length, 1);
  assert.match(notices[0] ?? "", /the MCP server "lost" is not available: it ended \(127\).*no-such-program-here/);
  assert.deepEqual(
    servers.tools().map(({ name }) => name),
    ["mcp__bad__echo"],
  );
});

test("a long result is cut for the model and kept whole on disk", async () => {
  using folder = workspace();
  const { dir } = folder;
  await using servers = serversIn(dir, hostile(dir, [tool("big")]));
  await using sage = await sageWith({
    dir,
    servers,
    rules: [allow("mcp__bad")],
    script: [{ calls: [{ tool: "mcp__bad__big", input: { megabytes: 5 } }] }, { text: "done" }],
  });
  await sage.say("go");
  assert.equal((await sage.outcome()).status, "success");
  const [first] = sage.facts().flatMap((fact) => (fact.type === "call.finished" ? [fact.data] : []));
  assert.ok(first && first.text.length < 31_000);
  assert.equal(statSync(first.output?.file ?? "").size, 5 * 1024 * 1024);
});

test("a message without an end is not collected for ever", async () => {
  const transport = stdioTransport(
    { command: "head", args: ["-c", "140000000", "/dev/zero"] },
    { cwd: tmpdir(), env: { PATH: process.env["PATH"] } },
  );
  await transport.start();
  await until(() => transport.ended);
  assert.deepEqual(transport.ended, reason("server-flooded", { limitMb: 128 }));
  await transport.close();
});

test("names, descriptions and schemas of strangers are made harmless, and duplicates and non-tools are left out", async () => {
  using folder = workspace();
  const { dir } = folder;
  const long = "a".repeat(200);
  await using servers = serversIn(
    dir,
    hostile(dir, [
      tool("echo", { description: `one\u001b[2J\u202etwo${"x".repeat(100_000)}` }),
      tool("echo", { description: "the second of this name" }),
      tool("Bash"),
      tool("查询天气"),
      tool("读 文件"),
      tool(long),
      tool("_hidden"),
      tool("a.b/c"),
      tool("deep", { inputSchema: { type: "object", properties: { x: { description: "\u0007bell" } } } }),
      tool("wide", { inputSchema: { type: "object", description: "y".repeat(10), enum: Array(50_000).fill("zzzz") } }),
    ]),
  );
  await servers.ready(AbortSignal.timeout(20_000), () => {});
  const tools = servers.tools();
  for (const { name, description } of tools) {
    assert.match(name, /^mcp__bad__[A-Za-z0-9-][\w-]*$/);
    assert.ok(name.length <= 64, name);
    assert.ok(description.length < 2_300);
    assert.doesNotMatch(description, /[\u0000-\u0008\u001b\u202e]/);
  }
  assert.equal(new Set(tools.map(({ name }) => name)).size, tools.length);
  assert.deepEqual(
    tools.map(({ name }) => name.replace(/[0-9a-f]{8}$/, "#")).map((name) => name.slice(10, 20)),
    ["echo", "Bash", "#", "#", "aaaaaaaaaa", "hidden_#", "a_b_c_#", "deep"],
  );
  assert.match(tools[2]?.description ?? "", /^\(查询天气\) does 查询天气/);
  assert.match(tools[0]?.description ?? "", /^one‹U\+001B›\[2J‹U\+202E›two/);
  assert.equal(JSON.stringify(tools.map(offerOf).at(-1)).includes("‹U+0007›bell"), true);
});

test("a server gets its own variables and no secret, and ends with Sage", async () => {
  using folder = workspace();
  const { dir } = folder;
  await using servers = serversIn(dir, hostile(dir, [tool("env"), tool("pid")], { env: { OWN_TOKEN: "given" } }));
  await using sage = await sageWith({
    dir,
    servers,
    rules: [allow("mcp__bad")],
    script: [{ calls: ["env", "pid"].map((name) => ({ tool: `mcp__bad__${name}`, input: {} })) }, { text: "done" }],
  });
  await sage.say("go");
  assert.equal((await sage.outcome()).status, "success");
  const env = JSON.parse(sage.result(0, 0)) as Record<string, string>;
  assert.deepEqual(
    Object.keys(env).filter((name) => !["PATH", "HOME", "PWD", "SHLVL", "_", "OLDPWD"].includes(name)),
    ["OWN_TOKEN"],
  );
  const pid = Number(sage.result(0, 1));
  await servers.close();
  await until(() => !isAlive(pid), "the server outlived its connection");
});

test("lists that change in mid-turn: a tool that is gone fails, a new one can be called, the turn goes on", async () => {
  using folder = workspace();
  const { dir } = folder;
  await using servers = serversIn(dir, hostile(dir, [tool("changed"), tool("echo")]));
  const offered: string[][] = [];
  const call = (name: string) => ({ calls: [{ tool: `mcp__bad__${name}`, input: {} }] });
  await using sage = await sageWith({
    dir,
    servers,
    rules: [allow("mcp__bad")],
    script: [call("changed"), call("echo"), call("fresh"), { text: "done" }],
    wrap: (model) => ({
      ...model,
      async reply(request, scope) {
        if (calls(dir).length === 1) await until(() => servers.tools().some(({ name }) => name === "mcp__bad__fresh"));
        offered.push(request.tools.map(({ name }) => name).filter((name) => name.startsWith("mcp__")));
        return model.reply(request, scope);
      },
    }),
  });
  listNow(dir, [tool("changed"), tool("echo")]);
  await servers.ready(AbortSignal.timeout(20_000), () => {});
  listNow(dir, [tool("changed"), tool("fresh")]);
  await sage.say("go");
  assert.equal((await sage.outcome()).status, "success");
  assert.match(sage.result(1, 0), /no longer offers mcp__bad__echo/);
  assert.equal(sage.result(2, 0), "{}");
  assert.deepEqual(offered.at(-1), ["mcp__bad__changed", "mcp__bad__fresh"]);
  assert.deepEqual(calls(dir), ["changed", "fresh"]);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
