import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentConfig } from "../../src/agent/state/context.ts";
import { builtinSubagents, createSubagentRegistry } from "../../src/agent/state/subagents.ts";
import { expandMessage, type Skill, type SkillMatching } from "../../src/context/skills.ts";
import { createSkill } from "../../src/tools/session/skill.ts";
import { createTask } from "../../src/tools/session/task.ts";
import { createHooks } from "../../src/hooks/hooks.ts";
import type { Store } from "../../src/journal/store/store.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { Model } from "../../src/models/model.ts";
import { scripted, type Script } from "../../src/models/scripted.ts";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { AgentOutcome } from "../../src/protocol/facts/outcome.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import type { CommandReply } from "../../src/protocol/host/host.ts";
import { errorOf } from "../../src/protocol/host/refusal.ts";
import type { ExecutionOptions } from "../../src/protocol/host/options.ts";
import type { SubagentDefinition } from "../../src/protocol/subagent.ts";
import { childEnv, redactor } from "../../src/config/secrets/secrets.ts";
import type { Surroundings } from "../../src/host/commands/parts.ts";
import { createHost, type HostParts, type LocalHost } from "../../src/host/host.ts";
import { withServers } from "../../src/mcp/registry.ts";
import type { Servers } from "../../src/mcp/servers.ts";
import { builtinTools, createToolRegistry } from "../../src/tools/registry.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { until } from "./until.ts";

/** A folder that is gone when the test is. */
export function workspace(): { dir: string; path(name: string): string } & Disposable {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "sage-test-")));
  return {
    dir,
    path: (name) => join(dir, name),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}

export type TestConfig = {
  script: Script;
  dir: string;
  store?: Store;
  tools?: Tool[];
  rules?: Rule[];
  permissionMode?: "default" | "bypass";
  confining?: NonNullable<AgentConfig["confining"]>;
  home?: string;
  hooks?: Parameters<typeof createHooks>[0];
  saveRule?: AgentConfig["saveRule"];
  dropRule?: NonNullable<AgentConfig["dropRule"]>;
  agents?: SubagentDefinition[];
  smallModel?: Model;
  skills?: Skill[];
  matchingSkill?: SkillMatching;
  /** The person's environment. Commands get it without its secrets; by default that of the tests as it is. */
  env?: NodeJS.ProcessEnv;
  /** MCP servers beside the tools. */
  servers?: Servers;
  deferAbove?: number;
  /** Keeps commands that outlive the process. */
  runner?: AgentConfig["runner"];
  limits?: AgentConfig["limits"];
  instructionsAt?: NonNullable<AgentConfig["instructionsAt"]>;
  prices?: AgentConfig["prices"];
  /** Stands between the loop and the script. */
  wrap?: (model: Model) => Model;
};

/** The real rooms over a scripted model. */
export function config({
  script,
  dir,
  store = memoryStore(),
  tools = [],
  rules = [],
  permissionMode = "default",
  confining,
  home = dir,
  hooks = {},
  saveRule = () => "nowhere",
  dropRule,
  agents = [],
  smallModel,
  skills = [],
  matchingSkill,
  env,
  servers,
  deferAbove = 40,
  runner,
  limits,
  instructionsAt,
  prices,
  wrap = (model) => model,
}: TestConfig): AgentConfig & { store: Store } {
  const subagents = createSubagentRegistry([...builtinSubagents, ...agents]);
  const registry = createToolRegistry([
    ...builtinTools(),
    createTask(subagents.list()),
    ...(skills.length > 0 ? [createSkill(skills)] : []),
    ...tools,
  ]);
  return {
    store,
    model: wrap(scripted(script)),
    ...(smallModel && { smallModel }),
    tools: servers ? withServers(registry, servers, { deferAbove }) : registry,
    rules,
    permissionMode,
    system: "You are a test.",
    home,
    ...(confining && { confining }),
    roots: [dir],
    env: env ? childEnv(env, dir) : process.env,
    keepDir: dir,
    hooks: createHooks(hooks, process.env),
    subagents,
    subagentSystem: ({ definition }) => `You are ${definition.name}.`,
    saveRule,
    ...(dropRule && { dropRule }),
    ...(matchingSkill === "inject" && { matchSkills: skills }),
    ...(runner && { runner }),
    ...(limits && { limits }),
    ...(instructionsAt && { instructionsAt }),
    ...(prices && { prices }),
    redact: env ? redactor(env) : (text) => text,
  };
}

