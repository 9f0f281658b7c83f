import type { Socket } from "node:net";

/** Nothing of ours is longer: a peer that sends such a line is disconnected. */
const LONGEST_LINE = 16 * 1024 * 1024;
/** A reader that takes nothing for so long is disconnected; it may come back, and is told what it missed. */
const STALLED_MS = 30_000;

/** Messages over a socket, one a line. */
export type Wire = {
  /** A promise when the other side is slow: what comes next should wait for it. */
  send(message: object): Promise<void> | undefined;
  /** Aborted when the connection is over, from whichever side. */
  readonly over: AbortSignal;
  close(): void;
};

/** A message that `hear` throws on ends the connection: the other side speaks something else. */
export function createWire(socket: Socket, hear: (message: unknown) => void): Wire {
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
    if (length > LONGEST_LINE) throw new Error("a line is too long");
  };
  socket.on("data", (bytes: Buffer) => {
    try {
      if (!over.signal.aborted) take(bytes);
    } catch {
      socket.destroy();
    }
  });
  socket.on("error", () => socket.destroy()); // a close follows, and says all there is to say
  socket.on("close", () => over.abort());
  let drained: Promise<void> | undefined;
  return {
    over: over.signal,
    close: () => socket.destroy(),
    send(message) {
      if (over.signal.aborted || socket.write(`${JSON.stringify(message)}\n`)) return undefined;
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
