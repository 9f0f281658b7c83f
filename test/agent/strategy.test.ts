import assert from "node:assert/strict";
import { test } from "node:test";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import {
  BatchStrategy,
  StandardStrategy,
  StreamingStrategy,
  type ExecutionStrategy,
} from "../../src/agent/turn/strategy.ts";
import type { Script } from "../../src/models/scripted.ts";
import type { Delta, Fact } from "../../src/protocol/facts/fact.ts";
import { allow, askUser, bash, config, question, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { wordsOf } from "../support/worded.ts";

test("standard, streaming and batch run the same loop and differ in who hears and who is asked", async () => {
  using here = workspace();
  const script = [{ text: "thinking", calls: [bash("env echo x")] }, { text: "done" }];
  const executor = () =>
    new TurnExecutor(config({ script, dir: here.dir }), {
      workingDirectory: here.dir,
      mode: { type: "nonInteractive", autoResponse: "alwaysAllow" },
    });
  assert.equal((await executor().executeTask("go", StandardStrategy)).text, "done");
  const heard: (Fact | Delta)[] = [];
  assert.equal(
    (
      await executor().executeTask(
        "go",
        StreamingStrategy((event) => heard.push(event)),
      )
    ).text,
    "done",
  );
  assert.ok(heard.some((event) => "kind" in event && event.kind === "text"));
  assert.ok(heard.some((event) => "type" in event && event.type === "call.finished"));
  const batch = await executor().executeTask("go", BatchStrategy);
  assert.equal(batch.status, "needs-input");
});

test("a strategy of one's own: try again with another task when the first did not succeed", async () => {
  using here = workspace();
  const log: string[] = [];
  const Noted: ExecutionStrategy = {
    name: "noted",
    async execute(executor, execution) {
      log.push("begin");
      const outcome = await executor.run(execution);
      log.push(outcome.status);
      return outcome;
    },
  };
  const executor = new TurnExecutor(config({ script: [{ text: "hi" }], dir: here.dir }), {
    workingDirectory: here.dir,
  });
  assert.equal((await executor.executeTask("go", Noted)).text, "hi");
  assert.deepEqual(log, ["begin", "success"]);
});

test("an agent that does the same again and again asks instead of going on", async () => {
  using here = workspace();
  const again = { calls: [bash("cat missing")] };
  const script = [again, again, again, again, again, { text: "I see" }];
  await using sage = await sageWith({ dir: here.dir, script, rules: [allow("Bash")] });
  await sage.say("go");
  const [request] = await sage.open();
  assert.equal(request?.source, "sage");
  assert.match(sentence(request?.why ?? "", "en"), /same 4 times[\s\S]*cat missing/);
  await sage.answer({
    type: "answers",
    requestId: request?.id ?? "",
    answers: { "Go on all the same?": { selected: ["go on"] } },
  });
  assert.equal((await sage.outcome()).text, "I see");

  await using stopped = await sageWith({ dir: here.dir, script, rules: [allow("Bash")] });
  await stopped.say("go");
  const [second] = await stopped.open();
  await stopped.answer({
    type: "answers",
    requestId: second?.id ?? "",
    answers: { "Go on all the same?": { selected: ["stop"] } },
  });
  assert.equal((await stopped.outcome()).status, "cancelled");

  await using alone = await sageWith({
    dir: here.dir,
    script,
    rules: [allow("Bash")],
    options: { mode: { type: "nonInteractive", autoResponse: "default" } },
  });
  await alone.say("go");
  const outcome = await alone.outcome();
  assert.match(outcome.status === "error" ? wordsOf(outcome.error) : "", /nobody said to continue/);
});

test("two steps that follow each other over and over are noticed as spinning", async () => {
  using here = workspace();
  const script: Script = Array.from({ length: 12 }, (_, n) => ({ calls: [bash(n % 2 === 0 ? "echo a" : "echo b")] }));
  await using sage = await sageWith({ script, dir: here.dir, rules: [allow("Bash(echo:*)")] });
  await sage.say("go");
  const [request] = await sage.open();
  assert.deepEqual(
    [request?.source, request?.id.slice(sage.session.length)],
    ["sage", "/t0/7/spinning"],
    "the pair was there four times",
  );
  await sage.host.send({ type: "interrupt", session: sage.session, cancel: true, by: "Lin", surface: "test" });
  await sage.outcome();
});

test("the same question asked again is shown each time and never taken for spinning", async () => {
  using here = workspace();
  const again = { calls: [askUser(question("Sure?"))] };
  await using sage = await sageWith({
    dir: here.dir,
    script: [...Array.from({ length: 6 }, () => again), { text: "ok" }],
  });
  await sage.say("go");
  for (let n = 0; n < 6; n++) {
    const [request] = await sage.open();
    assert.equal(request?.source, "tool");
    await sage.answer({ type: "answers", requestId: request?.id ?? "", answers: { "Sure?": { selected: ["Red"] } } });
    await until(() => sage.store.pending()[0]?.id !== request?.id);
  }
  assert.equal((await sage.outcome()).text, "ok");
});

test("an agent that goes on asking where nobody can be asked is stopped long before its last step", async () => {
  using here = workspace();
  let asked = 0;
  const again = () => (asked++, { calls: [askUser(question("Sure?"))] });
  await using sage = await sageWith({
    dir: here.dir,
    script: Array.from({ length: 100 }, () => again),
    options: { mode: { type: "nonInteractive", autoResponse: "default" } },
  });
  await sage.say("go");
  const outcome = await sage.outcome();
  assert.match(outcome.status === "error" ? wordsOf(outcome.error) : "", /nobody said to continue/);
  assert.equal(asked, 4);
});
