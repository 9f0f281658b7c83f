// Answers as code writes them: in short form at every door, and refused with what was expected where they are none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import {
  InputChannel,
  SageAgentSDK,
  scripted,
  type AutoResponder,
  type InputRequest,
  type Tool,
} from "../../src/sdk/index.ts";
import { type AskerPolicy } from "../../src/sdk/entries/requests.ts";
import { askUser, bash, question, workspace } from "../support/sage.ts";

const script = [{ calls: [askUser(question("Which?"), question("多选？", ["甲", "乙"], true))] }, { text: "done" }];
const short = { type: "answers", answers: { "Which?": "Red", "多选？": ["甲", "乙"] } } as const;
const spelled = { "Which?": { selected: ["Red"] }, "多选？": { selected: ["甲", "乙"] } };

test("answers in short form are taken from a responder, a handle, a host and code that was shown the question", async () => {
  using here = workspace();
  const sage = new SageAgentSDK({ model: scripted(script), workingDirectory: here.dir });
  const responder = { mode: { type: "nonInteractive", autoResponse: () => short } } as const;
  const answered: unknown[] = [(await sage.run("go", responder)).toolHistory[0]?.result.answers];

  const { handle, result } = sage.executeWithChannel("go");
  await handle.respond({ ...short, requestId: (await handle.nextRequest())?.id ?? "" });
  answered.push((await result).toolHistory[0]?.result.answers);

  const elsewhere = sage.executeWithChannel("go");
  const requestId = (await elsewhere.handle.nextRequest())?.id ?? "";
  const respond = { type: "respond", response: { ...short, requestId }, by: "Ada", surface: "web" } as const;
  const first = await sage.host.send(respond);
  const second = await sage.host.send(respond);
  assert.deepEqual([first.ok, second.ok && second.again], [true, true], "the same answer once more is the same answer");
  answered.push((await elsewhere.result).toolHistory[0]?.result.answers);

  const agent = await sage.openTurns();
  await agent.runTurn("go");
  await agent.answerQuestion(short);
  const end = await agent.runTurn("");
  answered.push(end.needsInput || end.outcome.toolHistory[0]?.result.answers);
  assert.deepEqual(answered, [spelled, spelled, spelled, spelled]);
  await sage.close();
});

