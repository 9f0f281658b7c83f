// The way from one process to the database, which can be cut: in the middle, or after the server has committed and before it says so.
import { mkdirSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";

export type Wire = {
  /** Of the folder in which the process finds the server's socket. */
  folder: string;
  /** Ends every connection. Gives how many there were. */
  cut(): number;
  /** Nothing comes through, either way, until the function that it gives is called. */
  hold(): () => void;
  /** Nothing comes through on the connections that there are, ever, and neither side is told. New ones are as good as any. */
  forget(): void;
  /** At the next commit, before the server hears of it or before its reply is heard, the connection ends. */
  arm(side: "before" | "after", sprung: () => void): () => void;
  close(): void;
};

const FILE = ".s.PGSQL.5432";

/** `commits`: what a commit has in it. */
export async function openWire(folder: string, server: string, commits: readonly string[]): Promise<Wire> {
  mkdirSync(folder, { recursive: true });
  const pairs = new Set<[Socket, Socket]>();
  let trap: { side: "before" | "after"; sprung: () => void } | undefined;
  let held = 0;
  const listening = createServer((near) => {
    const far = createConnection(join(server, FILE));
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    let swallows: typeof trap;
    const end = () => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    const spring = (by: NonNullable<typeof trap>) => {
      end();
      by.sprung();
    };
    near.on("data", (chunk) => {
      if (!trap || !commits.some((text) => chunk.includes(text))) return void far.write(chunk);
      const sprung = trap;
      trap = undefined;
      if (sprung.side === "before") return spring(sprung);
      swallows = sprung;
      far.write(chunk);
    });
    far.on("data", (chunk) => (swallows ? spring(swallows) : void near.write(chunk)));
    for (const socket of pair) {
      socket.on("error", end).on("close", end);
      if (held > 0) socket.pause();
    }
  });
  await new Promise<void>((resolve) => listening.listen(join(folder, FILE), resolve));
  const all = () => [...pairs].flat();
  return {
    folder,
    cut() {
      const count = pairs.size;
      for (const socket of all()) socket.destroy();
      return count;
    },
    hold() {
      held++;
      for (const socket of all()) socket.pause();
      return () => {
        if (--held === 0) for (const socket of all()) socket.resume();
      };
    },
    forget() {
      for (const pair of pairs) for (const socket of pair) socket.pause().removeAllListeners("data");
    },
    arm(side, sprung) {
      const own = (trap = { side, sprung });
      return () => {
        if (trap === own) trap = undefined;
      };
    },
    close() {
      listening.close();
      for (const socket of all()) socket.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
