import { existsSync, mkdirSync, realpathSync } from "node:fs";
import type { Agent as HttpAgent } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";
import { builtinSubagents, createSubagentRegistry } from "../../agent/state/subagents.ts";
import type { Executor } from "../../agent/turn/execution.ts";
import { UnifiedExecutor } from "../../agent/turn/executor.ts";
import { keptFor, receivedFor } from "../../config/output-folder.ts";
import type { Sandbox } from "../../config/settings/sandbox.ts";
import { childEnv, redactor } from "../../config/secrets/secrets.ts";
import { environment } from "../../context/environment.ts";
import { findInstructions } from "../../context/instructions.ts";
import { systemPrompt } from "../../context/prompt.ts";
import type { OwnCommand } from "../../context/commands.ts";
import type { Skill, SkillMatching } from "../../context/skills.ts";
import type { Hooks } from "../../hooks/hook.ts";
import { noHooks } from "../../hooks/hooks.ts";
import type { InputChannel } from "../../input/channel.ts";
import type { SessionRow, Store } from "../../journal/store/store.ts";
import type { Model } from "../../models/model.ts";
import type { Prices } from "../../models/prices.ts";
import { createRuleBooks } from "../../permission/rules/book.ts";
import { readFilter } from "../../permission/rules/filter.ts";
import { lazy } from "../../base/lazy.ts";
import type { RuleFiles, RuleDestination } from "../../protocol/decision.ts";
import type { RuleGrant } from "../../protocol/facts/answer.ts";
import type { PermissionMode, Rule } from "../../protocol/facts/permission.ts";
import type { ExecutionOptions } from "../../protocol/host/options.ts";
import { PLAN_TOOL } from "../../protocol/mode.ts";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import type { SubagentDefinition } from "../../protocol/subagent.ts";
import type { GuestParts } from "../guests/guests.ts";
import type { Outside } from "./outside.ts";
import { builtinTools, createToolRegistry } from "../../tools/registry.ts";
import type { CommandRunner } from "../../tools/process/command-runner.ts";
import { createSkill } from "../../tools/session/skill.ts";
import type { Spawn } from "../../tools/process/spawn.ts";
import { createSpawner } from "../../tools/process/spawner.ts";
import { createTask } from "../../tools/session/task.ts";
import type { Tool } from "../../tools/definition/tool.ts";
import { createWebFetch } from "../../tools/web/web-fetch.ts";
import { createWebSearch } from "../../tools/web/web-search.ts";
import type { SearchEngine } from "../../tools/web/search-engines.ts";
import { SageError } from "../../protocol/reasons/error.ts";

/** A thousand runs that begin within this time in one folder have read the same files. */
const RECENT_MS = 1_000;
const MAX_RECENT = 256;
/** Loaded by the first turn that somebody traces. */
let tracing: Promise<typeof import("./traces.ts")> | undefined;
/** The spawners of this process: all its sessions start commands through them. */
export const spawn: Spawn = createSpawner();

/** The parts that all sessions of one kind share. */
export type AgentParts = {
  /** Loads the model of a session, when a turn begins. */
  model(session: SessionRow): Promise<Model>;
  /** Beside the list prices that are known. */
  prices?: Prices;
  /** Writes summaries and titles. Without one the model itself summarises, and a session is called by its first message. */
  smallModel?(): Promise<Model>;
  rules: readonly Rule[];
  permissionMode: PermissionMode;
  env: NodeJS.ProcessEnv;
  /** Folder for long output. */
  output: string;
  /** Beside the built-in ones. */
  tools?: readonly Tool[];
  /** @internal MCP servers: their tools are added when a turn begins, and a message may name what they have. */
  outside?: Outside;
  /** @internal Searches the web; without one WebSearch is not offered. */
  search?: SearchEngine;
  hooks?: Hooks;
  /** @internal The agent that runs a session in Sage's place, by its name; without it none does. */
  guest?(name: string, cwd: string): Promise<GuestParts>;
  /** Beside the built-in ones. */
  subagents?: readonly SubagentDefinition[];
  skills?: readonly Skill[];
  /** Use of a skill that fits; it is offered by default. */
  matchingSkill?: SkillMatching;
  /** Prompts that people keep under a name. */
  commands?: readonly OwnCommand[];
  /** Told to whoever watches a session. */
  warnings?: readonly Reason[];
  /** Saves a rule to a settings file, and gives its path. */
  saveRule?(grant: RuleGrant): string;
  /** Takes a rule out of a settings file, and gives its path; undefined when it does not stand there. */
  dropRule?(rule: string, destination: RuleDestination): string | undefined;
  ruleFiles?: RuleFiles;
  /** How commands are confined; without it they run as ever. */
  sandbox?: Sandbox;
  /** @internal Keeps commands that outlive this process; without it they end with it. */
  runner?: CommandRunner;
  /** @internal Sessions are of several people: their sandboxes share nothing. */
  apart?: boolean;
};

