// Approvals through the AI SDK, in memory: from a person's yes to the next request. Copied beside the package before it runs.
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

async function approve(calls) {
  let step = 0;
  const model = {
    ...{ specificationVersion: "v3", provider: "bench", modelId: "m", supportedUrls: {} },
    async doGenerate() {
      const [unified, content] =
        step < calls
          ? [
              "tool-calls",
              { type: "tool-call", toolCallId: `${step}`, toolName: "shell", input: `{"command":"true ${step++}"}` },
            ]
          : ["stop", { type: "text", text: "done" }];
      return { content: [content], finishReason: { unified, raw: unified }, usage, warnings: [] };
    },
  };
  const shell = tool({
    ...{ description: "Runs a command", inputSchema: z.object({ command: z.string() }), needsApproval: true },
    execute: async () => "the command ended with exit code 0",
  });
  const messages = [{ role: "user", content: "go" }];
  const micros = [];
  let answered;
  for (;;) {
    const { content, response } = await generateText({ model, tools: { shell }, messages, stopWhen: stepCountIs(1e6) });
    if (answered !== undefined) micros.push((performance.now() - answered) * 1000);
    const request = content.find(({ type }) => type === "tool-approval-request");
    if (!request) return { micros, asked: step };
    messages.push(...response.messages);
    answered = performance.now();
    const { approvalId } = request;
    messages.push({ role: "tool", content: [{ type: "tool-approval-response", approvalId, approved: true }] });
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
await approve(10);
const { micros, asked } = await approve(200); // 800 take minutes: each reads all messages again
if (asked !== 200 || micros.length !== 200) throw new Error(`asked ${asked} times, answered ${micros.length}`);
console.log(JSON.stringify({ 200: median(micros) }));
