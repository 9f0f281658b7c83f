// The same record of the person's words and of calls, wherever a model reads of what was before: each way once, at the model's own door.
import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { suite, test } from "node:test";
import { forkOf } from "../../src/archive/sessions.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { Store } from "../../src/journal/store/store.ts";
import type { Script } from "../../src/models/scripted.ts";
import type { ModelRequest } from "../../src/models/model.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { allow, bash, sageWith, workspace, type TestConfig, type TestSage } from "../support/sage.ts";
import { bashCall, guestSage } from "../support/guests/guest-sage.ts";
import { until } from "../support/until.ts";

const lin = { by: "Lin", surface: "test" };
const asks = (text: string) => ({ behavior: "ask" as const, text, source: "user" as const });
const rules = [allow("Bash"), asks("Bash(make:*)"), asks("Bash(rm:*)")];
const task = { tool: "Task", input: { agent: "GeneralPurpose", description: "do", prompt: "part two" } };
const condition = "不要 touch 测试.md; no semicolons";

/** A session whose model's requests are kept as text, those of the root and those that are named. */
async function keeping(options: TestConfig & { session?: string }): Promise<{ sage: TestSage; read(): string }> {
  const seen: string[] = [];
  const keep = (request: ModelRequest) => void seen.push(JSON.stringify(request.messages));
  const sage = await sageWith({
    rules,
    ...options,
    wrap: ({ id, reply }) => ({ id, reply: (request, scope) => (keep(request), reply(request, scope)) }),
  });
  return { sage, read: () => (seen.at(-1) ?? "").replaceAll('\\"', "'") };
}

async function decide(sage: TestSage, words: { reason: string } | { comment: string }): Promise<InputRequest> {
  const [request] = await sage.open();
  assert.ok(request);
  const answer = "reason" in words ? { type: "denied" as const } : { type: "granted" as const };
  await sage.answer({ ...answer, ...words, requestId: request.id });
  return request;
}

const missing = (text: string, ...expected: readonly (string | RegExp)[]) =>
  expected.filter((part) => (typeof part === "string" ? !text.includes(part) : !part.test(text)));

/** Stops the turn for good once the command has begun. */
async function cancelOnce(sage: TestSage, begun: string): Promise<void> {
  await until(() => existsSync(begun));
  for (const _ of [1, 2]) await sage.host.send({ type: "interrupt", session: sage.session, ...lin });
  await sage.outcome();
}

/** The facts of a session as a Sage with another loop left them, in a store of their own. */
function ofOtherVersion(facts: readonly Fact[], dir: string): Store {
  const store = memoryStore();
  store.create("s", { cwd: dir, version: "test" });
  const epoch = store.claim("s");
  const own = JSON.parse(JSON.stringify(facts.slice(1)).replaceAll(facts[0]?.session ?? "", "s")) as Fact[];
  const other = own.map((fact) => (fact.type === "turn.begun" ? { ...fact, data: { ...fact.data, loop: 0 } } : fact));
  store.commit("s", epoch, other);
  void store.release("s", epoch);
  return store;
}

