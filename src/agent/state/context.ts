import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Asking } from "../../input/ask.ts";
import type { Skill } from "../../context/skills.ts";
import type { Durable } from "../../journal/session/durable.ts";
import type { SessionLog } from "../../journal/session/session.ts";
import type { Hooks } from "../../hooks/hook.ts";
import type { Model } from "../../models/model.ts";
import type { Prices } from "../../models/prices.ts";
import type { Confined } from "../../protocol/confine.ts";
import type { RuleFiles, RuleDestination } from "../../protocol/decision.ts";
import type { RuleGrant, RuleRemoval } from "../../protocol/facts/answer.ts";
import type { BackgroundTask } from "../../protocol/facts/call.ts";
import type { Fact, Summary } from "../../protocol/facts/fact.ts";
import type { Call, Heard, Message, ToolResult, Usage } from "../../protocol/facts/message.ts";
import type { AgentOutcome, AgentState, OutcomeStatus, ToolUse } from "../../protocol/facts/outcome.ts";
import type { PermissionMode, Rule } from "../../protocol/facts/permission.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import type { RuleChange } from "../../protocol/facts/session.ts";
import type { ExecutionOptions } from "../../protocol/host/options.ts";
import type { SessionMode } from "../../protocol/mode.ts";
import type { Reason } from "../../protocol/reasons/reason.ts";
import type { SubagentDefinition } from "../../protocol/subagent.ts";
import type { ConfinePolicy } from "../../permission/confined.ts";
import type { RuleBooks } from "../../permission/rules/book.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import type { ToolScope } from "../../tools/definition/tool.ts";
import type { CommandRunner } from "../../tools/process/command-runner.ts";
import type { Launch, Spawn } from "../../tools/process/spawn.ts";
import type { Activity } from "./activity.ts";
import type { SpendLimits } from "./cap.ts";
import type { LifecycleManager } from "./lifecycle.ts";
import type { Memory, Permit } from "./memory.ts";
import type { SubagentRegistry } from "./subagents.ts";

/** The parts of an agent, shared by all its turns and never changed by one. */
export type AgentConfig = {
  model: Model;
  /** Writes summaries; the model itself when there is none. */
  smallModel?: Model;
  /** Prices besides the list prices that are known. */
  prices?: Prices;
  /** @internal What may be used before a person is asked; guests are not counted. */
  limits?: SpendLimits | undefined;
  tools: ToolRegistry;
  rules: readonly Rule[];
  permissionMode: PermissionMode;
  /** @internal Keeps rules compiled between calls. */
  ruleBooks?: RuleBooks;
  /** Folder of Sage's state, if not `~/.sage`. */
  sageHome?: string | undefined;
  system: string;
  /** Instruction files that hold for a file, each as the model reads it; not there for a folder that nobody trusts. */
  instructionsAt?(path: string, mayRead: (path: string) => boolean): readonly { path: string; text: string }[];
  home: string;
  /** Folders in which reading needs no permission. */
  roots: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Folder for output too long for the model. */
  keepDir: string;
  hooks: Hooks;
  subagents: SubagentRegistry;
  /** The system prompt of a subagent. */
  subagentSystem(child: {
    definition: SubagentDefinition;
    agent: readonly string[];
    workingDirectory: string;
    tools: readonly string[];
  }): string;
  /** Puts a rule where the person wants it, and gives the file; throws when it is not saved. */
  saveRule(grant: RuleGrant): string;
  /** Takes a rule out of its file, and gives the file; undefined when it does not stand there. */
  dropRule?(rule: string, destination: RuleDestination, behavior?: RuleGrant["behavior"]): string | undefined;
  /** Places that a rule may be saved in, for the prompt that offers it. */
  ruleFiles?: RuleFiles;
  /** Takes secrets out of tool output, before journal and model alike. */
  redact(text: string): string;
  /** Skills of which the best match is put into the prompt, step by step; without them none is. */
  matchSkills?: readonly Skill[];
  /** @internal */
  traces?: Traces;
  /** @internal How commands are confined; undefined where they run as ever. */
  confining?: Confining;
  /** @internal Commands are not confined, and could be: people are told where that would have spared them a question. */
  couldConfine?: boolean;
  /** Starts command lines; without it tools do so themselves. */
  spawn?: Spawn;
  /** @internal Keeps commands that outlive this process; without it they end with it. */
  runner?: CommandRunner;
};

