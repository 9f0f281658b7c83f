import { resolvedKey, seenBy, splitRequestId, type Fact } from "../protocol/index.ts";
import type { Database } from "./database.ts";
import { stored, whole, type Row } from "./row.ts";

/** Differences between the index of open requests and the facts. */
export type IndexState = { /** Open, and not listed. */ missing: number; /** Listed, and not open. */ stale: number };

/** Work that a killed process left: a call without an end, a message that no turn has taken up. */
export type LeftBehind = { call: boolean; message: boolean };

/**
 * Lists that could be read off the facts, which would take too long: open requests, sessions with an open turn, titles.
 * The facts are the truth; in doubt the lists are thrown away and made again from them.
 */
export function createIndexes({ q, all, write }: Pick<Database, "q" | "all" | "write">) {
  /** True when a turn ends with a message that no reply of it has seen. Most turns had none since they began. */
  const isUnheard = (session: string): boolean => {
    const newest = (which: string) =>
      all<Row>(`SELECT * FROM fact WHERE session=? AND ${which} ORDER BY seq DESC LIMIT 1`, session)[0];
    const said = newest("key>='said/' AND key<'said0'");
    const saw = (row: Row | undefined) => (row ? seenBy(stored(whole(all, row))) : 0);
    if (!said || said.seq <= saw(newest("key>='t' AND key<'u' AND type='turn.begun'"))) return false;
    return said.seq > saw(newest("key>='t' AND key<'u' AND type='model.replied'"));
  };
  return {
    /** In the transaction of the fact itself. */
    index(fact: Fact): void {
      switch (fact.type) {
        case "input.requested":
          q("INSERT INTO ask VALUES(?,?,?)").run(fact.seq, fact.session, fact.key);
          break;
        case "input.resolved":
          q("DELETE FROM ask WHERE session=? AND key=?").run(fact.session, splitRequestId(fact.data.requestId).key);
          break;
        case "turn.begun":
          q("UPDATE session SET open=1 WHERE id=?").run(fact.session);
          break;
        case "turn.ended":
          q("UPDATE session SET open=? WHERE id=?").run(isUnheard(fact.session) ? UNHEARD : 0, fact.session);
          break;
        case "user.said":
          q(`UPDATE session SET open=${UNHEARD} WHERE id=? AND open=0`).run(fact.session);
          q("UPDATE session SET title=? WHERE id=? AND title=''").run(fact.data.text.slice(0, 200), fact.session);
          break;
        case "session.titled":
          q("UPDATE session SET title=? WHERE id=?").run(fact.data.title, fact.session);
          break;
        default:
      }
    },
    look(): IndexState {
      const count = (sql: string) => all<{ n: number }>(`SELECT count(*) n FROM (${sql})`)[0]?.n ?? 0;
      return {
        missing: count(`${openRequests} EXCEPT SELECT seq, session, key FROM ask`),
        stale: count(`SELECT seq, session, key FROM ask EXCEPT ${openRequests}`),
      };
    },
    /** Read off the keys alone: ten thousand sessions are asked when a process starts. */
    leftBehind(session: string): LeftBehind {
      const of = "FROM fact f WHERE session=?";
      const begun = `SELECT 1 ${of} AND key>='t' AND key<'u' AND key LIKE '%.started' AND NOT EXISTS
        (SELECT 1 FROM fact WHERE session=f.session AND key=substr(f.key, 1, length(f.key)-8)||'.finished') LIMIT 1`;
      const newest = (keys: string) =>
        all<{ n: number | null }>(`SELECT max(seq) n ${of} AND ${keys}`, session)[0]?.n ?? 0;
      return {
        call: all(begun, session).length > 0,
        message: newest("key>='said/' AND key<'said0'") > newest("key>='t' AND key<'u' AND key NOT LIKE '%/%'"),
      };
    },
    /** Corrects the list of one session while it is opened, for then its facts are read anyway. */
    mend(session: string, facts: readonly { key: string; type: string }[]): void {
      const ended = new Set(facts.flatMap(({ key, type }) => (type === "input.resolved" ? [key] : [])));
      const open = facts.filter(({ key, type }) => type === "input.requested" && !ended.has(resolvedKey(key)));
      const listed = new Set(
        all<{ key: string }>("SELECT key FROM ask WHERE session=?", session).map(({ key }) => key),
      );
      if (open.length === listed.size && open.every(({ key }) => listed.has(key))) return;
      write(() => {
        q("DELETE FROM ask WHERE session=?").run(session);
        q(`INSERT INTO ask ${openRequests} AND session=?`).run(session);
      });
    },
    rebuild: () =>
      write(() => {
        q("DELETE FROM ask").run();
        q(`INSERT INTO ask ${openRequests}`).run();
        q(`UPDATE session SET open=${turnIsOpen}`).run();
        for (const { id } of all<{ id: string }>("SELECT id FROM session WHERE open=0"))
          if (isUnheard(id)) q(`UPDATE session SET open=${UNHEARD} WHERE id=?`).run(id);
      }),
  };
}

/** In the column `open`: no turn is open, and a message waits for one. 1: a turn is open. 0: neither. */
export const UNHEARD = 2;

/** An answer lies under its request's key, with `.resolved` behind it: see `protocol/key.ts`. */
export const openRequests = `SELECT seq, session, key FROM fact f WHERE type='input.requested'
  AND NOT EXISTS (SELECT 1 FROM fact WHERE session=f.session AND key=f.key||'.resolved')`;

const turnIsOpen = `coalesce((SELECT type='turn.begun' FROM fact WHERE session=id AND type IN ('turn.begun','turn.ended')
  ORDER BY seq DESC LIMIT 1), 0)`;
