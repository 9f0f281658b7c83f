import { requestId, withoutEnd, type Fact } from "../protocol/index.ts";
import type { Database } from "./database.ts";
import { createHub, type Hub } from "./hub.ts";
import { stored, whole, type Row } from "./row.ts";

const POLL_MS = 25;

export type Poller = {
  hub: Hub;
  /** Tells facts that this process has just committed. */
  tell(facts: readonly Fact[]): void;
  stop(): void;
};

/**
 * Brings facts to the hub in the order of their seq, this process's own among those of others: whoever hears of a fact has
 * heard of all before it. `data_version` moves only when another connection has committed, so a quiet poll costs microseconds.
 */
export function createPoller({ all }: Pick<Database, "all">): Poller {
  // This timer alone keeps a process alive that only waits for an answer from elsewhere.
  let timer: NodeJS.Timeout | undefined;
  const hub = createHub((interested) => {
    clearInterval(timer);
    timer = interested ? setInterval(look, POLL_MS) : undefined;
    if (interested) [version, last] = [dataVersion(all), newestSeq(all)];
  });
  let version = 0;
  /** Facts up to this seq are told, or wait in `news`. */
  let last = 0;
  const news: Fact[] = [];
  let telling = false;

  const deliver = () => {
    if (telling) return; // a listener may write in answer: its fact comes after this one
    telling = true;
    try {
      for (let fact = news.shift(); fact; fact = news.shift()) hub.fact(fact);
    } finally {
      telling = false;
    }
  };
  const readUpTo = (seq: number) => {
    const rows = all<Row>("SELECT seq, session, key FROM fact WHERE seq>? AND seq<=? ORDER BY seq", last, seq);
    const wanted = rows.flatMap((row) => {
      if (!hub.cares(row.session, requestId(row.session, withoutEnd(row.key)))) return [];
      return all<Row>("SELECT * FROM fact WHERE seq=?", row.seq).map((found) => stored(whole(all, found)));
    });
    last = Math.max(last, seq); // only now: a read that failed is repeated
    news.push(...wanted);
  };
  const look = () => {
    try {
      const now = dataVersion(all);
      if (now === version) return;
      readUpTo(newestSeq(all));
      version = now;
    } catch {
      return; // the disk failed for a moment: look again next time
    }
    deliver();
  };

  return {
    hub,
    tell(facts) {
      const [first, end] = [facts[0]?.seq ?? 0, facts.at(-1)?.seq ?? 0];
      try {
        if (timer && first > last + 1) readUpTo(first - 1);
      } catch {
        version = -1; // the disk failed for a moment: the next look tells these facts with the others
        return;
      }
      last = Math.max(last, end);
      news.push(...facts);
      deliver();
    },
    stop: () => clearInterval(timer),
  };
}

export function dataVersion(all: Database["all"]): number {
  return all<{ data_version: number }>("PRAGMA data_version")[0]?.data_version ?? 0;
}

export function newestSeq(all: Database["all"]): number {
  return all<{ n: number | null }>("SELECT max(seq) n FROM fact")[0]?.n ?? 0;
}
