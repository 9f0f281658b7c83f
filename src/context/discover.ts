import { join } from "node:path";
import type { Reason } from "../protocol/reasons/reason.ts";
import type { SubagentDefinition } from "../protocol/subagent.ts";
import { readAgents } from "./agents.ts";
import { readCommands, type OwnCommand } from "./commands.ts";
import { findContent, type Found } from "./content.ts";
import { repositoryRoot } from "./repository.ts";
import { readSkills, type Skill } from "./skills.ts";

/** Skills, subagents and own commands. `problems`: files that were left out, and why. */
export type Discovered = {
  skills: Skill[];
  subagents: SubagentDefinition[];
  commands: OwnCommand[];
  problems: Reason[];
};

/**
 * Finds what the repository of a folder keeps for agents, in `.sage` and `.claude`. Their texts go to the model: look for them
 * only in a folder that you trust.
 */
export function discover(folder: string): Discovered {
  return readContent([findContent(contentFolders(repositoryRoot(folder) ?? folder))]);
}

/** Folders of a project in which skills, subagents and commands are kept. */
export function contentFolders(root: string): string[] {
  return [".sage", ".claude"].map((name) => join(root, name));
}

/** The first of two with the same name counts. */
export function readContent(found: readonly Found[]): Discovered {
  const { skills, problems: unfitSkills } = readSkills(found.flatMap((one) => one.skills));
  const { agents, problems: unfitAgents } = readAgents(found.flatMap((one) => one.agents));
  const { commands, problems: unfitCommands } = readCommands(found.flatMap((one) => one.commands));
  const unread = found.flatMap(({ problems }) => problems);
  return {
    skills,
    subagents: agents,
    commands,
    problems: [...unread, ...unfitSkills, ...unfitAgents, ...unfitCommands],
  };
}
