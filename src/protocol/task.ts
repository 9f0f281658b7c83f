import type { Fact } from "./fact.ts";

/** A command that runs in the background. The result of its call holds this: that it was started is a fact. */
export type BackgroundTask = {
  /** Short, for people and models to name it by. */
  id: string;
  command: string;
  /** Process group, and when its leader was started: another process with the same number is not it. */
  pid: number;
  started: string;
  /** File of its output. */
  file: string;
  at: number;
};

/** How a command in the background ended. The reply to the first prompt that tells of it holds this. */
export type TaskEnd = Pick<BackgroundTask, "id" | "command" | "file"> & {
  /** Exit code; missing when nobody was left to write it: it was stopped, killed, or went down with the machine. */
  code?: number;
};

/** Commands that a session started in the background, and those whose end the model was told. */
export function tasksIn(facts: readonly Fact[]): { tasks: BackgroundTask[]; told: Set<string> } {
  const tasks = new Map<string, BackgroundTask>();
  const told = new Set<string>();
  for (const fact of facts) {
    if (fact.type === "call.finished" && fact.data.background) tasks.set(fact.data.background.id, fact.data.background);
    if (fact.type === "model.replied") for (const { id } of fact.data.ended ?? []) told.add(id);
  }
  return { tasks: [...tasks.values()], told };
}
