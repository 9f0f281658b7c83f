import type { Queues } from "../api/queues.ts";

/** Changes of messages and cards of which only the newest version matters. */
export type Drawing = {
  /** Sends a change, unless a newer one with this name is wanted by then. `moot` says so while it is sent. */
  draw(name: string, queue: string, work: (moot: () => boolean) => Promise<void>): Promise<void>;
  /** Skips a pending change: something newer is shown already. */
  drop(name: string): void;
};

export function createDrawing(queues: Queues): Drawing {
  /** Newest requested version of each message or text; older ones are skipped. */
  const newest = new Map<string, number>();
  let count = 0;

  const draw: Drawing["draw"] = (name, queue, work) => {
    const mine = ++count;
    newest.set(name, mine);
    const moot = () => newest.get(name) !== mine;
    return queues.run(queue, async () => {
      if (moot()) return;
      try {
        await work(moot);
      } finally {
        if (!moot()) newest.delete(name);
      }
    });
  };
  return { draw, drop: (name) => void newest.delete(name) };
}
