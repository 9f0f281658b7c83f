import assert from "node:assert/strict";
import { test } from "node:test";
import { respond } from "../../src/input/respond.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { hostile, serversIn, tool } from "../support/mcp.ts";
import { allow, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { wordsOf } from "../support/worded.ts";

const call = (name: string) => ({ calls: [{ tool: `mcp__bad__${name}`, input: {} }] });
const asking = async (dir: string, names: readonly string[], more: object = {}) => {
  const servers = serversIn(
    dir,
    hostile(
      dir,
      names.map((name) => tool(name)),
      { timeoutMs: 1_000 },
    ),
  );
  const sage = await sageWith({
    dir,
    servers,
    rules: [allow("mcp__bad")],
    script: [...names.map(call), { text: "done" }],
    ...more,
  });
  await sage.say("go");
  const end = async () => {
    await sage[Symbol.asyncDispose]();
    await servers.close();
  };
  return { ...sage, servers, [Symbol.asyncDispose]: end };
};

test("a form of a server is a request like any other: named, checked, and its answer goes back; waiting takes as long as it takes", async () => {
  using folder = workspace();
  await using sage = await asking(folder.dir, ["ask"]);
  const [request] = await sage.open();
  assert.ok(request?.kind === "question");
  assert.equal(request.source, "mcp");
  assert.deepEqual(request.why.args, { server: "bad", tool: "mcp__bad__ask", message: "Where to?" });
  assert.deepEqual(
    request.questions.map(({ question, options, field }) => [question, options.map(({ label }) => label), field]),
    [
      ["City", [], { form: { type: "string", least: 2 } }],
      ["seats", [], { optional: true, form: { type: "integer", least: 1, most: 9 } }],
      ["class", ["first", "second"], {}],
      ["quiet: [true]", ["yes", "no"], { optional: true }],
    ],
  );
  const answer = (answers: Record<string, { selected: string[]; other?: string }>) =>
    sage.answer({ type: "answers", requestId: request.id, answers });
  const told = (reply: Awaited<ReturnType<typeof answer>>) => (reply.ok ? "ok" : wordsOf(reply));
  const first = { class: { selected: ["first"] } };
  assert.match(
    told(await answer({ City: { selected: [], other: "B" }, ...first })),
    /"City" should be a text of at least 2/,
  );
  assert.match(told(await answer({ ...first })), /"City" must be answered/);
  assert.match(
    told(await answer({ City: { selected: [], other: "北京" }, class: { selected: [], other: "third" } })),
    /third/,
  );
  assert.match(
    told(await answer({ City: { selected: [], other: "北京" }, ...first, seats: { selected: [], other: "2.5" } })),
    /should be a whole number of at least 1 and of at most 9/,
  );
  // Longer than the call may take: the person's time is not the server's.
  await new Promise((done) => setTimeout(done, 1_300));
  assert.equal(
    told(await answer({ City: { selected: [], other: "北京" }, ...first, seats: { selected: [], other: "2" } })),
    "ok",
  );
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual(JSON.parse(sage.result(0, 0)), {
    action: "accept",
    content: { city: "北京", seats: 2, class: "first", quiet: true },
  });
  const keys = sage.facts().flatMap(({ type, key }) => (type.startsWith("input.") ? [key] : []));
  assert.deepEqual(keys, ["t0/0/0/elicit0_0", "t0/0/0/elicit0_0.resolved"]);
});

test("declined, an address, a secret, too many at once: the server hears no more than the person said", async () => {
  using folder = workspace();
  await using sage = await asking(folder.dir, ["ask", "ask-url", "ask-secret", "ask-often"]);
  const [form] = await sage.open();
  await sage.answer({ type: "denied", requestId: form?.id ?? "" });
  const url = await until(() => sage.store.pending(sage.session).find(({ id }) => id !== form?.id));
  assert.ok(url.kind === "question");
  assert.deepEqual(url.questions[0]?.own, {
    code: "elicits-url",
    args: { server: "bad", url: "https://login.example.com/a?b=c", host: "login.example.com" },
  });
  await sage.answer({
    type: "answers",
    requestId: url.id,
    answers: { [url.questions[0]?.question ?? ""]: { selected: ["done"] } },
  });
  const confirm = await until(() => sage.store.pending(sage.session).find(({ id }) => id !== url.id));
  assert.ok(confirm.kind === "question");
  await sage.answer({
    type: "answers",
    requestId: confirm.id,
    answers: { [confirm.questions[0]?.question ?? ""]: { selected: ["accept"] } },
  });
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual(
    [0, 1, 2].map((step) => (JSON.parse(sage.result(step, 0)) as { action: string }).action),
    ["decline", "accept", "decline"],
  );
  assert.deepEqual(JSON.parse(sage.result(3, 0)), ["accept", ...Array(7).fill("decline")]);
});

test("a secret that is asked for beside the field, or in disguised letters, is declined for the person", async () => {
  using folder = workspace();
  await using sage = await asking(folder.dir, ["ask-secrets"]);
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual(
    JSON.parse(sage.result(0, 0)),
    Array.from({ length: 4 }, () => ({ action: "decline" })),
  );
  assert.ok(!sage.facts().some(({ type }) => type === "input.requested"));
});

test("a server that dies while it asks: the request is superseded, and the call's end is unknown", async () => {
  using folder = workspace();
  await using sage = await asking(folder.dir, ["ask-and-die"]);
  const [request] = await sage.open();
  assert.equal((await sage.outcome()).status, "success");
  const resolved = sage.facts().find((fact) => fact.type === "input.resolved");
  assert.equal(resolved?.data.outcome, "superseded");
  const finished = sage.facts().find((fact) => fact.type === "call.finished");
  assert.equal(finished?.data.end, "unknown");
  assert.deepEqual(sage.store.pending(sage.session), []);
  const late = await sage.answer({ type: "denied", requestId: request?.id ?? "" });
  assert.equal(late.ok, false);
});

test("interrupted while a server asks: the request ends with the call", async () => {
  using folder = workspace();
  await using sage = await asking(folder.dir, ["ask"]);
  await sage.open();
  await sage.host.send({ type: "interrupt", session: sage.session, by: "Lin", surface: "test" });
  await sage.outcome();
  assert.deepEqual(sage.store.pending(sage.session), []);
  assert.equal(sage.facts().find((fact) => fact.type === "input.resolved")?.data.outcome, "cancelled");
});

test("where nobody may be asked, a server is told so and nobody waits", async () => {
  using folder = workspace();
  for (const mode of [{ type: "batch" }, { type: "nonInteractive", autoResponse: "alwaysAllow" }] as const) {
    await using sage = await asking(folder.dir, ["ask"], { options: { mode } });
    assert.equal((await sage.outcome()).status, "success");
    assert.deepEqual(JSON.parse(sage.result(0, 0)), { action: "cancel" });
    assert.equal(sage.facts().find((fact) => fact.type === "input.resolved")?.data.outcome, "no_surface");
  }
});

test("an answer to a server that is gone with its process is refused, and the request ends", async () => {
  using folder = workspace();
  const store = memoryStore();
  let id = "";
  {
    const sage = await asking(folder.dir, ["ask"], { store });
    id = (await sage.open())[0]?.id ?? "";
    await sage[Symbol.asyncDispose]();
  }
  const late = await respond(store, { type: "denied", requestId: id }, { by: "Lin", surface: "test" });
  assert.deepEqual([late.won, late.resolution.outcome], [false, "superseded"]);
});
