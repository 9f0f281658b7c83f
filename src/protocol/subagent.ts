/** Kinds of subagents. Your own are `custom`. */
export type SubagentType = "explore" | "plan" | "execute" | "generalPurpose" | "codeReview" | "custom";

/** The tools of its parent that a subagent may use. Never more: `all` means all that the parent has. */
export type ToolAccess = "inherited" | "all" | { restricted: readonly string[] };

/** The folder of a subagent: its parent's, that of the process, or a given one. */
export type WorkingDirectory = "inherited" | "processCwd" | { explicit: string };

/** A type of subagent: its task, its tools, and whether it may ask. */
export type SubagentDefinition = {
  name: string;
  type: SubagentType;
  /** When to use it; the model reads this. */
  description: string;
  /** Its role, placed before the task in the prompt. */
  prompt: string;
  toolAccess: ToolAccess;
  workingDirectory: WorkingDirectory;
  /** `root`: its questions go to the root's surfaces, with its ancestry shown. Otherwise it may not ask. */
  ask?: "root";
  maxSteps?: number;
};
