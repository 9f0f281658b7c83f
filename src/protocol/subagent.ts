export type SubagentType = "explore" | "plan" | "execute" | "generalPurpose" | "codeReview" | "custom";

/** Which of its parent's tools a subagent may use. Never more: `all` means all that the parent has. */
export type ToolAccess = "inherited" | "all" | { restricted: readonly string[] };

export type WorkingDirectory = "inherited" | "processCwd" | { explicit: string };

export type SubagentDefinition = {
  name: string;
  type: SubagentType;
  /** When to use it; the model reads this. */
  description: string;
  /** What it is told to be, above the task itself. */
  prompt: string;
  toolAccess: ToolAccess;
  workingDirectory: WorkingDirectory;
  /** `root`: its questions go to the root's surfaces, with its ancestry shown. Otherwise it may not ask. */
  ask?: "root";
  maxSteps?: number;
};
