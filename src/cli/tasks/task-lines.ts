import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { endOfTask, isKept, keepTask, lifeOfTask, noteStopped, stopTask } from "../../agent/state/tasks.ts";
import { oneLine, prose } from "../../base/visible.ts";
import type { BackgroundTask } from "../../protocol/facts/call.ts";
import { said, SageError } from "../../protocol/reasons/reason.ts";
import type { Lang } from "../../texts/language.ts";
import { taskTexts, type TaskTexts } from "../../texts/commands/tasks.ts";
import { texts } from "../../texts/shared/texts.ts";

const LAST_BYTES = 16 * 1024;
const LAST_LINES = 20;

/** Commands in the background, a line for each and its output file below. */
export function taskLines(tasks: readonly BackgroundTask[], lang: Lang, now = Date.now()): string[] {
  const w = taskTexts(lang);
  return tasks.flatMap((task) => {
    const end = endOfTask(task);
    const runs = w.runs(texts(lang).duration(Math.max(0, now - task.at)));
    const living = lifeOfTask(task) === "unknown" ? w.elsewhere : runs;
    const state = end ? w.ended(end.code) : [living, ...(isKept(task) ? [w.kept] : [])].join(" · ");
    return [`${task.id}  ${state}  ${oneLine(task.command)}`, `        ${oneLine(task.file)}`];
  });
}

/** `/tasks`: commands that this session runs in the background, or did; `/tasks stop|keep|output ID` is about one. */
export async function tasksText(
  tasks: readonly BackgroundTask[],
  args: string,
  lang: Lang,
  now = Date.now(),
): Promise<string> {
  const w = taskTexts(lang);
  const [action = "", id] = args.split(/\s+/).filter(Boolean);
  if (action === "") return tasks.length === 0 ? w.none : [...taskLines(tasks, lang, now), w.howHere].join("\n");
  if (id === undefined || !isAction(action)) return w.howHere;
  return runTaskAction(action, taskBy(tasks, id, w), w);
}

type TaskAction = "output" | "stop" | "keep";

export function isAction(word: string): word is TaskAction {
  return word === "output" || word === "stop" || word === "keep";
}

export async function runTaskAction(action: TaskAction, task: BackgroundTask, w: TaskTexts): Promise<string> {
  switch (action) {
    case "output":
      return lastLines(task.file, w);
    case "stop":
      if (lifeOfTask(task) === "alive") noteStopped(task);
      return { stopped: w.stopped, ended: w.over, unknown: w.outOfReach }[await stopTask(task)](task.id);
    case "keep":
      if (endOfTask(task)) return w.over(task.id);
      keepTask(task);
      return w.keeps(task.id);
    default:
      return action satisfies never;
  }
}

/** Finds a command by its id, or by the start of one where only one is meant. */
export function taskBy(tasks: readonly BackgroundTask[], prefix: string, w: TaskTexts): BackgroundTask {
  const found = tasks.filter(({ id }) => id.startsWith(prefix));
  const [task] = found;
  if (task && found.length === 1) return task;
  const ids = found.map(({ id }) => id);
  throw new SageError("input-invalid", said(ids.length === 0 ? w.unknown(prefix) : w.severalOf(prefix, ids)));
}

/** The end of a file that may be long, safe to show. */
function lastLines(path: string, w: TaskTexts): string {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return w.outputGone(path);
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, LAST_BYTES));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    const text = prose(bytes.toString().toWellFormed()).trimEnd();
    return text === "" ? w.noOutput : text.split("\n").slice(-LAST_LINES).join("\n");
  } finally {
    closeSync(file);
  }
}