export const question = (text: string, options = ["Red", "Blue"], multiSelect = false) => ({
  question: text,
  header: "Choice",
  options: options.map((label) => ({ label, description: `take ${label}` })),
  multiSelect,
});

export const askUser = (...questions: ReturnType<typeof question>[]) => ({
  tool: "AskUserQuestion",
  input: { questions },
});
export const bash = (command: string) => ({ tool: "Bash", input: { command } });
export const allow = (text: string): Rule => ({ behavior: "allow", text, source: "user" });

export type TestPerson = {
  host: LocalHost;
  store: Store;
  session: string;
  say(text: string): Promise<void>;
  outcome(): Promise<AgentOutcome>;
  /** Waits until this many requests are open, and gives them. */
  open(count?: number): Promise<InputRequest[]>;
  answer(response: InputResponse, by?: string): Promise<CommandReply<"respond">>;
} & AsyncDisposable;

export type TestSage = TestPerson & {
  facts(): Fact[];
  /** Result that the model was told of the nth call of a step. */
  result(step: number, call: number): string;
};

/** A host with one session in this process, and a person who can do what a surface can. */
export async function sageWith(
  options: TestConfig & {
    options?: Partial<ExecutionOptions>;
    watched?: boolean;
    surroundings?: Surroundings;
    taskEnds?: HostParts["taskEnds"];
    /** One that is there already. */ session?: string;
  },
): Promise<TestSage> {
  const { store = memoryStore(), dir } = options;
  const made = config({ ...options, store });
  const host = createHost({
    store,
    version: "test",
    expand: (_, text) =>
      expandMessage(
        {
          skills: options.skills ?? [],
          commands: [],
          ...(options.matchingSkill && { matching: options.matchingSkill }),
        },
        text,
      ),
    keepDir: () => made.keepDir,
    ...(options.surroundings && { surroundings: options.surroundings }),
    taskEnds: options.taskEnds,
    executor: async () => new TurnExecutor(made, { ...options.options, workingDirectory: dir }),
  });
  const opened = await host.send({ type: "open", cwd: dir, ...(options.session && { session: options.session }) });
  if (!opened.ok) throw errorOf(opened);
  const { session } = opened;
  return {
    ...personAt({ host, store, session, watched: options.watched ?? true, everyMs: 1 }),
    facts: () => store.load(session),
    result(step, call) {
      const message = store
        .load(session)
        .findLast((fact) => fact.type === "call.finished" && fact.key.startsWith(`t0/${step}/${call}/`));
      return message?.type === "call.finished" ? message.data.text : "";
    },
  };
}

type Sitting = { host: LocalHost; store: Store; session: string; watched: boolean; everyMs: number };

/** A person at one session of a host, which goes with them. */
export function personAt({ host, store, session, watched, everyMs }: Sitting): TestPerson {
  const leaving = new AbortController();
  if (watched)
    void (async () => {
      for await (const _ of host.watch(session, { signal: leaving.signal }));
    })();
  let running: Promise<AgentOutcome> | undefined;
  return {
    ...{ host, store, session },
    async say(text) {
      const said = await host.send({ type: "say", session, text, by: "Lin", surface: "test" });
      if (!said.ok) throw errorOf(said);
      running = host.run(session);
    },
    outcome: () => running ?? host.run(session),
    open: (count = 1) =>
      until(
        () => {
          const open = store.pending(session);
          return open.length >= count && open;
        },
        `fewer than ${count} requests are open`,
        { everyMs },
      ),
    answer: (response, by = "Lin") => host.send({ type: "respond", response, by, surface: "test" }),
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await host.close();
    },
  };
}
