import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SageAgentSDK, isSuccess, scripted } from "../../src/sdk/index.ts";
import { askUser, bash, question, workspace } from "../support/sage.ts";

test("run: what needs a person is refused, the agent is told, and nothing hangs", async () => {
  using here = workspace();
  const model = scripted([{ calls: [bash("echo x >> ran"), askUser(question("Sure?"))] }, { text: "then not" }]);
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
  const outcome = await sage.run("do it");
  await sage.close();
  assert.ok(isSuccess(outcome));
  assert.equal(outcome.text, "then not");
  assert.ok(outcome.toolHistory.every(({ result }) => !result.ok));
});

test("runWithOptions: modes, limits and the session to go on with", async () => {
  using here = workspace();
  const model = scripted([{ calls: [bash("echo x >> ran")] }, { text: "one" }, { text: "two" }]);
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
  const first = await sage.runWithOptions("do it", { mode: { type: "nonInteractive", autoResponse: "alwaysAllow" } });
  assert.equal(readFileSync(here.path("ran"), "utf8"), "x\n");
  const second = await sage.runWithOptions("and again", { session: first.session });
  assert.equal(second.text, "two");
  assert.equal(second.messages.length, 6);
  const broke = await sage.runWithOptions("no script left", { session: first.session });
  assert.equal(broke.status === "error" && broke.error.code, "model-unavailable");
  await sage.close();
});

test("executeWithChannel returns at once, and the handle answers while the result is still to come", async () => {
  using here = workspace();
  const model = scripted([{ calls: [bash("env echo one"), bash("env echo two")] }, { text: "done" }]);
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("do it");
  const asked: string[] = [];
  for (let n = 0; n < 2; n++) {
    const request = await handle.nextRequest();
    asked.push(request?.kind === "permission" ? String(request.input["command"]) : "?");
    assert.equal(handle.pending().length, 2 - n, "both are open, one is shown");
    await handle.respond({ type: "granted", requestId: request?.id ?? "" });
    await assert.rejects(handle.respond({ type: "denied", requestId: request?.id ?? "" }), {
      code: "request-resolved",
    });
  }
  assert.deepEqual(asked, ["env echo one", "env echo two"]);
  assert.equal((await result).text, "done");
  assert.equal(await handle.nextRequest(), undefined);
  await sage.close();
});

test("a conversation over the handle: idle is a text request, and answering it is the next message", async () => {
  using here = workspace();
  const model = scripted([{ text: "hello" }, { text: "你好" }]);
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("hi", { conversation: true });
  const idle = await handle.nextRequest();
  assert.equal(idle?.kind === "text" && idle.lastResponse, "hello");
  await handle.respond({ type: "text", requestId: idle?.id ?? "", text: "说中文" });
  const again = await handle.nextRequest();
  await handle.respond({ type: "denied", requestId: again?.id ?? "" });
  assert.equal((await result).text, "你好");
  await sage.close();
});

test("answers for short, and a handle that is closed ends the waiting as leaving does", async () => {
  using here = workspace();
  const model = scripted([
    { calls: [askUser(question("One?"), question("Many?", ["A", "B", "C"], true))] },
    { calls: [askUser(question("Two?"))] },
  ]);
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("go");
  const first = await handle.nextRequest();
  await handle.respond({
    type: "answers",
    requestId: first?.id ?? "",
    answers: { "One?": "purple", "Many?": ["A", "C"] },
  });
  await handle.nextRequest();
  handle.close();
  const outcome = await result;
  assert.equal(outcome.status, "paused");
  assert.match(outcome.toolHistory[0]?.result.text ?? "", /purple[\s\S]*"A"; "C"/);
  await sage.close();
});

test("a journal on disk: a new process of the SDK goes on with the session", async () => {
  using here = workspace();
  const model = scripted([{ text: "one" }, { text: "two" }]);
  const open = () => new SageAgentSDK({ model, workingDirectory: here.dir, journal: here.path("journal.db") });
  const first = open();
  const { session } = await first.run("hi");
  await first.close();
  const second = open();
  assert.equal((await second.runWithOptions("more", { session })).text, "two");
  await second.close();
});

test("bad configuration says what was expected and what came", async () => {
  assert.throws(() => new SageAgentSDK({ journal: import.meta.dirname }), { code: "journal-damaged" });
  const sage = new SageAgentSDK({ env: {} });
  const outcome = await sage.run("hi");
  assert.match(outcome.status === "error" ? outcome.error.message : "", /ANTHROPIC_API_KEY/);
  assert.throws(() => new SageAgentSDK({ rules: { deny: ["Bash("] } }), { code: "config-invalid" });
  await sage.close();
});

test("closing the SDK ends the waiting, a session runs once at a time, and an unknown one is named", async () => {
  using here = workspace();
  const model = scripted([{ calls: [askUser(question("Sure?"))] }, { text: "never" }]);
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("go", { promptTimeout: 600_000 });
  const request = await handle.nextRequest();
  await assert.rejects(sage.runWithOptions("again", { session: request?.session ?? "" }), { code: "session-owned" });
  await assert.rejects(sage.runWithOptions("again", { session: "nobody" }), { code: "session-unknown" });
  await sage.close();
  assert.equal((await result).status, "paused");
});

test("recordTrajectory writes the session as JSON lines when a turn ends or stops, without secrets", async () => {
  using here = workspace();
  const file = here.path("run.jsonl");
  const model = scripted([{ calls: [bash("env echo v3ry-s3cret-value")] }, { text: "done" }]);
  const env = { ...process.env, SOME_API_KEY: "v3ry-s3cret-value" };
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir, env });
  const nowhere = sage.runWithOptions("say it", { recordTrajectory: here.path("no/such/run.jsonl") });
  await assert.rejects(nowhere, { code: "config-invalid" }, "before the model is asked");
  const agent = await sage.openTurns({ recordTrajectory: file });
  await agent.runTurn("say it");
  await agent.answerQuestion(true);
  await agent.runTurn("");
  await sage.close();
  const text = readFileSync(file, "utf8");
  const types = text
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { type: string }).type);
  assert.deepEqual([types[0], types.at(-1)], ["session.opened", "turn.ended"]);
  assert.match(text, /\[secret: SOME_API_KEY\]/);
  assert.doesNotMatch(text, /v3ry-s3cret/);
});

test("a message that is too long is refused before anything is recorded", async () => {
  using here = workspace();
  const sage = new SageAgentSDK({ model: scripted([{ text: "ok" }]), workingDirectory: here.dir });
  const agent = await sage.openTurns();
  await assert.rejects(agent.runTurn("長".repeat(2_000_001)), /may have 2000000 characters, and this one has 2000001/);
  assert.equal((await agent.runTurn("short")).needsInput, false);
  await sage.close();
});
