// Hooks in code: asked before calls, told after them. They may refuse, allow, or change what runs.
import { SageAgentSDK, scripted, type HookLists } from "sage-agent";

const bash = (command: string) => ({ tool: "Bash", input: { command } });
const hooks: HookLists = {
  beforeCall: [
    {
      matcher: "Bash",
      run({ input }) {
        const command = String(input["command"]);
        if (command.includes("push")) return { decision: "deny", reason: "Releases are made by the pipeline." };
        if (command.startsWith("npm ")) return { input: { command: `echo would run: ${command}` } };
        return undefined; // no opinion: rules and people decide
      },
    },
  ],
  // In the place of a person, where one would be asked: rules that deny, and what only a person may allow, stay as they are.
  permissionRequest: [{ run: ({ tool }) => (tool === "Bash" ? { decision: "allow" } : undefined) }],
  afterCall: [{ run: ({ tool, result }) => console.log("after", tool, result.ok) }],
  sessionStart: [{ run: ({ cwd }) => void cwd }],
};

const model = scripted([{ calls: [bash("git push"), bash("npm publish")] }, { text: "Done." }]);
const sage = new SageAgentSDK({ model, hooks });
const { toolHistory } = await sage.run("Release it");
for (const { result } of toolHistory) console.log(result.text.split("\n")[0]);
await sage.close();
