// Approvals through the OpenAI Agents SDK, in memory: from a person's yes to the next request. Copied beside the package before it runs.
import { Agent, Runner, setTracingDisabled, tool, Usage } from "@openai/agents";
import { z } from "zod";

setTracingDisabled(true);

async function approve(calls) {
  let step = 0;
  const model = {
    async getResponse() {
      const call = { type: "function_call", callId: `${step}`, name: "shell", arguments: `{"command":"true ${step}"}` };
      const text = { type: "message", role: "assistant", content: [{ type: "output_text", text: "done" }] };
      const output = [{ ...(step++ < calls ? call : text), status: "completed" }];
      return { usage: new Usage(), output };
    },
  };
  const shell = tool({
    ...{
      name: "shell",
      description: "Runs a command",
      parameters: z.object({ command: z.string() }),
      needsApproval: true,
    },
    execute: async () => "the command ended with exit code 0",
  });
  const agent = new Agent({ name: "bench", model, tools: [shell] });
  const runner = new Runner({ tracingDisabled: true });
  const micros = [];
  let result = await runner.run(agent, "go", { maxTurns: calls + 2 });
  while (result.interruptions.length > 0) {
    const answered = performance.now();
    for (const request of result.interruptions) result.state.approve(request);
    result = await runner.run(agent, result.state, { maxTurns: calls + 2 });
    micros.push((performance.now() - answered) * 1000);
  }
  return { micros, asked: step - 1 };
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
await approve(10);
const found = {};
for (const calls of [200, 800]) {
  const { micros, asked } = await approve(calls);
  if (asked !== calls || micros.length !== calls) throw new Error(`asked ${asked} times, answered ${micros.length}`);
  found[calls] = median(micros);
}
console.log(JSON.stringify(found));
