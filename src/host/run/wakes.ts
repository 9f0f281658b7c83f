import { wakeCause } from "../../agent/state/cause.ts";
import { endOfTask } from "../../agent/state/tasks.ts";
import type { Listener } from "../../journal/store/hub.ts";
import type { Store } from "../../journal/store/store.ts";
import type { BackgroundTask } from "../../protocol/facts/call.ts";
import type { FactType } from "../../protocol/facts/fact.ts";
import { tasksIn } from "../../protocol/facts/session.ts";
import { withoutRewound } from "../../protocol/facts/rewound.ts";
import { noticeOf, reason } from "../../protocol/reasons/reason.ts";
import type { Runner } from "./runner.ts";

const POLL_MS = 1_000;

/** Looks for the ends of background commands, tells them to who watches, and begins a turn for them. */
export type Wakes = {
  readonly begins: boolean;
  /** Follows a session that runs here. */
  follow(session: string): Listener;
  /** Somebody opened the session here. A process before this one may have left commands. */
  opened(session: string): void;
};

type Parts = { store: Store; told: "tells" | "begins" | undefined; signal: AbortSignal; runner(): Runner };

/** Undefined where nobody is told. */
export function createWakes({ store, told, signal, runner }: Parts): Wakes | undefined {
  if (!told) return undefined;
  const begins = told === "begins";
  /** Commands whose end nobody here has seen yet, by session. */
  const running = new Map<string, Map<string, BackgroundTask>>();
  /** Sessions with an end for which a turn may have to begin. */
  const due = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  const note = (session: string, task: BackgroundTask) => {
    if (signal.aborted) return;
    const tasks = running.get(session) ?? new Map<string, BackgroundTask>();
    running.set(session, tasks.set(task.id, task));
    timer ??= setInterval(look, POLL_MS).unref();
  };
  const look = () => {
    if (signal.aborted) running.clear();
    for (const [session, tasks] of running) {
      for (const task of tasks.values()) {
        const end = endOfTask(task);
        if (!end) continue;
        tasks.delete(task.id);
        const { id, command, code } = end;
        const why = reason("task-ended", { id, command, ...(code !== undefined && { code }) });
        store.hub.delta({ session, key: `task/${id}`, attempt: 0, n: 0, ...noticeOf(why) });
        due.add(session);
      }
      if (tasks.size === 0) running.delete(session);
    }
    for (const session of due) void consider(session);
    if (running.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  /** While a turn is open nothing is begun: its next prompt tells the end, and what it leaves is looked at when it has ended. */
  const consider = async (session: string): Promise<void> => {
    const run = runner().of(session);
    await run?.done.catch(() => {}); // it lets go of the session before
    if (!begins || signal.aborted || !due.delete(session)) return;
    try {
      const facts = withoutRewound(await store.read(session));
      if (facts.findLast(({ type }) => ends.has(type))?.type === "turn.begun") due.add(session);
      else if (wakeCause(facts) && !signal.aborted) runner().wake(session);
    } catch {
      due.add(session); // a journal that is busy: looked at when the next turn or command has ended
    }
  };

  const findLeft = async (session: string) => {
    if (running.has(session)) return;
    const { tasks, told } = tasksIn(await store.read(session, { types: ["call.finished", "model.replied"] }));
    for (const task of tasks) if (!told.has(task.id)) note(session, task);
  };

  return {
    begins,
    follow: (session) => ({
      types: followed,
      fact(fact) {
        if (fact.type === "call.finished" && fact.data.background) note(session, fact.data.background);
        if (fact.type === "turn.ended" && due.has(session)) void consider(session);
      },
    }),
    opened: (session) => void findLeft(session).catch(() => {}), // a journal that is busy: the next turn tells what ended
  };
}

const followed: ReadonlySet<FactType> = new Set<FactType>(["call.finished", "turn.ended"]);
const ends: ReadonlySet<FactType> = new Set<FactType>(["turn.begun", "turn.ended"]);
