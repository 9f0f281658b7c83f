import { mkdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import type { AgentConfig } from "../agent/state/context.ts";
import { builtinSubagents, createSubagentRegistry } from "../agent/state/subagents.ts";
import { UnifiedExecutor } from "../agent/turn/executor.ts";
import { environment } from "../context/environment.ts";
import { findInstructions } from "../context/instructions.ts";
import { systemPrompt } from "../context/prompt.ts";
import type { Skill } from "../context/skills.ts";
import type { Hooks } from "../hooks/hook.ts";
import { noHooks } from "../hooks/hooks.ts";
import type { InputChannel } from "../input/channel.ts";
import type { SessionRow, Store } from "../journal/store.ts";
import { createRuleBooks } from "../permission/rules/book.ts";
import type { Model } from "../models/model.ts";
import type { Prices } from "../models/prices.ts";
import {
  SageError,
  type ExecutionOptions,
  type PermissionMode,
  type Rule,
  type RuleFiles,
  type RuleGrant,
  type SubagentDefinition,
} from "../protocol/index.ts";
import { languageOf, type Lang } from "../texts/language.ts";
import { notices } from "../texts/notices.ts";
import { builtinTools, createToolRegistry } from "../tools/registry.ts";
import { createSkill } from "../tools/skill.ts";
import { createTask } from "../tools/task.ts";
import type { Tool } from "../tools/tool.ts";
import { createHost, type LocalHost } from "./host.ts";
import { childEnv, redactor } from "../config/secrets.ts";
import { version } from "../config/version.ts";

const SLEEP_AFTER_MS = 60_000;

/** The parts of a host: store, model, rules, and what else differs from the defaults. */
export type Parts = {
  store: Store;
  /** Loaded when the first turn begins. */
  model(): Promise<Model>;
  /** Beside the list prices that are known. */
  prices?: Prices;
  /** Writes summaries and titles. Without one the model itself summarises, and a session is called by its first message. */
  smallModel?(): Promise<Model>;
  rules: readonly Rule[];
  permissionMode: PermissionMode;
  options: Partial<ExecutionOptions>;
  env: NodeJS.ProcessEnv;
  /** Folder for long output. */
  output: string;
  /** Beside the built-in ones. */
  tools?: readonly Tool[];
  hooks?: Hooks;
  /** Beside the built-in ones. */
  subagents?: readonly SubagentDefinition[];
  skills?: readonly Skill[];
  /** Saves a rule to a settings file, and gives its path. */
  saveRule?(grant: RuleGrant): string;
  ruleFiles?: RuleFiles;
  /** Answers from code, for embedders. */
  channel?: InputChannel;
  /** Of the person; by default what the environment says. */
  lang?: Lang;
};

/** The parts of one session; the journal is shared by all. */
export type SessionParts = Omit<Parts, "store">;

/** Wires a store, a model, tools, rules and options into a host. */
export function assemble({ store, ...parts }: Parts): LocalHost {
  let model: Promise<Model> | undefined;
  const loaded = () =>
    (model ??= parts.model().catch((error: unknown) => {
      model = undefined; // the next turn may have more luck: a key was set, a server came up
      throw error;
    }));
  const same = { ...parts, model: loaded };
  return assembleEach(store, () => same, parts.smallModel);
}

/** The same for sessions in many folders: what each is made of is asked for when a turn of it begins. */
export function assembleEach(
  store: Store,
  partsOf: (session: SessionRow) => SessionParts,
  namer?: () => Promise<Model>,
): LocalHost {
  const warned = new Set<string>();
  const warn = (session: string, text: string) => {
    const once = `${session}\n${text}`;
    if (warned.has(once)) return;
    warned.add(once);
    store.hub.delta({ session, key: "instructions", attempt: 0, n: warned.size, kind: "notice", text });
  };
  return createHost({
    store,
    version,
    skills: (session) => partsOf(session).skills ?? [],
    ...(namer && { namer }),
    sleepAfterMs: SLEEP_AFTER_MS,
    async executor(session) {
      const parts = partsOf(session);
      const [model, smallModel] = await Promise.all([parts.model(), parts.smallModel?.()]);
      const config = {
        ...agentConfig(parts, session, { model, warn: (text) => warn(session.id, text) }),
        ...(smallModel && { smallModel }),
      };
      return new UnifiedExecutor(
        { ...config, store },
        { ...parts.options, workingDirectory: session.cwd },
        parts.channel,
      );
    },
  });
}

function notSaved({ destination }: RuleGrant): string {
  throw new SageError("config-invalid", `there is no settings file for "${destination}" here`);
}

function agentConfig(
  parts: SessionParts,
  session: SessionRow,
  { model, warn }: { model: Model; warn(text: string): void },
): AgentConfig {
  const { env, options } = parts;
  const subagents = createSubagentRegistry([...builtinSubagents, ...(parts.subagents ?? [])]);
  const skills = parts.skills ?? [];
  const tools = createToolRegistry([
    ...builtinTools(),
    createTask(subagents.list()),
    ...(skills.length > 0 ? [createSkill(skills)] : []),
    ...(parts.tools ?? []),
  ]);
  const home = homedir();
  const { mode = { type: "interactive" } } = options;
  mkdirSync(parts.output, { recursive: true, mode: 0o700 });
  const instructionsOf = (cwd: string) => {
    const { instructions, warnings } = findInstructions(cwd, { home });
    for (const text of warnings) warn(text);
    return instructions;
  };
  const prompt = ({ cwd, names, agent }: { cwd: string; names: readonly string[]; agent: readonly string[] }) =>
    systemPrompt({
      ...environment({ cwd, date: new Date(session.at) }),
      model: model.id,
      tools: names,
      instructions: instructionsOf(cwd),
      skills,
      interactive:
        mode.type === "interactive" || (mode.type === "nonInteractive" && typeof mode.autoResponse === "function"),
      agent,
    });
  return {
    model,
    ...(parts.prices && { prices: parts.prices }),
    tools,
    rules: parts.rules,
    permissionMode: parts.permissionMode,
    ruleBooks: createRuleBooks(),
    sageHome: env["SAGE_HOME"],
    system: prompt({ cwd: session.cwd, names: tools.names(), agent: [] }),
    subagents,
    subagentSystem: ({ definition, agent, workingDirectory, tools: names }) =>
      `${prompt({ cwd: workingDirectory, names, agent })}\n\n# You are ${definition.name}\n\n${definition.prompt}`,
    home,
    roots: [realpathSync(session.cwd), realpathSync(parts.output)],
    env: childEnv(env, session.cwd),
    keepDir: parts.output,
    hooks: parts.hooks ?? noHooks,
    saveRule: parts.saveRule ?? notSaved,
    ...(parts.ruleFiles && { ruleFiles: parts.ruleFiles }),
    redact: redactor(env),
    commandWaits: notices(parts.lang ?? languageOf(env)).commandWaits,
  };
}
