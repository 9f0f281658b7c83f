// Embedders without types: whatever they spell wrong is refused with what was expected, before anything runs.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { assemble } from "../../src/sdk/entries/hosts.ts";
import {
  memoryStore,
  SageAgentSDK,
  scripted,
  StreamingStrategy,
  UnifiedExecutor,
  type SageError,
} from "../../src/sdk/index.ts";
import { openSession } from "../../src/sdk/entries/stores.ts";
import { askUser, bash, config, question, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const tool = (name: string) => ({
  ...{ name, description: "Does nothing.", inputSchema: z.object({}), effect: "reads" },
  execute: async () => ({ ok: true, text: "" }),
});
const model = () => scripted([{ text: "ran" }]);

test("options of an instance that nobody knows, or of another kind, are refused with what was expected", () => {
  const wrong: [unknown, RegExp][] = [
    [{ modle: model() }, /options of SageAgentSDK: unknown: "modle"; did you mean "model"\?/],
    ["anthropic/some", /it should be an object; it is a string/],
    [{ model: 5 }, /model: it should be provider\/name, or an object with an id and the function reply/],
    [{ model: { reply: async () => ({}) } }, /model: it should be provider\/name, or an object with an id/],
    [{ model: "foo", env: {} }, /"foo"/],
    [{ model: "nobody/foo", env: {} }, /nobody/],
    [{ model: "openai/gpt-5", env: {} }, /OPENAI_API_KEY/],
    [{ journal: "/proc/sage/journal.db" }, /\/proc\/sage\/journal\.db/],
    [{ rules: { denny: ["Bash"] } }, /rules: unknown: "denny"; did you mean "deny"\?/],
    [{ rules: { allow: "Bash" } }, /rules\.allow should be a list/],
    [{ rules: { allow: ["Bash("] } }, /the allow rule "Bash\(" \(user\) cannot be read: expected a closing \)/],
    [{ tools: [tool("Own"), tool("Own")] }, /there are two tools named "Own"/],
    [{ tools: [tool("Bash")] }, /there are two tools named "Bash"/],
    [{ skills: [{ name: "a", description: "b" }] }, /skills\[0\]\.body is missing/],
    [
      { skills: [{ name: "a", description: "b", body: "c", priority: "high" }] },
      /skills\[0\]\.priority should be a number/,
    ],
    [{ permissionMode: "yolo" }, /permissionMode should be "default" or "bypass"; it is "yolo"/],
    [{ sandbox: { enabled: true } }, /sandbox: unknown: "enabled"/],
    [{ tools: [{ name: "Own" }] }, /tools\[0\]\.description is missing/],
    [
      { tools: [{ ...tool("Own"), inputSchema: z.object({ day: z.date() }) }] },
      /tools\[0\]\.inputSchema: it cannot be told to a model as JSON Schema: .*Date/,
    ],
    [{ tools: [{ ...tool("Own"), inputSchema: z.string() }] }, /it should be a schema of zod 4 for an object/],
    [{ store: {} }, /store: it should be a Store/],
    [{ store: memoryStore(), journal: "journal.db" }, /journal and store: give one of them, not both/],
    [{ sleepAfterMs: -1 }, /sleepAfterMs should be more than 0/],
  ];
  for (const [options, message] of wrong)
    assert.throws(() => new SageAgentSDK(options as never), { name: "SageError", code: "config-invalid", message });
});

test("options that an object has inherited count like its own", async () => {
  using here = workspace();
  for (const [inherited, ofRun] of [
    [{ rules: { deny: ["Bash"] } }, {}],
    [{}, { sessionMode: "plan" }],
  ] as const) {
    const script = scripted([{ calls: [bash("touch made")] }, { text: "ran" }]);
    const own = { model: script, smallModel: undefined, permissionMode: "bypass", workingDirectory: here.dir };
    const sage = new SageAgentSDK(Object.assign(Object.create(inherited) as object, own) as never);
    const { toolHistory } = await sage.run("go", Object.create(ofRun) as object);
    assert.deepEqual([toolHistory[0]?.result.ok, existsSync(here.path("made"))], [false, false]);
    await sage.close();
  }
});

