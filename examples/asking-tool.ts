// A tool that asks while it works. After a restart it runs again from the top, and recorded answers return at once.
import { SageAgentSDK, scripted, type Resolution, type Tool } from "sage-agent";
import { z } from "zod";

const words = (resolution: Resolution): string | undefined =>
  resolution.outcome === "answered" && resolution.response.type === "text" ? resolution.response.text : undefined;

const introduce: Tool<{ guest: string }> = {
  name: "Introduce",
  description: "Asks the person how a guest should be introduced.",
  inputSchema: z.object({ guest: z.string() }),
  effect: "waits",
  checkPermissions: () => ({ behavior: "allow", reason: "it only asks" }),
  async execute({ guest }, scope) {
    const name = words(await scope.requestInput({ kind: "text", prompt: `Who is ${guest}?` }, "to say it right"));
    if (name === undefined) return { ok: false, text: "Nobody said who the guest is. Do not guess." };
    const topic = words(
      await scope.requestInput({ kind: "text", prompt: `What does ${name} talk about?` }, "the same"),
    );
    return { ok: true, text: `${name}${topic === undefined ? "" : `, who talks about ${topic}`}` };
  },
};

const model = scripted([{ calls: [{ tool: "Introduce", input: { guest: "the guest" } }] }, { text: "Written." }]);
const replies = ["Ada", "engines"];

const sage = new SageAgentSDK({ model, tools: [introduce] });
const { handle, result } = sage.executeWithChannel("Write the introduction");
for (const text of replies) {
  const request = await handle.nextRequest();
  if (request?.kind !== "text") break;
  console.log("asked:", request.prompt);
  await handle.respond({ type: "text", requestId: request.id, text });
}
console.log((await result).toolHistory[0]?.result.text);
await sage.close();
