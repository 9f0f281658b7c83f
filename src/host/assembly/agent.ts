import { sessionFolder } from "./session-folder.ts";
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import type { Agent as HttpAgent } from "node:http";
import { homedir } from "node:os";
import { instructionsAt } from "../../context/instructions.ts";
import { join } from "node:path";
import { builtinSubagents, createSubagentRegistry } from "../../agent/state/subagents.ts";
import type { Executor } from "../../agent/turn/execution.ts";
import { TurnExecutor } from "../../agent/turn/executor.ts";
import { lazy } from "../../base/lazy.ts";
import { keptFor, receivedFor } from "../../config/output-folder.ts";
import { childEnv, redactor } from "../../config/secrets/secrets.ts";
import { hooksFrom } from "../../hooks/hooks.ts";
import type { SessionRow } from "../../journal/store/store.ts";
import { createRuleBooks } from "../../permission/rules/book.ts";
import { readFilter } from "../../permission/rules/filter.ts";
import type { RuleGrant } from "../../protocol/facts/answer.ts";
import type { ExecutionMode } from "../../protocol/host/options.ts";
import { PLAN_TOOL } from "../../protocol/mode.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Spawn } from "../../tools/process/spawn.ts";
import { createSpawner } from "../../tools/process/spawner.ts";
import { builtinTools, createToolRegistry, type ToolRegistry } from "../../tools/registry.ts";
import { createSkill } from "../../tools/session/skill.ts";
import { createTask } from "../../tools/session/task.ts";
import { createWebFetch } from "../../tools/web/web-fetch.ts";
import { createWebSearch } from "../../tools/web/web-search.ts";
import { underPolicy } from "./under-policy.ts";
import type { Agent, AgentParts, AgentScope, RunSettings } from "./agent-parts.ts";
import { createPrompts, createRecent, type Prompts, type PromptScope } from "./prompts.ts";

/** Loaded by the first turn that somebody traces. */
let tracing: Promise<typeof import("./traces.ts")> | undefined;
/** The spawners of this process: all its sessions start commands through them. */
export const spawn: Spawn = createSpawner();

/** Everything that does not change from session to session is made once; the rest is read when a turn begins. */
export function createAgent(given: AgentParts): Agent {
  const { parts, signed: toSign } = underPolicy(given);
  const { env, rules, skills = [], commands = [], matchingSkill: matching = "offer" } = parts;
  const home = homedir();
  const shared = sharedConfig(parts, home);
  mkdirSync(parts.output, { recursive: true, mode: 0o700 });
  const output = realpathSync(parts.output);
  const { ruleBooks, sageHome } = shared;
  const prompts = createPrompts({ rules, ruleBooks, skills, home, sageHome, own: parts.systemPrompt });
  const confining = loadConfining(parts);
  const looked = clearAfterKills(sageHome ?? join(home, ".sage"));
  const folders = createRecent<Folder>();

  return {
    rules,
    skills,
    commands,
    matching,
    ...(parts.outside && { outside: parts.outside }),
    keepDir: (session) => keptFor(output, session),
    async executor(session, settings, scope) {
      await looked;
      const { options } = settings;
      const signed = [...toSign, ...(options.signed ?? [])];
      const run = toSign.length > 0 ? { ...settings, options: { ...options, signed } } : settings;
      const folder = folders(session.cwd, () => ({
        root: sessionFolder(session),
        env: lazy(() => childEnv(env, session.cwd)),
      }));
      const kept = [keptFor(output, session.id), receivedFor(output, session.id)] as const;
      const assembly = { parts, shared, prompts, confining, session, folder, kept, run, scope };
      const guest = scope.store.opened(session.id)?.agent;
      return guest === undefined ? ownExecutor(assembly) : guestExecutor(assembly, guest);
    },
  };
}

type Folder = { root: string; env(): NodeJS.ProcessEnv };

type Assembly = {
  parts: AgentParts;
  shared: ReturnType<typeof sharedConfig>;
  prompts(scope: PromptScope): Prompts;
  confining: ReturnType<typeof loadConfining>;
  session: SessionRow;
  folder: Folder;
  /** Folders of the session's own files: long output, and files that were sent to it. */
  kept: readonly [keepDir: string, received: string];
  run: RunSettings;
  scope: AgentScope;
};

function sharedConfig(parts: AgentParts, home: string) {
  const { env, skills = [], sandbox } = parts;
  const subagents = createSubagentRegistry([...builtinSubagents, ...(parts.subagents ?? [])]);
  return {
    ...(parts.prices && { prices: parts.prices }),
    ...(parts.limits && { limits: parts.limits }),
    ...(parts.trusted && {
      instructionsAt: (path: string, mayRead: (path: string) => boolean) => instructionsAt(path, { home, mayRead }),
    }),
    tools: collectTools(parts, subagents),
    rules: parts.rules,
    permissionMode: parts.permissionMode,
    ruleBooks: createRuleBooks(),
    sageHome: env["SAGE_HOME"],
    subagents,
    home,
    hooks: hooksFrom(parts.hooks, () => childEnv(env, process.cwd())),
    saveRule: parts.saveRule ?? notSaved,
    ...(parts.dropRule && { dropRule: parts.dropRule }),
    ...(parts.ruleFiles && { ruleFiles: parts.ruleFiles }),
    redact: redactor(env),
    ...(parts.matchingSkill === "inject" && { matchSkills: skills }),
    spawn,
    ...(parts.runner && { runner: parts.runner }),
    couldConfine: sandbox?.mode === "off" && mayConfine(),
  };
}

