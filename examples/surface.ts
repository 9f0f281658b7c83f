// A surface of your own: it watches a session, shows events and sends commands. It needs nothing else of Sage.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assemble, describeRequest, memoryStore, scripted, type Host } from "sage-agent";

const me = { by: "you", surface: "example" };

async function attach(host: Host, session: string, signal: AbortSignal): Promise<void> {
  for await (const event of host.watch(session, { signal })) {
    if (event.type !== "fact") continue; // "delta" is streamed text, "ready" lists open requests
    const { fact } = event;
    if (fact.type === "model.replied")
      for (const part of fact.data.parts) if (part.type === "text") console.log("says:", part.text);
    if (fact.type === "input.requested" && fact.data.kind === "permission") {
      const { tool, action } = describeRequest(fact.data); // safe to display
      console.log("asks:", tool, JSON.stringify(action));
      const response = { type: "granted", requestId: fact.data.id, comment: "go ahead" } as const;
      const reply = await host.send({ type: "respond", response, ...me });
      if (!reply.ok) console.log("not taken:", reply.message); // somebody else may have answered first
    }
    if (fact.type === "input.resolved") console.log("ended:", fact.data.outcome, "by", fact.data.by);
    if (fact.type === "turn.ended") return;
  }
}

const model = scripted([{ calls: [{ tool: "Bash", input: { command: "node -p 1+1" } }] }, { text: "It works." }]);
const output = await mkdtemp(join(tmpdir(), "sage-")); // for output too long for the model
const host = assemble({
  store: memoryStore(), // or sqliteStore("journal.db"): then other processes may answer too
  model: async () => model,
  rules: [],
  permissionMode: "default",
  options: {},
  env: process.env,
  output,
});
const opened = await host.send({ type: "open", cwd: process.cwd() });
if (!opened.ok) throw new Error(opened.message);
const watching = attach(host, opened.session, new AbortController().signal);
await host.send({ type: "say", session: opened.session, text: "Try it", ...me });
await watching;
await host.close();
await rm(output, { recursive: true });
