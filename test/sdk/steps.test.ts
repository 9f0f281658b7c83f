import assert from "node:assert/strict";
import { test } from "node:test";
import { SageAgentSDK, scripted } from "../../src/sdk/index.ts";
import { bash, workspace } from "../support/sage.ts";

test("steps tell what each reply said, called, got and cost, with the input that ran", async () => {
  using here = workspace();
  const usage = { inputTokens: 1_000_000, outputTokens: 0 };
  const model = scripted([{ reasoning: "hm", text: "look", calls: [bash("env echo one")], usage }, { text: "done" }]);
  const prices = { scripted: { input: 3, output: 15 } };
  const sage = new SageAgentSDK({ model, workingDirectory: here.dir, prices });
  const { handle, result } = sage.executeWithChannel("go");
  const request = await handle.nextRequest();
  assert.equal(sage.steps(result.session)[0]?.calls[0]?.result, undefined, "it waits");
  await handle.respond({ type: "granted", requestId: request?.id ?? "", input: { command: "env echo two" } });
  await result;
  const [first, second] = sage.steps(result.session);
  assert.deepEqual(
    [first?.step, first?.text, first?.reasoning, first?.finish, first?.calls[0]?.input],
    ["t0/0", "look", "hm", "calls", { command: "env echo two" }],
  );
  assert.match(first?.calls[0]?.result?.text ?? "", /two/);
  assert.equal(first?.usage.inputTokens, 1_000_000);
  assert.deepEqual([second?.step, second?.text, second?.calls], ["t0/1", "done", []]);
  assert.deepEqual(first?.cost, { usd: 3 });
  await sage.close();
});
