// Tools and models of one's own may return anything: what cannot be used is told in words, and nothing breaks.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { z } from "zod";
import {
  memoryStore,
  noUsage,
  said,
  SageAgentSDK,
  SageError,
  scripted,
  type Model,
  type Store,
  type Tool,
} from "../../src/sdk/index.ts";
import { sayTask } from "../../src/agent/turn/task.ts";
import { workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const returning = (result: unknown): Tool => ({
  ...{ name: "Own", description: "Returns.", effect: "reads", inputSchema: z.object({}) },
  checkPermissions: () => ({ behavior: "allow", reason: "a test" }),
  execute: async () => result as never,
});

test("a tool that returns something else than a result has failed, and the model reads why", async () => {
  using here = workspace();
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const wrong: [unknown, RegExp][] = [
    [undefined, /a tool should return \{ ok, text \}, and it returned undefined/],
    ["done", /a tool should return \{ ok, text \}, and it returned string/],
    [{ text: "done" }, /ok should be true or false, and it is undefined/],
    [{ ok: true, text: 5 }, /text should be a string, and it is number/],
    [{ ok: true, text: "done", size: 5n }, /it should be JSON \(Do not know how to serialize a BigInt\)/],
    [{ ok: true, text: "done", response: circle }, /it should be JSON \(Converting circular structure to JSON\)/],
  ];
  for (const [result, message] of wrong) {
    const model = scripted([{ calls: [{ tool: "Own", input: {} }] }, { text: "heard" }]);
    const options = { model, tools: [returning(result)], workingDirectory: here.dir, journal: here.path("journal.db") };
    const sage = new SageAgentSDK(options);
    const { text, toolHistory } = await sage.run("go");
    assert.equal(text, "heard");
    assert.deepEqual([toolHistory[0]?.result.ok, toolHistory[0]?.result.end], [false, "failed"]);
    assert.match(toolHistory[0]?.result.text ?? "", message);
    await sage.close();
  }
});

test("ten megabytes of a tool are kept in a file, and the model reads their beginning and end", async () => {
  using here = workspace();
  const whole = `begin${"𠮷".repeat(2_500_000)}结束`; // each of two halves, which no piece may part
  let size = 0;
  const model = scripted([
    { calls: [{ tool: "Own", input: {} }] },
    ({ messages }) => {
      size = JSON.stringify(messages).length;
      return { text: "read" };
    },
  ]);
  const options = { model, tools: [returning({ ok: true, text: whole })], workingDirectory: here.dir };
  const sage = new SageAgentSDK(options);
  const { toolHistory } = await sage.run("go");
  const { text, output } = toolHistory[0]?.result ?? { text: "" };
  assert.ok(size < 40_000, `${size} characters in the prompt`);
  assert.match(text, /^begin𠮷[^]*characters were cut here; the whole output is in [^]*𠮷结束$/);
  const file = output?.file ?? "";
  assert.ok(readFileSync(file, "utf8") === whole);
  await sage.close();
});

test("a model that returns no reply ends the turn with what a reply should have", async () => {
  using here = workspace();
  const reply = { parts: [{ type: "text", text: "hi" }], usage: noUsage, finish: "stop", model: "own/model" };
  const wrong: [unknown, RegExp][] = [
    [undefined, /own\/model did not return a reply: it is missing; it should be an object/],
    ["hi", /it should be an object; it is a string/],
    [{ ...reply, usage: undefined }, /usage is missing; it should be an object/],
    [{ ...reply, usage: { inputTokens: 3 } }, /usage\.outputTokens is missing; it should be a number/],
    [{ ...reply, usage: { ...noUsage, inputTokens: Number.NaN } }, /usage\.inputTokens should be a number/],
    [{ ...reply, parts: "hi" }, /parts should be a list; it is a string/],
    [{ ...reply, parts: [{ type: "text", text: 5 }] }, /parts\[0\]\.text should be a string; it is a number/],
    [{ ...reply, parts: [{ type: "call", id: "1", tool: "Bash" }] }, /parts\[0\]\.input is missing/],
    [{ ...reply, finish: "done" }, /finish should be "stop", "calls", "length", "filtered" or "other"; it is "done"/],
  ];
  for (const [given, message] of wrong) {
    const model: Model = { id: "own/model", reply: async () => given as never };
    const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
    const outcome = await sage.run("go");
    assert.equal(outcome.status === "error" && outcome.error.code, "model-unavailable");
    assert.match(outcome.status === "error" ? outcome.error.message : "", message);
    assert.deepEqual(sage.steps(outcome.session), [], "nothing of it is recorded");
    await sage.close();
  }
});

test("a summary whose usage is none is not recorded", async () => {
  using here = workspace();
  const store = memoryStore();
  const smallModel: Model = {
    id: "own/small",
    reply: async () => ({ parts: [{ type: "text", text: "short" }], usage: {}, finish: "stop", model: "m" }) as never,
  };
  const script = [{ calls: [{ tool: "Glob", input: { pattern: "*" } }] }, { text: "one" }, { text: "two" }];
  const sage = new SageAgentSDK({ model: scripted(script), smallModel, store, workingDirectory: here.dir });
  const { session } = await sage.run("look");
  await sage.run("and again", { session });
  await sage.compact(session);
  const [compacted] = store.load(session).filter(({ type }) => type === "context.compacted");
  assert.deepEqual(compacted?.type === "context.compacted" && compacted.data.usage, noUsage);
  await sage.close();
});

test("a task that is none is refused before anything is written", async () => {
  const store = memoryStore();
  const wrong: [unknown, RegExp][] = [
    [3, /a message should be a string; it is number/],
    [{}, /a message should be a string; it is undefined/],
    [" ", /the message is empty/],
    [{ description: "go", session: "a/b" }, /a session's id should be letters, digits/],
  ];
  for (const [task, message] of wrong)
    await assert.rejects(sayTask(store, "/", task as never), { code: "input-invalid", message });
  assert.deepEqual(store.sessions(), []);
  const { session } = await sayTask(store, "/", { description: "去吧", session: "job-1" });
  assert.equal(session, "job-1");
});

/** A promise of another realm, as a test runner or a library in one gives it: no instance of our `Promise`. */
const Foreign = runInNewContext("Promise") as PromiseConstructor;

test("a store may promise in a way of its own: a call begins when its facts are on disk, and an error is met", async () => {
  using here = workspace();
  const inner = memoryStore();
  const later = (work: () => unknown) =>
    new Foreign((done, fail) => setImmediate(() => void (async () => work())().then(done, fail))) as never;
  let isFull = false;
  const store: Store = {
    ...inner,
    append: (session, fact) => later(() => inner.append(session, fact)),
    commit: (session, epoch, facts) =>
      later(() => {
        if (isFull) throw new Error("the database is gone");
        inner.commit(session, epoch, facts);
      }),
  };
  const written: string[][] = [];
  const tool: Tool = {
    ...{ name: "Own", description: "Looks at the store.", effect: "writes", inputSchema: z.object({}) },
    async execute(_input, { session = "" }) {
      written.push(inner.load(session).map(({ type }) => type));
      isFull = true;
      return { ok: true, text: "looked" };
    },
  };
  const model = scripted([{ calls: [{ tool: "Own", input: {} }] }, { text: "heard" }]);
  const sage = new SageAgentSDK({ model, tools: [tool], store, workingDirectory: here.dir });
  const outcome = await sage.run("go", { mode: { type: "nonInteractive", autoResponse: "alwaysAllow" } });
  assert.deepEqual(written[0]?.slice(-1), ["call.started"]);
  assert.equal(outcome.status, "error", "what came after was not written, and nobody goes on without it");
  await sage.close();
});

test("a store that reads by promises is refused by the name of the method, with what was expected and what came", async () => {
  using here = workspace();
  const inner = memoryStore();
  const failing = () => Promise.reject(new Error("no database")) as never;
  const wrong: [Partial<Store>, RegExp][] = [
    [
      { claim: async (id: string) => inner.claim(id) } as never,
      /claim\(\) should return a value of type number at once; it returned a promise/,
    ],
    [
      { load: async (id: string) => inner.load(id) } as never,
      /load\(\) should return a value of type array at once; it returned a promise/,
    ],
    [{ claim: () => undefined } as never, /claim\(\) should return a value of type number; it returned undefined/],
    [{ session: failing }, /session\(\) should return its value at once; it returned a promise/],
    [{ opened: failing }, /opened\(\) should return its value at once; it returned a promise/],
    [{ append: async () => {} } as never, /append\(\) should return a value of type object; it returned undefined/],
  ];
  for (const [part, message] of wrong) {
    const sage = new SageAgentSDK({
      model: scripted([{ text: "ran" }]),
      store: { ...inner, ...part },
      workingDirectory: here.dir,
    });
    const told = await sage.run("go").then(
      (outcome) => (outcome.status === "error" ? outcome.error : { code: outcome.status, message: "" }),
      ({ code, message: text }: SageError) => ({ code, message: text }),
    );
    assert.equal(told.code, "config-invalid");
    assert.match(told.message, message);
    await sage.close();
  }
  for (const method of ["since", "pending"] as const) {
    const sage = new SageAgentSDK({
      model: scripted([{ text: "ran" }]),
      store: { ...inner, [method]: async () => [] },
      workingDirectory: here.dir,
    });
    const run = sage.run("go");
    const look =
      method === "since"
        ? () => run[Symbol.asyncIterator]().next()
        : async () => (await sage.openTurns()).isWaitingInput();
    await assert.rejects(look, new RegExp(`${method}\\(\\) should return a value of type array at once`));
    await run.catch(() => {});
    await sage.close();
  }
  const { leftCalls: _lacks, ...fewer } = inner;
  assert.throws(() => new SageAgentSDK({ store: fewer as Store }), /store: it lacks leftCalls/);
  const { hub: _hub, ...deaf } = inner;
  assert.throws(() => new SageAgentSDK({ store: deaf as Store }), /store: it lacks hub/);
});

test("a store of a class keeps its private parts, and is closed once, and waited for", async () => {
  const inner = memoryStore();
  let closed = 0;
  class Own {
    readonly #inner = inner;
    get hub() {
      return this.#inner.hub;
    }
    async close() {
      await new Promise((done) => void setImmediate(done));
      closed++;
    }
  }
  for (const [name, value] of Object.entries(inner))
    if (name !== "hub" && name !== "close") Object.assign(Own.prototype, { [name]: value });
  const sage = new SageAgentSDK({ model: scripted([{ text: "ran" }]), store: new Own() as unknown as Store });
  assert.equal((await sage.run("go")).text, "ran");
  await sage.close();
  assert.equal(closed, 1);
});

test("a model that does not listen does not hold its turn: a late reply is dropped, and nothing of it is written or shown", async () => {
  using here = workspace();
  const store = memoryStore();
  const asked: (() => void)[] = [];
  const deaf: Model = {
    id: "own/deaf",
    reply: (_request, scope) =>
      new Promise((done) => {
        asked.push(() => {
          scope.text("too late");
          done({ parts: [{ type: "text", text: "too late" }], usage: noUsage, finish: "stop", model: "own/deaf" });
        });
      }),
  };
  const options = { model: deaf, store: { ...store, close() {} }, workingDirectory: here.dir };
  const sage = new SageAgentSDK(options);
  const aborted = new AbortController();
  const runs = [sage.run("cancel"), sage.run("pause"), sage.run("abort", { signal: aborted.signal })] as const;
  await until(() => asked.length === 3);
  aborted.abort();
  await Promise.all([runs[0].interrupt({ cancel: true }), runs[1].interrupt()]);
  const outcomes = await Promise.all(runs);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["cancelled", "paused", "cancelled"],
  );
  const left = sage.run("leave");
  await until(() => asked.length === 4);
  await sage.close();
  assert.equal((await left).status, "paused");
  const written = JSON.stringify([...runs, left].map(({ session }) => store.load(session)));
  let shown = 0;
  for (const { session } of [...runs, left])
    store.hub.subscribe(session, { fact: () => shown++, delta: () => shown++ });
  for (const reply of asked) reply();
  await new Promise((done) => void setTimeout(done, 5));
  assert.equal(JSON.stringify([...runs, left].map(({ session }) => store.load(session))), written);
  assert.equal(shown, 0);
  const after = new SageAgentSDK({ ...options, model: scripted([{ text: "went on" }]) });
  assert.equal((await after.resume(runs[1].session)).text, "went on", "a turn that was paused asks again");
  await after.close();
});

test("a turn that cannot be recorded fails once, and is not begun again and again", async () => {
  using here = workspace();
  const inner = memoryStore();
  let commits = 0;
  const commit: Store["commit"] = async () => {
    if (++commits > 5) return new Promise<void>(() => {});
    throw new SageError("journal-damaged", said("the database is read-only"));
  };
  let closed = 0;
  const store = { ...inner, commit, close: () => void closed++ };
  {
    await using sage = new SageAgentSDK({ model: scripted([{ text: "ran" }]), store, workingDirectory: here.dir });
    const outcome = await sage.run("go");
    assert.equal(outcome.status === "error" && outcome.error.code, "journal-damaged");
    assert.equal(commits, 1);
  }
  assert.equal(closed, 1);
});
