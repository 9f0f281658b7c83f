import { endOfTask, stopTask } from "../../../agent/state/tasks.ts";
import { tasksIn, type Fact } from "../../../protocol/index.ts";
import type { TerminalTexts } from "../../../texts/terminal.ts";
import type { Texts } from "../../../texts/texts.ts";

/** `/tasks`: commands of this session that run in the background, or did; `/tasks stop ID` ends one. */
export async function tasksText(
  facts: readonly Fact[],
  args: string,
  { t, tt, now = Date.now() }: { t: Texts; tt: TerminalTexts; now?: number },
): Promise<string> {
  const { tasks } = tasksIn(facts);
  const [, id] = /^stop\s+(\S+)$/.exec(args) ?? [];
  if (id === undefined) {
    const lines = tasks.map((task) => {
      const end = endOfTask(task);
      const state = end ? tt.taskEnded(end.code) : tt.taskRuns(t.duration(Math.max(0, now - task.at)));
      return `${task.id}  ${state}  ${task.command}\n        ${task.file}`;
    });
    return lines.length === 0 ? tt.noTasks : [...lines, tt.stopTask].join("\n");
  }
  const task = tasks.find((one) => one.id === id);
  if (!task) return tt.noSuchTask(id);
  return (await stopTask(task)) === "stopped" ? tt.taskStopped(id) : tt.taskOver(id);
}
