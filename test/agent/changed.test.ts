// Everybody reads what ran: after a person or a hook changed a call, the model is told, on the wire.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { anthropic } from "../../src/models/wire/anthropic.ts";
import { openai } from "../../src/models/wire/chat.ts";
import type { InputChange } from "../../src/protocol/facts/call.ts";
import { modelServer } from "../support/model-server.ts";
import { allow, sageWith, workspace } from "../support/sage.ts";

const sent = { command: "echo one > out", description: "writes" };
const ran = { command: "echo two > out" };
const plays = () => [{ calls: [{ id: "c1", tool: "Bash", arguments: JSON.stringify(sent) }] }, { text: "I see" }];

for (const wire of ["anthropic", "openai"] as const)
  test(`${wire}: an edit by the person is told in the result of that very call`, async () => {
    using here = workspace();
    await using server = await modelServer(...plays());
    const model =
      wire === "anthropic"
        ? anthropic({ modelId: "m", baseURL: server.anthropicURL, apiKey: "k" })
        : openai({ modelId: "m", baseURL: server.openaiURL });
    await using sage = await sageWith({ dir: here.dir, script: [], wrap: () => model });
    await sage.say("go");
    const [request] = await sage.open();
    await sage.answer({ type: "granted", requestId: request?.id ?? "", input: ran, comment: "two, please" });
    const outcome = await sage.outcome();
    assert.equal(readFileSync(here.path("out"), "utf8"), "two\n");
    const told = JSON.stringify(server.requests[1]?.body.messages.at(-1));
    assert.match(told, /The person changed this call\. In the place of what you sent: command = .{0,8}echo two > out/);
    assert.match(told, /description left out/);
    assert.match(told, /two, please/);
    const changed: InputChange = { by: "person", who: { by: "Lin", surface: "test" } };
    const [use] = outcome.toolHistory;
    assert.deepEqual([use?.input, use?.changed], [ran, { ...changed, sent }]);
    assert.deepEqual(use?.result.ran, { input: ran, changed });
  });

test("an edit by a hook is told as one, and a person's after it as theirs; what is refused says what was refused", async () => {
  using here = workspace();
  const hooks = {
    beforeCall: [{ matcher: "Bash", command: `printf '%s' '${JSON.stringify({ input: ran })}'`, timeoutMs: 5_000 }],
  };
  const bash = { tool: "Bash", input: { command: "echo one > out" } };
  await using hooked = await sageWith({
    dir: here.dir,
    hooks,
    rules: [allow("Bash(echo:*)"), allow("Edit(./**)")],
    script: [{ calls: [bash] }, { text: "ok" }],
  });
  await hooked.say("go");
  const [use] = (await hooked.outcome()).toolHistory;
  assert.deepEqual([use?.input, use?.changed], [ran, { by: "hook", sent: bash.input }]);
  assert.match(use?.result.text ?? "", /A hook of the person changed this call\..*echo two/);

  await using refused = await sageWith({
    dir: here.dir,
    hooks,
    rules: [{ behavior: "deny", text: "Bash(echo two:*)", source: "user" }],
    script: [{ calls: [bash] }, { text: "ok" }],
  });
  await refused.say("go");
  await refused.outcome();
  assert.match(refused.result(0, 0), /^Not run: [^]*A hook of the person changed this call\..*echo two/);

  await using both = await sageWith({ dir: here.dir, hooks, script: [{ calls: [bash] }, { text: "ok" }] });
  await both.say("go");
  const [request] = await both.open();
  assert.deepEqual(request?.kind === "permission" && request.input["command"], ran.command);
  await both.answer({ type: "granted", requestId: request?.id ?? "", input: { command: "echo three > out" } });
  const [last] = (await both.outcome()).toolHistory;
  assert.equal(last?.changed?.by, "person");
  assert.match(both.result(0, 0), /The person changed this call\..*echo three/);
});

test("a yes with the same input, spelled otherwise, changes nothing", async () => {
  using here = workspace();
  const input = { command: "echo one > out", timeout: 1_000 };
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [{ tool: "Bash", input }] }, { text: "ok" }] });
  await sage.say("go");
  const [request] = await sage.open();
  const same = { timeout: 1_000, command: "echo one > out" };
  await sage.answer({ type: "granted", requestId: request?.id ?? "", input: same });
  const [use] = (await sage.outcome()).toolHistory;
  assert.equal(use?.changed, undefined);
  assert.doesNotMatch(sage.result(0, 0), /changed this call/);
});

test("a very long edit is told in part, and runs whole", async () => {
  using here = workspace();
  const write = { tool: "Write", input: { file_path: "a", content: "x" } };
  await using sage = await sageWith({ dir: here.dir, script: [{ calls: [write] }, { text: "ok" }] });
  await sage.say("go");
  const [request] = await sage.open();
  const content = "字".repeat(10_000);
  await sage.answer({ type: "granted", requestId: request?.id ?? "", input: { file_path: "a", content } });
  await sage.outcome();
  assert.match(sage.result(0, 0), /… and 6002 more characters\)$/);
  assert.equal(readFileSync(here.path("a"), "utf8"), content);
});
