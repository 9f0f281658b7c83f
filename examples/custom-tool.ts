// A tool of your own. It declares its effect; Sage decides whether to ask a person before it runs.
import { SageAgentSDK, scripted, type Tool } from "sage-agent";
import { z } from "zod";

const weather: Tool<{ city: string }> = {
  name: "Weather",
  description: "Tells the weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  effect: "reads", // may run again after a crash
  checkPermissions: () => ({ behavior: "allow", reason: "it only looks" }),
  execute: async ({ city }) => ({ ok: true, text: `${city}: 21 °C, clear` }),
};

// The scripted model stands in for a real one: pass `model: "anthropic/…"` instead.
const model = scripted([{ calls: [{ tool: "Weather", input: { city: "杭州" } }] }, { text: "Take no umbrella." }]);

const sage = new SageAgentSDK({ model, tools: [weather] });
const outcome = await sage.run("Do I need an umbrella in Hangzhou?");
console.log(outcome.toolHistory[0]?.result.text);
console.log(outcome.text);
await sage.close();
