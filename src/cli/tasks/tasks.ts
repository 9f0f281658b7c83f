import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { tasksIn } from "../../protocol/facts/session.ts";
import type { Store } from "../../journal/store/store.ts";
import { endOfTask, isKept, lifeOfTask } from "../../agent/state/tasks.ts";
import { taskTexts } from "../../texts/commands/tasks.ts";
import { fitted } from "../../view/lines/safe.ts";
import { titleOf } from "../../view/items/summary.ts";
import { styleOf, printJson, exitCodes } from "../process/stdout.ts";
import { readFlags, usage } from "../process/flags.ts";
import { openLocalJournal } from "../host/journal.ts";
import { runTaskAction, isAction, taskBy, taskLines } from "./task-lines.ts";

const options = { json: { type: "boolean" }, all: { type: "boolean" } } as const;

/** `sage tasks`: commands that sessions run in the background, from any terminal. */
export async function tasks(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, options);
  const w = taskTexts(lang);
  const [action, id, stray] = positionals;
  if (stray !== undefined || (action === undefined) !== (id === undefined)) throw usage(w.usage);
  const { host, store } = openLocalJournal(process.env, { looks: true });
  try {
    const sessions = await found(store);
    if (action === undefined) {
      const shown = sessions
        .map((session) => ({ ...session, tasks: session.tasks.filter((task) => values.all || !endOfTask(task)) }))
        .filter((session) => session.tasks.length > 0);
      if (values.json) printJson(shown.flatMap(asData));
      else {
        const style = styleOf(process.stdout, lang);
        const lines = shown.flatMap((session) => [
          style.paint.bold(`${session.session}  ${titleOf(session)}`),
          ...taskLines(session.tasks, lang).map((line) => `  ${line}`),
        ]);
        console.log(fitted(lines.length === 0 ? [w.none] : [...lines, w.how], style.width).join("\n"));
      }
      return exitCodes.success;
    }
    if (!isAction(action)) throw usage(w.usage);
    const task = taskBy(
      sessions.flatMap((session) => session.tasks),
      id ?? "",
      w,
    );
    // A pipe gets the output whole and unchanged; a terminal gets its end, with control characters escaped.
    if (action === "output" && !process.stdout.isTTY)
      await pipeline(createReadStream(task.file), process.stdout, { end: false });
    else console.log(await runTaskAction(action, task, w));
    return exitCodes.success;
  } finally {
    await host.close();
  }
}

/** Sessions that started something in the background: its output file has this name. */
async function found(store: Store) {
  return (await store.housekeeping.search("task-", ["call.finished"])).map(({ session }) => ({
    session,
    title: store.session(session)?.title ?? "",
    tasks: tasksIn(store.load(session)).tasks,
  }));
}

function asData({ session, tasks: all }: Awaited<ReturnType<typeof found>>[number]) {
  return all.map((task) => {
    const end = endOfTask(task);
    const running = { state: lifeOfTask(task) === "unknown" ? "unknown" : "running" };
    const state = end ? { state: "ended", ...(end.code !== undefined && { code: end.code }) } : running;
    return { session, ...task, ...state, kept: isKept(task) };
  });
}
