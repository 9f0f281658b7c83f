import { hash } from "node:crypto";
import { sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Reason, reason, reasonOf, SageError } from "../protocol/reasons/reason.ts";
import { misfits } from "../protocol/reasons/misfit.ts";
import type { SubagentDefinition } from "../protocol/subagent.ts";
import { kindOf, isObject } from "../base/issue.ts";
import * as z from "../base/z.ts";
import type { ModuleParts, SageModule, Tool } from "../tools/definition/tool.ts";
import { type Config, knownTools, rulesForNoTool } from "./config.ts";
import { type NamedModule, isCode } from "./modules/module-files.ts";
import { subagentsSchema, toolsSchema } from "./modules/parts-schema.ts";
import { isInside } from "../permission/paths/canonical.ts";

const LOAD_MS = 10_000;

type LoadedModules = { tools: Tool[]; subagents: SubagentDefinition[]; warnings: Reason[] };

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
  parts.catch(() => loaded.delete(id)); // a missing dependency may be there next time
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
  if (!isObject(parts)) throw new SageError("config-invalid", reason("module-export", { came: kindOf(parts) }));
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

function repeated(parts: readonly { name: string }[], taken: ReadonlySet<string>, kind: "tool" | "subagent") {
  const found = parts.find(
    ({ name }, n) => taken.has(name) || parts.slice(0, n).some((earlier) => earlier.name === name),
  );
  return found && reason("name-taken", { kind, name: found.name });
}

const schema = z.strictObject({ tools: toolsSchema.optional(), agents: subagentsSchema.optional() });

const nodeModule = process.getBuiltinModule("node:module");
const PARAMETER = "sage-module";
const known = new Map<string, { texts: ReadonlyMap<string, string>; within: string | undefined }>();
let isHooked = false;

/** Imports the text that was read and trusted; the file may have changed since. Each content has its own URL, so a change is loaded. */
async function importModule({ path, files, within }: NamedModule): Promise<unknown> {
  if (typeof nodeModule.registerHooks !== "function")
    throw new SageError("config-invalid", reason("module-needs-node", { version: "22.15" }));
  const id = contentId({ path, files });
  known.set(id, { texts: new Map(files.map((file) => [file.path, file.text])), within });
  if (!isHooked) hookImports();
  isHooked = true;
  const { default: exported } = (await import(versionedUrl(path, id))) as { default?: unknown };
  return exported;
}

function contentId({ path, files }: Pick<NamedModule, "path" | "files">): string {
  return hash("sha256", JSON.stringify([path, files]));
}

function hookImports(): void {
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const id = idIn(context.parentURL);
      const from = id === undefined ? undefined : known.get(id);
      if (id === undefined || !from || !found.url.startsWith("file:")) return found;
      const path = fileURLToPath(found.url);
      if (from.texts.has(path) && (isCode(path) || path.endsWith(".json")))
        return { ...found, url: versionedUrl(path, id), shortCircuit: true };
      if (from.within === undefined || isOfPackage(specifier, path, from.within)) return found;
      throw new SageError("config-invalid", reason("module-import-untrusted", { path }));
    },
    load(url, context, next) {
      const from = known.get(idIn(url) ?? "");
      const path = from && fileURLToPath(url);
      const source = path === undefined ? undefined : from?.texts.get(path);
      if (path === undefined || source === undefined) return next(url, context);
      return { format: isCode(path) ? "module" : "json", source, shortCircuit: true };
    },
  });
}

/** True for the name of a package, and not for a file of the project under an alias. */
function isOfPackage(specifier: string, path: string, root: string): boolean {
  const below = isInside(root, path) ? path.slice(root.length) : path;
  return !/^(?:[./#]|file:)/.test(specifier) && below.includes(`${sep}node_modules${sep}`);
}

function versionedUrl(path: string, id: string): string {
  const url = pathToFileURL(path);
  url.searchParams.set(PARAMETER, id);
  return url.href;
}

function idIn(url: string | undefined): string | undefined {
  return url?.startsWith("file:") ? (new URL(url).searchParams.get(PARAMETER) ?? undefined) : undefined;
}