/** The sandbox of a session's commands. */
export type Confining = Pick<ConfinePolicy, "mode" | "outside" | "git"> & {
  /** Tries it out, once; judging itself never waits. */
  ready(): Promise<unknown>;
  /** Why nothing can be confined here. */
  problem(): Reason | undefined;
  /** Starts a program that is no command of the agent: a hook of the folder, a server. Rejects when it cannot be confined. */
  start(
    argv: readonly string[],
    place: { cwd: string; env: NodeJS.ProcessEnv },
    reach?: (host: string) => { allowed: true; named: boolean } | { allowed: false },
  ): Promise<ChildProcessWithoutNullStreams>;
  /** A file is written that somebody allowed: it is not taken for the doing of a command that still runs. Call the result afterwards. */
  writes(path: string): Promise<() => void>;
  launch(command: {
    cwd: string;
    env: NodeJS.ProcessEnv;
    as: Confined;
    reach(host: string): { allowed: true; named: boolean } | { allowed: false };
  }): Promise<Launch>;
};

/** Records what an agent does, while it does it. It changes nothing, and is not there where nobody records. */
export type Traces = {
  /** An attempt at a turn, from the facts before it. */
  turn(
    about: { log: SessionLog; facts: readonly Fact[]; model: Model },
    run: () => Promise<AgentOutcome>,
  ): Promise<AgentOutcome>;
  /** Names what is being recorded here (`traceparent`), for attempts after this one. */
  current(): string | undefined;
  /** The same model, recorded. */
  model(model: Model): Model;
  tool(about: { call: Call; agent: readonly string[] }, run: () => Promise<ToolResult>): Promise<ToolResult>;
};

/** Everything one turn needs. A function takes the parts of it that it reads. The executor keeps nothing between turns. */
export type ExecutionContext = Self &
  Workspace &
  Models &
  Judging &
  People &
  Tree &
  Observation & {
    config: AgentConfig;
    options: ExecutionOptions;
    /** Runs a subagent; handed down because the loop itself imports the calls that start one. */
    loop(durable: Durable, context: ExecutionContext, progress: Progress): Promise<OutcomeStatus>;
  };

// Published types leave internal options out, so a name may be unknown there.
type Configured<Name extends string> = { config: Pick<AgentConfig, Name & keyof AgentConfig> };
type Optional<Name extends keyof ExecutionOptions> = { options: Pick<ExecutionOptions, Name> };

export type Self = {
  session: string;
  /** Names from the root's child down to this agent; empty for the root. */
  agent: readonly string[];
  /** A subagent whose definition says so may put questions to the root's surfaces. */
  asksRoot: boolean;
};

export type Place = Pick<Self, "agent"> & Configured<"home" | "roots"> & Optional<"workingDirectory">;

/** With what its tools work there. */
export type Workspace = Self &
  Place &
  Tools &
  Configured<"env" | "keepDir" | "spawn" | "runner" | "confining" | "redact">;

/** Tools, and what this agent remembers of their calls. */
export type Tools = Configured<"tools" | "instructionsAt"> & { memory: Memory };

/** The model, and how much it is told. */
export type Models = Configured<"model" | "smallModel" | "prices" | "system" | "tools" | "matchSkills"> &
  Optional<"llmOptions" | "maxContextTokens" | "autoCompactThreshold"> & {
    /** Was the session ever in plan mode? Then the tool that ends it stays offered: a list that changes costs the prompt cache. */
    planned(): boolean;
  };

