import { reasonOf, SageError } from "../protocol/reasons/error.ts";
import { misfits } from "../protocol/reasons/misfit.ts";
import { reason, type Reason } from "../protocol/reasons/reason.ts";
import type { SubagentDefinition } from "../protocol/subagent.ts";
import * as z from "../base/z.ts";
import type { ModuleParts, SageModule } from "../tools/module.ts";
import type { Tool } from "../tools/definition/tool.ts";
import { knownTools, rulesForNoTool, type Config } from "./config.ts";
import type { NamedModule } from "./modules/module-files.ts";
import { contentId, importModule } from "./modules/module-import.ts";
import { subagentsSchema, toolsSchema } from "./modules/parts-schema.ts";

/** How long a module may take to load. */
const LOAD_MS = 10_000;

export type LoadedModules = { tools: Tool[]; subagents: SubagentDefinition[]; warnings: Reason[] };

/** Loaded modules by their content: a process that stays loads each once. */
const loaded = new Map<string, Promise<ModuleParts>>();

/** Loads modules one after the other. One that cannot be loaded whole adds nothing, and a warning says why. */
export async function loadModules(
  { modules, rules }: Pick<Config, "modules" | "rules">,
  subagents: readonly SubagentDefinition[],
): Promise<LoadedModules> {
  const all: LoadedModules = { tools: [], subagents: [], warnings: [] };
  const names = { tool: knownTools(), subagent: new Set(subagents.map(({ name }) => name)) };
  for (const module of modules) {
    try {
      const { tools = [], agents = [] } = await partsOf(module);
      const taken = repeated(tools, names.tool, "tool") ?? repeated(agents, names.subagent, "subagent");
      if (taken) throw new SageError("config-invalid", taken);
      all.tools.push(...tools);
      all.subagents.push(...agents);
      for (const { name } of tools) names.tool.add(name);
      for (const { name } of agents) names.subagent.add(name);
    } catch (error) {
      all.warnings.push(reason("module-left-out", { path: module.named, problem: reasonOf(error) }));
    }
  }
  all.warnings.push(...rulesForNoTool(rules, names.tool));
  return all;
}

function partsOf(module: NamedModule): Promise<ModuleParts> {
  const id = contentId(module);
  const before = loaded.get(id);
  if (before) return before;
  const parts = load(module);
  loaded.set(id, parts);
  parts.catch(() => loaded.delete(id)); // what it lacked may be there the next time
  return parts;
}

async function load(module: NamedModule): Promise<ModuleParts> {
  if (module.problem) throw new SageError("config-invalid", module.problem);
  const run = async () => {
    try {
      const exported = (await importModule(module)) as SageModule | undefined;
      if (typeof exported !== "function") return exported;
      return await exported({ z: (await import("../tools/definition/zod.ts")).z });
    } catch (error) {
      throw new SageError("config-invalid", reason("module-threw", { problem: reasonOf(error) }));
    }
  };
  const parts: unknown = await withinTime(run());
  if (typeof parts !== "object" || parts === null || Array.isArray(parts))
    throw new SageError("config-invalid", reason("module-export", { came: kindOf(parts) }));
  const checked = schema.safeParse(parts);
  if (!checked.success) throw new SageError("config-invalid", misfits(checked.error, parts));
  return parts;
}

/** Work that waits is given up; a module that computes without an end cannot be stopped from here. */
async function withinTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(
      () => fail(new SageError("config-invalid", reason("module-hung", { limitMs: LOAD_MS }))),
      LOAD_MS,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function repeated(
  parts: readonly { name: string }[],
  taken: ReadonlySet<string>,
  kind: "tool" | "subagent",
): Reason | undefined {
  const found = parts.find(({ name }, n) => taken.has(name) || parts.slice(0, n).some((one) => one.name === name));
  return found && reason("name-taken", { kind, name: found.name });
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const schema = z.strictObject({ tools: toolsSchema.optional(), agents: subagentsSchema.optional() });