test("an object that is used for the next answer before this one is through answers two requests, each as it was sent", async () => {
  using here = workspace();
  const calls = [bash("echo one >> ran"), bash("echo two >> ran")];
  const sage = new SageAgentSDK({ model: scripted([{ calls }, { text: "done" }]), workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("go");
  await handle.nextRequest();
  const open = await sage.host.send({ type: "pending" });
  const [first = "", second = ""] = open.ok ? open.requests.map(({ request }) => request.id) : [];
  const response = { type: "granted" as "granted" | "denied", requestId: first };
  const command = { type: "respond", response, by: "Ada", surface: "web" } as const;
  const sent = [sage.host.send(command)];
  Object.assign(response, { type: "denied", requestId: second });
  sent.push(sage.host.send(command));
  const odd = await sage.host.send({ ...command, response: { ...response, extra: () => {} } });
  assert.match(odd.ok ? "" : odd.message, /plain data/);
  assert.deepEqual(
    (await Promise.all(sent)).map(({ ok }) => ok),
    [true, true],
  );
  assert.deepEqual(
    (await result).toolHistory.map((call) => call.result.ok),
    [true, false],
  );
  await sage.close();
});

test("what is no response is refused with what was expected, at every door, and the request stays open", async () => {
  using here = workspace();
  const sage = new SageAgentSDK({ model: scripted(script), workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("go");
  const requestId = (await handle.nextRequest())?.id ?? "";
  const wrong: [unknown, RegExp][] = [
    [undefined, /response is missing; it should be an object/],
    ["Red", /response should be an object; it is a string/],
    [{ type: "denied" }, /requestId is missing; it should be a string/],
    [{ requestId }, /a response is answers, granted, denied, text or cancelled/],
    [{ type: "answers", requestId }, /answers is missing; it should be an object/],
    [
      { type: "answers", requestId, answers: { "Which?": 3 } },
      /answers\["Which\?"\] should be a string; it is a number/,
    ],
    [{ type: "answers", requestId, answers: { "Which?": { selected: "Red" } } }, /answers\["Which\?"\] should be/],
    [{ type: "denied", requestId, reason: 5 }, /reason should be a string/],
  ];
  for (const [response, message] of wrong) {
    await assert.rejects(handle.respond(response as never), { code: "request-invalid", message });
    const reply = await sage.host.send({ type: "respond", response: response as never, by: "Ada", surface: "web" });
    assert.match(reply.ok ? "taken" : reply.message, message);
  }
  assert.equal(handle.pending().length, 1);
  await handle.respond({ ...short, requestId });
  assert.equal((await result).text, "done");
  for (const [given, problem] of [
    [undefined, /response is missing/],
    ["Red", /response should be an object/],
  ] as const) {
    const autoResponse = (() => given) as unknown as AutoResponder;
    const { toolHistory } = await sage.run("go", { mode: { type: "nonInteractive", autoResponse } });
    assert.match(toolHistory[0]?.result.text ?? "", problem);
  }
  await sage.close();
});

test("a yes with an edit or a rule that cannot be carried out is refused while the request is open, for tools of one's own, too", async () => {
  using here = workspace();
  const own: Tool<{ line: string }> = {
    ...{ name: "Own", description: "Writes.", effect: "writes", inputSchema: z.object({ line: z.string() }) },
    execute: async ({ line }) => ({ ok: true, text: `wrote ${line}` }),
  };
  const calls = [bash("touch a"), { tool: "Own", input: { line: "一" } }];
  const model = scripted([{ calls }, { text: "done" }]);
  const sage = new SageAgentSDK({ model, tools: [own], workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("go");
  const refuse = async ({ id }: InputRequest, more: object, message: RegExp) =>
    assert.rejects(handle.respond({ type: "granted", requestId: id, ...more }), {
      code: "request-invalid",
      message,
    });
  const shell = (await handle.nextRequest()) as InputRequest;
  await refuse(shell, { input: { command: 5 } }, /command should be a string; it is a number/);
  await refuse(shell, { input: "echo" }, /input should be an object/);
  await refuse(shell, { rules: [{ rule: "Bash((", behavior: "allow", destination: "session" }] }, /Bash\(\(/);
  await refuse(
    shell,
    { rules: [{ rule: "Bash", behavior: "allow", destination: "moon" }] },
    /destination should be "session"/,
  );
  await refuse(
    shell,
    { rules: [{ rule: "Bash(rm *)", behavior: "denied", destination: "session" }] },
    /behavior should be "allow", "deny" or "ask"; it is "denied"/,
  );
  await refuse(shell, { rules: [{ rule: "Bash", destination: "session" }] }, /behavior is missing/);
  await refuse(shell, { outside: "false" }, /outside should be true or false; it is a string/);
  await refuse(shell, { mode: "bypass" }, /mode should be "ask" or "acceptEdits"; it is "bypass"/);
  await refuse(shell, { mode: ["acceptEdits"] }, /mode should be "ask" or "acceptEdits"/);
  await handle.respond({ type: "granted", requestId: shell.id, input: { command: "echo 改了" } });
  const mine = (await handle.nextRequest()) as InputRequest;
  await refuse(mine, { input: { line: 2 } }, /line should be a string/);
  await handle.respond({ type: "granted", requestId: mine.id, input: { line: "二" } });
  assert.deepEqual(
    (await result).toolHistory.map((use) => use.result.text.split("\n")[0]),
    ["改了", "wrote 二"],
  );
  await sage.close();
});

test("a channel refuses options that it does not know", () => {
  assert.throws(
    () => InputChannel.create(1, { policy: "drop" as "queue" }),
    /policy of a channel should be queue or reject; got drop/,
  );
  for (const defaultTimeout of [-1, 0, Number.NaN, "5" as never])
    assert.throws(() => InputChannel.create(1, { defaultTimeout }), /defaultTimeout of a channel should be above 0/);
});

test("a default answer is data, too, and marked; the reason of a default refusal reaches the model", async () => {
  using here = workspace();
  const model = () => scripted([{ calls: [askUser(question("Which?")), bash("touch a")] }, { text: "done" }]);
  const run = async (timeoutPolicy: AskerPolicy) => {
    const sage = new SageAgentSDK({ model: model(), workingDirectory: here.dir });
    const { toolHistory } = await sage.executeWithChannel("go", { promptTimeout: 1, timeoutPolicy }).result;
    await sage.close();
    return toolHistory.map(({ result }) => result);
  };
  const [chosen] = await run({ default: { type: "answers", answers: { "Which?": "Red" } } });
  assert.deepEqual([chosen?.answers, chosen?.preset], [{ "Which?": { selected: ["Red"] } }, true]);
  const [open, refused] = await run({ default: { type: "denied", reason: "明天再说" } });
  assert.match(open?.text ?? "", /NOT answered: nobody answered in time \(.*; default reason: "明天再说"\)/);
  assert.equal(open?.answers, undefined);
  assert.match(refused?.text ?? "", /Silence is not consent\. Default reason: "明天再说"/);
});

test("a responder's label answers a question; another word answers nothing, and grants nothing", async () => {
  using here = workspace();
  const one = [{ calls: [askUser(question("Which?"))] }, { calls: [bash("touch made")] }, { text: "done" }];
  const sage = new SageAgentSDK({ model: scripted(one), workingDirectory: here.dir });
  for (const [word, answer] of [
    ["Red", { selected: ["Red"] }],
    [["Blue"], { selected: ["Blue"] }],
    ["yes", undefined],
  ] as const) {
    const run = await sage.run("go", { mode: { type: "nonInteractive", autoResponse: async () => word } });
    assert.deepEqual(run.toolHistory[0]?.result.answers, answer && { "Which?": answer });
    assert.equal(run.toolHistory[1]?.result.ok, false);
  }
  const agent = await sage.openTurns();
  await agent.runTurn("go");
  assert.deepEqual(await agent.answerAll(agent.getAlike(), true), [], "a question is like no other");
  assert.ok(agent.isWaitingInput());
  await sage.close();
});
