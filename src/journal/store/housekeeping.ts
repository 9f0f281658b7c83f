import { randomUUID } from "node:crypto";
import type { Fact, FactData, FactType } from "../../protocol/facts/fact.ts";
import { removedKey } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Database } from "../database/database.ts";
import type { Awaitable } from "./store.ts";
import { chain, firstBroken, longIn, stored, whole, type Cells, type Row } from "../database/row.ts";

/** The one session that no person began: it holds a fact for each session that was deleted. */
export const REMOVED = "~removed";

/** The same where the journal may lie on another machine. */
export type Housekeeping = {
  [K in keyof LocalHousekeeping]: (
    ...given: Parameters<LocalHousekeeping[K]>
  ) => Awaitable<ReturnType<LocalHousekeeping[K]>>;
};

/** Copies and removes whole sessions. Everything else in the journal only adds. */
export type LocalHousekeeping = {
  /** A new session from facts of another, under new numbers. The first is its `session.opened`. */
  copy(session: string, facts: readonly Fact[]): void;
  /** Takes a session out and leaves this fact. Refused while somebody runs it, waits in it, or has written to it after `upTo`. */
  remove(session: string, upTo: number, last: FactData["session.removed"]): void;
  /** Receipts of removed sessions, oldest first. */
  removed(): Fact<"session.removed">[];
  verifyRemoved(): { seq: number; key: string } | undefined;
  /** Forgets what was left of sessions removed before then; how many. */
  forget(before: number): number;
  /** Places of a text in facts of these types: the first of each session, the latest session first. */
  search(text: string, types: readonly FactType[]): { session: string; seq: number }[];
  /** Returns freed space to the disk; reports the journal's size before and after. Undefined if a server does that. */
  shrink(): { before: number; after: number } | undefined;
};

type Parts = Pick<Database, "prepared" | "all" | "write"> & {
  newestSeq(): number;
  insert(fact: Fact, head: string): string;
  index(fact: Fact): void;
  advance(session: string, at: number, head: string): unknown;
  row(session: string): { head: string; process: string | null };
  living(process: string | null): { pid: number } | undefined;
  /** Bytes of the file. */
  size(): number;
};

export function createHousekeeping({
  prepared,
  all,
  write,
  newestSeq,
  insert,
  index,
  advance,
  row,
  living,
  size,
}: Parts): LocalHousekeeping {
  const begin = (session: string, cwd: string, at: number) =>
    prepared("INSERT INTO session VALUES(?,?,'',?,?,0,'',0,NULL) ON CONFLICT DO NOTHING").run(session, cwd, at, at)
      .changes === 1;
  const removedRows = () => all<Row & { hash: string }>("SELECT * FROM fact WHERE session=? ORDER BY seq", REMOVED);
  return {
    copy: (session, facts) =>
      write(() => {
        const at = Date.now();
        const copied = renumbered(facts, session, newestSeq() + 1);
        if (!begin(session, cwdOf(facts), at))
          throw new SageError("input-invalid", reason("session-exists", { session }));
        let head = session;
        for (const fact of copied) head = insert(fact, head);
        for (const fact of copied) index(fact);
        advance(session, at, head);
      }),
    remove: (session, upTo, last) =>
      write(() => {
        const owner = living(row(session).process);
        if (owner) throw owned(session, `process ${owner.pid}`);
        if (all("SELECT 1 FROM ask WHERE session=?", session).length > 0) throw waiting(session);
        const [newest] = all<{ n: number }>("SELECT max(seq) n FROM fact WHERE session=?", session);
        if (newest?.n !== upTo) throw meanwhile(session);
        // Written before the others go, so that it has the highest number: a number that was used once is never used again.
        const at = Date.now();
        if (begin(REMOVED, "", at)) advance(REMOVED, at, REMOVED);
        const fact: Fact = {
          session: REMOVED,
          seq: 0,
          key: removedKey(randomUUID()),
          type: "session.removed",
          at,
          data: last,
        };
        advance(REMOVED, at, insert(fact, row(REMOVED).head));
        for (const table of ["fact", "long", "ask", "child"])
          prepared(`DELETE FROM ${table} WHERE session=?`).run(session);
        prepared("DELETE FROM session WHERE id=?").run(session);
      }),
    removed: () => removedRows().map((found) => stored(whole(all, found))) as Fact<"session.removed">[],
    verifyRemoved() {
      const rows = removedRows().map((row): Cells => [row.seq, row.key, row.type, row.at, row.data, row.hash]);
      return rows.length === 0 ? undefined : firstBroken(longIn(all), REMOVED, rows, row(REMOVED).head);
    },
    forget: (before) =>
      write(() => {
        const { changes } = prepared(
          "DELETE FROM fact WHERE session=? AND at<? AND seq<(SELECT max(seq) FROM fact)",
        ).run(REMOVED, before);
        if (changes === 0) return 0;
        prepared("DELETE FROM long WHERE session=? AND key NOT IN (SELECT key FROM fact WHERE session=?)").run(
          REMOVED,
          REMOVED,
        );
        let head = REMOVED;
        for (const fact of removedRows())
          prepared("UPDATE fact SET hash=? WHERE seq=?").run((head = chain(head, fact, fact.data)), fact.seq);
        advance(REMOVED, Date.now(), head);
        return Number(changes);
      }),
    search(text, types) {
      const marks = types.map(() => "?").join(",");
      return all<{ session: string; seq: number }>(
        `SELECT f.session, min(f.seq) seq FROM fact f LEFT JOIN long l ON f.data LIKE '~%' AND l.session=f.session AND l.key=f.key
          WHERE f.type IN (${marks}) AND coalesce(l.data, f.data) LIKE ? ESCAPE '\\' GROUP BY f.session ORDER BY max(f.seq) DESC`,
        ...types,
        patternFor(text),
      );
    },
    shrink() {
      const before = size();
      all("VACUUM");
      all("PRAGMA wal_checkpoint(TRUNCATE)");
      return { before, after: size() };
    },
  };
}

/** A LIKE pattern over stored data that matches the text anywhere. */
export function patternFor(text: string): string {
  return `%${JSON.stringify(text)
    .slice(1, -1)
    .replace(/[\\%_]/g, "\\$&")}%`;
}

/** Facts of one session as facts of another. Where one names a message by its number, it names the same message. */
export function renumbered(facts: readonly Fact[], session: string, first: number): Fact[] {
  const said = facts.flatMap(({ type, seq }, n) => (type === "user.said" ? [{ seq, now: first + n }] : []));
  const now = (sawUpTo: number) => said.findLast(({ seq }) => seq <= sawUpTo)?.now ?? 0;
  const same = (message: number) => said.find(({ seq }) => seq === message)?.now ?? [];
  return facts.map(({ key, type, at, data }, n) => {
    const moved = {
      ...data,
      ...("sawUpTo" in data && data.sawUpTo !== undefined && { sawUpTo: now(data.sawUpTo) }),
      ...("without" in data && data.without && { without: data.without.flatMap(same) }),
    };
    return { session, seq: first + n, key, type, at, data: moved } as Fact;
  });
}

export function cwdOf([opened]: readonly Fact[]): string {
  return opened?.type === "session.opened" ? opened.data.cwd : "";
}

export const owned = (session: string, by: string): SageError =>
  new SageError("session-owned", reason("session-runs", { session, by }));

export const waiting = (session: string): SageError =>
  new SageError("request-pending", reason("session-waits", { session }));

export const meanwhile = (session: string): SageError =>
  new SageError("journal-locked", reason("session-changed", { session }), {
    retryable: true,
  });
