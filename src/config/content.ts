import { readAgents } from "../context/agents.ts";
import { findContent } from "../context/content.ts";
import { readSkills, type Skill } from "../context/skills.ts";
import type { Reason, SubagentDefinition } from "../protocol/index.ts";
import type { Home } from "./home.ts";
import type { ProjectTrust } from "./trust.ts";

export type Content = { skills: Skill[]; subagents: SubagentDefinition[]; warnings: Reason[] };

/** Skills and subagents: the person's own first, then those of a folder that is trusted, as they were when it was looked at. */
export function loadContent(home: Home, project: ProjectTrust): Content {
  const own = findContent([home.dir]);
  const { skills, agents, problems } = project.content;
  const trusted = project.state === "trusted";
  const read = readSkills([...own.skills, ...(trusted ? skills : [])]);
  const defined = readAgents([...own.agents, ...(trusted ? agents : [])]);
  return {
    skills: read.skills,
    subagents: defined.agents,
    warnings: [...own.problems, ...(trusted ? problems : []), ...read.problems, ...defined.problems],
  };
}
