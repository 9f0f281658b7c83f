// A model that costs nothing, in a process of its own: Chat Completions over loopback. A task that says "<n> steps"
// gets n calls of bash, one a reply, then a last text; "think <n> ms" makes it wait before each reply. Prints its port. GET /stats tells
// what came since the last GET: when requests came and replies ended, and how the process named by POST /watch stood at every hundredth.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const most = { steps: 10_000, bodyBytes: 64 * 1024 * 1024, lifetimeMs: 30 * 60_000 };

let stats = fresh();

const server = createServer((request, response) => void serve(request, response));

async function serve(request, response) {
  const at = performance.timeOrigin + performance.now();
  if (request.method === "GET" && request.url === "/stats") {
    response.setHeader("content-type", "application/json").end(JSON.stringify(stats));
    stats = fresh();
    return;
  }
  const body = await read(request);
  if (request.url === "/watch") {
    stats.pid = Number(body);
    response.end();
    return;
  }
  if (stats.pid && stats.arrivals.length % 100 === 0) stats.hundreds.push(look(stats.pid));
  stats.arrivals.push(at);
  if (body === undefined || !request.url?.endsWith("/chat/completions")) {
    response.writeHead(body === undefined ? 413 : 404).end();
    return;
  }
  await answer(JSON.parse(body), response);
  stats.ends.push(performance.timeOrigin + performance.now());
}

server.listen(0, "127.0.0.1", () => console.log(server.address().port));

// A benchmark that was killed must not leave this behind.
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.exit(), 500);
setTimeout(() => process.exit(1), most.lifetimeMs);

function fresh() {
  return { arrivals: [], ends: [], hundreds: [], pid: 0 };
}

/** The process's own processor time in ms, and its resident memory and the most it was, in MB. */
function look(pid) {
  const [, , ...fields] = readFileSync(`/proc/${pid}/stat`, "utf8").split(/\) | /);
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mb = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * 10, rssMb: mb("VmRSS"), peakMb: mb("VmHWM") };
}

async function read(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > most.bodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

async function answer({ messages, tools = [], model, stream_options: options }, response) {
  const asked = messages.filter(({ role }) => role === "user").map(({ content }) => JSON.stringify(content));
  const steps = Math.min(Number(/(\d+) steps/.exec(asked.join(" "))?.[1] ?? 0), most.steps);
  const step = messages.filter(({ role }) => role === "tool").length + 1;

  const base = { id: `reply-${step}`, object: "chat.completion.chunk", created: 0, model };
  const send = (chunk) => response.write(`data: ${JSON.stringify({ ...base, ...chunk })}\n\n`);
  const delta = (content, finish = null) => send({ choices: [{ index: 0, delta: content, finish_reason: finish }] });

  const think = Number(/think (\d+) ms/.exec(asked.join(" "))?.[1] ?? 0);
  if (think > 0) await new Promise((resolve) => setTimeout(resolve, think));

  response.writeHead(200, { "content-type": "text/event-stream" });
  delta({ role: "assistant", content: "" });
  if (step <= steps) {
    const name = tools.map((tool) => tool.function.name).find((tool) => /^(bash|shell)$/i.test(tool)) ?? "bash";
    const call = (more) => delta({ tool_calls: [{ index: 0, ...more }] });
    call({ id: `call-${step}`, type: "function", function: { name, arguments: "" } });
    call({ function: { arguments: '{"command":' } });
    call({ function: { arguments: `"echo step ${step}"}` } });
    delta({}, "tool_calls");
  } else {
    for (const word of ["All ", "steps ", "are ", "done."]) delta({ content: word });
    delta({}, "stop");
  }
  if (options?.include_usage) {
    send({ choices: [], usage: { prompt_tokens: 100 * step, completion_tokens: 10, total_tokens: 100 * step + 10 } });
  }
  response.end("data: [DONE]\n\n");
}