test("options of a run are refused before a session is opened; what is undefined is left out", async () => {
  const store = memoryStore();
  const sage = new SageAgentSDK({ model: model(), store });
  const wrong: [unknown, RegExp][] = [
    [null, /options of run: it should be an object/],
    [{ maxStep: 3 }, /options of run: unknown: "maxStep"; did you mean "maxSteps"\?/],
    [{ maxSteps: "3" }, /maxSteps should be a number; it is a string/],
    [{ mode: "interactive" }, /mode should be an object; it is a string/],
    [{ mode: { type: "auto" } }, /mode\.type should be "interactive", "nonInteractive" or "batch"; it is "auto"/],
    [
      { mode: { type: "nonInteractive" } },
      /autoResponse should be "default", "alwaysAllow", "alwaysDeny" or a function/,
    ],
    [{ timeoutPolicy: "allow" }, /timeoutPolicy should be "wait", "fail", "cancel", "deny" or an object/],
    [{ timeoutPolicy: { default: { type: "granted" } } }, /default\.type should be "answers", "denied" or "text"/],
    [{ promptTimeout: "60" }, /promptTimeout should be a number/],
    [{ signal: {} }, /signal: it should be an AbortSignal/],
    [{ workingDirectory: "/no/such/folder" }, /workingDirectory: there is no folder \/no\/such\/folder/],
    [{ recordTrajectory: "/no/such/folder/file" }, /recordTrajectory: there is no folder \/no\/such\/folder/],
  ];
  for (const [options, message] of wrong)
    await assert.rejects(async () => sage.run("go", options as never), { code: "config-invalid", message });
  await assert.rejects(
    sage.openTurns({ signal: new AbortController().signal } as never),
    /openTurns: unknown: "signal"/,
  );
  const { handle, result } = sage.executeWithChannel("go", { conversations: true } as never);
  await assert.rejects(result, /executeWithChannel: unknown: "conversations"; did you mean "conversation"\?/);
  assert.equal(await handle.nextRequest(), undefined, "nobody waits for a request that never comes");
  for (const task of [undefined, null, 5, ["go"]])
    await assert.rejects(async () => sage.run(task as never), /a message should be a string; it is/);
  assert.equal((await sage.run("go", { maxSteps: undefined, signal: undefined } as never)).text, "ran");
  await sage.close();
});

test("a word that is no way to answer never grants", async () => {
  using here = workspace();
  const { autoResolve } = await import("../../src/input/auto.ts");
  const sage = new SageAgentSDK({ model: scripted([{ calls: [bash("touch a")] }]), workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("go");
  const request = await handle.nextRequest();
  assert.ok(request?.kind === "permission");
  for (const word of ["alwaysDenny", "allow", "deny", undefined])
    assert.equal(autoResolve(word as "default", request).outcome, "no_surface", word);
  await result.interrupt({ cancel: true });
  await sage.close();
});

test("a closed instance says so, whatever is asked of it, and a run that has not begun by then is paused", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("Sure?"))] }, { text: "ran" }];
  for (const where of [{}, { journal: here.path("journal.db") }]) {
    const sage = new SageAgentSDK({ model: scripted(script), workingDirectory: here.dir, ...where });
    const agent = await sage.openTurns();
    const { handle, result } = sage.executeWithChannel("go");
    await handle.nextRequest();
    const early = sage.run("go");
    await Promise.all([sage.close(), sage.close()]);
    assert.deepEqual([(await result).status, (await early).status], ["paused", "paused"]);
    const closed = /this SageAgentSDK was closed; make another one/;
    const isClosed = ({ code, message }: SageError) => code === "input-invalid" && closed.test(message);
    const asked: (() => unknown)[] = [
      () => sage.run("go"),
      () => sage.run("go", { session: early.session }),
      () => sage.resume(early.session),
      () => sage.executeWithChannel("go").result,
      () => sage.openTurns(),
      () => sage.compact(early.session),
      () => sage.host,
      () => sage.steps(early.session),
      () => result[Symbol.asyncIterator]().next(),
      () => agent.runTurn("go"),
      () => agent.answerQuestion("Yes"),
      () => agent.isWaitingInput(),
      () => result.interrupt(),
    ];
    for (const ask of asked) await assert.rejects(async () => ask(), isClosed, String(ask));
  }
});

