// A deadline and a default answer, set by whoever asks or by the run. Silence is never consent.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../support/properties.ts";
import { z } from "zod";
import { SageAgentSDK, scripted, type SageError, type Resolution, type Tool } from "../../src/sdk/index.ts";
import { type AskerPolicy } from "../../src/sdk/entries/requests.ts";
import { askUser, bash, question, workspace } from "../support/sage.ts";

const text = (resolution: Resolution) =>
  "response" in resolution && resolution.response?.type === "text" ? resolution.response.text : resolution.outcome;

/** Asks in its own words, with its own deadline. */
function polling(timeout: { timeoutMs?: number; timeoutPolicy?: AskerPolicy }): Tool {
  return {
    name: "Poll",
    description: "Asks for a colour.",
    inputSchema: z.object({}),
    effect: "waits",
    requiresUserInteraction: true,
    request: () => ({ kind: "question", questions: [{ ...question("Which?"), multiSelect: false }], ...timeout }),
    answered: (_, resolution) => ({
      ok: true,
      text: JSON.stringify("response" in resolution ? resolution.response : resolution.outcome),
    }),
    execute: () => Promise.reject(new Error("it only asks")),
  };
}

const poll = [{ calls: [{ tool: "Poll", input: {} }] }, { text: "done" }];

test("a tool's request says how long it waits and what is answered then, in short form", async () => {
  using here = workspace();
  const tool = polling({
    timeoutMs: 20,
    timeoutPolicy: { default: { type: "answers", answers: { "Which?": "Blue" } } },
  });
  const sage = new SageAgentSDK({ model: scripted(poll), tools: [tool], workingDirectory: here.dir });
  // The asker's word goes before the run's.
  const { handle, result } = sage.executeWithChannel("go", { promptTimeout: 3_600_000, timeoutPolicy: "cancel" });
  const request = await handle.nextRequest();
  assert.equal(request?.deadline?.timeoutMs, 20);
  const outcome = await result;
  assert.deepEqual(JSON.parse(outcome.toolHistory[0]?.result.text ?? ""), {
    type: "answers",
    requestId: request?.id,
    answers: { "Which?": { selected: ["Blue"] } },
  });
  await sage.close();
});

test("`wait` of a tool outlives the run's timeout; a policy alone goes with the run's time", async () => {
  using here = workspace();
  const patient = polling({ timeoutPolicy: "wait" });
  const sage = new SageAgentSDK({ model: scripted(poll), tools: [patient], workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("go", { promptTimeout: 5 });
  const request = await handle.nextRequest();
  assert.equal(request?.deadline, undefined);
  await handle.respond({ type: "answers", requestId: request?.id ?? "", answers: { "Which?": "Red" } });
  assert.equal((await result).status, "success");
  await sage.close();

  const hasty = new SageAgentSDK({ model: scripted(poll), tools: [polling({ timeoutPolicy: "deny" })] });
  const late = await hasty.executeWithChannel("go", { promptTimeout: 5 }).result;
  assert.equal(late.status, "success", "the request was refused, and not the turn failed");
  await hasty.close();
});

test("requestInput has a deadline of its own; a default that does not fit is the tool's mistake and its result", async () => {
  using here = workspace();
  const ask = (timeoutPolicy: AskerPolicy): Tool => ({
    name: "Name",
    description: "Asks for a name.",
    inputSchema: z.object({}),
    effect: "waits",
    checkPermissions: () => ({ behavior: "allow", reason: "it only asks" }),
    async execute(_, scope) {
      const given = await scope.requestInput(
        { kind: "text", prompt: "名字？", timeoutMs: 10, timeoutPolicy },
        "to greet",
      );
      return { ok: true, text: text(given) };
    },
  });
  const script = [{ calls: [{ tool: "Name", input: {} }] }, { text: "done" }];
  const results: unknown[] = [];
  for (const policy of [
    { default: { type: "text", text: "小林" } },
    { default: { type: "answers", answers: { "Who?": "me" } } },
    { default: { type: "granted", requestId: "" } },
  ] satisfies AskerPolicy[]) {
    const sage = new SageAgentSDK({ model: scripted(script), tools: [ask(policy)], workingDirectory: here.dir });
    const { toolHistory } = await sage.executeWithChannel("go").result;
    results.push(toolHistory[0]?.result.ok, toolHistory[0]?.result.text);
    await sage.close();
  }
  assert.deepEqual([results[0], results[1], results[2], results[4]], [true, "小林", false, false]);
});

test("a run's default answer is for requests that it fits; others are refused", async () => {
  using here = workspace();
  const script = [
    { calls: [askUser(question("Which?"))] },
    { calls: [bash("env touch made"), askUser(question("Another?"))] },
    { text: "done" },
  ];
  const sage = new SageAgentSDK({ model: scripted(script), workingDirectory: here.dir });
  const { result } = sage.executeWithChannel("go", {
    promptTimeout: 10,
    timeoutPolicy: { default: { type: "answers", answers: { "Which?": "Red" } } },
  });
  const { toolHistory, text: said } = await result;
  assert.match(toolHistory[0]?.result.text ?? "", /the default was used[^]*Which\? → "Red"/);
  assert.deepEqual([toolHistory[1]?.result.ok, toolHistory[2]?.result.ok, said], [false, false, "done"]);
  await sage.close();
});

test("whatever policy anybody sets, silence never runs a call", async () => {
  using here = workspace();
  const answer = fc.oneof(
    fc.record({ type: fc.constantFrom("granted", "cancelled", "denied", "Granted", ""), requestId: fc.string() }),
    fc.record({ type: fc.constant("granted"), input: fc.record({ line: fc.string() }) }),
    fc.record({ type: fc.constant("text"), text: fc.constantFrom("yes", "granted", "y", "允许") }),
    fc.record({ type: fc.constant("answers"), answers: fc.dictionary(fc.string(), fc.constantFrom("yes", "Red")) }),
  );
  const policy = fc.oneof(
    fc.constantFrom("fail", "cancel", "deny", "allow", "grant"),
    fc.record({ default: answer }),
    fc.record({ escalate: fc.constant(["Lin"]), end: fc.constantFrom("fail", "cancel", "deny", "grant") }),
  );
  const ran: string[] = [];
  const note: Tool<{ line: string }> = {
    name: "Note",
    description: "Notes.",
    inputSchema: z.object({ line: z.string() }),
    effect: "writes",
    async execute({ line }) {
      ran.push(line);
      return { ok: true, text: "noted" };
    },
  };
  const script = [{ calls: [{ tool: "Note", input: { line: "a" } }] }, { text: "done" }];
  await fc.assert(
    fc.asyncProperty(policy, fc.constantFrom("default", "ask-rule"), async (given, kind) => {
      const sage = new SageAgentSDK({
        model: scripted(script),
        tools: [note],
        workingDirectory: here.dir,
        ...(kind === "ask-rule" && { rules: { ask: ["Note"] } }),
      });
      const { result } = sage.executeWithChannel("go", { promptTimeout: 1, timeoutPolicy: given as AskerPolicy });
      await result.catch(({ code }: SageError) => assert.equal(code, "config-invalid")); // no policy at all
      await sage.close();
      assert.deepEqual(ran, []);
    }),
    { numRuns: 60 },
  );
});
