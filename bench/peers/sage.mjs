// Approvals through Sage, in memory: from a person's yes to the next request. Copied beside the package before it runs.
import { noUsage, SageAgentSDK } from "sage-agent";
import { z } from "zod";

async function approve(calls) {
  let step = 0;
  const model = {
    id: "bench",
    async reply() {
      const call = { type: "call", id: `call-${step}`, tool: "shell", input: { command: `true ${step}` } };
      const more = step++ < calls;
      const parts = more ? [call] : [{ type: "text", text: "done" }];
      return { parts, usage: noUsage, finish: more ? "calls" : "stop", model: "bench" };
    },
  };
  const shell = {
    ...{
      name: "shell",
      description: "Runs a command",
      inputSchema: z.object({ command: z.string() }),
      effect: "writes",
    },
    execute: async () => ({ ok: true, text: "the command ended with exit code 0" }),
  };
  const sage = new SageAgentSDK({ model, tools: [shell] });
  const { handle, result } = sage.executeWithChannel("go", { maxSteps: calls + 1, maxContextTokens: 1e9 });
  const micros = [];
  let request = await handle.nextRequest();
  while (request !== undefined) {
    const answered = performance.now();
    await handle.respond({ type: "granted", requestId: request.id });
    request = await (micros.length + 1 < calls ? handle.nextRequest() : result.then(() => undefined));
    micros.push((performance.now() - answered) * 1000);
  }
  await sage.close();
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
