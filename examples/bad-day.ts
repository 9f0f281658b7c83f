// A failing server: one model is overloaded, so after its retries the fallback takes over. Both are reached over the network.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SageAgentSDK } from "sage-agent";

const asked: string[] = [];
const server = createServer((request, response) => {
  void text(request).then((body) => {
    const { model } = JSON.parse(body) as { model: string };
    asked.push(model);
    if (model === "large") return void response.writeHead(503, { "retry-after-ms": "5" }).end("overloaded");
    const piece = { id: "1", object: "chat.completion.chunk", created: 0, model };
    const said = { ...piece, choices: [{ index: 0, delta: { role: "assistant", content: "Still here." } }] };
    const end = { ...piece, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end([said, end].map((one) => `data: ${JSON.stringify(one)}\n\n`).join("") + "data: [DONE]\n\n");
  });
}).listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;

const sage = new SageAgentSDK({
  model: "openai/large",
  fallbackModel: "openai/small",
  env: { ...process.env, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` },
});
const outcome = await sage.run("Are you there?");
const last = outcome.messages.at(-1);
console.log(`large was asked ${asked.filter((model) => model === "large").length} times`);
console.log(`${last?.role === "assistant" ? last.model : "nobody"} replied: ${outcome.text}`);
await sage.close();
server.close();