function collectTools(parts: AgentParts, subagents: ReturnType<typeof createSubagentRegistry>): ToolRegistry {
  const { env, search, skills = [], tools = [] } = parts;
  // An embedder may have had tools of these names before Sage did.
  const web = [
    createWebFetch({ proxy: (url) => proxyAgent(url, env) }),
    ...(search ? [createWebSearch(search)] : []),
  ].filter((tool) => !tools.some(({ name }) => name === tool.name));
  return createToolRegistry([
    ...builtinTools(),
    createTask(subagents.list()),
    ...web,
    ...(skills.length > 0 ? [createSkill(skills)] : []),
    ...tools,
  ]);
}

function loadConfining({ sandbox, apart }: AgentParts) {
  if (!sandbox || sandbox.mode === "off") return undefined;
  return import("./confining.ts").then(({ createConfining }) => createConfining(sandbox, { apart: apart === true }));
}

/** Another agent runs the session in Sage's place. */
async function guestExecutor(assembly: Assembly, name: string): Promise<Executor> {
  const { parts, shared, session, folder, run } = assembly;
  const { GuestExecutor } = await import("../../agent/guest/executor.ts");
  if (!parts.guest) throw new SageError("config-invalid", reason("guest-unknown", { agent: name, known: [] }));
  const guest = await parts.guest(name, session.cwd);
  const config = { ...shared, ...toolRoots(assembly), env: folder.env(), system: "", subagentSystem: () => "" };
  return new GuestExecutor({ config, options: { ...run.options, workingDirectory: session.cwd }, ...guest });
}

async function ownExecutor(assembly: Assembly): Promise<Executor> {
  const { parts, shared, prompts, session, folder, run, scope } = assembly;
  const [model, smallModel, tools] = await Promise.all([
    parts.model(session),
    parts.smallModel?.(),
    parts.outside?.tools(shared.tools),
  ]);
  for (const why of parts.warnings ?? []) scope.warn(why);
  const traces = isTraced() ? (await (tracing ??= import("./traces.ts"))).createTraces() : undefined;
  const confining = await confine(assembly);
  const interactive = isInteractive(run);
  const { system, subagent } = prompts({
    model: model.id,
    interactive,
    startedAt: session.at,
    cwd: session.cwd,
    keptIn: assembly.kept[0],
    warn: scope.warn,
  });
  const systemOfSession = lazy(() => system(session.cwd, toolNames(shared.tools)));
  const config = {
    ...shared,
    ...(tools && { tools }),
    ...(traces && { traces }),
    ...(confining && { confining, hooks: shared.hooks.within?.(confining.start) ?? shared.hooks }),
    ...toolRoots(assembly),
    model: traces ? traces.model(model) : model,
    ...(smallModel && { smallModel: traces ? traces.model(smallModel) : smallModel }),
    // Made when a call is judged and when the model is asked: a turn that continues waits for a person before that.
    get env() {
      return folder.env();
    },
    get system() {
      return systemOfSession();
    },
    subagentSystem: subagent,
  };
  if (run.instead) Object.defineProperties(config, Object.getOwnPropertyDescriptors(run.instead));
  return new TurnExecutor(config, { ...run.options, workingDirectory: session.cwd }, run.channel);
}

function toolRoots({ folder, kept, scope }: Assembly) {
  return { roots: [folder.root, ...kept], keepDir: kept[0], store: scope.store };
}

async function confine({ parts, shared, confining, session, folder, kept }: Assembly) {
  const { home, sageHome, ruleBooks } = shared;
  const { root } = folder;
  const made = (await confining)?.({
    root,
    home,
    state: sageHome ?? join(home, ".sage"),
    session: session.id,
    kept,
    mayRead() {
      const filter = readFilter(parts.rules, { cwd: root, home, sageHome }, ruleBooks);
      return (path) => filter?.(path, root) ?? true;
    },
  });
  made?.ready().catch(() => {}); // while the model thinks; whoever needs it meets the problem
  return made;
}

function isInteractive({ options, channel }: RunSettings): boolean {
  const auto = channel?.autoResponse;
  const usual: ExecutionMode =
    auto === undefined ? { type: "interactive" } : { type: "nonInteractive", autoResponse: auto };
  const { mode = usual } = options;
  return mode.type === "interactive" || (mode.type === "nonInteractive" && typeof mode.autoResponse === "function");
}

/** Names that a prompt lists: the tool that ends a plan is offered in plan mode alone. */
function toolNames(tools: ToolRegistry): string[] {
  return tools.names().filter((name) => name !== PLAN_TOOL);
}

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

/** Looks over workspaces whose commands ended with a Sage that was killed, whatever the settings say by now. Once for a process. */
export async function clearAfterKills(state: string): Promise<void> {
  let looking = lookedAfter.get(state);
  if (looking === undefined) {
    const load = () => import("../../confine/surveys.ts").then((surveys) => surveys.lookAfterKilled(state));
    looking = usesSandbox(state) ? load().catch(() => {}) : Promise.resolve(); // a note that could not be read stays
    lookedAfter.set(state, looking);
  }
  await looking;
}

/** Ends confined commands and servers of this process, and waits for the look at what they left. */
export async function endSandboxes(): Promise<void> {
  if ([...lookedAfter.keys()].some(usesSandbox)) await (await import("./confining.ts")).endConfined();
}

const lookedAfter = new Map<string, Promise<void>>();

function usesSandbox(state: string): boolean {
  return existsSync(join(state, "confine"));
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