/** The rules of the session, as people change them. */
export type Rules = Configured<"rules"> & {
  /** Rules given in this session, on top of the configured ones. */
  sessionRules: Rule[];
  /** Configured rules that stand in no file and were taken back in this session. */
  setAside: RuleRemoval[];
  /** Rules that were given or taken back by hand since, until `sessionRules` tells so. */
  ruleChanges?: RuleChange[];
};

export type Judging = Self &
  Place &
  Tools &
  Rules &
  Limits &
  Configured<"hooks" | "permissionMode" | "ruleBooks" | "sageHome" | "env" | "confining" | "couldConfine"> & {
    asking: Pick<Asking, "mode">;
    /** The mode of the session, as it is now. */
    mode(): SessionMode;
    /** Set while a call is judged again that a person has approved. */
    approved?: boolean;
  };

/** Whoever answers, and whoever asked. */
export type People = {
  asking: Asking;
  /** Names of the people who asked for what the turn does, by the messages that it has heard so far. */
  askers(): { names: string[]; /** The people among them whom the settings do not name. */ unnamed: string[] };
  /** Messages of this agent's conversation so far: whoever asks about one of its requests is answered from them. */
  conversation(): readonly Message[];
  /** Facts of the session up to now, without turns that were taken back. */
  record(): Promise<readonly Fact[]>;
  inquiries: Inquiries;
};

export type Limits = { activity: Activity };

/** State that the root shares with all its subagents. */
export type Tree = { tree: OpenRequests & BackgroundTasks & Spent };

type OpenRequests = {
  permits: readonly Permit[];
  /** Oldest first. */
  waiting: readonly Waiting[];
  /** Shows what the root does, which waits while anybody in its tree does. */
  show: Show;
  /** Counts what may change the meaning of a judged call: started writers, and waits for a person that ended. */
  happened: number;
};

/** Commands in the background by id, and those whose end the model was told. */
export type BackgroundTasks = {
  tasks: Map<string, BackgroundTask>;
  toldTasks: Set<string>;
  /** The same as tools see them, made for the first call. */
  tasksForTools?: ToolScope["tasks"];
};

type Spent = { usage: Usage; usd: number | undefined; modelCalls: number; toolCalls: number };

/** Shown to those who watch. */
export type Observation = Pick<Self, "agent"> & {
  /** The root's. */
  lifecycle: LifecycleManager;
  show: Show;
};

/** Shows to those who watch what an agent does now. */
type Show = (state: AgentState, sawUpTo?: number) => void;

/** A request that waits for a person, and the agent that asked, by the way it is shown. */
export type Waiting = { request: InputRequest; show: Show };

/** People's questions about the open requests of a turn, and the replies to them. */
export type Inquiries = {
  /** Replies to what is asked about a request, from now until it ends. */
  follow(context: ExecutionContext, request: InputRequest): void;
  /** Fulfilled when everything that was asked about a request so far has its reply; undefined when that is so already. */
  settled(requestId: string): Promise<unknown> | undefined;
  /** The request has ended: nothing more is replied. Gives everything that was said about it, for the agent. */
  end(context: Models & Tree, requestId: string): string | undefined;
};

/** How far a turn has come; what its outcome is made of, also when it ends half-way. */
export type Progress = {
  messages: Message[];
  /** Messages of people; the list grows while the turn runs. */
  said: readonly Fact<"user.said">[];
  /** Messages up to this seq are in `messages`. */
  sawUpTo: number;
  /** Messages for a new prompt, after one that contained messages up to this seq. */
  hear(after: number): Heard;
  /** Messages in the last request to the model. */
  asked?: Heard;
  /** Inquiries about a question of Sage's own, for the next request to the model. */
  talk?: string | undefined;
  /** How many tokens the first so many messages are, with everything before them; 0 when nobody has counted yet. */
  counted: { messages: number; tokens: number };
  /** Summary in place of the beginning, after a compaction. */
  summary: Summary | undefined;
  maxSteps: number;
  steps: number;
  toolHistory: ToolUse[];
  text: string;
};
