// A conversation that outgrows its model. Sage compacts it: a summary replaces the beginning, your words stay to the letter.
import { SageAgentSDK, scripted, type Tool } from "sage-agent";
import { z } from "zod";

const log: Tool<{ day: number }> = {
  name: "Log",
  description: "Reads the log of a day.",
  inputSchema: z.object({ day: z.number() }),
  effect: "reads",
  checkPermissions: () => ({ behavior: "allow", reason: "it only looks" }),
  execute: async ({ day }) => ({ ok: true, text: `day ${day}: all quiet\n`.repeat(80) }),
};

const days = Array.from({ length: 12 }, (_, n) => n + 1);
const model = scripted({
  "": [...days.map((day) => ({ calls: [{ tool: "Log", input: { day } }] })), { text: "Nothing happened." }],
  summary: [{ text: "The first days were read; all of them were quiet." }], // written by `smallModel`, if you set one
});

const sage = new SageAgentSDK({ model, tools: [log] });
const outcome = await sage.runWithOptions("Read the log of every day", { maxContextTokens: 9_000 });
const [first] = outcome.messages; // what the model sees now; the journal keeps everything
if (first?.role === "user") console.log(first.text.split("\n\n").slice(1).join("\n"));
console.log(`${outcome.stats.steps} steps, ${outcome.messages.length} messages: ${outcome.text}`);
await sage.close();