test("an interrupt that comes at once finds the turn: it is stopped, and a pause goes on", async () => {
  using here = workspace();
  const slow = scripted([{ text: "ran", delayMs: 20 }]);
  const sage = new SageAgentSDK({ model: slow, workingDirectory: here.dir });
  const cancelled = sage.run("go");
  assert.equal(await cancelled.interrupt({ cancel: true }), "cancel");
  assert.equal((await cancelled).status, "cancelled");
  const paused = sage.run("go");
  for await (const _event of paused) break;
  assert.equal(await paused.interrupt(), "pause");
  assert.equal((await paused).status, "paused");
  assert.equal((await sage.resume(paused.session)).text, "ran");
  const { result } = sage.executeWithChannel("go");
  assert.equal(await result.interrupt({ cancel: true }), "cancel");
  assert.equal((await result).status, "cancelled");
  assert.equal(await result.interrupt(), "nothing");
  await sage.close();
});

test("what onEvent throws, runTurn throws; the turn goes on, and so does the process", async () => {
  using here = workspace();
  const asks = scripted([{ calls: [bash("env echo hi")] }, { text: "ran" }]);
  const sage = new SageAgentSDK({ model: asks, workingDirectory: here.dir });
  const agent = await sage.openTurns();
  const onEvent = () => {
    throw new Error("of the embedder");
  };
  let confirmed = 0;
  const confirm = () => ++confirmed > 0;
  await assert.rejects(async () => agent.runTurn("go", { onEvent, confirm }), /of the embedder/);
  await until(() => agent.isWaitingInput(), "nothing was asked");
  await new Promise(setImmediate);
  assert.equal(confirmed, 0, "a call of runTurn that is over decides nothing");
  const end = await agent.runTurn("", { confirm });
  assert.equal(end.needsInput || end.outcome.text, "ran");
  assert.equal(confirmed, 1);
  await sage.close();
});

test("after a kill, a channel goes on with the open turn and is shown its request", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("Sure?"))] }, { text: "ran" }];
  const options = { workingDirectory: here.dir, journal: here.path("journal.db") };
  const before = new SageAgentSDK({ model: scripted(script), ...options });
  const first = before.executeWithChannel("go");
  const asked = await first.handle.nextRequest();
  await before.close();
  const after = new SageAgentSDK({ model: scripted(script), ...options });
  const { handle, result } = after.executeWithChannel("", { session: first.result.session });
  assert.equal((await handle.nextRequest())?.id, asked?.id);
  await handle.respond({ type: "answers", requestId: asked?.id ?? "", answers: { "Sure?": "Yes" } });
  assert.equal((await result).text, "ran");
  await after.close();
});

