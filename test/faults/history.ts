// Everything that was seen from outside while something went wrong. The checker reads this and the journal, and nothing else.
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { ToolInput } from "../../src/protocol/facts/call.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { callsOf, type Message } from "../../src/protocol/facts/message.ts";
import type { InputRequest, Resolution } from "../../src/protocol/facts/request.ts";
import type { CommandReply } from "../../src/protocol/host/host.ts";

/** `n` orders all observations; `mono` is the true time that has passed, `wall` what the clock on the wall says. */
export type Event = { n: number; mono: number; wall: number; process: string } & Observation;

export type Observation =
  | { type: "booted" }
  | { type: "crashed" }
  /** It has not been heard of for so long that it counts as gone. */
  | { type: "silenced" }
  /** Acknowledged to whoever wrote it. Without an epoch it was an inbound fact. */
  | { type: "committed"; session: string; epoch: number | undefined; facts: Written[] }
  /** Somebody in this process was told of a fact. `durable`: another connection saw it then. */
  | { type: "heard"; session: string; key: string; durable: boolean }
  /** A surface has all facts up to `knows`, and these requests to show, in this order. */
  | { type: "ready"; surface: string; session: string; knows: number; durable: number; requests: string[] }
  /** A surface puts a request before the person. */
  | { type: "shown"; surface: string; session: string; request: string; durable: boolean; open: string[] }
  /** A surface sent something and was told something. No reply: it never came, so nobody knows. */
  | { type: "answered"; surface: string; response: InputResponse; reply: CommandReply<"respond"> | undefined }
  /** Somebody spoke. Where no reply came it may or may not be on disk. */
  | { type: "said"; session: string }
  /** The world was changed. `durable`: the newest fact on disk at that moment; not known where a real process did it. */
  | { type: "executed"; session: string; mark: string; tool: string; input: ToolInput; durable?: number }
  /** The root's model was asked, and everything it was told was on disk. */
  | { type: "prompted"; session: string; step: number; saw: number; prompt: string }
  /** Nothing happens by itself any more. */
  | { type: "settled"; session: string; running: boolean; listed: string[]; waiting: string[] }
  /** The session as a new process finds it after it has recovered. */
  | { type: "recovered"; session: string; state: string }
  | { type: "ended"; session: string; status: string; messages: Message[] };

export type Written = { seq: number; key: string; type: Fact["type"]; data: string };

export type History = {
  events: readonly Event[];
  /** The journal as it is at the end, by session. */
  journal: ReadonlyMap<string, readonly Fact[]>;
  /** Sessions whose hash chain does not hold, with the record. */
  broken: ReadonlyMap<string, string>;
  /** Open requests as the index lists them at the end. */
  listed: readonly string[];
  /** Every fault is over and everybody was answered: every turn must have ended. */
  over: boolean;
};

export type Violation = { invariant: `I${number}`; what: string };

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

export function eventsOf<T extends Event["type"]>({ events }: History, type: T): Of<T>[] {
  return events.filter((event): event is Of<T> => event.type === type);
}

export type Asked = { request: InputRequest; seq: number; resolution: Resolution | undefined; resolvedSeq: number };

export function requestsOf({ journal }: History): Map<string, Asked> {
  const asked = new Map<string, Asked>();
  for (const facts of journal.values())
    for (const fact of facts) {
      if (fact.type === "input.requested")
        asked.set(fact.data.id, { request: fact.data, seq: fact.seq, resolution: undefined, resolvedSeq: Infinity });
      const one = fact.type === "input.resolved" ? asked.get(fact.data.requestId) : undefined;
      if (one && !one.resolution && fact.type === "input.resolved")
        [one.resolution, one.resolvedSeq] = [plain(fact.data), fact.seq];
    }
  return asked;
}

/** A tool of a test has its mark; a real command leaves it in a file. */
function markOf({ mark, command }: ToolInput): string | undefined {
  if (typeof mark === "string") return mark;
  return typeof command === "string" ? /^echo (\S+) >> witness\b/.exec(command)?.[1] : undefined;
}

/** The calls of a session by the mark in their input, with the key of each. */
export function markedCalls(facts: readonly Fact[]): Map<string, { key: string; input: Record<string, unknown> }> {
  const calls = new Map<string, { key: string; input: Record<string, unknown> }>();
  for (const fact of facts)
    if (fact.type === "model.replied")
      callsOf(fact.data).forEach(({ input }, n) => {
        const mark = markOf(input);
        if (mark !== undefined) calls.set(mark, { key: fact.key.replace(/model$/, `${n}`), input });
      });
  return calls;
}

export function broken(invariant: Violation["invariant"], what: string): Violation {
  return { invariant, what };
}

export function plain<T>(value: T): T {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T);
}
