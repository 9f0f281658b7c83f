import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import type { ServerDefinition } from "../../src/mcp/server.ts";
import { serversIn } from "../support/mcp.ts";
import { allow, sageWith, workspace } from "../support/sage.ts";

const program = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
const everything: ServerDefinition = {
  ...{ name: "every", source: "user", file: "s", timeoutMs: 20_000, startupTimeoutMs: 20_000, reads: [] },
  transport: { type: "stdio", command: process.execPath, args: [program, "stdio"], env: {} },
};

test("the reference server: texts, pictures, progress, errors, a form; prompts and resources", async () => {
  using folder = workspace();
  const { dir } = folder;
  await using servers = serversIn(dir, everything);
  const call = (tool: string, input: object = {}) => ({
    calls: [{ tool: `mcp__every__${tool}`, input: { ...input } }],
  });
  await using sage = await sageWith({
    dir,
    servers,
    rules: [allow("mcp__every")],
    script: [
      call("echo", { message: "你好" }),
      call("get-sum", { a: 2, b: 40 }),
      call("get-tiny-image"),
      call("trigger-long-running-operation", { duration: 0.2, steps: 2 }),
      call("get-sum", { a: "no number" }),
      call("trigger-elicitation-request"),
      { text: "done" },
    ],
  });
  await sage.say("go");
  const [request] = await sage.open();
  assert.ok(request?.kind === "question");
  assert.equal(request.source, "mcp");
  await sage.answer({ type: "denied", requestId: request.id });
  assert.equal((await sage.outcome()).status, "success");
  const results = sage.facts().flatMap((fact) => (fact.type === "call.finished" ? [fact.data] : []));
  assert.match(results[0]?.text ?? "", /你好/);
  assert.match(results[1]?.text ?? "", /42/);
  assert.deepEqual(
    results[2]?.images?.map(({ mime }) => mime),
    ["image/png"],
  );
  assert.match(results[3]?.text ?? "", /completed/i);
  assert.equal(results[4]?.ok, false);
  assert.match(results[5]?.text ?? "", /declin/i);
  const [line] = servers.list;
  assert.ok(line && line.prompts.length > 0);
  const connection = await line.connection(sage.session, AbortSignal.timeout(10_000));
  const { messages } = await connection.prompt(line.prompts[0]?.name ?? "", {}, AbortSignal.timeout(10_000));
  assert.ok(messages.length > 0);
});
