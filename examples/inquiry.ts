// Asks the agent about its request before answering it. The request stays open; the agent may look at files, and nothing else.
import { SageAgentSDK, scripted } from "sage-agent";

const rename = "mv notes.txt ideas.txt";
// Stands in for a real model here: in your program, `model: "anthropic/…"`.
const model = scripted({
  "": [{ calls: [{ tool: "Bash", input: { command: rename } }] }, { text: "Then it keeps its name." }],
  inquiry: [{ text: "Because the file holds ideas, and nothing else refers to it." }],
});

const sage = new SageAgentSDK({ model });
const agent = await sage.openTurns();
const result = await agent.runTurn("Tidy up");
console.log("needs input:", result.needsInput);

const reply = await agent.inquire("Why rename it?", { by: "Ada" });
console.log("reply:", reply.text);
console.log("still asked:", agent.isWaitingInput());

await agent.answerQuestion({ type: "denied", requestId: reply.requestId, reason: "I like the name" });
const end = await agent.runTurn("");
// The agent read your question, its reply and your decision in the result of its call.
if (!end.needsInput) console.log(end.outcome.toolHistory[0]?.result.text);
await sage.close();
