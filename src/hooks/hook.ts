import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { ToolInput } from "../protocol/facts/call.ts";
import type { Reason } from "../protocol/reasons/reason.ts";

/** When a person's own commands are called. */
export type HookMoment = "beforeCall" | "afterCall" | "permissionRequest" | "waiting" | "sessionStart" | "sessionEnd";

/** A command of a person, as settings name it. */
export type Hook = {
  /** Tools that it is for: a name, names joined with `|`, or `*`. */
  matcher: string;
  command: string;
  timeoutMs: number;
  /** A folder's own hook: where commands are confined, it is as well. */
  confined?: true;
  /** Folder it runs in: that of the settings that define it; by default the session's. */
  folder?: string;
  /** The file that the command names and that is not what the person trusted, if any: then it does not run. */
  changed?(): string | undefined;
};

/** A call, as hooks around it are told. */
export type CallEvent = {
  session: string;
  cwd: string;
  /** Names from the root's child down to the agent that calls; empty for the root. */
  agent: readonly string[];
  tool: string;
  input: ToolInput;
};

/** The event that a hook of each moment is given. */
export type HookEvents = {
  /** Before a call is judged. */
  beforeCall: CallEvent;
  /** After a call, inside of its own step. */
  afterCall: CallEvent & { result: { ok: boolean; text: string } };
  /** A person would be asked: `why` in English. */
  permissionRequest: CallEvent & { why: string };
  /** A request waits for a person. */
  waiting: {
    session: string;
    cwd: string;
    request: { id: string; kind: string; why: string };
    agent?: readonly string[];
  };
  sessionStart: { session: string; cwd: string };
  /** The process leaves: it waits five seconds at most. */
  sessionEnd: { session: string; cwd: string };
};

/** A hook in code. Without an answer it has no opinion. One that throws, rejects, is late or answers nonsense is broken: a call that it should have judged is asked about. */
export type CodeHook<Moment extends HookMoment = HookMoment> = {
  /** Tools that it is for: a name, names joined with `|`, or `*`, the default. */
  matcher?: string;
  /** By which people read of it; by default that of the function. */
  name?: string;
  /** A minute by default. */
  timeoutMs?: number;
  run(
    event: HookEvents[Moment],
    scope: { /** Aborted when the turn is stopped, and when it is late. */ signal: AbortSignal },
  ): HookAnswer | void | Promise<HookAnswer | void>;
};

/** Hooks by their moment, in the order in which they are asked: functions, and commands as in settings. */
export type HookLists = {
  readonly [Moment in HookMoment]?: readonly (CodeHook<Moment> | (Partial<Hook> & Pick<Hook, "command">))[];
};

/** Answer of a hook; a command prints it as JSON. Nothing means no opinion. */
export type HookAnswer = {
  decision?: "allow" | "deny" | "ask";
  reason?: string;
  /** Instead of the call's input; judged like any other. */
  input?: ToolInput;
  /** Told to the model with the call's result. */
  context?: string;
};

/** Outcome of all hooks of a moment: the strictest decision, the last input, every context. */
export type HookOutcome = {
  decision: "allow" | "deny" | "ask" | undefined;
  reason: Reason;
  input: ToolInput | undefined;
  context: string[];
  /** Hooks that crashed, hung or printed rubbish. A broken guard is no guard: a call it should have judged is asked about. */
  problems: Reason[];
};

/** Data that a hook is given. */
export type HookEvent = { session: string; cwd: string; agent?: readonly string[] } & Record<string, unknown>;

/** All hooks, asked at named moments. */
export type Hooks = {
  /** Is anything to be run then? Asked on the hot path, so it costs nothing. */
  has(moment: HookMoment, tool?: string): boolean;
  run(
    moment: HookMoment,
    event: HookEvent & { tool?: string; input?: ToolInput },
    signal: AbortSignal,
  ): Promise<HookOutcome>;
  /** @internal The same hooks, those of a folder's own settings in a sandbox. */
  within?(start: StartConfined): Hooks;
};

/** Starts a program in a sandbox, with pipes for input and both outputs. Rejects when there can be none: then it must not run. */
export type StartConfined = (
  argv: readonly string[],
  place: { cwd: string; env: NodeJS.ProcessEnv },
) => Promise<ChildProcessWithoutNullStreams>;
