import type { ToolInput } from "./message.ts";
import type { Reason } from "./reason.ts";

/** A decision about a call. `passthrough` leaves it to the next step. */
export type PermissionBehavior = "allow" | "deny" | "ask" | "passthrough";

/** The place of a rule: this session, or one of three settings files. */
export type RuleDestination = "session" | "local" | "project" | "user";

/** Settings files in which a rule may be kept now. */
export type RuleFiles = Partial<Record<Exclude<RuleDestination, "session">, string>>;

/** A rule as it stands in a settings file, such as `Bash(npm test)`. */
export type Rule = { behavior: "allow" | "deny" | "ask"; text: string; source: RuleDestination };

/**
 * `bypass` asks for no ordinary permission. Deny rules, ask rules, protected paths and tools that need a person hold in it,
 * too.
 */
export type PermissionMode = "default" | "bypass";

/**
 * `reads` may run again after a crash. `writes` may not. `waits` is loop code that asks or delegates, entered again on
 * replay.
 */
export type Effect = "reads" | "writes" | "waits";

/** A part of a call as the decision saw it: for a shell line, one simple command. */
export type CallPart = {
  text: string;
  behavior: PermissionBehavior;
  rule?: string;
  reason: Reason;
  writes?: readonly WriteTarget[];
};

/** A file that a command writes. `path` is where the write leads after every link. */
export type WriteTarget = { path: string; /** Not in any folder that the session works in. */ outside?: true };

/** A decision about a call, and why. */
export type PermissionResult = {
  behavior: PermissionBehavior;
  reason: Reason;
  /** A person must answer this one: no mode and no flag may answer in their place. */
  hard?: boolean;
  rule?: string;
  source?: RuleDestination;
  parts?: CallPart[];
};

/** A tool's own view of a call. Tools of embedders give their reason in plain words. */
export type PermissionOpinion = Omit<PermissionResult, "reason"> & { reason: Reason | string };

/** A rule that the person is offered to keep. */
export type PermissionSuggestion = {
  type: "addRule" | "removeRule" | "modifyRule";
  rule: string;
  behavior: "allow" | "deny" | "ask";
  destination: RuleDestination;
  /** The file it would be saved to. */
  file?: string;
  /** What the person should know about this rule. */
  note?: Reason;
  /** Only with the others so marked does it allow the call; without it, it does so alone. */
  together?: true;
};

/** Decision about one call, as `calls.judged` keeps it. Replay never judges again. */
export type Verdict = Omit<PermissionResult, "behavior"> & {
  behavior: "allow" | "deny" | "ask";
  effect: Effect;
  /** sha-256 over tool, canonical input, the file it edits and the tool's schema. */
  digest: string;
  /** The file the call changes, by its real path. */
  operand?: string;
  /** sha-256 of the file the call changes, as it was when judged; "" when there was none. */
  before?: string;
  /** The person refused the very same call before. */
  repeated?: boolean;
  /** A hook asked: only a person answers it, no later rule. */
  hooked?: boolean;
  /** What hooks have to add to the result. */
  context?: string[];
  /** Only when it is not what the model sent: a hook or a person edited it. */
  input?: ToolInput;
};