test("parts and options of an executor, its tasks and strategies are refused with what was expected", async () => {
  using here = workspace();
  const store = memoryStore();
  const made = config({ script: [{ text: "ran" }], dir: here.dir, store });
  const options = { workingDirectory: here.dir };
  const wrong: [unknown[], RegExp][] = [
    [[made, "here"], /options of UnifiedExecutor: it should be an object; it is a string/],
    [[made, { workingDirectory: "" }], /workingDirectory should have at least 1 character/],
    [[made, { ...options, maxStep: 3 }], /unknown: "maxStep"; did you mean "maxSteps"\?/],
    [[made, { ...options, mode: { type: "yolo" } }], /mode\.type should be "interactive", "nonInteractive" or "batch"/],
    [[made, { ...options, timeoutPolicy: "allow" }], /timeoutPolicy should be "wait", "fail", "cancel", "deny"/],
    [
      [{ ...made, model: { id: "own" } }, options],
      /model: it should be provider\/name, or an object with an id and the function reply/,
    ],
    [[{ ...made, smallmodel: made.model }, options], /unknown: "smallmodel"; did you mean "smallModel"\?/],
    [[{ ...made, tools: "all" }, options], /tools[^;]* should be a list|tools: it should be a registry/],
    [[{ ...made, rules: [{ behavior: "allowed", text: "Bash" }] }, options], /rules\[0\]\.behavior should be "allow"/],
    [[{ ...made, store: {} }, options], /store: it should be a Store/],
    [[made, options, { autoResponse: "default" }], /channel: it should be a channel/],
  ];
  for (const [parts, message] of wrong)
    assert.throws(() => new UnifiedExecutor(...(parts as [never, never])), { code: "config-invalid", message });

  const executor = new UnifiedExecutor(made, options);
  const refused = (work: () => unknown, message: RegExp) =>
    assert.rejects(async () => work(), { code: "config-invalid", message });
  const task = { description: "go" };
  await refused(
    () => executor.executeTask({ ...task, sesion: "a" } as never),
    /unknown: "sesion"; did you mean "session"\?/,
  );
  await refused(
    () => executor.executeTask({ ...task, limits: { promptTimeout: "1" } } as never),
    /promptTimeout should be a number/,
  );
  await refused(
    () => executor.executeTask({ ...task, limits: { timeoutPolicy: "wait" } } as never),
    /timeoutPolicy should be "fail", "cancel", "deny"/,
  );
  await refused(
    () => executor.executeTask(task, StreamingStrategy as never),
    /strategy: it should be an object with the function execute/,
  );
  assert.deepEqual(store.sessions(), [], "nothing was said");
  await refused(
    () => executor.executeWithStrategy({ name: "own" } as never, {} as never),
    /strategy: it should be an object with/,
  );
  await refused(() => executor.run({} as never), /options of execution: log: it should be the log that openSession/);
  await refused(() => executor.compact({ log: "a" } as never), /log: it should be the log that openSession/);
  await refused(() => executor.withMode("batch" as never), /mode should be an object/);
  store.create("a", { cwd: here.dir, version: "sdk" });
  const log = openSession(store, "a");
  await refused(() => executor.execute({ log, lifecycle: {} } as never), /lifecycle: it should be a LifecycleManager/);
  await log.release();
  assert.equal((await executor.executeTask({ ...task, session: "a", limits: { timeoutPolicy: "deny" } })).text, "ran");
});

test("a host of one's own is made from known parts", () => {
  using here = workspace();
  const store = memoryStore();
  const parts = {
    store,
    model: async () => model(),
    rules: [],
    permissionMode: "default",
    options: {},
    env: {},
  } as const;
  const wrong: [object, RegExp][] = [
    [{ output: "" }, /options of assemble: output should have at least 1 character/],
    [{ output: here.dir, model: model() }, /model: it should be a function/],
    [{ output: here.dir, options: { maxStep: 1 } }, /options: unknown: "maxStep"/],
    [{ output: here.dir, tool: [] }, /unknown: "tool"; did you mean "tools"\?/],
    [{ output: here.dir, store: { ...store, since: undefined } }, /store: it lacks since/],
  ];
  for (const [part, message] of wrong)
    assert.throws(() => assemble({ ...parts, ...part }), { code: "config-invalid", message });
});

test("options of a turn, an interrupt, an answer and a mode are refused like those of a run", async () => {
  using here = workspace();
  const script = [{ calls: [askUser(question("Sure?"))] }, { text: "ran" }];
  const sage = new SageAgentSDK({ model: scripted(script), workingDirectory: here.dir });
  const agent = await sage.openTurns();
  const refused = (work: () => unknown, message: RegExp) =>
    assert.rejects(async () => work(), { code: "config-invalid", message });
  await refused(
    () => agent.runTurn("go", { onEvents() {} } as never),
    /runTurn: unknown: "onEvents"; did you mean "onEvent"\?/,
  );
  await refused(() => agent.runTurn("go", { confirm: true } as never), /confirm: it should be a function/);
  await refused(
    () => sage.chooseMode(agent.session, "yolo" as never),
    /mode should be "ask", "acceptEdits" or "plan"; it is "yolo"/,
  );
  await refused(() => sage.steps(agent.session, { subagent: true } as never), /steps: unknown: "subagent"/);
  const turn = agent.runTurn("go");
  await refused(
    () => turn.interrupt({ cancle: true } as never),
    /interrupt: unknown: "cancle"; did you mean "cancel"\?/,
  );
  assert.ok((await turn).needsInput, "nothing was stopped");
  await refused(() => agent.answerQuestion("Yes", { as: "Ada" } as never), /answerQuestion: unknown: "as"/);
  await refused(() => agent.answerAll([], true, { by: 5 } as never), /by should be a string/);
  await refused(() => agent.inquire("why?", { request: "a" } as never), /inquire: unknown: "request"/);
  assert.ok(agent.isWaitingInput());
  await sage.close();
});

