import { createHooks } from "../hooks/hooks.ts";
import type { Hook, HookMoment, Hooks } from "../hooks/hook.ts";
import { SageError, type Rule, type RuleFiles, type RuleGrant } from "../protocol/index.ts";
import { builtinTools } from "../tools/registry.ts";
import type { Home } from "./home.ts";
import { addRule } from "./rule-file.ts";
import { childEnv } from "./secrets.ts";
import { projectFiles, readSettings, rulesOf, type Settings } from "./settings.ts";
import { mayBeTrusted, projectTrust, trust, type ProjectTrust } from "./trust.ts";

export type Config = {
  settings: Settings;
  /** From every file that counts, each with its source; grows when the person saves one. */
  rules: Rule[];
  hooks: Hooks;
  trust: ProjectTrust;
  warnings: string[];
  /** Where rules may be saved: beside a folder's own settings only when those are trusted. */
  ruleFiles: RuleFiles;
  /** Puts a rule into the file of its destination, and gives the file's path. */
  saveRule(grant: RuleGrant): string;
};

/** Everything the settings files say for a folder. Read at the start, and never again because a file changed. */
export function loadConfig(home: Home, cwd: string, env: NodeJS.ProcessEnv): Config {
  const settings = readSettings(home.settings);
  let project = projectTrust(home.trust, cwd);
  const trusted = project.state === "trusted" ? project.files : [];
  const layers = [
    { path: home.settings, destination: "user" as const, settings },
    ...trusted.map(({ path, destination, settings: own }) => ({ path, destination, settings: own })),
  ];
  const loaded = layers.map(({ path, destination, settings: own }) => rulesOf(own, destination, path));
  const rules = loaded.flatMap((layer) => layer.rules);
  const open = project.state === "trusted" || (project.state === "nothing-to-trust" && mayBeTrusted(project.root));
  const files = { user: home.settings, ...(open && projectFiles(project.root)) };
  return {
    settings,
    rules,
    hooks: createHooks(merged(layers.map((layer) => layer.settings.hooks)), childEnv(env)),
    trust: project,
    warnings: [...strangers(rules), ...loaded.flatMap((layer) => layer.warnings), ...project.ignored],
    ruleFiles: files,
    saveRule(grant) {
      const path = fileFor(grant, files, project);
      if (grant.destination !== "user") checkUnchanged(home, project);
      addRule(path, grant);
      rules.push({ behavior: grant.behavior, text: grant.rule, source: grant.destination });
      // The person who saves a rule in a trusted folder has seen it: that is no reason to ask for trust again.
      if (grant.destination !== "user") {
        project = projectTrust(home.trust, project.root);
        trust(home.trust, project);
      }
      return path;
    },
  };
}

/** A deny rule for a tool that does not exist guards nothing: better said than found out. */
function strangers(rules: readonly Rule[]): string[] {
  const tools = new Set([...builtinTools().map(({ name }) => name), "Task", "Skill", "WebFetch", "WebSearch"]);
  return rules.flatMap(({ behavior, text, source }) => {
    const name = text.split("(")[0] ?? "";
    if (tools.has(name) || name.startsWith("mcp__") || name.includes("*")) return [];
    return [
      `the ${behavior} rule "${text}" (${source}) is for a tool "${name}", and there is no such tool; there are ${[...tools].join(", ")}`,
    ];
  });
}

/** What was trusted at the start must still be what stands there: otherwise saving would trust whatever came since. */
function checkUnchanged(home: Home, { root, digest }: ProjectTrust): void {
  if (projectTrust(home.trust, root).digest === digest) return;
  throw new SageError(
    "config-invalid",
    `the settings of ${root} changed since the start, so nothing is saved beside them; run \`sage trust\` there first`,
  );
}

function fileFor({ destination }: RuleGrant, files: RuleFiles, { root }: ProjectTrust): string {
  if (destination === "session") throw new SageError("config-invalid", "a rule of the session is in no file");
  const file = files[destination];
  if (file !== undefined) return file;
  throw new SageError(
    "config-invalid",
    `the settings of ${root} are not trusted, so nothing is saved beside them; run \`sage trust\` there first`,
  );
}

function merged(all: readonly Partial<Record<HookMoment, Hook[] | undefined>>[]): Partial<Record<HookMoment, Hook[]>> {
  const hooks: Partial<Record<HookMoment, Hook[]>> = {};
  for (const one of all)
    for (const [moment, list] of Object.entries(one) as [HookMoment, Hook[] | undefined][])
      hooks[moment] = [...(hooks[moment] ?? []), ...(list ?? [])];
  return hooks;
}
