// The three tests of the founding document, nearly word for word.
import assert from "node:assert/strict";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { InputChannel } from "../../src/input/channel.ts";
import { isSuccess } from "../../src/protocol/facts/outcome.ts";
import { askUser, bash, config, question, workspace } from "../support/sage.ts";

test("interactive question flow", async () => {
  using here = workspace();
  const [channel, handle] = InputChannel.create(10);
  const script = [{ calls: [askUser(question("Q1", ["Answer1", "Answer2"]))] }, { text: "done" }];
  const executor = new TurnExecutor(config({ script, dir: here.dir }), { workingDirectory: here.dir }, channel);

  const running = executor.executeTask("ask me");

  const request = await handle.nextRequest();
  if (request?.kind !== "question") throw new Error(`unexpected request: ${request?.kind}`);
  await handle.respond({ type: "answers", requestId: request.id, answers: { Q1: "Answer1" } });

  const outcome = await running;
  assert.ok(isSuccess(outcome));
  assert.match(outcome.toolHistory[0]?.result.text ?? "", /^User answered:.*Answer1/s);
});

test("non-interactive auto response", async () => {
  using here = workspace();
  const channel = InputChannel.nonInteractive("alwaysAllow");
  const script = [{ calls: [bash("echo it ran")] }, { text: "done" }];
  const executor = new TurnExecutor(config({ script, dir: here.dir }), { workingDirectory: here.dir }, channel);

  const outcome = await executor.executeTask("run it");
  assert.ok(isSuccess(outcome));
  assert.match(outcome.toolHistory[0]?.result.text ?? "", /it ran/);
});

test("input timeout", async () => {
  using here = workspace();
  const options = { promptTimeout: 100, workingDirectory: here.dir };
  const [channel, handle] = InputChannel.create(10);
  const script = [{ calls: [askUser(question("Q1"))] }, { text: "never" }];
  const executor = new TurnExecutor(config({ script, dir: here.dir }), options, channel);

  const outcome = await executor.executeTask("ask me");
  assert.equal(outcome.status, "error");
  assert.equal(outcome.status === "error" && outcome.error.code, "timeout");
  assert.deepEqual(handle.pending(), []);
});