/** The settings in which runs of one agent differ. */
export type RunSettings = {
  options: Partial<ExecutionOptions>;
  /** Answers from code, for embedders. */
  channel?: InputChannel;
};

export type Agent = {
  readonly rules: readonly Rule[];
  readonly skills: readonly Skill[];
  readonly commands: readonly OwnCommand[];
  readonly matching: SkillMatching;
  readonly outside?: Outside;
  /** Folder of a session's kept files. */
  keepDir(session: string): string;
  executor(session: SessionRow, run: RunSettings, scope: AgentScope): Promise<Executor>;
};

type AgentScope = { store: Store; /** Tells whoever watches the session. */ warn(why: Reason): void };

/** Everything that does not change from session to session is made once; the rest is read when a turn begins. */
export function createAgent(parts: AgentParts): Agent {
  const { env, output, skills = [], commands = [], matchingSkill: matching = "offer" } = parts;
  const home = homedir();
  const subagents = createSubagentRegistry([...builtinSubagents, ...(parts.subagents ?? [])]);
  // An embedder may have had tools of these names before Sage did.
  const web = [
    createWebFetch({ proxy: (url) => proxyAgent(url, env) }),
    ...(parts.search ? [createWebSearch(parts.search)] : []),
  ].filter((tool) => !parts.tools?.some(({ name }) => name === tool.name));
  const tools = createToolRegistry([
    ...builtinTools(),
    createTask(subagents.list()),
    ...web,
    ...(skills.length > 0 ? [createSkill(skills)] : []),
    ...(parts.tools ?? []),
  ]);
  const offeredAlways = tools.names().filter((name) => name !== PLAN_TOOL);
  mkdirSync(output, { recursive: true, mode: 0o700 });
  const same = {
    ...(parts.prices && { prices: parts.prices }),
    tools,
    rules: parts.rules,
    permissionMode: parts.permissionMode,
    ruleBooks: createRuleBooks(),
    sageHome: env["SAGE_HOME"],
    subagents,
    home,
    hooks: parts.hooks ?? noHooks,
    saveRule: parts.saveRule ?? notSaved,
    ...(parts.dropRule && { dropRule: parts.dropRule }),
    ...(parts.ruleFiles && { ruleFiles: parts.ruleFiles }),
    redact: redactor(env),
    ...(matching === "inject" && { matchSkills: skills }),
    spawn,
    ...(parts.runner && { runner: parts.runner }),
    couldConfine: parts.sandbox?.mode === "off" && mayConfine(),
  };
  const sandbox = parts.sandbox?.mode === "off" ? undefined : parts.sandbox;
  const confining =
    sandbox &&
    import("./confining.ts").then(({ createConfining }) => createConfining(sandbox, { apart: parts.apart === true }));
  const instructions = createRecent<ReturnType<typeof findInstructions>>();
  const places = createRecent<{ root: string; env(): NodeJS.ProcessEnv }>();
  const kept = realpathSync(output);
  const prompts = createRecent<string>();
  const guestNamed = (agent: string, cwd: string): Promise<GuestParts> => {
    if (parts.guest) return parts.guest(agent, cwd);
    throw new SageError("config-invalid", reason("guest-unknown", { agent, known: [] }));
  };

  return {
    rules: parts.rules,
    skills,
    commands,
    matching,
    ...(parts.outside && { outside: parts.outside }),
    keepDir: (session) => keptFor(kept, session),
    async executor(session, { options, channel }, { store, warn }) {
      const place = places(session.cwd, () => ({
        root: realpathSync(session.cwd),
        env: lazy(() => childEnv(env, session.cwd)),
      }));
      const keepDir = keptFor(kept, session.id);
      const inPlace = {
        roots: [place.root, keepDir, receivedFor(kept, session.id)],
        keepDir,
        store,
      };
      const named = store.opened(session.id)?.agent;
      if (named !== undefined) {
        const { GuestExecutor } = await import("../../agent/guest/executor.ts");
        const guest = await guestNamed(named, session.cwd);
        const config = { ...same, ...inPlace, env: place.env(), system: "", subagentSystem: () => "" };
        return new GuestExecutor({ config, options: { ...options, workingDirectory: session.cwd }, ...guest });
      }
      const [model, smallModel, all] = await Promise.all([
        parts.model(session),
        parts.smallModel?.(),
        parts.outside?.tools(tools),
      ]);
      const { mode = { type: "interactive" } } = options;
      for (const why of parts.warnings ?? []) warn(why);
      const interactive =
        mode.type === "interactive" || (mode.type === "nonInteractive" && typeof mode.autoResponse === "function");
      const prompt = (cwd: string, names: readonly string[], agent: readonly string[]) => {
        const found = instructions(cwd, () => {
          const filter = readFilter(parts.rules, { cwd, home, sageHome: env["SAGE_HOME"] }, same.ruleBooks);
          return findInstructions(cwd, { home, mayRead: (path) => filter?.(path, cwd) ?? true });
        });
        for (const why of found.warnings) warn(why);
        const date = new Date(session.at);
        const facts = { model: model.id, tools: names, skills, interactive, agent };
        return prompts(JSON.stringify([cwd, date.toDateString(), { ...facts, skills: [] }]), () =>
          systemPrompt({ ...environment({ cwd, date }), ...facts, instructions: found.instructions }),
        );
      };
      const traces = isTraced() ? (await (tracing ??= import("./traces.ts"))).createTraces() : undefined;
      const confine = (await confining)?.({
        root: place.root,
        home,
        state: env["SAGE_HOME"] ?? join(home, ".sage"),
        session: session.id,
        kept: [keepDir, receivedFor(kept, session.id)],
        mayRead() {
          const filter = readFilter(parts.rules, { cwd: place.root, home, sageHome: env["SAGE_HOME"] }, same.ruleBooks);
          return (path) => filter?.(path, place.root) ?? true;
        },
      });
      confine?.ready().catch(() => {}); // while the model thinks; whoever needs it meets the problem
      let system: string | undefined;
      const config = {
        ...same,
        ...(all && { tools: all }),
        ...(traces && { traces }),
        ...(confine && { confining: confine, hooks: same.hooks.within?.(confine.start) ?? same.hooks }),
        ...inPlace,
        model: traces ? traces.model(model) : model,
        ...(smallModel && { smallModel: traces ? traces.model(smallModel) : smallModel }),
        // Made when a call is judged and when the model is asked: a turn that continues waits for a person before that.
        get env() {
          return place.env();
        },
        get system() {
          return (system ??= prompt(session.cwd, offeredAlways, []));
        },
        subagentSystem: ({ definition, agent, workingDirectory, tools: names }: Child) =>
          `${prompt(workingDirectory, names, agent)}\n\n# You are ${definition.name}\n\n${definition.prompt}`,
      };
      return new UnifiedExecutor(config, { ...options, workingDirectory: session.cwd }, channel, "known");
    },
  };
}

