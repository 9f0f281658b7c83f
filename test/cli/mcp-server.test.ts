import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createHost } from "../../src/host/host.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { Machine, program } from "../support/cli.ts";
import { until, untilGone } from "../support/until.ts";

const here = new Machine();
const executor = () => Promise.reject(new Error("nothing runs here"));
const store = sqliteStore(join(here.env["SAGE_HOME"] ?? "", "journal.db"));
const host = createHost({ store, version: "test", executor });
const clients: Client[] = [];
after(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await host.close();
  here[Symbol.dispose]();
});

type Told = { status: string; ticket: string; [field: string]: unknown };

async function connect(name = "Some Agent") {
  const client = new Client({ name, version: "1.0.0" });
  const transport = new StdioClientTransport({
    ...{ command: process.execPath, args: [program, "mcp-server"], env: here.env, cwd: here.cwd, stderr: "ignore" },
  });
  clients.push(client);
  await client.connect(transport);
  const call = async (tool: string, input: Record<string, unknown>, options = {}) => {
    const result = await client.callTool({ name: tool, arguments: input }, options);
    const [first] = result.content as { type: string; text: string }[];
    return { text: first?.text ?? "", told: result.structuredContent as Told | undefined, isError: result.isError };
  };
  return {
    client,
    pid: transport.pid ?? 0,
    call,
    ask: (input: Record<string, unknown>, options = {}) => call("ask_person", input, options),
  };
}

const open = async (pattern: RegExp): Promise<InputRequest> =>
  until(() => store.pending().find((request) => pattern.test(JSON.stringify(request))));
const answer = (response: InputResponse) => host.send({ type: "respond", response, by: "lin", surface: "test" });

test("questions are asked through MCP and answered from anywhere: progress, tickets, confirm, text, Chinese, the inbox", async () => {
  const { client, ask, call } = await connect();
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["ask_person", "inbox"],
  );

  const heard: string[] = [];
  const onprogress = ({ message }: { message?: string }) => void heard.push(message ?? "");
  const asking = ask(
    { questions: [{ question: "Which branch?", options: [{ label: "main" }, { label: "dev" }] }], why: "to deploy" },
    { onprogress },
  );
  const request = await open(/Which branch/);
  assert.deepEqual([request.agent, request.source], [["Some Agent"], "outside"]);
  const { out, err, code } = await here.sage(["answer", request.id, "--choose", "dev"]);
  assert.equal(code, 0, err);
  assert.match(out, /Some Agent asked from outside of Sage. The answer is kept until it comes back for it/);
  assert.doesNotMatch(out, /resume/);
  const { told } = await asking;
  assert.deepEqual([told?.status, told?.["answers"]], ["answered", { "Which branch?": { selected: ["dev"] } }]);
  assert.match(heard[0] ?? "", /waiting for a person; ticket @Some-Agent\./);

  const first = await ask({ confirm: "要部署到生产环境吗？", wait_seconds: 0 });
  assert.equal(first.told?.status, "waiting");
  const again = await ask({ confirm: "要部署到生产环境吗？", wait_seconds: 0 });
  assert.equal(again.told?.ticket, first.told?.ticket, "what still waits is not asked twice");
  const { id } = await open(/要部署/);
  await answer({ type: "answers", requestId: id, answers: { "要部署到生产环境吗？": { selected: ["否"] } } });
  const polled = await ask({ ticket: first.told?.ticket });
  assert.deepEqual([polled.told?.status, polled.told?.["confirmed"]], ["answered", false]);

  const text = ask({ text: "Write the release note" });
  await answer({ type: "text", requestId: (await open(/release note/)).id, text: "一切就绪 🚀" });
  assert.equal((await text).told?.["text"], "一切就绪 🚀");

  const declined = ask({ confirm: "Really?" });
  await answer({ type: "denied", requestId: (await open(/Really/)).id, reason: "not now" });
  assert.deepEqual([(await declined).told?.status, (await declined).told?.["reason"]], ["declined", "not now"]);

  const huge = await ask({ text: "x".repeat(300_000) });
  assert.ok(huge.isError);
  assert.match(huge.text, /may have 100,000 characters; this one has 300,/);
  assert.match((await ask({ text: "a", confirm: "b" })).text, /exactly one of/);
  assert.match((await ask({ ticket: "nobody/t0/0/0/permit0" })).text, /nobody\/t0/);

  const cancel = new AbortController();
  const cancelled = ask({ text: "Never mind?" }, { signal: cancel.signal });
  const { id: gone } = await open(/Never mind/);
  cancel.abort();
  await assert.rejects(cancelled);
  const resolution = await until(() => store.resolution(gone));
  assert.deepEqual([resolution.outcome, resolution.surface], ["cancelled", "mcp"]);

  const listed = (await call("inbox", {})).told as unknown as { requests: Told[] };
  assert.deepEqual(
    listed.requests.map(({ status }) => status),
    ["cancelled", "declined", "answered", "answered", "answered"],
  );
  await client.close();
  assert.match((await here.sage(["why", request.id])).out, /Some Agent/);
});

test("kill -9 while it asks: the request stays, is answered, and its ticket gives the answer", async () => {
  const killed = await connect();
  const asking = killed.ask({ text: "Which licence?" }).catch(() => "gone");
  const request = await open(/Which licence/);
  process.kill(killed.pid, "SIGKILL");
  await asking;
  await untilGone(killed.pid);
  assert.equal(store.resolution(request.id), undefined);
  const next = await connect();
  const joined = await next.ask({ text: "Which licence?", wait_seconds: 0 });
  assert.deepEqual([joined.told?.status, joined.told?.ticket], ["waiting", request.id]);
  const waits = next.ask({ ticket: request.id });
  await answer({ type: "text", requestId: request.id, text: "MIT" });
  assert.deepEqual([(await waits).told?.ticket, (await waits).told?.["text"]], [request.id, "MIT"]);
  assert.equal((await next.ask({ ticket: request.id, wait_seconds: 0 })).told?.["text"], "MIT");
  const stranger = await connect("Another");
  const { requests } = (await stranger.call("inbox", {})).told as unknown as { requests: Told[] };
  assert.deepEqual(requests, [], "an agent sees what it asked, and nothing of others");
  const stolen = await stranger.ask({ ticket: request.id, wait_seconds: 0 });
  assert.deepEqual([stolen.isError, stolen.text.includes("MIT")], [true, false], "a ticket is its agent's own");
  await Promise.all([next.client.close(), stranger.client.close()]);
});
