import { batch, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Fact } from "../../../../protocol/facts/fact.ts";
import type { CallItem, Item } from "../../../../view/transcript/item.ts";
import { followSession, type FollowedSession, type SessionChange, type RunState } from "../../../../view/session.ts";
import type { Progress } from "../../../../view/transcript/progress.ts";
import { isOpen } from "../../../../view/transcript/standing.ts";
import { todosOf, type Todo } from "../../../../view/items/summary.ts";
import { transcriptOf } from "../../../../view/transcript/transcript.ts";
import type { App } from "../state/state.ts";

/** Turns that are fetched at first, and facts of each page before them. */
const LAST_TURNS = 20;
const PAGE = 500;

/** A session as the page draws it. An item is drawn again when its own number changes, and no other item is. */
export type Followed = {
  session: FollowedSession;
  items: ReadonlySignal<readonly Item[]>;
  changes(item: Item): ReadonlySignal<number>;
  progress: ReadonlySignal<Readonly<Progress>>;
  run: ReadonlySignal<RunState>;
  todos: ReadonlySignal<readonly Todo[]>;
  tasks: ReadonlySignal<readonly CallItem[]>;
  ready: ReadonlySignal<boolean>;
  /** False: another process runs it, and only whole replies come through. */
  streams: ReadonlySignal<boolean>;
  /** There are turns before those that were fetched, and the way to fetch some of them. */
  hasEarlier: ReadonlySignal<boolean>;
  fetchEarlier(): Promise<void>;
};

/** `frame` runs something before the next picture: however quickly text comes in, it is drawn once a frame. */
export function follow(
  app: App,
  id: string,
  { signal: stop, frame }: { signal: AbortSignal; frame(act: () => void): void },
): Followed {
  const numbers = new Map<Item, Signal<number>>();
  const touched = new Set<Item>();
  let [drawing, grown] = [false, false];
  let first: number | undefined;
  let before: Item[] = [];
  let earlier: Fact[] = [];
  const changed = (change: SessionChange): void => {
    if (change.type === "fact" && first === undefined) {
      first = change.fact.seq;
      shown.hasEarlier.value = change.fact.type !== "session.opened";
    }
    if (change.type === "fact" || change.type === "delta") take(change.items);
    if (change.type === "joined") app.learn(session.requests);
    if (drawing) return;
    drawing = true;
    frame(flush);
  };
  const { now } = app.timing;
  const session = followSession(app.host, id, { last: LAST_TURNS, signal: stop, changed, now });
  const shown = {
    items: signal<readonly Item[]>([]),
    progress: signal<Readonly<Progress>>({ ...session.progress }),
    run: signal<RunState>("idle"),
    todos: signal<readonly Todo[]>([]),
    tasks: signal<readonly CallItem[]>([]),
    ready: signal(false),
    streams: signal(true),
    hasEarlier: signal(false),
  };
  const flush = () => {
    drawing = false;
    batch(() => {
      if (grown) shown.items.value = [...before, ...session.items].filter(isShown);
      grown = false;
      for (const item of touched) {
        const number = numbers.get(item);
        if (number) number.value++;
      }
      touched.clear();
      shown.progress.value = { ...session.progress };
      shown.run.value = session.run;
      shown.streams.value = session.streams;
      shown.ready.value ||= session.phase === "live";
      const running = shown.tasks.value.filter(({ standing }) => isOpen(standing));
      const begun = shown.items.value
        .slice(-40)
        .filter((item): item is CallItem => isTask(item) && isOpen(item.standing));
      shown.tasks.value = [...new Set([...running, ...begun])];
    });
  };
  const take = (items: readonly Item[]) => {
    for (const item of items) {
      touched.add(item);
      if (numbers.has(item)) continue;
      numbers.set(item, signal(0));
      grown = true;
    }
    const list = items.findLast((item) => item.type === "call" && todosOf(item));
    const todos = list?.type === "call" ? todosOf(list) : undefined;
    if (todos) shown.todos.value = todos;
  };
  /** Turns before the first one are folded by themselves: nothing in them changes any more. */
  const fetchEarlier = async (): Promise<void> => {
    const start = earlier[0]?.seq ?? first;
    if (start === undefined) return;
    const reply = await app.send({ type: "facts", session: id, before: start, limit: PAGE });
    if (!reply.ok || stop.aborted) return;
    earlier = [...reply.facts, ...earlier];
    before = transcriptOf(earlier);
    grown = true;
    shown.hasEarlier.value = reply.more;
    frame(flush);
  };
  // The watch ends with its page, or with the link for good; the header says which.
  session.done.catch(() => {});
  return { session, ...shown, fetchEarlier, changes: (item) => numbers.get(item) ?? unchanging };
}

const unchanging = signal(0);

/** Calls of subagents are shown below the call that runs them. */
function isShown(item: Item): boolean {
  return !("within" in item) || item.within.length === 0;
}

function isTask(item: Item): item is CallItem {
  return item.type === "call" && item.call.tool === "Task";
}
