import type { Config } from "../config/config.ts";
import { sageHome, readInstallation, type Installation } from "../config/home/home.ts";
import { readSettings } from "../config/settings/settings.ts";
import { discover } from "../context/discover.ts";
import { createAgent } from "../host/assembly/agent.ts";
import type { Agent } from "../host/assembly/agent-parts.ts";
import { firstOfName, partsInCode, readFolder, withModules, type CodeParts } from "../host/assembly/builder.ts";
import { loadOnce } from "../host/assembly/assemble.ts";
import { createModels, modelOf } from "../host/assembly/model-choice.ts";
import { closeServers, type OpenedServers } from "../host/assembly/servers.ts";
import type { Model } from "../models/model.ts";
import type { Rule } from "../protocol/facts/permission.ts";
import type { ExecutionOptions } from "../protocol/host/options.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";
import { resolveModel, wholeSkill, type SdkOptions } from "./options.ts";

/** Agents for the sessions of one embedder: of code alone they share one, and with settings each folder has its own. */
export type Agents = {
  in(cwd: string): { agent: Agent; options: Partial<ExecutionOptions>; files?: Pick<Config, "saveRule" | "dropRule"> };
  /** Ends what they have started. */
  close(): Promise<void>;
};

/** `output`: the folder for long output. Throws `config-invalid` for parts that do not fit. */
export function createAgents(options: SdkOptions, rules: readonly Rule[], output: () => string): Agents {
  const { env = process.env, settings = false, workingDirectory = process.cwd() } = options;
  const opened: OpenedServers = new Map();
  const models = createModels();
  const ownModel = loadOnce(() => resolveModel(options, env));
  const code = () => codeParts(options, { rules, env, output: output(), opened });
  const withSettings = (cwd: string) => {
    const installation = readInstallation(env);
    const folder = readFolder({ installation, cwd, models, code: code() });
    const agentOf = ({ parts, warnings }: typeof folder) =>
      createAgent({ ...parts, warnings, model: () => modelFor(options, installation, models) });
    const agent = agentOf(folder);
    const executor: Agent["executor"] = async (...run) =>
      (folder.config.modules.length === 0 ? agent : agentOf(await withModules(folder))).executor(...run);
    return { agent: { ...agent, executor }, options: folder.options, files: folder.config };
  };
  const withRules = (cwd: string) => {
    const home = sageHome(env);
    const { permissions } = readSettings(home.settings);
    const installation: Installation = { home, env, settings: { permissions, hooks: {}, providers: {}, prices: {} } };
    const { config } = readFolder({ installation, cwd, models, code: { rules } });
    const { saveRule, dropRule, ruleFiles } = config;
    const parts = partsInCode({ ...code(), rules: config.rules }, workingDirectory);
    const agent = createAgent({ ...parts, saveRule, dropRule, ruleFiles, model: ownModel });
    return { agent, options: {}, files: config };
  };
  let shared: Agent | undefined;
  const alone = () => ({
    agent: (shared ??= createAgent({ ...partsInCode(code(), workingDirectory), model: ownModel })),
    options: {},
  });
  return {
    in: settings === true ? withSettings : settings === "rules" ? withRules : alone,
    close: () => closeServers(opened),
  };
}

type Kept = Pick<CodeParts, "env" | "output"> & { rules: readonly Rule[]; opened: OpenedServers };

function codeParts(options: SdkOptions, kept: Kept): CodeParts {
  const { smallModel, workingDirectory = process.cwd(), ...given } = options;
  const found = options.discover ? discover(workingDirectory) : undefined;
  const skills = options.skills?.map((skill) => wholeSkill(skill, workingDirectory));
  const { permissionMode, prices, tools, matchingSkill, sandbox } = given;
  const { hooks, mcpServers, webSearch, systemPrompt, agents } = given;
  return {
    ...kept,
    skills: firstOfName(skills, found?.skills),
    subagents: firstOfName(options.subagents, found?.subagents),
    ...(found && { commands: found.commands, warnings: found.problems }),
    ...(smallModel && { smallModel: async () => smallModel }),
    ...(permissionMode && { permissionMode }),
    ...(prices && { prices }),
    ...(tools && { tools }),
    ...(matchingSkill && { matchingSkill }),
    ...(sandbox && { sandbox }),
    ...(hooks && { hooks }),
    ...(mcpServers && { mcpServers }),
    ...(webSearch && { webSearch }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(agents && { agents }),
  };
}

async function modelFor(
  { model, fallbackModel }: SdkOptions,
  installation: Installation,
  models: ReturnType<typeof createModels>,
): Promise<Model> {
  if (typeof model === "object") return model;
  const choice = modelOf(installation, model, fallbackModel);
  if (!choice) throw new SageError("config-invalid", reason("no-model", {}));
  return models(choice);
}