suite("what was said and done is read", () => {
  test("in the next turn: a yes with words to a call that never came to run, and a call that was cut off", async () => {
    using here = workspace();
    const slow = bash(`touch ${here.path("begun")} && sleep 60`);
    const script: Script = [{ calls: [slow, bash("make a")] }, { text: "ok" }];
    const { sage, read } = await keeping({ dir: here.dir, script });
    await using _ = sage;
    await sage.say(condition);
    await decide(sage, { comment: "only with -j1" });
    await cancelOnce(sage, here.path("begun"));
    await sage.say("and now?");
    await sage.outcome();
    assert.deepEqual(
      missing(read(), condition, /Not run: [^"]*The person approved this and said: 'only with -j1'/),
      [],
    );
  });

  test("by an agent whose subagent was interrupted, failed, or had too few steps", async () => {
    using here = workspace();
    const work = { calls: [bash("touch made"), bash("rm -r dist")] };
    const last = { calls: [bash(`touch ${here.path("begun")} && sleep 60`)] };
    const parts = [/done: Bash touch made/, /Refused: Bash rm -r dist; the person said: 'use trash'/];
    for (const [name, steps, end] of [
      ["interrupted", [work, last], /Interrupted[^"]*stopped on its way: Bash touch .*begun && sleep/],
      ["model gone", [work], /could not go on/],
      ["too few steps", [work, work, work], /stopped after 1 steps/],
    ] as const) {
      rmSync(here.path("begun"), { force: true });
      const few = name === "too few steps" && { maxSteps: 1 };
      const base = { type: "custom", description: "d", prompt: "p", workingDirectory: "inherited" } as const;
      const agents = [{ ...base, name: "Helper", toolAccess: "inherited", ask: "deny", ...few } as never];
      const call = { ...task, input: { ...task.input, agent: "Helper" } };
      const script: Script = { "": [{ calls: [call] }, { text: "ok" }, { text: "ok" }], Helper: [...steps] };
      const { sage, read } = await keeping({ dir: here.dir, script, agents });
      await using _ = sage;
      await sage.say("go");
      await decide(sage, { reason: "use trash" });
      if (name === "interrupted") {
        await cancelOnce(sage, here.path("begun"));
        await sage.say("and now?");
      }
      await sage.outcome();
      assert.deepEqual(missing(read(), ...parts, end), [], name);
    }
  });

  test("after an update in the midst of a subagent's work", async () => {
    using here = workspace();
    const inner = [{ calls: [bash("touch made")] }, { calls: [bash("make b")] }];
    const old = await keeping({ dir: here.dir, script: { "": [{ calls: [task] }], GeneralPurpose: inner } });
    await old.sage.say(condition);
    const [request] = await old.sage.open();
    const store = ofOtherVersion(old.sage.facts(), here.dir);
    await old.sage[Symbol.asyncDispose]();
    const { sage, read } = await keeping({
      dir: here.dir,
      store,
      session: "s",
      script: [{ text: "a" }, { text: "b" }],
    });
    await using _ = sage;
    const outcome = sage.outcome();
    const requestId = request?.id.replace(old.sage.session, "s") ?? "";
    await sage.answer({ type: "denied", requestId, reason: "use npm" });
    await outcome;
    const expected = [condition, /turn ended before the subagent had finished[^]*done: Bash touch made/, /'use npm'/];
    assert.deepEqual(missing(read(), ...expected), []);
    assert.doesNotMatch(read(), /Not run: the turn ended before/);
  });

  test("when a person asks about an open call: its finished and its running siblings", async () => {
    using here = workspace();
    const calls = [bash("touch one"), bash("make a"), bash("make b")];
    const { sage, read } = await keeping({
      dir: here.dir,
      script: { "": [{ calls }, { text: "ok" }], inquiry: [{ text: "because" }] },
    });
    await using _ = sage;
    await sage.say(condition);
    const [, second] = await sage.open(2);
    await until(() => sage.result(0, 0) !== "");
    await sage.host.send({ type: "inquire", requestId: second?.id ?? "", text: "why?", ...lin });
    await until(() => sage.facts().some(({ type }) => type === "inquiry.replied"));
    assert.deepEqual(missing(read().replaceAll('"', "'"), condition, /No result yet: waits for a person/), []);
    assert.doesNotMatch(read(), /No result yet: not begun/);
  });

  test("in a fork: a call that had begun there, and after a compaction what was refused there", async () => {
    using here = workspace();
    const slow = bash(`touch ${here.path("begun")} && sleep 60`);
    const script: Script = [{ calls: [bash("rm -r dist")] }, { calls: [slow] }];
    const first = await keeping({ dir: here.dir, script });
    await using _first = first.sage;
    await first.sage.say(condition);
    await decide(first.sage, { reason: "use trash" });
    await until(() => existsSync(here.path("begun")));
    const facts = first.sage.facts();
    const store = memoryStore();
    store.create("s", { cwd: here.dir, version: "test" });
    const epoch = store.claim("s");
    store.commit(
      "s",
      epoch,
      forkOf(facts, facts.at(-1)?.seq ?? 0)
        .slice(1)
        .map((fact) => ({ ...fact, session: "s" })),
    );
    void store.release("s", epoch);
    const texts = { "": [{ text: "a" }, { text: "b" }, { text: "c" }, { text: "d" }], summary: [{ text: "s" }] };
    const { sage, read } = await keeping({ dir: here.dir, store, session: "s", script: texts });
    await using _ = sage;
    await sage.say("go on");
    await sage.outcome();
    assert.deepEqual(
      missing(read(), condition, "started in the session that this one is a fork of", "'use trash'"),
      [],
    );
    await until(() => !store.session("s")?.owned);
    assert.deepEqual(await sage.host.send({ type: "compact", session: "s" }), { ok: true });
    await sage.say("and now?");
    await sage.outcome();
    const expected = [
      condition,
      /Bash rm -r dist: 'Not run: the person refused it\. Their reason: /,
      /end unknown: Bash/,
    ];
    assert.deepEqual(missing(read().replaceAll("\\", ""), ...expected), []);
  });

  test("by a guest that has lost its conversation between two turns, and not by one that has it", async () => {
    using here = workspace();
    const script = [{ calls: [bashCall("touch made")] }, { calls: [bashCall("rm -r dist")] }, { text: "ok" }];
    await using sage = await guestSage({ dir: here.dir, script, rules });
    await sage.say(condition);
    const [request] = await sage.open();
    await sage.answer({ type: "denied", requestId: request?.id ?? "", reason: "use trash" });
    await sage.outcome();
    await sage.say("once more");
    await sage.outcome();
    assert.deepEqual(sage.heard(), [condition, "once more"]);
    for (const name of readdirSync(here.dir)) if (name.startsWith("session-")) rmSync(here.path(name));
    await sage.say("and now?");
    const [again] = await sage.open();
    await sage.answer({ type: "denied", requestId: again?.id ?? "" });
    await sage.outcome();
    const [words = ""] = sage.heard();
    const refused = /Refused: Bash rm -r dist; the person said: "use trash"/;
    assert.deepEqual(missing(words, condition, "once more", /done: Bash touch made\n {2}\(no output\)/, refused), []);
    assert.match(words, /\[This is what you are asked now:\]\nand now\?$/);
  });
});