type Child = {
  definition: SubagentDefinition;
  agent: readonly string[];
  workingDirectory: string;
  tools: readonly string[];
};

/** Pages are fetched the way that model servers are reached. */
async function proxyAgent(url: URL, env: NodeJS.ProcessEnv): Promise<HttpAgent | undefined> {
  const { agentFor, proxyFor } = await import("../../models/proxy.ts");
  return proxyFor(url, env) === undefined ? undefined : agentFor(url, env);
}

/** Is there anybody who records spans? Asked without loading the API, where an SDK registers itself. */
function isTraced(): boolean {
  const registered = Reflect.get(globalThis, Symbol.for("opentelemetry.js.api.1")) as { trace?: unknown } | undefined;
  return registered?.trace !== undefined;
}

/** Sends the spans of turns that have ended, before the process ends. */
export async function flushTraces(): Promise<void> {
  if (tracing) await (await tracing).flush();
}

/** Without trying it: an offer costs nothing. Root asks as ever, so it would spare root nothing. */
function mayConfine(): boolean {
  return process.platform === "linux" && process.getuid?.() !== 0 && existsSync("/usr/bin/bwrap");
}

function notSaved({ destination }: RuleGrant): string {
  throw new SageError("config-invalid", reason("rule-place-missing", { destination }));
}

/** Remembers results for a moment. */
function createRecent<T>(): (key: string, make: () => T) => T {
  const made = new Map<string, { value: T; at: number }>();
  return (key, make) => {
    const now = performance.now();
    const before = made.get(key);
    if (before && now - before.at < RECENT_MS) return before.value;
    if (made.size >= MAX_RECENT) made.clear();
    const value = make();
    made.set(key, { value, at: now });
    return value;
  };
}
