import { existsSync } from "node:fs";
import type { ContentFile } from "../context/content.ts";
import { createHooks, noHooks } from "../hooks/hooks.ts";
import type { Hook, HookMoment, Hooks } from "../hooks/hook.ts";
import type { RuleDestination, RuleFiles } from "../protocol/decision.ts";
import type { RuleGrant } from "../protocol/facts/answer.ts";
import type { Rule } from "../protocol/facts/permission.ts";
import { reason, type Reason, SageError } from "../protocol/reasons/reason.ts";
import type { ServerDefinition } from "../mcp/server.ts";
import { builtinTools } from "../tools/registry.ts";
import type { Home } from "./home/home.ts";
import { changedScript, filesIn, rulesFor } from "./files/hook-files.ts";
import { lockIn } from "./files/locked-file.ts";
import { keepFromGit } from "./files/git-ignore.ts";
import { moduleTexts, readModules, type NamedModule } from "./modules/module-files.ts";
import { addRule, removeRule } from "./files/rule-file.ts";
import { childEnv } from "./secrets/secrets.ts";
import { commandLine, loadServers } from "./settings/servers.ts";
import { sandboxOf, sandboxRules, type Sandbox } from "./settings/sandbox.ts";
import type { ProjectSettings, Settings } from "./settings/settings.ts";
import { commandsOf, projectFiles, readSettings, rulesOf } from "./settings/settings.ts";
import { readPolicy, underPolicy, type Policy } from "./settings/policy.ts";
import { strangersIn } from "./settings/silence.ts";
import { mayBeTrusted, projectTrust, trust, type ProjectTrust } from "./trust/trust.ts";
import { isTakenBack } from "../protocol/facts/session.ts";

export type Config = {
  settings: Settings;
  /** File of the machine's policy, where there is one. */
  policy?: string;
  /** Rules of every file that counts, each with its source; the list grows when the person saves one. */
  rules: Rule[];
  hooks: Hooks;
  /** Modules of every file that counts; loading them is a step of its own. */
  modules: NamedModule[];
  /** MCP servers of every file that counts. */
  servers: ServerDefinition[];
  sandbox: Sandbox;
  trust: ProjectTrust;
  warnings: Reason[];
  /** Files in which rules may be saved: a folder's own only when its settings are trusted. */
  ruleFiles: RuleFiles;
  saveRule(grant: RuleGrant): string;
  /** Removes a rule from the file of its destination, with any approvals; undefined if it is not there. */
  dropRule(rule: string, destination: RuleDestination, behavior?: RuleGrant["behavior"]): string | undefined;
};

/** Everything the settings files say for a folder. Read at the start, and never again because a file changed. */
export function loadConfig(
  home: Home,
  cwd: string,
  env: NodeJS.ProcessEnv,
  own: Settings = readSettings(home.settings),
  policy: Policy | undefined = readPolicy(),
): Config {
  const settings = underPolicy(own, policy);
  const lock = lockIn(home.dir);
  const project = projectTrust(home.trust, cwd);
  const trusted = project.state === "trusted" ? project.files : [];
  const layers: Layer[] = [
    { path: home.settings, destination: "user", settings, folder: home.dir },
    ...trusted.map(({ path, destination, settings: own }) => ({
      path,
      destination,
      settings: own,
      folder: project.root,
    })),
  ];
  const loaded = layers.map(({ path, destination, settings: own }) => rulesOf(own, destination, path));
  const given = loaded.flatMap((layer) => layer.rules);
  const modules = [...readModules(settings.modules, home.dir), ...(project.state === "trusted" ? project.modules : [])];
  const outside = loadServers(
    settings.mcpServers,
    home.settings,
    project.state === "trusted" ? project : undefined,
    env,
  );
  const moduleFiles = (own: readonly NamedModule[]) => [
    ...new Set([...own.map(({ named }) => named), ...moduleTexts(own).map(({ path }) => path)]),
  ];
  const { sandbox, warnings: sandboxWarnings } = sandboxOf(layers, { root: project.root, state: home.dir });
  const rules = [
    ...(policy?.rules ?? []),
    ...given,
    ...layers.flatMap(sandboxRules),
    ...rulesFor(moduleFiles(modules.filter(({ within }) => within === undefined)), "user"),
    ...rulesFor(moduleFiles(modules.filter(({ within }) => within !== undefined)), "project"),
    ...layers.flatMap(({ settings: own, destination, folder }) =>
      rulesFor(
        commandsOf(own).flatMap((command) => filesIn(command, folder)),
        destination,
      ),
    ),
    ...outside.servers.flatMap(({ transport, source }) =>
      transport.type === "http"
        ? []
        : rulesFor(filesIn(commandLine(transport), source === "user" ? home.dir : project.root), source),
    ),
  ];
  /** A person who changes a trusted file by Sage has seen it: no reason to ask for trust again. Other changes do need it. */
  const change = <T>(destination: RuleDestination, edit: (path: string) => T): T => {
    if (destination === "user") return edit(home.settings);
    const result = edit(fileFor(destination, ruleFiles(home, projectTrust(home.trust, project.root)), project.root));
    trust(home.trust, projectTrust(home.trust, project.root));
    return result;
  };
  return {
    settings,
    ...(policy && { policy: policy.path }),
    sandbox,
    rules,
    hooks: hooksOf(merged(layers, project.scripts), () => childEnv(env, project.root), home.dir),
    modules,
    servers: outside.servers,
    trust: project,
    warnings: [
      ...(modules.length > 0 ? [] : rulesForNoTool(given)), // modules may bring the tools
      ...rulesForNoPath(given),
      ...loaded.flatMap((layer) => layer.warnings),
      ...outside.warnings,
      ...project.ignored,
      ...sandboxWarnings,
      ...strangersIn(settings).map((name) => reason("silence-stranger", { name })),
    ],
    ruleFiles: ruleFiles(home, project),
    saveRule: ({ rule, behavior, destination }) =>
      change(destination, (path) => {
        addRule(path, { rule, behavior }, lock);
        if (destination === "local") keepFromGit(project.root);
        rules.push({ behavior, text: rule, source: destination });
        return path;
      }),
    dropRule: (rule, destination, behavior) =>
      change(destination, (path) => {
        const gone = { rule, destination, ...(behavior && { behavior }) };
        if (!existsSync(path) || !removeRule(path, gone, lock)) return undefined;
        // From the next call on: what was taken back must not keep allowing.
        rules.splice(0, rules.length, ...rules.filter((known) => !isTakenBack(known, gone)));
        return path;
      }),
  };
}

