import { SageAgentSDK, scripted } from "sage-agent";

const calls = [{ tool: "Bash", input: { command: "rm -r build" } }];
const model = scripted([{ calls }, { text: "Then the build stays." }]); // in your program, model: "anthropic/…"
const sage = new SageAgentSDK({ model });
const { handle, result } = sage.executeWithChannel("Clean up");
const request = await handle.nextRequest(); // the turn waits: for a minute, or until after the next restart
if (request) await handle.respond({ type: "denied", requestId: request.id, reason: "I still need it" });
console.log((await result).text);
await sage.close();
