import { WebSocket } from "ws";
import { closeCodes, type Closed, type CloseCode, type Wire } from "../../remote/wire.ts";

/** Bytes on their way to a reader above which senders wait. */
const MAX_WAITING = 1024 * 1024;
/** A reader stalled for this long is disconnected; when it reconnects, it gets what it missed. */
const STALLED_MS = 30_000;
/** A WebSocket whose peer does not answer the close is terminated anyway. */
const GOODBYE_MS = 1_000;
/** A dead connection is noticed by two pings without an answer. */
const PING_MS = 20_000;
/** Bytes of a close frame's reason, by the standard. */
const MAX_WHY_LENGTH = 123;

export type WebWireOptions = { mostWaiting?: number; stalledMs?: number; pingMs?: number };

/** Frames over a WebSocket, on either side of it. */
export function webWire(
  socket: WebSocket,
  hear: (frame: unknown) => void,
  { mostWaiting = MAX_WAITING, stalledMs = STALLED_MS, pingMs = PING_MS }: WebWireOptions = {},
): Wire {
  const over = new AbortController();
  const early: object[] = [];
  let answered = true;
  let drained: { promise: Promise<void>; resolve(): void } | undefined;
  let stalled: NodeJS.Timeout | undefined;

  const close = (code?: CloseCode, why = "") => {
    if (over.signal.aborted) return;
    if (socket.readyState === WebSocket.CONNECTING) {
      end({ code: code ?? 1006, why });
      return socket.terminate();
    }
    socket.close(code ?? 1000, Buffer.from(why).subarray(0, MAX_WHY_LENGTH).toString("utf8").replace(/�$/u, ""));
    // Ignore further frames, and do not wait for a peer that never closes.
    end({ code: code ?? 1000, why });
    setTimeout(() => socket.terminate(), GOODBYE_MS).unref();
  };
  const end = (closed: Closed) => {
    clearInterval(pings);
    clearTimeout(stalled);
    drained?.resolve();
    if (!over.signal.aborted) over.abort(closed);
  };
  const pings = setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, pingMs).unref();
  socket.on("pong", () => (answered = true));
  socket.on("open", () => {
    for (const frame of early.splice(0)) void send(frame);
  });
  socket.on("message", (data, isBinary) => {
    answered = true;
    if (over.signal.aborted) return;
    try {
      if (isBinary) throw new Error("a frame should be text");
      hear(JSON.parse((data as Buffer).toString("utf8")));
    } catch {
      close(closeCodes.notUnderstood);
    }
  });
  socket.on("error", () => socket.terminate()); // a close follows, and says all there is to say
  socket.on("close", (code, why) => end({ code, why: why.toString("utf8") }));

  const progress = () => {
    clearTimeout(stalled);
    stalled = undefined;
    if (!drained) return;
    if (socket.bufferedAmount <= mostWaiting) {
      drained.resolve();
      drained = undefined;
    } else stalled = setTimeout(() => close(closeCodes.tooSlow), stalledMs).unref();
  };
  const send = (frame: object): Promise<void> | undefined => {
    if (over.signal.aborted) return undefined;
    if (socket.readyState === WebSocket.CONNECTING) return void early.push(frame);
    if (socket.readyState !== WebSocket.OPEN) return undefined;
    socket.send(JSON.stringify(frame), progress);
    if (socket.bufferedAmount <= mostWaiting) return undefined;
    drained ??= Promise.withResolvers<void>();
    stalled ??= setTimeout(() => close(closeCodes.tooSlow), stalledMs).unref();
    return drained.promise;
  };
  return { over: over.signal, close, send };
}
