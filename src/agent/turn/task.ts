import { randomUUID } from "node:crypto";
import { isSessionId } from "../../journal/session/session-id.ts";
import type { Store } from "../../journal/store/store.ts";
import { kindOf } from "../../base/issue.ts";
import type { TurnLimits } from "../../protocol/facts/silence.ts";
import { saidKey } from "../../protocol/key.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import type { Sender } from "../../protocol/sender.ts";
import { SageError } from "../../protocol/reasons/error.ts";

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
  const given = kindOf(task) === "object" ? (task as TaskMetadata) : { description: task as string };
  const { description: text, ...meta }: TaskMetadata = given;
  const { session = randomUUID(), id = randomUUID(), by = "caller", surface = "sdk", limits } = meta;
  if (typeof text !== "string")
    throw new SageError("input-invalid", reason("message-not-text", { came: kindOf(text) }));
  if (text.trim() === "") throw new SageError("input-invalid", reason("message-empty", {}));
  if (!isSessionId(session)) throw new SageError("input-invalid", reason("session-id-unfit", { given: session }));
  await store.create(session, { cwd, version: "sdk" });
  const data = { text, by, surface, ...(limits && { limits }) };
  await store.append(session, { key: saidKey(id), type: "user.said", at: Date.now(), data });
  return session;
}