/** Beside a folder's own settings only while those are what the person trusted. */
function ruleFiles(home: Home, { state, root }: ProjectTrust): RuleFiles {
  const open = state === "trusted" || (state === "nothing-to-trust" && mayBeTrusted(root));
  return { user: home.settings, ...(open && projectFiles(root)) };
}

/** Tools there are, or that a server or a later version may bring under these names. */
export function knownTools(): Set<string> {
  const others = ["Task", "Skill", "ToolSearch", "WebFetch", "WebSearch", "Network"];
  return new Set([...builtinTools().map(({ name }) => name), ...others]);
}

/** A deny rule for an unknown tool protects nothing: warn instead of letting people find out. */
export function rulesForNoTool(rules: readonly Rule[], tools: ReadonlySet<string> = knownTools()): Reason[] {
  return rules.flatMap(({ behavior, text, source }) => {
    const name = text.split("(")[0] ?? "";
    if (tools.has(name) || name.startsWith("mcp__") || name.includes("*")) return [];
    return [reason("rule-without-tool", { behavior, rule: text, source, tool: name, tools: [...tools] })];
  });
}

/** In other agents a leading slash means the settings folder: a rule written that way protects nothing here. */
function rulesForNoPath(rules: readonly Rule[]): Reason[] {
  return rules.flatMap(({ behavior, text, source }) => {
    const first = /^(?:Read|Edit|Write|Grep|Glob)\(\/+([^/*?[\\)]+)(?:\/|\)$)/.exec(text)?.[1];
    if (behavior === "allow" || first === undefined || existsSync(`/${first}`)) return [];
    return [reason("rule-without-path", { behavior, rule: text, source, folder: first })];
  });
}

function fileFor(destination: RuleDestination, files: RuleFiles, root: string): string {
  if (destination === "session") throw new SageError("config-invalid", reason("rule-place-missing", { destination }));
  const file = files[destination];
  if (file !== undefined) return file;
  throw new SageError("config-invalid", reason("settings-untrusted", { folder: root }));
}

type Layer = { path: string; destination: "user" | "project" | "local"; settings: ProjectSettings; folder: string };

/** Makes the environment, which is searched for secrets, only where there is a hook to be given it. */
function hooksOf(hooks: Partial<Record<HookMoment, Hook[]>>, env: () => NodeJS.ProcessEnv, home: string): Hooks {
  return Object.keys(hooks).length > 0 ? createHooks(hooks, env(), { home }) : noHooks;
}

/** All hooks, each with the folder it runs in. One of a project runs only while the scripts it names are what was trusted. */
function merged(layers: readonly Layer[], scripts: readonly ContentFile[]): Partial<Record<HookMoment, Hook[]>> {
  const hooks: Partial<Record<HookMoment, Hook[]>> = {};
  for (const { settings, folder, destination } of layers)
    for (const [moment, list] of Object.entries(settings.hooks) as [HookMoment, Hook[] | undefined][])
      for (const hook of list ?? []) {
        const named = filesIn(hook.command, folder);
        const trusted = scripts.filter(({ path }) => named.includes(path));
        const own = destination === "user" ? {} : { confined: true as const };
        (hooks[moment] ??= []).push({ ...hook, ...own, folder, changed: () => changedScript(trusted, folder) });
      }
  return hooks;
}
