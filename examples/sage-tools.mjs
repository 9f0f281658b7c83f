// A module that settings name: { "modules": ["./sage-tools.mjs"] }. It adds a tool and a subagent to `sage` and `sage serve`.

/** @type {import("sage-agent").SageModule} */
const module = ({ z }) => ({
  tools: [
    {
      name: "Deploy",
      description: "Deploys a version of this project.",
      inputSchema: z.object({ version: z.string() }),
      effect: "writes", // asks first, unless a rule such as Deploy(2.0) allows it
      specifier: ({ version }) => version,
      async execute({ version }, { cwd }) {
        return { ok: true, text: `deployed ${version} from ${cwd}` };
      },
    },
  ],
  agents: [
    {
      name: "Proofreader",
      type: "custom",
      description: "Finds mistakes in texts. Reads only.",
      prompt: "Report each mistake with its line. Change nothing.",
      toolAccess: { restricted: ["Read", "Grep"] },
      workingDirectory: "inherited",
    },
  ],
});

export default module;
