import { createEventQueue } from "../remote/event-queue.ts";
import { type Store } from "../journal/store/store.ts";
import { checkOptions } from "./check-options.ts";
import type { Delta, Fact } from "../protocol/facts/fact.ts";
import type { AgentOutcome } from "../protocol/facts/outcome.ts";
import type { Host } from "../protocol/host/host.ts";
import { errorOf } from "../protocol/host/refusal.ts";

/** A fact that was written, or a delta that was streamed. */
export type RunEvent = { type: "fact"; fact: Fact } | { type: "delta"; delta: Delta };

/** `pause` keeps the turn open, `cancel` ends it. */
export type InterruptOptions = { cancel?: boolean; by?: string };

/** `now` interrupts the step under way, and the turn goes on with the message; otherwise the next request to the model has it. */
export type SayOptions = { when?: "now" | "next"; by?: string };

/** A run under way: await its result, iterate its facts and deltas. Earlier facts come first; without a reader nothing is kept. */
export type Run<Result = AgentOutcome, Event = RunEvent> = Promise<Result> &
  AsyncIterable<Event> & {
    readonly session: string;
    /** Pauses the turn, which goes on with `resume` or with the next message; `cancel: true` ends it. A request that waits is cancelled. */
    interrupt(options?: InterruptOptions): Promise<"pause" | "cancel" | "now" | "nothing">;
    /** A word to the turn that runs. */
    say(text: string, options?: SayOptions): Promise<void>;
  };

type RunParts<Result, Event> = {
  store: Store;
  host(): Host;
  session: string;
  /** The newest fact before the run began, by its seq. */
  after: number;
  result: Promise<Result>;
  /** Fulfilled when the turn has begun, or never will: an interrupt before that would find nothing to stop. */
  begun: Promise<void>;
  /** Throws when the journal cannot be read any more. */
  checkOpen(): void;
  /** Told after the last fact. */
  last?(result: Result): Event[];
};

export function createRun<Result, Event = RunEvent>(parts: RunParts<Result, Event | RunEvent>): Run<Result, Event> {
  const { session, result, host, begun } = parts;
  return Object.assign(result, {
    session,
    async interrupt(options: InterruptOptions = {}) {
      const { cancel = false, by = "caller" } = checkOptions("interrupt", options);
      await begun;
      parts.checkOpen();
      const reply = await host().send({ type: "interrupt", session, cancel, by, surface: "sdk" });
      if (reply.ok) return reply.to;
      throw errorOf(reply);
    },
    async say(text: string, options: SayOptions = {}) {
      const { when = "next", by = "caller" } = checkOptions("say", options);
      await begun;
      parts.checkOpen();
      const reply = await host().send({ type: "say", session, text, when, by, surface: "sdk" });
      if (!reply.ok) throw errorOf(reply);
    },
    [Symbol.asyncIterator]: () => eventsOf(parts) as AsyncGenerator<Event>,
  });
}

/** Ends when the run does, and throws what the run rejects with. */
async function* eventsOf<Result, Event>(parts: RunParts<Result, Event>): AsyncGenerator<RunEvent | Event> {
  const { store, session, after, result, last } = parts;
  parts.checkOpen();
  const queue = createEventQueue();
  // Listen before the first read, so that nothing falls between.
  const stop = store.hub.subscribe(session, {
    fact: (fact) => queue.push({ type: "fact", fact }),
    delta: (delta) => queue.push({ type: "delta", delta }),
  });
  let isOver = false;
  const end = () => {
    isOver = true;
    queue.wake();
  };
  result.then(end, end);
  let told = after;
  try {
    for (const fact of store.since(session, after)) {
      told = fact.seq;
      yield { type: "fact", fact };
    }
    for (;;) {
      for (const event of queue.take()) {
        if (event.type === "delta") yield event;
        else if (event.type === "fact" && event.fact.seq > told) {
          told = event.fact.seq;
          yield event;
        }
      }
      if (isOver && queue.size === 0) break;
      await queue.more();
    }
    yield* last?.(await result) ?? [];
    await result;
  } finally {
    stop();
  }
}
