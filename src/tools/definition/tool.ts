import type { Check } from "../../base/schema.ts";
import type { BackgroundTask, Effect, Preview, TaskEnd, ToolInput } from "../../protocol/facts/call.ts";
import type { ToolResult } from "../../protocol/facts/message.ts";
import type { PermissionMode, PermissionOpinion } from "../../protocol/facts/permission.ts";
import type { RequestBody, Resolution } from "../../protocol/facts/request.ts";
import type { RequestTimeout } from "../../protocol/facts/silence.ts";
import type { SessionMode } from "../../protocol/mode.ts";
import type { Reason } from "../../protocol/reasons/reason.ts";
import type { ToolProblem } from "./result.ts";
import type { Launch, Spawn } from "../process/spawn.ts";
import type { z } from "./zod.ts";
import type { SubagentDefinition } from "../../protocol/subagent.ts";

/** Data for a tool's `checkPermissions`. A check has no side effects. */
export type PermissionContext = ToolPlace & {
  roots: readonly string[];
  mode: PermissionMode;
  sessionMode?: SessionMode;
  /** Aborts when the turn is interrupted or out of time: nobody waits for the opinion any more. */
  signal: AbortSignal;
};

/** Folders that relative paths and `~` of an input start from. */
export type ToolPlace = { cwd: string; home: string };

/** Everything that a tool may use while it runs. */
export type ToolScope = {
  readonly signal: AbortSignal;
  /** Id of the session that the call belongs to. */
  readonly session?: string;
  readonly cwd: string;
  readonly home: string;
  /** True if a search from `from` may show this file: a rule may say no to a file below a folder that may be searched. */
  mayRead?(path: string, from: string): boolean;
  /** sha-256 of a file's content as the model last saw it (by real path), from the `seen` of earlier results. */
  seen(path: string): string | undefined;
  /** sha-256 of the file to be changed, in which a person approved the lines that were shown; elsewhere it may not be as it was seen. */
  readonly approvedIn?: string;
  /** The folder for output too long for the model; the result names the file. */
  readonly keepDir: string;
  /** Live output, for whoever watches. Not journaled. */
  output(text: string): void;
  /** The command seems to wait for somebody to type an answer, which nobody can; this is its question. */
  waiting?(question: string): void;
  /** A process group was started: should Sage be killed, recovery finds it by this. */
  spawned(pid: number): void | Promise<void>;
  /** Commands that this session runs in the background. Undefined: there is none of this id. */
  readonly tasks?: {
    running(): readonly BackgroundTask[];
    /** A command and, once it is over, how it ended. */
    find(id: string): { task: BackgroundTask; end: TaskEnd | undefined } | undefined;
    /** `unknown`: it was started where this process cannot reach it. */
    stop(id: string): Promise<"stopped" | "ended" | "unknown" | undefined>;
    /** A process, so that no other with the same number is taken for it. */
    identify(pid: number): { pid: number; started: string; machine?: string };
  };
  /** Starts a command line; without it the tool's own process does. */
  spawn?: Spawn;
  /** The call was begun by another process: `spawn` attaches to its command. */
  readonly attaches?: boolean;
  /** Set once `signal` has aborted and nobody wants the call to end: this process leaves, or has lost the session to another. */
  leaves?(): "leaving" | "lost" | undefined;
  /** Prepares the sandbox that a command of this call must run in. Rejects when there can be none: then the command must not run. */
  confine?(command: { cwd: string; env: NodeJS.ProcessEnv }): Promise<Launch>;
  /** For a tool with `addresses`. */
  readonly web?: {
    /** Addresses that were judged with the call; it connects to these alone. Undefined: nobody looked them up. */
    addresses: readonly string[] | undefined;
    /** Why the call may not continue to this address, in the person's rules and mode; undefined when it may. */
    objection(url: string, addresses?: readonly string[]): Reason | undefined;
  };
  /** The environment for children: without secrets and Sage's own variables. */
  readonly env: NodeJS.ProcessEnv;
  /**
   * Asks a person in the midst of a `waits` tool; durable, re-entered on replay in the order of the calls. With `timeoutMs` and
   * `timeoutPolicy` the tool says how long it waits and what happens then.
   */
  requestInput(body: RequestBody & RequestTimeout, why: Reason | string): Promise<Resolution>;
  /**
   * Asks a person for the server that runs this call, in the midst of it. Durable and answerable like any request; it ends when the call
   * does, or when `signal` aborts.
   */
  elicit?(asked: { body: RequestBody; server: string; why: Reason; signal: AbortSignal }): Promise<Resolution>;
  /** A word to everybody who watches. Not journaled. */
  notice?(why: Reason): void;
  /** Gives a task to a subagent and waits for its report; for `waits` tools only. */
  delegate(task: { agent: string; prompt: string }): Promise<ToolResult>;
};

