import type { Socket } from "node:net";
import type { Closed, Wire } from "../../remote/wire.ts";

/** Longer than any frame of ours: a peer that sends such a line is disconnected. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** A reader stalled for this long is disconnected; when it reconnects, it gets what it missed. */
const STALLED_MS = 30_000;

/**
 * Frames over a socket between processes, one per line. There are no close codes: a disconnected client learns the reason when it redials.
 */
export function lineWire(
  socket: Socket,
  hear: (frame: unknown) => void,
  { longest = MAX_LINE_BYTES }: { /** Bytes. */ longest?: number } = {},
): Wire {
  const over = new AbortController();
  let parts: Buffer[] = [];
  let length = 0;
  const line = (bytes: Buffer) => {
    if (bytes.length > 0) hear(JSON.parse(bytes.toString("utf8")));
  };
  const take = (bytes: Buffer) => {
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      const rest = bytes.subarray(from, end);
      line(length === 0 ? rest : Buffer.concat([...parts, rest]));
      [parts, length, from] = [[], 0, end + 1];
    }
    if (from === bytes.length) return;
    parts.push(bytes.subarray(from));
    length += bytes.length - from;
    if (length > longest) throw new Error("a line is too long");
  };
  socket.on("data", (bytes: Buffer) => {
    try {
      if (!over.signal.aborted) take(bytes);
    } catch {
      socket.destroy();
    }
  });
  socket.on("error", () => socket.destroy()); // a close follows, and says all there is to say
  socket.on("close", () => over.abort({ code: 1006, why: "" } satisfies Closed));
  let drained: Promise<void> | undefined;
  return {
    over: over.signal,
    close: () => socket.destroy(),
    send(frame) {
      if (over.signal.aborted || socket.write(`${JSON.stringify(frame)}\n`)) return undefined;
      return (drained ??= new Promise((resolve) => {
        const stalled = setTimeout(() => socket.destroy(), STALLED_MS).unref();
        const done = () => {
          clearTimeout(stalled);
          socket.off("drain", done).off("close", done);
          drained = undefined;
          resolve();
        };
        socket.on("drain", done).on("close", done);
      }));
    },
  };
}
