// A subagent of your own: its name, purpose, prompt and tools.
import { SageAgentSDK, scripted, type SubagentDefinition } from "sage-agent";

const proofreader: SubagentDefinition = {
  name: "Proofreader",
  type: "custom",
  description: "Finds mistakes in texts. Reads only.",
  prompt: "Report each mistake with its line. Change nothing.",
  toolAccess: { restricted: ["Read", "Grep"] },
  workingDirectory: "inherited",
};

// One script for the main agent, one for the subagent: each has its own conversation.
const model = scripted({
  "": [
    {
      calls: [{ tool: "Task", input: { agent: "Proofreader", description: "proofread", prompt: "Read README.md" } }],
    },
    ({ messages }) => ({
      text: JSON.stringify(messages.at(-1)).includes("no mistakes") ? "It can go out." : "Not yet.",
    }),
  ],
  Proofreader: [{ calls: [{ tool: "Bash", input: { command: "rm README.md" } }] }, { text: "no mistakes" }],
});

const sage = new SageAgentSDK({ model, subagents: [proofreader] });
const outcome = await sage.run("Is the README ready?");
console.log(outcome.toolHistory[0]?.result.text);
console.log(outcome.text);
await sage.close();
