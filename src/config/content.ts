import { readAgents } from "../context/agents.ts";
import { readCommands, type OwnCommand } from "../context/commands.ts";
import { findContent } from "../context/content.ts";
import { readSkills, type Skill } from "../context/skills.ts";
import type { Reason, SubagentDefinition } from "../protocol/index.ts";
import type { Home } from "./home.ts";
import type { ProjectTrust } from "./trust.ts";

export type Content = { skills: Skill[]; subagents: SubagentDefinition[]; commands: OwnCommand[]; warnings: Reason[] };

/** Skills, subagents and commands: the person's own first, then those of a folder that is trusted, as they were when it was looked at. */
export function loadContent(home: Home, project: ProjectTrust): Content {
  const own = findContent([home.dir]);
  const { skills, agents, commands, problems } = project.content;
  const trusted = project.state === "trusted";
  const read = readSkills([...own.skills, ...(trusted ? skills : [])]);
  const defined = readAgents([...own.agents, ...(trusted ? agents : [])]);
  const kept = readCommands([...own.commands, ...(trusted ? commands : [])]);
  return {
    skills: read.skills,
    commands: kept.commands,
    subagents: defined.agents,
    warnings: [...own.problems, ...(trusted ? problems : []), ...read.problems, ...defined.problems, ...kept.problems],
  };
}
