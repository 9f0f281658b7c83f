import type { Confined } from "../confine.ts";
import type { PermissionBehavior, RuleDestination, RuleSource } from "../decision.ts";
import type { Effect, InputChange, ToolInput } from "./call.ts";
import type { RequestTimeout } from "./silence.ts";
import type { Reason } from "../reasons/reason.ts";

/** A rule as written in a settings file, such as `Bash(npm test)`. */
export type Rule = {
  behavior: "allow" | "deny" | "ask";
  text: string;
  source: RuleSource;
  /** Of an ask rule: how many people have to approve, and who; by default any one approver. */
  consent?: Consent;
  /** Of an ask rule: what happens when nobody answers. */
  silence?: RequestTimeout;
};

/** How many people have to approve a call, and whether those who asked for it are left out. */
export type Consent = { approvals: number; notAsker?: true };

/** `bypass` asks for no ordinary permission; deny and ask rules, protected paths and tools that need a person still hold. */
export type PermissionMode = "default" | "bypass";

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
  source?: RuleSource;
  parts?: CallPart[];
  /** Of an ask: what all ask rules about the call demand together. */
  consent?: Consent;
  /** Confines of the command, or that it can only work outside; set where commands are confined. */
  confined?: Confined | "outside";
  /** Of an ask: confined, the command would have run without asking. */
  spared?: true;
  /** Of an ask: what happens when nobody answers, by the word of the rule. */
  silence?: RequestTimeout;
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
  /** Of `modifyRule`: the narrower rule to put in its place, where one could be worked out. */
  instead?: string;
  /** Warning about this rule, for the person. */
  note?: Reason;
  /** Only with the others so marked does it allow the call; without it, it does so alone. */
  together?: true;
};

/** Decision about one call, as `calls.judged` keeps it. Replay never judges again. */
export type Verdict = Omit<PermissionResult, "behavior"> & {
  behavior: "allow" | "deny" | "ask";
  effect: Effect;
  /** sha-256 over tool, input, edited file, named scripts, a server's definition; after its version (`2:`), which 0.1.0 and 0.2.0 lack. */
  digest: string;
  /** The file the call changes, by its real path. */
  operand?: string;
  /** sha-256 of the file the call changes, as it was when judged; "" when there was none. */
  before?: string;
  /** Hash of the lines of that file that the request shows: set where the rest of the file may change meanwhile. */
  lines?: string;
  /** The person refused the very same call before. */
  repeated?: boolean;
  /** A hook asked: only a person answers it, no later rule. */
  hooked?: boolean;
  /** Text that hooks add to the result. */
  context?: string[];
  /** Only when it is not what the model sent: a hook or a person edited it. */
  input?: ToolInput;
  /** The person or hook that edited it. Version 0.1.0 did not keep that. */
  changed?: InputChange;
  /** Symbolic links that the decision followed, and their targets. */
  links?: Record<string, string>;
  /** sha-256 of the scripts of the workspace that the call names and so runs, by their real paths. */
  scripts?: Record<string, string>;
  /** Meanings of words by files that the command does not show: aliases as text, the others as sha-256, by name or path. */
  meanings?: Record<string, string>;
  /** Addresses that the host of a fetched page led to when it was judged: the call connects to these and to no other. */
  addresses?: readonly string[];
  /** Not a rule, a mode or the tool allows it, but a hook does, or a person did before an update. */
  allowedBy?: "hook" | "person";
  /** The call cannot work, and this is why: its result at once, for which nobody is asked. */
  failure?: string;
};
