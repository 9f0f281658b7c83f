import { basename, join } from "node:path";
import { type Reason, reason, reasonOf } from "../protocol/reasons/reason.ts";
import type { SubagentDefinition } from "../protocol/subagent.ts";
import { type OwnCommand, readCommands } from "./commands.ts";
import { type ContentFile, type Found, findContent, unfit } from "./content.ts";
import { repositoryRoot } from "./environment.ts";
import { type Skill, readSkills } from "./skills.ts";
import * as z from "../base/z.ts";
import { frontMatter, nameField, nameFrom, toolsField } from "./front-matter.ts";

/** Skills, subagents and own commands. `problems`: files that were left out, and why. */
export type Discovered = {
  skills: Skill[];
  subagents: SubagentDefinition[];
  commands: OwnCommand[];
  problems: Reason[];
};

/** Reads `.sage` and `.claude` of a repository. The texts go to the model: only for a folder that you trust. */
export function discover(folder: string): Discovered {
  return readContent([findContent(contentFolders(repositoryRoot(folder) ?? folder))]);
}

/** Folders of a project in which skills, subagents and commands are kept. */
export function contentFolders(root: string): string[] {
  return [".sage", ".claude"].map((name) => join(root, name));
}

/** The first of two with the same name counts. */
export function readContent(found: readonly Found[]): Discovered {
  const { skills, problems: unfitSkills } = readSkills(found.flatMap((folder) => folder.skills));
  const { agents, problems: unfitAgents } = readAgents(found.flatMap((folder) => folder.agents));
  const { commands, problems: unfitCommands } = readCommands(found.flatMap((folder) => folder.commands));
  const unread = found.flatMap(({ problems }) => problems);
  return {
    skills,
    subagents: agents,
    commands,
    problems: [...unread, ...unfitSkills, ...unfitAgents, ...unfitCommands],
  };
}

const schema = z.object({
  name: nameField.optional(),
  description: z.string().trim().min(1),
  tools: toolsField.optional(),
  model: z.unknown().optional(),
  ask: z.literal("root").optional(),
  max_steps: z.number().int().positive().optional(),
  working_directory: z.string().min(1).default("inherited"),
});

/** Subagents defined in files. One that cannot be understood is told, and no more; of two with one name the first counts. */
export function readAgents(files: readonly ContentFile[]): { agents: SubagentDefinition[]; problems: Reason[] } {
  const agents = new Map<string, SubagentDefinition>();
  const problems: Reason[] = [];
  for (const file of files) {
    try {
      const { fields, body } = frontMatter(file, schema);
      const name = fields.name ?? nameFrom(basename(file.path, ".md"));
      if (body === "") throw unfit(reason("subagent-text-missing", {}));
      if (agents.has(name)) throw unfit(reason("name-taken", { kind: "subagent", name }));
      if (fields.model !== undefined && fields.model !== "inherit")
        problems.push(reason("in-file", { path: file.path, problem: reason("subagent-model-ignored", {}) }));
      agents.set(name, {
        name,
        type: "custom",
        description: fields.description,
        prompt: body,
        toolAccess: fields.tools ? { restricted: fields.tools } : "inherited",
        workingDirectory: readDirectory(fields.working_directory),
        ...(fields.ask && { ask: fields.ask }),
        ...(fields.max_steps !== undefined && { maxSteps: fields.max_steps }),
      });
    } catch (error) {
      problems.push(reason("file-left-out", { path: file.path, problem: reasonOf(error) }));
    }
  }
  return { agents: [...agents.values()], problems };
}

function readDirectory(where: string): SubagentDefinition["workingDirectory"] {
  return where === "inherited" || where === "processCwd" ? where : { explicit: where };
}