test("a command that is none, or lacks something, is refused by the host and changes nothing", async () => {
  using here = workspace();
  const store = memoryStore();
  const sage = new SageAgentSDK({ model: model(), store, workingDirectory: here.dir });
  const { session } = await sage.run("go");
  const me = { by: "Ada", surface: "test" };
  const before = store.load(session).length;
  const wrong: [unknown, RegExp][] = [
    [null, /type should be/],
    [{ type: "sya", session, text: "hi", ...me }, /type should be "say"; it is "sya"/],
    [{ type: "toString" }, /type should be/],
    [{ type: "say", session, text: "hi", surface: "test" }, /by is missing; it should be a string/],
    [{ type: "say", session, text: 5, ...me }, /text should be a string; it is a number/],
    [
      { type: "chooseMode", session, mode: "yolo", ...me },
      /mode should be "ask", "acceptEdits" or "plan"; it is "yolo"/,
    ],
    [{ type: "rename", session, title: 5, ...me }, /title should be a string/],
    [{ type: "interrupt", session, cancle: true, ...me }, /unknown: "cancle"; did you mean "cancel"\?/],
    [{ type: "respond", ...me }, /response is missing/],
    [
      { type: "ask", agent: ["other"], id: "a", body: { kind: "text", prompt: 5 } },
      /cwd is missing[^]*prompt should be/,
    ],
    [{ type: "unask", requestId: "@other.a/b", end: { type: "over" }, ...me }, /end\.type does not fit/],
  ];
  for (const [command, message] of wrong) {
    const reply = await sage.host.send(command as never);
    assert.equal(reply.ok || reply.code, "request-invalid");
    assert.match(reply.ok ? "" : (reply as { message: string }).message, message);
  }
  assert.throws(() => sage.host.watch(session, {} as never), /options of watch: signal: it should be an AbortSignal/);
  assert.equal(store.load(session).length, before);
  assert.equal(
    (await sage.host.send({ type: "rename", session, title: "名字", ...me, person: "feishu:ou_1" })).ok,
    true,
  );
  await sage.close();
});

test("a run of a session that another process runs is refused before anything is said", async () => {
  using here = workspace();
  const where = { journal: here.path("journal.db"), workingDirectory: here.dir };
  const first = new SageAgentSDK({
    model: scripted([{ calls: [askUser(question("Sure?"))] }, { text: "ran" }]),
    ...where,
  });
  const other = new SageAgentSDK({ model: model(), ...where });
  const { handle, result } = first.executeWithChannel("go");
  await handle.nextRequest();
  await assert.rejects(other.run("more", { session: result.session }), {
    code: "session-owned",
    message: /is run by another process; follow its turn with openTurns/,
  });
  await result.interrupt({ cancel: true });
  assert.deepEqual((await result).messages.filter(({ role }) => role === "user").length, 1, "it heard one message");
  await Promise.all([first.close(), other.close()]);
});

test("a skill in code needs a name, a description and a text: the rest is as in a file", async () => {
  using here = workspace();
  const skills = [{ name: "release", description: "Publishes a version", body: "Tag it." }];
  const script = scripted([
    { calls: [{ tool: "Skill", input: { skill: "release" } }] },
    ({ messages }) => ({ text: JSON.stringify(messages) }),
  ]);
  const sage = new SageAgentSDK({ model: script, skills, workingDirectory: here.dir });
  const { text } = await sage.run("/release 2.0");
  assert.match(text, /the person calls the skill [^]*Tag it\./);
  assert.ok(text.includes(`(its folder: ${here.dir})`));
  await sage.close();
});
