import { connect } from "node:net";
import {
  errorOf,
  reason,
  refusalOf,
  type Command,
  type CommandReply,
  type Host,
  type Refused,
  type SageError,
  type WatchEvent,
} from "../../protocol/index.ts";
import { createEventQueue, type EventQueue } from "./event-queue.ts";
import { parseSaid, type Call } from "./messages.ts";
import { createWire } from "./wire.ts";
import { errorBecause } from "../../texts/error.ts";

/** The host of another process on this machine. */
export type RemoteHost = Host & {
  /** Aborted when that process, or the connection, is gone. */
  readonly over: AbortSignal;
  close(): void;
};

/** Rejects when nobody answers there: a process that is frozen accepts, and says nothing. */
export function connectHost(address: string, signal: AbortSignal): Promise<RemoteHost> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    socket.unref();
    const replies = new Map<number, (reply: CommandReply) => void>();
    const watches = new Map<number, EventQueue & { end(error?: Error): void }>();
    let last = 0;
    const wire = createWire(socket, (message) => {
      const said = parseSaid(message);
      if ("hello" in said) return welcome();
      if ("event" in said) return watches.get(said.id)?.push(said.event);
      if ("reply" in said) {
        replies.get(said.id)?.(said.reply as CommandReply);
        replies.delete(said.id);
        return undefined;
      }
      return watches.get(said.id)?.end(said.ended === null ? undefined : failureOf(said.ended));
    });
    const give = () => wire.close();
    signal.addEventListener("abort", give, { once: true });
    if (signal.aborted) wire.close();
    wire.over.addEventListener("abort", () => {
      signal.removeEventListener("abort", give);
      reject(gone());
      for (const done of replies.values()) done(refusalOf(gone()));
      replies.clear();
      for (const watch of watches.values()) watch.end(gone());
    });
    const ask = (call: Call) => void wire.send(call);

    function welcome(): void {
      signal.removeEventListener("abort", give);
      resolve({ over: wire.over, close: () => wire.close(), send, watch });
    }

    function send<C extends Command>(command: C): Promise<CommandReply<C["type"]>> {
      const id = ++last;
      if (wire.over.aborted) return Promise.resolve(refusalOf(gone()));
      return new Promise((done) => {
        replies.set(id, done as (reply: CommandReply) => void);
        ask({ do: "send", id, command });
      });
    }

    async function* watch(
      session: string,
      options: { after?: number; signal: AbortSignal },
    ): AsyncGenerator<WatchEvent> {
      const id = ++last;
      const { after, signal: leaving } = options;
      if (wire.over.aborted) throw gone();
      const queue = createEventQueue();
      let ended: { error?: Error } | undefined;
      const end = (error?: Error) => {
        ended ??= error ? { error } : {};
        queue.wake();
      };
      const leave = () => queue.wake();
      watches.set(id, { ...queue, end });
      leaving.addEventListener("abort", leave, { once: true });
      ask({ do: "watch", id, session, ...(after !== undefined && { after }) });
      try {
        while (!leaving.aborted) {
          for (const event of queue.take()) {
            yield event;
            if (leaving.aborted) return;
          }
          if (!queue.isEmpty()) continue;
          if (ended?.error) throw ended.error;
          if (ended) return;
          await queue.more();
        }
      } finally {
        leaving.removeEventListener("abort", leave);
        watches.delete(id);
        if (!ended && !wire.over.aborted) ask({ do: "unwatch", id });
      }
    }
  });
}

function failureOf(ended: Refused | string): SageError {
  return errorOf(typeof ended === "string" ? { ok: false, code: "host-gone", message: ended } : ended);
}

function gone(): SageError {
  return errorBecause("host-gone", reason("process-unreachable", {}));
}
