// Parts of one's own: words to the model, a search engine, a channel. The same options take MCP servers, other agents and settings files.
import { InputChannel, SageAgentSDK, scripted, type SearchEngine } from "sage-agent";

const library: SearchEngine = {
  name: "library",
  search: async (query) => ({
    found: [{ title: `About ${query}`, url: "https://library.example/1", text: "They are on shelf 3." }],
  }),
};
const model = scripted([
  ({ system }) => ({ text: system.slice(-18), calls: [{ tool: "WebSearch", input: { query: "herons" } }] }),
  { text: "On shelf 3." },
]);

const sage = new SageAgentSDK({
  model,
  webSearch: library,
  systemPrompt: (standard) => `${standard}\nAnswer librarians.`, // or text instead of all of it
  rules: { allow: ["WebSearch"] },
  // mcpServers: { files: { command: "npx", args: ["some-mcp-server"] } },
  // agent: "codex", // another agent runs new sessions, and asks through Sage
  // settings: true, // what `sage` would read in the folder: rules, hooks, servers, skills
});

const [channel, handle] = InputChannel.create(4);
const run = sage.run("Where are the herons?", { channel });
void handle.nextRequest().then((request) => request && console.log("asks:", request.kind));
const { text, toolHistory } = await run;
console.log(toolHistory[0]?.result.text);
console.log(text);
await sage.close();
