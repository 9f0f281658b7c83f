import type { Fact } from "../../protocol/facts/fact.ts";
import { seenBy, unseenMessages } from "../../protocol/facts/unseen.ts";
import {
  finishedKey,
  resolvedKey,
  saidKeys,
  splitRequestId,
  startedKey,
  turnKeys,
  withdrawnKeys,
  type KeyRange,
} from "../../protocol/key.ts";
import type { Database } from "./database.ts";
import { stored, whole, type Row } from "./row.ts";

/** Differences between the index of open requests and the facts. */
export type IndexState = { /** Open, and not listed. */ missing: number; /** Listed, and not open. */ stale: number };

/** Open requests, open turns and titles, which take too long to read off the facts. In doubt they are made again from them. */
export function createIndexes({ prepared, all, write }: Pick<Database, "prepared" | "all" | "write">) {
  /** True when a turn ends with a message that no reply of it has seen. Most turns had none since they began. */
  const isUnheard = (session: string): boolean => {
    const rows = (which: string, after: number, order = "seq") =>
      all<Row>(`SELECT * FROM fact WHERE session=? AND seq>? AND ${which} ORDER BY ${order}`, session, after).map(
        (row) => stored(whole(all, row)),
      );
    const [begun] = rows(`${within(turnKeys)} AND type='turn.begun'`, 0, "seq DESC LIMIT 1");
    const heard = begun ? seenBy(begun) : 0;
    const said = rows(within(saidKeys), heard);
    const [first] = said;
    if (!first) return false;
    // Facts that decide about a message come after it.
    const since = rows(
      `(type IN ('model.replied','reply.interrupted','turn.ended') OR ${within(withdrawnKeys)})`,
      first.seq,
    );
    return unseenMessages([...said, ...since], heard).length > 0;
  };
  return {
    /** In the transaction of the fact itself. */
    index(fact: Fact): void {
      switch (fact.type) {
        case "input.requested":
          prepared("INSERT INTO ask VALUES(?,?,?)").run(fact.seq, fact.session, fact.key);
          break;
        case "input.resolved":
          prepared("DELETE FROM ask WHERE session=? AND key=?").run(
            fact.session,
            splitRequestId(fact.data.requestId).key,
          );
          break;
        case "workspace.made":
        case "session.moved":
          prepared("UPDATE session SET cwd=? WHERE id=?").run(fact.data.cwd, fact.session);
          break;
        case "turn.begun":
          prepared("UPDATE session SET open=1 WHERE id=?").run(fact.session);
          break;
        case "turn.ended":
          prepared("UPDATE session SET open=? WHERE id=?").run(isUnheard(fact.session) ? UNHEARD : 0, fact.session);
          break;
        case "message.withdrawn":
          if (!isUnheard(fact.session))
            prepared(`UPDATE session SET open=0 WHERE id=? AND open=${UNHEARD}`).run(fact.session);
          break;
        case "user.said":
          prepared(`UPDATE session SET open=${UNHEARD} WHERE id=? AND open=0`).run(fact.session);
          prepared("UPDATE session SET title=? WHERE id=? AND title=''").run(
            fact.data.text.slice(0, 200),
            fact.session,
          );
          break;
        case "session.titled":
          prepared("UPDATE session SET title=? WHERE id=?").run(fact.data.title, fact.session);
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
    leftCalls: (session: string): boolean =>
      all(`SELECT 1 FROM fact f WHERE session=? AND ${within(turnKeys)} AND ${startedWithoutEnd} LIMIT 1`, session)
        .length > 0,
    /** Corrects the list of one session while it is opened, for then its facts are read anyway. */
    mend(session: string, facts: readonly { key: string; type: string }[]): void {
      const ended = new Set(facts.flatMap(({ key, type }) => (type === "input.resolved" ? [key] : [])));
      const open = facts.filter(({ key, type }) => type === "input.requested" && !ended.has(resolvedKey(key)));
      const listed = new Set(
        all<{ key: string }>("SELECT key FROM ask WHERE session=?", session).map(({ key }) => key),
      );
      if (open.length === listed.size && open.every(({ key }) => listed.has(key))) return;
      write(() => {
        prepared("DELETE FROM ask WHERE session=?").run(session);
        prepared(`INSERT INTO ask ${openRequests} AND session=?`).run(session);
      });
    },
    rebuild: () =>
      write(() => {
        prepared("DELETE FROM ask").run();
        prepared(`INSERT INTO ask ${openRequests}`).run();
        prepared(`UPDATE session SET open=${turnIsOpen}`).run();
        for (const { id } of all<{ id: string }>("SELECT id FROM session WHERE open=0"))
          if (isUnheard(id)) prepared(`UPDATE session SET open=${UNHEARD} WHERE id=?`).run(id);
      }),
  };
}

/** In the column `open`: no turn is open, and a message waits for one. 1: a turn is open. 0: neither. */
export const UNHEARD = 2;

const within = ({ from, end }: KeyRange): string => `key>='${from}' AND key<'${end}'`;

const started = startedKey("");
const startedWithoutEnd = `key LIKE '%${started}' AND NOT EXISTS
  (SELECT 1 FROM fact WHERE session=f.session AND key=substr(f.key, 1, length(f.key)-${started.length})||'${finishedKey("")}')`;

export const openRequests = `SELECT seq, session, key FROM fact f WHERE type='input.requested'
  AND NOT EXISTS (SELECT 1 FROM fact WHERE session=f.session AND key=f.key||'${resolvedKey("")}')`;

const turnIsOpen = `coalesce((SELECT type='turn.begun' FROM fact WHERE session=id AND type IN ('turn.begun','turn.ended')
  ORDER BY seq DESC LIMIT 1), 0)`;
