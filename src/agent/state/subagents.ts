import { namePattern } from "../../base/name.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { SubagentDefinition } from "../../protocol/subagent.ts";

const reading = ["Read", "Glob", "Grep"];

/** Subagents that are there without a file or code of the embedder. */
export const builtinSubagents: readonly SubagentDefinition[] = [
  {
    name: "Explore",
    type: "explore",
    description: "Finds where and how the code does something. Reads only.",
    prompt:
      "Find what you were asked for and report where it is (path:line) and how it hangs together. Change nothing.",
    toolAccess: { restricted: reading },
    workingDirectory: "inherited",
  },
  {
    name: "Plan",
    type: "plan",
    description: "Works out how to do something, step by step. Reads only.",
    prompt:
      "Make a plan that somebody else can follow: the files to change and how, in which order, how to check each step, what could go wrong. Change nothing.",
    toolAccess: { restricted: [...reading, "WebSearch"] },
    workingDirectory: "inherited",
  },
  {
    name: "Execute",
    type: "execute",
    description: "Carries out a task whose steps are clear.",
    prompt: "Do exactly what the task says, check it by running something, and report what is different now.",
    toolAccess: { restricted: [...reading, "Write", "Edit", "Bash", "Wait", "KillShell", "TodoWrite"] },
    workingDirectory: "inherited",
  },
  {
    name: "GeneralPurpose",
    type: "generalPurpose",
    description: "Research or work that would fill your own context.",
    prompt: "Do the task with whatever it needs, and report the result.",
    toolAccess: "inherited",
    workingDirectory: "inherited",
  },
  {
    name: "CodeReview",
    type: "codeReview",
    description: "Reads a change critically and reports defects. Reads only.",
    prompt:
      "Look for what is wrong: mistakes, missing cases, unsafe input, work done twice, what a reader would stumble over. Report each with path:line and why it matters; no praise.",
    toolAccess: { restricted: reading },
    workingDirectory: "inherited",
  },
];

/** Types of subagents by name. */
export type SubagentRegistry = {
  get(name: string): SubagentDefinition | undefined;
  list(): readonly SubagentDefinition[];
  /** A definition of the same name takes the place of the earlier one. */
  register(definition: SubagentDefinition): void;
};

/** A registry of these types; without an argument, of the built-in ones. */
export function createSubagentRegistry(
  definitions: readonly SubagentDefinition[] = builtinSubagents,
): SubagentRegistry {
  const byName = new Map<string, SubagentDefinition>();
  const register = (definition: SubagentDefinition) => {
    if (!namePattern.test(definition.name))
      throw new SageError("config-invalid", reason("subagent-name-unfit", { given: definition.name }));
    byName.set(definition.name, definition);
  };
  for (const definition of definitions) register(definition);
  return { get: (name) => byName.get(name), list: () => [...byName.values()], register };
}
