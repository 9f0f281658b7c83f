// Record a run once, with a real model and a real person; replay it in every test, with neither.
import assert from "node:assert/strict";
import { SageAgentSDK, scripted } from "sage-agent";
import { replayAnswers } from "sage-agent/recordings";

// Stands in for the real model here: in your program, `model: "anthropic/…"`.
const real = scripted([
  { calls: [{ tool: "Bash", input: { command: "env echo released 2.0" } }] },
  { text: "Version 2.0 is out.", usage: { inputTokens: 900, outputTokens: 12 } },
]);

const sage = new SageAgentSDK({ model: real });
const { handle, result } = sage.executeWithChannel("Release it");
const request = await handle.nextRequest();
await handle.respond({ type: "granted", requestId: request?.id ?? "" });
const { script, answers } = sage.recording((await result).session); // plain JSON: keep both beside your tests
await sage.close();

// In CI: the same loop, the same tools and rules. Only the model and the person are replayed.
const test = new SageAgentSDK({ model: scripted(script) });
const again = await test.runWithOptions("Release it", {
  mode: { type: "nonInteractive", autoResponse: replayAnswers(answers) },
});
assert.equal(again.text, "Version 2.0 is out.");
console.log(again.status, "-", again.toolHistory[0]?.result.text);

// If a change makes the agent ask something new, the test notices: nobody answered that.
const changed = new SageAgentSDK({ model: scripted(script) });
const open = await changed.runWithOptions("Release it", {
  mode: { type: "nonInteractive", autoResponse: replayAnswers([]) },
});
console.log(open.status, "-", open.status === "needs-input" && open.requests.length, "request");
await Promise.all([test.close(), changed.close()]);
