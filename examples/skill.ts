// A skill in code. It works the same as a folder with a SKILL.md.
import { SageAgentSDK, scripted, type Skill } from "sage-agent";

const release: Skill = {
  name: "release",
  description: "Publishes a new version",
  whenToUse: "when publishing a version",
  allowedTools: ["Read", "Bash"],
  userInvocable: true,
  priority: 50,
  folder: "/skills/release",
  body: "Publish $ARGUMENTS: run the tests, write the changelog, then tag.",
};

const model = scripted([
  { calls: [{ tool: "Skill", input: { skill: "release", args: "2.0" } }] },
  { calls: [{ tool: "Write", input: { file_path: "/tmp/x", content: "" } }] },
  { text: "I will not write files for this." },
]);

const sage = new SageAgentSDK({ model, skills: [release] });
const outcome = await sage.run("/release 2.0");
for (const { tool, result } of outcome.toolHistory) console.log(`${tool}: ${result.text}`);
console.log(outcome.text);
await sage.close();
