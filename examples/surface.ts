// A surface of your own: it follows a session, draws each change and sends commands. It needs nothing else of Sage.
import { assemble } from "sage-agent/hosts";
import { describeRequest, followSession, scripted } from "sage-agent";
import type { Host, Item } from "sage-agent";
import type { OpenRequest } from "sage-agent/surfaces";

const me = { by: "you", surface: "example" };

async function attach(host: Host, id: string): Promise<void> {
  const left = new AbortController();
  const answer = async ({ request }: OpenRequest): Promise<void> => {
    if (request.kind !== "permission") return;
    const { tool, action } = describeRequest(request); // safe to display
    console.log("asks:", tool, JSON.stringify(action));
    const response = { type: "granted", requestId: request.id, comment: "go ahead" } as const;
    const reply = await session.send({ type: "respond", response, ...me });
    if (!reply.ok) console.log("not taken:", reply.message); // somebody else may have answered first
  };
  const draw = (item: Item): void => {
    if (item.type === "text" && item.done) console.log("says:", item.text);
    if (item.type === "call" && item.result) console.log("call:", item.call.tool, item.standing);
    if (item.type === "end") left.abort();
  };
  const session = followSession(host, id, {
    signal: left.signal,
    changed(change) {
      if (change.type === "joined") session.requests.forEach((open) => void answer(open)); // open before
      if (change.type === "request" && change.is === "opened") void answer(change.request);
      if (change.type === "owner" && session.run === "stopped") console.log("nobody runs it: resume continues it");
      if (change.type === "fact") change.items.forEach(draw); // text that streams comes as a "delta", with its items as well
    },
  });
  await session.done;
}

const model = scripted([{ calls: [{ tool: "Bash", input: { command: "node -p 1+1" } }] }, { text: "It works." }]);
const host = assemble({ model: async () => model }); // with store: sqliteStore("journal.db"), other processes may answer too
const opened = await host.send({ type: "open", cwd: process.cwd() });
if (!opened.ok) throw new Error(opened.message);
const drawing = attach(host, opened.session);
await host.send({ type: "say", session: opened.session, text: "Try it", ...me });
await drawing;
await host.close();
