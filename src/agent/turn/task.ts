import { randomUUID } from "node:crypto";
import type { Store } from "../../journal/store.ts";
import { saidKey, type Sender, type TurnLimits } from "../../protocol/index.ts";

/** A task, and what goes with it. */
export type TaskMetadata = {
  description: string;
  /** The session that the task is for, begun if it is not there. A new one by default. */
  session?: string;
  /** Makes a task that is delivered twice harmless. */
  id?: string;
  limits?: TurnLimits;
} & Partial<Sender>;

/** Says the task in its session, and gives the session. */
export async function sayTask(store: Store, cwd: string, task: string | TaskMetadata): Promise<string> {
  const { description: text, ...meta } = typeof task === "string" ? { description: task } : task;
  const { session = randomUUID(), id = randomUUID(), by = "caller", surface = "sdk", limits } = meta;
  await store.create(session, { cwd, version: "sdk" });
  const data = { text, by, surface, ...(limits && { limits }) };
  await store.append(session, { key: saidKey(id), type: "user.said", at: Date.now(), data });
  return session;
}
