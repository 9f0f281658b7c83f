// The least an agent can be and still survive being looked at: a loop, a shell, a streamed reply, and one fsynced line
// a step in journal.jsonl of the current folder. It asks nobody and recovers nothing.
const bash = {
  type: "function",
  function: {
    name: "bash",
    description: "Runs a command",
    parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  },
};

export async function run({ spawn, fsyncSync, openSync, writeSync, Agent, request }, [baseURL, task]) {
  const endpoint = new URL(`${baseURL}/chat/completions`);
  const agent = new Agent({ keepAlive: true });
  const journal = openSync("journal.jsonl", "a");
  const messages = [{ role: "user", content: task }];
  for (;;) {
    const reply = await ask();
    messages.push(reply);
    const step = [reply];
    for (const call of reply.tool_calls ?? []) {
      const { command } = JSON.parse(call.function.arguments);
      step.push({ role: "tool", tool_call_id: call.id, content: await execute(command) });
    }
    messages.push(...step.slice(1));
    writeSync(journal, `${JSON.stringify(step)}\n`);
    fsyncSync(journal);
    if (reply.tool_calls === undefined) break;
  }
  agent.destroy();
  console.log(messages.at(-1).content);

  function ask() {
    const { promise, resolve, reject } = Promise.withResolvers();
    const body = JSON.stringify({ model: "bare", stream: true, tools: [bash], messages });
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(endpoint, { method: "POST", agent, headers }, async (response) => {
      try {
        resolve(await collect(response.setEncoding("utf8")));
      } catch (error) {
        reject(error);
      }
    });
    sent.on("error", reject).end(body);
    return promise;
  }

  function execute(command) {
    const { promise, resolve, reject } = Promise.withResolvers();
    const child = spawn("bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (output += text));
    child.on("error", reject).on("close", (code) => resolve(`${output}exit code ${code}`));
    return promise;
  }
}

async function collect(response) {
  if (response.statusCode !== 200) throw new Error(`the model server said ${response.statusCode}`);
  let rest = "";
  let content = "";
  const calls = [];
  for await (const chunk of response) {
    const events = (rest + chunk).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event.replace(/^data: /, "");
      const delta = data === "[DONE]" ? undefined : JSON.parse(data).choices[0]?.delta;
      content += delta?.content ?? "";
      for (const { index, id, function: part } of delta?.tool_calls ?? []) {
        calls[index] ??= { id, type: "function", function: { name: part.name, arguments: "" } };
        calls[index].function.arguments += part.arguments ?? "";
      }
    }
  }
  return { role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) };
}
