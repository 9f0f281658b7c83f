import type { Command, CommandReply, Host, InboxEvent, WatchEvent } from "../protocol/host/host.ts";
import { errorOf, refusalOf } from "../protocol/host/refusal.ts";
import { reason, type Reason, SageError } from "../protocol/reasons/reason.ts";
import { createEventQueue, type EventQueue } from "./event-queue.ts";
import { protocols, readSaid, type Call, type Hello, type HelloFrame, type Welcome } from "./frames.ts";
import { closeCodes, closedBy, type Closed, type OpenWire, type Wire } from "./wire.ts";

/** A host at the other end of one wire; it ends with the wire. */
export type RemoteHost = Host & {
  readonly welcome: Welcome;
  /** Aborted when the host, or the connection, is gone. */
  readonly over: AbortSignal;
  /** As `send`. Undefined: the wire ended before the reply came. `until`: the host's clock, after which it refuses. */
  ask<C extends Command>(command: C, until?: number): Promise<CommandReply<C["type"]> | undefined>;
  close(): void;
};

type ClientOptions = {
  hello: Omit<Hello, "protocols">;
  key?: string;
  signal: AbortSignal;
  /** Why commands are refused once the wire is over. */
  lost?: Reason;
  /** Told of every frame: the other side lives. */
  heard?(): void;
};

type Events = WatchEvent | InboxEvent;

/** Rejects with the `Closed` of the wire when nobody answers there: a process that is frozen accepts, and says nothing. */
export function connectHost(open: OpenWire, options: ClientOptions): Promise<RemoteHost> {
  const { hello, key, signal, lost = reason("host-unreachable", {}), heard = () => {} } = options;
  return new Promise((resolve, reject) => {
    const replies = new Map<number, (reply: CommandReply | undefined) => void>();
    const watches = new Map<number, EventQueue<Events> & { end(error?: SageError): void }>();
    let last = 0;
    const gone = () => new SageError("host-gone", lost);
    const wire: Wire = open((frame) => {
      heard();
      const said = readSaid(frame);
      if (!said || "beat" in said) return;
      if ("hello" in said) return welcomed(said);
      if ("event" in said) return watches.get(said.id)?.push(said.event);
      if ("ended" in said) return watches.get(said.id)?.end(said.ended === null ? undefined : errorOf(said.ended));
      replies.get(said.id)?.(said.reply as CommandReply);
      replies.delete(said.id);
    });
    const giveUp = () => wire.close();
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) wire.close();
    const end = () => {
      signal.removeEventListener("abort", giveUp);
      reject(new LinkClosed(closedBy(wire.over)));
      for (const done of replies.values()) done(undefined);
      replies.clear();
      for (const watch of watches.values()) watch.end(gone());
    };
    wire.over.addEventListener("abort", end, { once: true });
    if (wire.over.aborted) end();
    else void wire.send({ hello: { protocols, ...hello }, ...(key !== undefined && { key }) } satisfies HelloFrame);
    const call = (frame: Call) => void wire.send(frame);

    function welcomed(welcome: Welcome): void {
      if (!protocols.includes(welcome.hello)) return wire.close(closeCodes.noCommonProtocol);
      signal.removeEventListener("abort", giveUp);
      resolve({ welcome, over: wire.over, close: () => wire.close(), ask, send, watch, inbox });
    }

    async function send<C extends Command>(command: C): Promise<CommandReply<C["type"]>> {
      return (await ask(command)) ?? refusalOf(gone());
    }

    function ask<C extends Command>(command: C, until?: number): Promise<CommandReply<C["type"]> | undefined> {
      const id = ++last;
      if (wire.over.aborted) return Promise.resolve(undefined);
      return new Promise((done) => {
        replies.set(id, done as (reply: CommandReply | undefined) => void);
        call({ do: "send", id, command, ...(until !== undefined && { until }) });
      });
    }

    function watch(session: string, { after, last: turns, signal: leaving }: Parameters<Host["watch"]>[1]) {
      const from = after !== undefined ? { after } : turns !== undefined ? { last: turns } : {};
      return events<WatchEvent>((id) => ({ do: "watch", id, session, ...from }), leaving);
    }

    function inbox({ signal: leaving }: { signal: AbortSignal }) {
      return events<InboxEvent>((id) => ({ do: "inbox", id }), leaving);
    }

    async function* events<E extends Events>(begin: (id: number) => Call, leaving: AbortSignal): AsyncGenerator<E> {
      const id = ++last;
      if (wire.over.aborted) throw gone();
      const queue = createEventQueue<Events>();
      let ended: { error?: SageError } | undefined;
      const end = (error?: SageError) => {
        ended ??= error ? { error } : {};
        queue.wake();
      };
      watches.set(id, Object.assign(queue, { end }));
      leaving.addEventListener("abort", queue.wake, { once: true });
      call(begin(id));
      try {
        while (!leaving.aborted) {
          for (const event of queue.take()) {
            yield event as E;
            if (leaving.aborted) return;
          }
          if (queue.size > 0) continue;
          if (ended?.error) throw ended.error;
          if (ended) return;
          await queue.more();
        }
      } finally {
        leaving.removeEventListener("abort", queue.wake);
        watches.delete(id);
        if (!ended && !wire.over.aborted) call({ do: "unwatch", id });
      }
    }
  });
}

/** The connection ended before the host's hello. */
export class LinkClosed extends Error {
  override readonly name = "LinkClosed";
  readonly closed: Closed;
  constructor(closed: Closed) {
    super(`the connection was closed (${closed.code}) ${closed.why}`.trim());
    this.closed = closed;
  }
}
