// A function answers where nobody is. If it fails, the answer is no, never yes.
import { SageAgentSDK, scripted, type AutoResponder } from "sage-agent";

const onlyListing: AutoResponder = (request) => {
  const command = request.kind === "permission" ? String(request.input["command"]) : "";
  return command.startsWith("ls ")
    ? { type: "granted", requestId: request.id }
    : { type: "denied", requestId: request.id, reason: "only listing is fine here" };
};

const model = scripted([
  {
    calls: [
      { tool: "Bash", input: { command: "ls -a /" } },
      { tool: "Bash", input: { command: "rm -rf build" } },
    ],
  },
  { text: "Listed, and left alone what I may not remove." },
]);

const sage = new SageAgentSDK({ model });
const outcome = await sage.runWithOptions("Tidy up", { mode: { type: "nonInteractive", autoResponse: onlyListing } });
for (const { input, result } of outcome.toolHistory)
  console.log(input["command"], "→", result.ok ? "ran" : result.text);
console.log(outcome.text);
await sage.close();
