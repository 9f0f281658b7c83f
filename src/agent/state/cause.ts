import type { Fact, FactData } from "../../protocol/facts/fact.ts";
import { modeOf, tasksIn } from "../../protocol/facts/session.ts";
import { endOfTask, isStopped } from "./tasks.ts";

/** Turns in a row that Sage begins by itself: then a person has to say something. */
const MAX_IN_A_ROW = 3;

/** Why Sage would begin a turn by itself, once for each command; never in an open or stopped turn, plan mode, or too often in a row. */
export function wakeCause(facts: readonly Fact[]): FactData["turn.begun"]["cause"] {
  const begun = facts.filter((fact) => fact.type === "turn.begun");
  const last = facts.findLast((fact) => fact.type === "turn.begun" || fact.type === "turn.ended");
  if (last?.type !== "turn.ended" || last.data.status === "cancelled" || modeOf(facts) === "plan") return undefined;
  if (begun.length >= MAX_IN_A_ROW && begun.slice(-MAX_IN_A_ROW).every(({ data }) => data.cause)) return undefined;
  const woken = new Set(begun.flatMap(({ data }) => data.cause?.tasks ?? []));
  const { tasks, told } = tasksIn(facts);
  const ended = tasks.filter(
    (task) => !told.has(task.id) && !woken.has(task.id) && !isStopped(task) && endOfTask(task) !== undefined,
  );
  return ended.length > 0 ? { tasks: ended.map(({ id }) => id) } : undefined;
}
