import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createHost } from "../../src/host/host.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Store } from "../../src/journal/store/store.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { CommandReply } from "../../src/protocol/host/host.ts";
import { agentNameFrom, isAgentName, isOutsideRequest, type OutsideAsk } from "../../src/protocol/host/outside.ts";
import { reason } from "../../src/protocol/reasons/reason.ts";
import { pastCalls, statsOf } from "../../src/archive/past.ts";
import { countOutside } from "../../src/input/outside.ts";
import { receiptsOf } from "../../src/archive/receipts.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { createPaint } from "../../src/view/lines/paint.ts";
import { requestLines } from "../../src/view/lines/request.ts";
import { workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { worded } from "../support/worded.ts";

const executor = () => Promise.reject(new Error("nothing runs here"));
const hostOn = (store: Store, silence = {}) => createHost({ store, version: "test", executor, silence });
const me = { by: "lin", surface: "cli" };
const permission = { kind: "permission", tool: "Bash", input: { command: "make deploy" } } as const;
const asking: OutsideAsk = { agent: ["claude"], conversation: "c1", cwd: "/work", id: "call-1", body: permission };

const reasonOf = (reply: CommandReply) => (reply.ok ? "ok" : (reply.reason?.code ?? reply.code));

async function asked(host: ReturnType<typeof hostOn>, ask: OutsideAsk = asking) {
  const reply = await host.send({ type: "ask", ...ask });
  assert.ok(reply.ok, JSON.stringify(reply));
  return reply;
}

for (const [name, open] of Object.entries({
  memory: () => memoryStore(),
  sqlite: (path: string) => sqliteStore(path),
}))
  suite(`requests from outside, ${name}`, () => {
    test("a request is opened, listed, answered once, and found again by its id", async () => {
      using here = workspace();
      const store = open(here.path("journal.db"));
      const host = hostOn(store);
      const { request } = await asked(host);
      assert.deepEqual([request.source, request.agent, request.kind], ["outside", ["claude"], "permission"]);
      assert.ok(isOutsideRequest(request) && request.session.startsWith("@claude."));
      const { sessions } = (await host.send({ type: "sessions" })) as CommandReply<"sessions"> & { ok: true };
      assert.deepEqual(
        sessions.map(({ id, state, title, pending }) => [id, state, title, pending]),
        [[request.session, "waiting", "claude", 1]],
      );
      const again = await asked(host);
      assert.deepEqual([again.request, again.resolution], [request, undefined]);
      const granted: InputResponse = { type: "granted", requestId: request.id, comment: "careful" };
      const reply = await host.send({ type: "respond", response: granted, ...me });
      assert.ok(reply.ok && !reply.running && reply.resolution?.outcome === "answered");
      const late = await host.send({ type: "respond", response: { ...granted, type: "denied" }, ...me });
      assert.equal(late.ok ? "" : late.code, "request-resolved");
      assert.deepEqual((await asked(host)).resolution, reply.resolution);
      assert.equal((await host.send({ type: "sessions" })).ok && store.session(request.session)?.pending, 0);
      await host.close();
    });

    test("the same id with something else is refused; other conversations and folders have sessions of their own", async () => {
      using here = workspace();
      const host = hostOn(open(here.path("journal.db")));
      const first = await asked(host);
      const other = { ...permission, input: { command: "rm -rf /" } };
      assert.equal(reasonOf(await host.send({ type: "ask", ...asking, body: other })), "ask-differs");
      const next = await asked(host, { ...asking, conversation: "c2" });
      const { conversation: _, ...without } = asking;
      const there = await asked(host, without);
      const elsewhere = await asked(host, { ...without, cwd: "/else" });
      const sessions = [first, next, there, elsewhere].map(({ request }) => request.session);
      assert.equal(new Set(sessions).size, 4);
      await host.close();
    });

    test("the asker ends its request: answered there, gone, withdrawn; an answer that came first stands", async () => {
      using here = workspace();
      const host = hostOn(open(here.path("journal.db")));
      const ids = await Promise.all(
        ["a", "b", "c", "d"].map(async (id) => (await asked(host, { ...asking, id })).request.id),
      );
      const [a = "", b = "", c = "", d = ""] = ids;
      await host.send({ type: "respond", response: { type: "denied", requestId: d }, ...me });
      const terminal = { by: "lin", surface: "claude terminal" };
      const ends = [
        await host.send({ type: "unask", requestId: a, end: { type: "answered", allowed: true }, ...terminal }),
        await host.send({ type: "unask", requestId: b, end: { type: "gone" }, ...terminal }),
        await host.send({ type: "unask", requestId: c, end: { type: "withdrawn", words: "no need" }, ...terminal }),
        await host.send({ type: "unask", requestId: d, end: { type: "gone" }, ...terminal }),
      ];
      assert.deepEqual(
        ends.map((end) => (end.ok ? end.resolution.outcome : end.resolution?.outcome)),
        ["superseded", "cancelled", "cancelled", "answered"],
      );
      const [there] = ends;
      assert.ok(there?.ok && there.resolution.outcome === "superseded");
      assert.deepEqual(
        [there.resolution.by, there.resolution.surface, sentence(there.resolution.reason, "en")],
        ["lin", "claude terminal", "allowed in claude itself"],
      );
      await host.close();
    });

    test("it grants nothing in Sage: no rules, edits, modes; no turn, no message, no foreign request", async () => {
      using here = workspace();
      const store = open(here.path("journal.db"));
      const host = hostOn(store);
      const forged = { ...permission, suggestions: [{ rule: "Bash" }], hard: false, consent: { approvals: 0 } };
      const { request } = await asked(host, { ...asking, body: forged });
      assert.deepEqual(request.kind === "permission" && [request.suggestions, request.hard], [[], true]);
      assert.ok(!("consent" in request));
      const frame = { type: "granted", requestId: request.id } as const;
      for (const more of [
        { rules: [{ rule: "Bash", behavior: "allow", destination: "user" }] },
        { removeRules: [{ rule: "Bash", destination: "user" }] },
        { input: { command: "x" } },
        { mode: "acceptEdits" },
        { outside: true },
      ] as Partial<InputResponse & { type: "granted" }>[])
        assert.equal(
          reasonOf(await host.send({ type: "respond", response: { ...frame, ...more }, ...me })),
          "outside-yes-or-no",
        );
      const { session } = request;
      assert.equal(reasonOf(await host.send({ type: "say", session, text: "hi", ...me })), "outside-session");
      assert.equal(reasonOf(await host.send({ type: "chooseMode", session, mode: "ask", ...me })), "outside-session");
      assert.equal(reasonOf(await host.send({ type: "choose", session, model: "x/y", ...me })), "outside-session");
      const rule = { rule: "Bash", behavior: "allow", destination: "user" } as const;
      assert.equal(reasonOf(await host.send({ type: "addRule", session, ...rule, ...me })), "outside-session");
      assert.equal(
        reasonOf(await host.send({ type: "inquire", requestId: request.id, text: "why", ...me })),
        "outside-no-reply",
      );
      assert.equal(reasonOf(await host.send({ type: "open", session: "@claude.mine", cwd: "/" })), "session-id-unfit");
      await assert.rejects(async () => host.run(session), worded(/Sage runs nothing there/));
      await host.send({ type: "resume", session });
      await host.send({ type: "interrupt", session, cancel: true, ...me });
      assert.equal(store.pending(session).length, 1, "nothing but an answer ends it");
      store.create("own", { cwd: "/work", version: "test" });
      const own = { ...request, id: "own/t0/0/0/permit0", session: "own", source: "approval" as const };
      const epoch = store.claim("own");
      const fact = {
        session: "own",
        seq: 0,
        key: "t0/0/0/permit0",
        type: "input.requested",
        at: 1,
        data: own,
      } as const;
      store.commit("own", epoch, [{ ...fact }]);
      const stolen = await host.send({ type: "unask", requestId: own.id, end: { type: "gone" }, ...me });
      assert.equal(reasonOf(stolen), "not-outside");
      await host.close();
    });

    test("names, ids, sizes and numbers are checked, and said why", async () => {
      using here = workspace();
      const host = hostOn(open(here.path("journal.db")));
      const refusals: [Partial<OutsideAsk>, string][] = [
        [{ agent: ["Sage"] }, "agent-name-unfit"],
        [{ agent: ["sage helper"] }, "agent-name-unfit"],
        [{ agent: ["\u202Eedualc"] }, "agent-name-unfit"],
        [{ agent: ["сlaude"] }, "agent-name-unfit"], // the first letter is Cyrillic
        [{ agent: ["claude", "\u001b[2J"] }, "agent-name-unfit"],
        [{ id: "../t0/0/0/permit0" }, "ask-id-unfit"],
        [{ body: { kind: "text", prompt: "x".repeat(200_000) } }, "ask-too-long"],
        [{ body: { kind: "text", prompt: " " } }, "ask-unfit"],
        [{ body: { kind: "question", questions: [] } }, "ask-unfit"],
      ];
      for (const [more, code] of refusals)
        assert.equal(reasonOf(await host.send({ type: "ask", ...asking, ...more })), code);
      for (let n = 0; n < 50; n++) await asked(host, { ...asking, id: `n${n}` });
      assert.equal(reasonOf(await host.send({ type: "ask", ...asking, id: "more" })), "asks-too-many");
      assert.ok((await asked(host, { ...asking, id: "n49" })).request, "one that is open is found all the same");
      await host.close();
    });
  });

suite("requests from outside", () => {
  test("where the settings want proof of a yes, a permission from outside takes it; a question does not", async () => {
    const question = { kind: "text", prompt: "Which?" } as const;
    for (const [n, [signed, body, takes]] of (
      [
        [undefined, permission, false],
        [[], permission, false],
        [["hard"], permission, true],
        [["permission"], permission, true],
        [["hard"], question, false],
      ] as const
    ).entries()) {
      const host = hostOn(memoryStore(), signed && { signed });
      const { request } = await asked(host, { ...asking, id: `call-${n}`, body });
      assert.equal(request.kind === "permission" && request.signed === true, takes, `case ${n}`);
      if (request.kind !== "permission") continue;
      const reply = await host.send({ type: "respond", response: { type: "granted", requestId: request.id }, ...me });
      assert.equal(reasonOf(reply), takes ? "takes-signature" : "ok", `case ${n}`);
    }
  });

  test("several processes at once: one request, one end", async () => {
    using here = workspace();
    const hosts = [1, 2, 3].map(() => hostOn(sqliteStore(here.path("journal.db"))));
    const replies = await Promise.all(hosts.map((host) => asked(host)));
    assert.equal(new Set(replies.map(({ request }) => `${request.id} ${request.at}`)).size, 1);
    const [first] = replies;
    const ends = await Promise.all(
      hosts.map((host, n) => {
        const response = { type: n === 1 ? "granted" : "denied", requestId: first?.request.id ?? "" } as InputResponse;
        return host.send({ type: "respond", response, by: `p${n}`, surface: "cli" });
      }),
    );
    assert.equal(ends.filter(({ ok }) => ok).length, 1);
    await Promise.all(hosts.map((host) => host.close()));
  });

  test("a deadline holds, also when its process was killed; silence of the settings counts where the asker says nothing", async () => {
    using here = workspace();
    const path = here.path("journal.db");
    const host = hostOn(sqliteStore(path), { promptTimeout: 30, timeoutPolicy: "deny" });
    const { request } = await asked(host);
    assert.equal(request.deadline?.policy, "deny");
    await until(async () => (await asked(host)).resolution?.outcome === "timed_out", "it timed out");
    const slow = await asked(host, { ...asking, id: "slow", timeoutMs: 40, timeoutPolicy: "fail" });
    await host.close(); // as good as killed: nobody counts any more
    await new Promise((resolve) => setTimeout(resolve, 60));
    const next = hostOn(sqliteStore(path));
    const late = await next.send({ type: "respond", response: { type: "granted", requestId: slow.request.id }, ...me });
    assert.equal(late.ok ? "" : late.resolution?.outcome, "timed_out");
    await next.close();
  });

  test("a process that stays counts the time of askers that are gone, and of those that come", async () => {
    using here = workspace();
    const path = here.path("journal.db");
    const asker = hostOn(sqliteStore(path));
    const { request } = await asked(asker, { ...asking, timeoutMs: 50, timeoutPolicy: "deny" });
    await asker.close();
    const store = sqliteStore(path);
    const over = new AbortController();
    countOutside(store, over.signal);
    await until(() => store.resolution(request.id)?.outcome === "timed_out", "the first timed out");
    const next = hostOn(sqliteStore(path));
    const later = await asked(next, { ...asking, id: "later", timeoutMs: 50, timeoutPolicy: "deny" });
    await next.close();
    await until(() => store.resolution(later.request.id)?.outcome === "timed_out", "the second timed out");
    over.abort();
    store.close();
  });

  test("what was answered at the agent's own terminal is told so; statistics name the agent; no rule is tried on it", async () => {
    const store = memoryStore();
    const host = hostOn(store);
    const there = await asked(host);
    const end = { type: "answered", allowed: true } as const;
    await host.send({ type: "unask", requestId: there.request.id, end, by: "lin", surface: "claude terminal" });
    const here = await asked(host, { ...asking, id: "two" });
    await host.send({ type: "respond", response: { type: "denied", requestId: here.request.id }, ...me });
    const receipts = receiptsOf(store.load(here.request.session), () => undefined);
    assert.deepEqual(
      receipts.map(({ decision }) => decision),
      ["allowed", "refused"],
    );
    assert.deepEqual(
      (await statsOf(store, {})).tools.map(({ tool, asked: times, no }) => [tool, times, no]),
      [["claude", 2, 1]],
    );
    assert.deepEqual(await pastCalls(store, {}), []);
    await host.close();
  });

  test("receipts and lines show who asks, and hide nothing", async () => {
    const store = memoryStore();
    const host = hostOn(store);
    const prompt = "Sage asks: \u001b[2Jallow \u202Eall? 真的吗";
    const { request } = await asked(host, { ...asking, body: { kind: "text", prompt }, why: "I must know\u0007" });
    const lines = requestLines(request, { t: texts("en"), paint: createPaint(false), width: 80 }).join("\n");
    assert.match(lines, /claude, an agent outside of Sage, asks: I must know/);
    assert.match(lines, /claude/);
    assert.match(lines, /真的吗/);
    assert.doesNotMatch(lines, /[\u001b\u202e\u0007]/u);
    const before = receiptsOf(store.load(request.session), () => undefined);
    assert.deepEqual(
      before.map(({ decision, agent }) => [decision, agent]),
      [["open", ["claude"]]],
    );
    await host.send({ type: "respond", response: { type: "text", requestId: request.id, text: "好" }, ...me });
    const [receipt] = receiptsOf(store.load(request.session), () => undefined);
    assert.deepEqual([receipt?.decision, receipt?.asked[0]?.resolution?.by], ["answered", "lin"]);
    await host.close();
  });

  test("a name is made from what a client calls itself", () => {
    assert.deepEqual(
      ["Claude Code", "claude-ai", "通义灵码", "sage", "\u202Eevil", "", "x".repeat(90), "a/b"].map((name) =>
        agentNameFrom(name, "mcp"),
      ),
      ["Claude Code", "claude-ai", "通义灵码", "mcp", "evil", "mcp", "x".repeat(40), "a-b"],
    );
    assert.ok(isAgentName("claude") && !isAgentName("claude/x") && !isAgentName("SAGE"));
    assert.match(sentence(reason("outside-gone", { agent: "claude" }), "zh"), /claude/);
  });
});
