import { basename } from "node:path";
import { reasonOf } from "../protocol/reasons/error.ts";
import { reason, type Reason } from "../protocol/reasons/reason.ts";
import type { SubagentDefinition } from "../protocol/subagent.ts";
import * as z from "../base/z.ts";
import { unfit, type ContentFile } from "./content.ts";
import { frontMatter, nameField, nameFrom, toolsField } from "./front-matter.ts";

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
        workingDirectory: directoryOf(fields.working_directory),
        ...(fields.ask && { ask: fields.ask }),
        ...(fields.max_steps !== undefined && { maxSteps: fields.max_steps }),
      });
    } catch (error) {
      problems.push(reason("file-left-out", { path: file.path, problem: reasonOf(error) }));
    }
  }
  return { agents: [...agents.values()], problems };
}

function directoryOf(where: string): SubagentDefinition["workingDirectory"] {
  return where === "inherited" || where === "processCwd" ? where : { explicit: where };
}
