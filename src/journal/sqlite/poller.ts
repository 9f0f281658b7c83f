import type { Fact } from "../../protocol/facts/fact.ts";
import { requestId, withoutEnd } from "../../protocol/key.ts";
import type { Database } from "../database/database.ts";
import { createHub, type Hub } from "../store/hub.ts";
import { stored, whole, type Row } from "../database/row.ts";

const POLL_MS = 25;

/**
 * A hub that also hears what other processes write. `data_version` moves only when another connection has committed, so a quiet
 * poll costs microseconds.
 */
export function createPoller({ all }: Pick<Database, "all">): { hub: Hub; stop(): void } {
  // This timer alone keeps a process alive that only waits for an answer from elsewhere.
  let timer: NodeJS.Timeout | undefined;
  let version = 0;
  /** Facts up to this seq are told, or about to be. */
  let last = 0;

  const readUpTo = (seq: number): Fact[] => {
    const rows = all<Row>("SELECT seq, session, key, type FROM fact WHERE seq>? AND seq<=? ORDER BY seq", last, seq);
    const wanted = rows.flatMap((row) => {
      if (!hub.cares(row.session, requestId(row.session, withoutEnd(row.key)), row.type)) return [];
      return all<Row>("SELECT * FROM fact WHERE seq=?", row.seq).map((found) => stored(whole(all, found)));
    });
    last = Math.max(last, seq); // only now: a read that failed is repeated
    return wanted;
  };
  const look = () => {
    let news: Fact[];
    try {
      const now = dataVersion(all);
      if (now === version) return;
      news = readUpTo(newestSeq(all));
      version = now;
    } catch {
      return; // the disk failed for a moment: look again next time
    }
    hub.tell(news);
  };
  const hub = createHub({
    interest(interested) {
      clearInterval(timer);
      timer = interested ? setInterval(look, POLL_MS) : undefined;
      if (interested) [version, last] = [dataVersion(all), newestSeq(all)];
    },
    before(facts) {
      const [first, end] = [facts[0]?.seq ?? 0, facts.at(-1)?.seq ?? 0];
      try {
        const others = timer && first > last + 1 ? readUpTo(first - 1) : [];
        last = Math.max(last, end);
        return others;
      } catch {
        version = -1; // the disk failed for a moment: the next look tells these facts with the others
        return undefined;
      }
    },
  });
  return { hub, stop: () => clearInterval(timer) };
}

export function dataVersion(all: Database["all"]): number {
  return all<{ data_version: number }>("PRAGMA data_version")[0]?.data_version ?? 0;
}

export function newestSeq(all: Database["all"]): number {
  return all<{ n: number | null }>("SELECT max(seq) n FROM fact")[0]?.n ?? 0;
}
