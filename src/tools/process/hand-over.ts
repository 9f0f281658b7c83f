import { closeSync, constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import type { Kept } from "./spawn.ts";

/** Bytes that are read here, and kept in memory, before the keeper is asked earlier. */
const MAX_HEAD_BYTES = 1024 * 1024;
const AGAIN_MS = 50;
/** A process that left the command's group may hold the pipe for as long as it likes. */
const HELD_MS = 2_000;

/** The output of a command that its keeper may take over: from the pipe until then, from the keeper's file afterwards. */
export type HandOver = {
  output: Readable;
  /** True once the keeper has it. */
  isKept(): boolean;
  begun(): void;
  /** The keeper has taken it. */
  taken(): void;
  /** The keeper cannot take it. */
  refused(): void;
  /** The command is over. */
  over(): void;
};

/**
 * `here`: this process reads the pipe. `asked`: nobody does; what was read lies in the file to which the keeper will add, and the pipe is
 * held open meanwhile. `kept`: the keeper copies. No byte is read twice, or by nobody.
 */
export function createHandOver(
  pipe: string,
  first: Socket,
  { follow, afterMs, enter }: Pick<Kept, "follow"> & Pick<NonNullable<Kept["late"]>, "afterMs" | "enter">,
  { ask, taken, ended }: { ask(): void; taken(): void; ended: Promise<unknown> },
): HandOver {
  let state: "here" | "asked" | "kept" = "here";
  /** Undefined once it cannot be handed over any more. */
  let head: Buffer[] | undefined = [];
  let bytes = 0;
  let holder: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let socket = first;
  let wake = () => {};
  const output = new Readable({
    read() {
      socket.resume();
      wake();
    },
    destroy(error, done) {
      clearTimeout(timer);
      socket.destroy();
      done(error);
    },
  });
  const listen = () => {
    socket.on("data", (chunk: Buffer) => {
      head?.push(chunk);
      bytes += chunk.length;
      if (!output.push(chunk)) socket.pause();
      if (bytes > MAX_HEAD_BYTES) handOver();
    });
    socket.once("end", () => {
      clearTimeout(timer);
      output.push(null);
    });
    socket.on("error", (error) => output.destroy(error));
  };
  listen();

  // Without a pause: nothing may be read between the file and the keeper.
  const handOver = () => {
    if (state !== "here" || !head || socket.readableEnded || socket.destroyed) return;
    clearTimeout(timer);
    state = "asked";
    while (socket.read() !== null); // heard as data
    const read = Buffer.concat(head);
    head = undefined;
    try {
      holder = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
      enter(read);
    } catch {
      // A full disk, no descriptors, or another process has the session: it is read here to its end, and nobody keeps it.
      if (holder !== undefined) closeSync(holder);
      state = "here";
      return;
    }
    socket.destroy();
    ask();
    timer = setInterval(ask, AGAIN_MS);
  };
  /** The keeper has not taken it. */
  const takeBack = () => {
    if (state !== "asked") return;
    clearTimeout(timer);
    state = "here";
    socket = new Socket({ fd: holder!, writable: false });
    listen();
    socket.resume();
  };
  const giveUp = () => {
    socket.destroy();
    output.push(null);
  };
  return {
    output,
    isKept: () => state === "kept",
    begun: () => void (timer = setTimeout(handOver, afterMs)),
    taken() {
      if (state !== "asked") return;
      clearTimeout(timer);
      state = "kept";
      closeSync(holder!);
      taken();
      void carry(follow(ended, bytes), output, () => new Promise<void>((resolve) => (wake = resolve)));
    },
    refused: takeBack,
    over() {
      takeBack();
      clearTimeout(timer);
      if (state === "here" && !socket.readableEnded) timer = setTimeout(giveUp, HELD_MS).unref();
    },
  };
}

/** `wanted` waits until the reader wants more. */
async function carry(from: Readable, to: Readable, wanted: () => Promise<void>): Promise<void> {
  try {
    for await (const chunk of from) if (!to.push(chunk)) await wanted();
    to.push(null);
  } catch (error) {
    to.destroy(error as Error);
  }
}
