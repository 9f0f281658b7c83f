// In a web server: one request streams a run, another one answers what it asks.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { SageAgentSDK, scripted } from "sage-agent";

const model = scripted([{ calls: [{ tool: "Bash", input: { command: "node -p 1+1" } }] }, { text: "It works." }]);
// One instance for all requests: runs share its model, tools and journal. With `journal` they outlive the process.
const sage = new SageAgentSDK({ model });

const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => Promise<void>> = {
  /** Server-sent events: every fact and delta, then the end. A browser that goes away cancels its run. */
  async "POST /run"(request, response) {
    const task = await bodyOf(request);
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const run = sage.run(task, { mode: { type: "interactive" }, signal: gone.signal });
    response.writeHead(200, { "content-type": "text/event-stream" });
    for await (const event of run) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end(`data: ${JSON.stringify({ type: "end", text: (await run).text })}\n\n`);
  },
  async "GET /pending"(_request, response) {
    const waiting = await sage.host.send({ type: "pending" });
    response.end(JSON.stringify(waiting.ok ? waiting.requests.map(({ request }) => request.id) : []));
  },
  /** Who answers should be known and allowed to: that is your server's business. The first answer counts. */
  async "POST /allow"(request, response) {
    const granted = { type: "granted" as const, requestId: await bodyOf(request) };
    const reply = await sage.host.send({ type: "respond", response: granted, by: "Ada", surface: "web" });
    response.writeHead(reply.ok ? 200 : 409).end();
  },
};

const server = createServer((request, response) => {
  const route = routes[`${request.method} ${request.url}`];
  const failed = (error: Error) =>
    void (response.headersSent ? response.destroy() : response.writeHead(500).end(error.message));
  if (route) route(request, response).catch(failed);
  else response.writeHead(404).end();
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

// A client: it starts a run, allows what the run asks for, and reads the end of the stream.
const stream = fetch(`${origin}/run`, { method: "POST", body: "Which Node is this?" }).then((reply) => reply.text());
const ended = stream.then(() => true);
while (!(await Promise.race([ended, setTimeout(20, false)]))) {
  const waiting = (await (await fetch(`${origin}/pending`)).json()) as string[];
  for (const id of waiting) await fetch(`${origin}/allow`, { method: "POST", body: id });
}
console.log((await stream).trim().split("\n").at(-1));
server.close();
await sage.close();

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}
