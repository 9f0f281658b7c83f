// A request suggests rules. A grant may take one over, for this session or for files of the person and the project.
import { SageAgentSDK, scripted, type PermissionSuggestion } from "sage-agent";

const bash = (command: string) => ({ calls: [{ tool: "Bash", input: { command } }] });
const model = scripted([bash("npm config get tag"), bash("npm config get scope"), { text: "Looked at both." }]);

const sage = new SageAgentSDK({ model });
const { handle, result } = sage.executeWithChannel("Look at these packages");
let asked = 0;
for (let request = await handle.nextRequest(); request; request = await handle.nextRequest()) {
  asked++;
  if (request.kind !== "permission") break;
  const [suggestion]: readonly PermissionSuggestion[] = request.suggestions;
  console.log("suggested:", suggestion?.behavior, suggestion?.rule);
  const rules = suggestion
    ? [{ rule: suggestion.rule, behavior: suggestion.behavior, destination: "session" as const }]
    : [];
  await handle.respond({ type: "granted", requestId: request.id, rules });
  if (asked === 1) void result.then(handle.close);
}
console.log((await result).text, "asked:", asked);
await sage.close();
