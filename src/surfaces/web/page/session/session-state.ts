import { batch, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Fact } from "../../../../protocol/facts/fact.ts";
import type { WatchEvent } from "../../../../protocol/host/host.ts";
import type { CallItem, Item } from "../../../../view/transcript/item.ts";
import { createProgress, type Progress } from "../../../../view/transcript/progress.ts";
import { isOpen } from "../../../../view/transcript/standing.ts";
import { todosOf, type Todo } from "../../../../view/items/summary.ts";
import { createTranscript, transcriptOf } from "../../../../view/transcript/transcript.ts";
import type { App } from "../state/state.ts";

/** Turns that are fetched at first, and facts of each page before them. */
const LAST_TURNS = 20;
const PAGE = 500;

/** A session as the page follows it. An item is drawn again when its own number changes, and no other item is. */
export type Followed = {
  items: ReadonlySignal<readonly Item[]>;
  changes(item: Item): ReadonlySignal<number>;
  progress: ReadonlySignal<Readonly<Progress>>;
  todos: ReadonlySignal<readonly Todo[]>;
  /** Subagents that run now. */
  tasks: ReadonlySignal<readonly CallItem[]>;
  ready: ReadonlySignal<boolean>;
  /** False: another process runs it, and only whole replies come through. */
  live: ReadonlySignal<boolean>;
  /** The process that ran its turn is gone. */
  stopped: ReadonlySignal<boolean>;
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
  const transcript = createTranscript({ now: app.timing.now });
  const progress = createProgress();
  const all: Item[] = [];
  const numbers = new Map<Item, Signal<number>>();
  const touched = new Set<Item>();
  const shown = {
    items: signal<readonly Item[]>([]),
    progress: signal<Readonly<Progress>>({ ...progress }),
    todos: signal<readonly Todo[]>([]),
    tasks: signal<readonly CallItem[]>([]),
    ready: signal(false),
    live: signal(true),
    stopped: signal(false),
    hasEarlier: signal(false),
  };
  let drawing = false;
  let first: number | undefined;
  let before: Item[] = [];
  let earlier: Fact[] = [];
  const flush = () => {
    drawing = false;
    batch(() => {
      if (before.length + all.length !== shown.items.value.length) shown.items.value = [...before, ...all];
      for (const item of touched) {
        const number = numbers.get(item);
        if (number) number.value++;
      }
      touched.clear();
      shown.progress.value = { ...progress };
      const running = shown.tasks.value.filter(({ standing }) => isOpen(standing));
      const begun = all.slice(-40).filter((item): item is CallItem => isTask(item) && isOpen(item.standing));
      shown.tasks.value = [...new Set([...running, ...begun])];
    });
  };
  const draw = () => {
    if (drawing) return;
    drawing = true;
    frame(flush);
  };
  const take = (items: readonly Item[]) => {
    for (const item of items) {
      touched.add(item);
      if (numbers.has(item)) continue;
      numbers.set(item, signal(0));
      if (isShown(item)) all.push(item);
    }
    const list = items.findLast((item) => item.type === "call" && todosOf(item));
    const todos = list?.type === "call" ? todosOf(list) : undefined;
    if (todos) shown.todos.value = todos;
  };
  const note = (fact: Fact) => {
    if (first === undefined) {
      first = fact.seq;
      shown.hasEarlier.value = fact.type !== "session.opened";
    }
    progress.note(fact);
    take(transcript.fact(fact));
  };
  const hear = (event: WatchEvent): void => {
    switch (event.type) {
      case "fact":
        note(event.fact);
        break;
      case "delta":
        take(transcript.delta(event.delta));
        break;
      case "ready":
        shown.ready.value = true;
        shown.live.value = event.live;
        app.learn(event.requests);
        break;
      case "owner":
        shown.live.value = event.live;
        shown.stopped.value = event.stopped;
        if (event.stopped) progress.stopped();
        break;
      default:
    }
    draw();
  };
  /** Turns before the first one are folded by themselves: nothing in them changes any more. */
  const fetchEarlier = async (): Promise<void> => {
    const start = earlier[0]?.seq ?? first;
    if (start === undefined) return;
    const reply = await app.send({ type: "facts", session: id, before: start, limit: PAGE });
    if (!reply.ok || stop.aborted) return;
    earlier = [...reply.facts, ...earlier];
    before = transcriptOf(earlier).filter(isShown);
    shown.hasEarlier.value = reply.more;
    draw();
  };
  void (async () => {
    try {
      for await (const event of app.host.watch(id, { last: LAST_TURNS, signal: stop })) hear(event);
    } catch {
      // The watch ends with its page, or with the link for good; the header says which.
    }
  })();
  return { ...shown, fetchEarlier, changes: (item) => numbers.get(item) ?? unchanging };
}

const unchanging = signal(0);

/** Calls of subagents are shown below the call that runs them. */
function isShown(item: Item): boolean {
  return !("within" in item) || item.within.length === 0;
}

function isTask(item: Item): item is CallItem {
  return item.type === "call" && item.call.tool === "Task";
}