/** A tool: what the model reads about it, what it does to the world, and its code. It never asks for permission itself. */
// oxlint-disable-next-line typescript/no-explicit-any -- a list holds tools of unlike inputs, each checked by its own schema
export type Tool<I = any> = {
  name: string;
  /** Description for the model; lives in a .md file beside the tool. */
  description: string;
  /** A schema of zod 4, or anything else that checks like one and tells its JSON Schema. */
  inputSchema: Check<I>;
  /** The input as this tool spells it: models learned the field names of other tools. Whatever it does not know it leaves. */
  adapt?(sent: ToolInput): ToolInput;
  effect: Effect;
  /** The MCP server that it belongs to. Its description and schema are a stranger's, and part of what a person approves. */
  server?: string;
  /** A difference: allow rules were given for another definition, and do not count before a person allowed a call. */
  changed?(): Preview | undefined;
  /** A person allowed a call of the tool as it is defined now. */
  approve?(): void;
  /** Its server may ask the person while it runs. */
  elicits?: boolean;
  /** Blocks for a person whatever the rules and the mode say. */
  requiresUserInteraction?: boolean;
  /**
   * The tool's own view on this very call; `passthrough` (no opinion) when absent. What is built in is judged by `permission/`.
   * A promise is waited for. A check that throws or rejects makes a hard ask: only a person may allow the call.
   */
  checkPermissions?(input: I, context: PermissionContext): PermissionOpinion | Promise<PermissionOpinion>;
  /**
   * Addresses of the host that this call would connect to, for the decision; undefined where somebody else looks them up. Looking
   * up a name tells it to the network: it is done only for a call that is allowed so far.
   */
  addresses?(input: I, signal: AbortSignal): Promise<readonly string[] | undefined>;
  /** True when a call starts its command through `spawn` alone and waits for it: the command may outlive this process then. */
  mayOutlive?(input: I): boolean;
  /** The string that rules match in `Tool(specifier)`. Of the built-in tools only what it is called when shown. */
  specifier?(input: I, place: ToolPlace): string;
  /** The file this call changes: its content goes into the digest of an approval. */
  operand?(input: I, place: ToolPlace): string | undefined;
  /** The lines of that file that a person is shown. An approval is bound to them; without it, to the whole file. */
  shownLines?(input: I, place: ToolPlace): string | undefined;
  /** The file as the call would leave it, for the person who is asked. Undefined when that cannot be told. */
  preview?(input: I, place: ToolPlace): Preview | undefined;
  /** Why the call cannot work, in the words of its result, if that shows already: then nobody is asked about it. */
  preflight?(input: I, scope: ToolPlace & Pick<ToolScope, "seen">): Promise<string | ToolProblem | undefined>;
  /**
   * A pure description of what only a person can supply, and how long to wait for it: the loop opens it and hands the resolution
   * to `answered`.
   */
  request?(input: I): RequestBody & RequestTimeout;
  answered?(input: I, resolution: Resolution): ToolResult;
  /**
   * After a crash: did it happen? `before` is the operand's hash from before the call ("" when there was no file).
   * A result when it happened, "again" when it surely did not, undefined when the world cannot tell.
   */
  reconcile?(input: I, scope: ToolPlace & { before: string }): Promise<ToolResult | "again" | undefined>;
  execute(input: I, scope: ToolScope): Promise<ToolResult>;
};

/** Parts that a module adds: tools beside the built-in ones, and types of subagents. */
export type ModuleParts = { tools?: readonly Tool[]; agents?: readonly SubagentDefinition[] };

/** The default export of a module that settings name. A function is given `z` for schemas, so that the file needs no package. */
export type SageModule = ModuleParts | ((sage: { z: typeof z }) => ModuleParts | Promise<ModuleParts>);
