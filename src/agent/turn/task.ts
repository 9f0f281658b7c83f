import { randomUUID } from "node:crypto";
import { isSessionId } from "../../journal/session/session-id.ts";
import { openSession } from "../../journal/session/session.ts";
import { wrapStore } from "../../journal/store/own-store.ts";
import type { Store } from "../../journal/store/store.ts";
import { kindOf } from "../../base/issue.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import type { AgentOutcome } from "../../protocol/facts/outcome.ts";
import type { TurnLimits } from "../../protocol/facts/silence.ts";
import { seenBy } from "../../protocol/facts/unseen.ts";
import { saidKey } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Sender } from "../../protocol/sender.ts";
import { checkStrategy, checkTask } from "./check.ts";
import type { Executor } from "./execution.ts";
import { fold } from "./projection.ts";
import type { ExecutionStrategy } from "./strategy.ts";

/** A task, and what goes with it. */
export type TaskMetadata = {
  description: string;
  /** The session that the task is for, begun if it is not there. A new one by default. */
  session?: string;
  /** Makes a task that is delivered twice harmless. */
  id?: string;
  limits?: TurnLimits;
} & Partial<Sender>;

/** Runs a task to its end, in a session of its own or in the one that the task names. */
export async function runTask(
  executor: Executor,
  place: { store: Store; cwd: string },
  task: string | TaskMetadata,
  strategy: ExecutionStrategy,
): Promise<AgentOutcome> {
  const store = wrapStore(place.store);
  checkStrategy(strategy);
  checkTask(task);
  const { session, ended } = await sayTask(store, place.cwd, task);
  if (ended) return ended;
  const log = openSession(store, session);
  try {
    return await strategy.execute(executor, { log });
  } finally {
    await log.release();
  }
}

/** `ended` is there when the task was delivered before, and its turn is over. */
type SaidTask = { session: string; ended: AgentOutcome | undefined };

/** Says the task in its session. A task that was delivered before is not said again: its own end is the answer. */
export async function sayTask(store: Store, cwd: string, task: string | TaskMetadata): Promise<SaidTask> {
  const given = kindOf(task) === "object" ? (task as TaskMetadata) : { description: task as string };
  const { description: text, ...meta }: TaskMetadata = given;
  const { session = randomUUID(), id = randomUUID(), by = "caller", surface = "sdk", limits } = meta;
  if (typeof text !== "string")
    throw new SageError("input-invalid", reason("message-not-text", { came: kindOf(text) }));
  if (text.trim() === "") throw new SageError("input-invalid", reason("message-empty", {}));
  if (!isSessionId(session)) throw new SageError("input-invalid", reason("session-id-unfit", { given: session }));
  await store.create(session, { cwd, version: "sdk" });
  const data = { text, by, surface, ...(limits && { limits }) };
  const { won, fact } = await store.append(session, { key: saidKey(id), type: "user.said", at: Date.now(), data });
  return { session, ended: won ? undefined : endOfTurnWith(fact.seq, session, store.load(session)) };
}

/** The outcome of the turn whose prompts have the message in them, if that turn is over. */
function endOfTurnWith(message: number, session: string, facts: readonly Fact[]): AgentOutcome | undefined {
  const read = facts.findIndex((fact) => seenBy(fact) >= message);
  const end = facts.findIndex(({ type }, n) => n >= read && type === "turn.ended");
  if (read < 0 || end < 0) return undefined;
  const { ended, messages } = fold(facts.slice(0, end + 1));
  return ended && { ...ended, session, messages, toolHistory: [] };
}
