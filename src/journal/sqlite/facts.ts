import type { SQLInputValue } from "node:sqlite";
import type { Fact, FactData } from "../../protocol/facts/fact.ts";
import type { InquiryFact } from "../../protocol/facts/inquiry.ts";
import type { Approval, InputRequest, Resolution } from "../../protocol/facts/request.ts";
import { hasDue, moved, type TimeMoved } from "../../protocol/facts/moved.ts";
import { approvalKeys, draftKeys, inquiryKeys, movedKeys, resolvedKey, splitRequestId } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Database } from "../database/database.ts";
import type { Cells } from "../database/row.ts";
import { chain, columns, columnsOfSession, factIn, firstBroken, inlineFor, longIn } from "../database/row.ts";
import type { Reading as HeldReading } from "../store/held-session.ts";
import type { Hub } from "../store/hub.ts";
import type { Appended, InboundFact, LocalStore } from "../store/store.ts";

type Reading = HeldReading & Pick<LocalStore, "head" | "verify">;
type Writing = Pick<LocalStore, "create" | "commit" | "append" | "appendAll" | "approve">;

type SessionHead = { epoch: number; head: string; process: string | null };

type Facts = Reading &
  Writing & {
    /** Inside a transaction: writes one fact and returns the hash for the next one. */
    insert(fact: Fact, head: string): string;
    advance(session: string, at: number, head: string): void;
    row(session: string): SessionHead;
  };

type FactParts = Pick<Database, "prepared" | "all" | "cells" | "write"> & {
  /** Names the journal in messages. */
  path: string;
  /** Writes, in the transaction of each fact, what is kept beside it to find it again. */
  index(fact: Fact): void;
  /** The facts of a session were read whole. */
  mend(session: string, facts: readonly Fact[]): void;
  /** Told once they are on disk. */
  hub: Pick<Hub, "tell">;
};

/** The `fact` table: rows that are written once, each session a chain of hashes. Write, then tell. */
export function createFacts(parts: FactParts): Facts {
  const rows = createRows(parts);
  const reading = createReading(parts, rows);
  return { ...rows.chained, ...reading, ...createWriting(parts, rows, reading) };
}

/** Rows of the table by session and key, and the chain on which each is written. */
function createRows({ prepared, all, cells }: FactParts) {
  const chained: Pick<Facts, "insert" | "advance" | "row"> = {
    insert(fact, head) {
      const text = JSON.stringify(fact.data);
      const data = inlineFor(text);
      if (data !== text) prepared("INSERT INTO long VALUES(?,?,?)").run(fact.session, fact.key, text);
      const next = chain(head, fact, data);
      const { lastInsertRowid } = prepared("INSERT INTO fact(session,key,type,at,data,hash) VALUES(?,?,?,?,?,?)").run(
        fact.session,
        fact.key,
        fact.type,
        fact.at,
        data,
        next,
      );
      fact.seq = Number(lastInsertRowid);
      return next;
    },
    advance: (session, at, head) =>
      void prepared("UPDATE session SET head=?, last_at=? WHERE id=?").run(head, at, session),
    row(session) {
      const [found] = all<SessionHead>("SELECT epoch, head, process FROM session WHERE id=?", session);
      if (!found) throw new SageError("session-unknown", reason("session-missing", { session }));
      return found;
    },
  };
  const where = (which: string, ...values: SQLInputValue[]) =>
    cells(`SELECT ${columns} FROM fact WHERE ${which}`, ...values) as unknown as Cells[];
  const read = (found: Cells): Fact => factIn(all, found);
  const byKey = (session: string, key: string): Fact | undefined => {
    const [found] = where("session=? AND key=?", session, key);
    return found && read(found);
  };
  // Numbers are sorted and then looked up: sorting whole rows of a long session takes half as long again.
  const wholeSession = `SELECT ${columnsOfSession} FROM fact WHERE seq IN (SELECT seq FROM fact WHERE session=?) ORDER BY seq`;
  const ofSession = (session: string) => cells(wholeSession, session) as unknown as Cells[];
  return { chained, where, read, byKey, ofSession };
}

type Rows = ReturnType<typeof createRows>;

function createWriting(
  { prepared, write, index, hub }: FactParts,
  { chained: { insert, advance, row }, byKey }: Rows,
  { resolution, approvals }: Pick<Reading, "resolution" | "approvals">,
): Writing {
  /** In a transaction: the key is the fence. */
  const appendOne = (session: string, inbound: InboundFact): Appended => {
    const { head } = row(session);
    const had = byKey(session, inbound.key);
    if (had) return { won: false, fact: had };
    const fact = { session, seq: 0, ...inbound } as Fact;
    const next = insert(fact, head);
    index(fact);
    advance(session, fact.at, next);
    return { won: true, fact };
  };

  return {
    create(session, opened) {
      const at = Date.now();
      const fact: Fact = { session, seq: 0, key: "session", type: "session.opened", at, data: opened };
      const created = write(() => {
        const made = prepared("INSERT INTO session VALUES(?,?,'',?,?,0,'',0,NULL) ON CONFLICT DO NOTHING").run(
          session,
          opened.cwd,
          at,
          at,
        );
        if (made.changes === 0) return false;
        advance(session, at, insert(fact, session));
        return true;
      });
      if (created) hub.tell([fact]);
      return created;
    },
    commit(session, epoch, facts) {
      const written = write(() => {
        const owner = row(session);
        if (owner.epoch !== epoch) throw new SageError("lease-lost", reason("taken-over", { session }));
        // Somebody may have answered since: their answer stands.
        const fresh = facts.filter((fact) => fact.type !== "input.resolved" || !byKey(session, fact.key));
        let head = owner.head;
        for (const fact of fresh) head = insert(fact, head);
        for (const fact of fresh) index(fact);
        advance(session, fresh.at(-1)?.at ?? 0, head);
        return fresh;
      });
      hub.tell(written);
    },
    append(session, inbound) {
      const appended = write(() => appendOne(session, inbound));
      if (appended.won) hub.tell([appended.fact]);
      return appended;
    },
    appendAll(facts) {
      const appended = write(() =>
        facts.map(({ session, fact }) => {
          try {
            return appendOne(session, fact);
          } catch (error) {
            if (error instanceof SageError && error.code === "session-unknown") return error;
            throw error;
          }
        }),
      );
      hub.tell(appended.flatMap((result) => ("won" in result && result.won ? [result.fact] : [])));
      return appended;
    },
    approve(session, approval, conclude) {
      const { requestId } = approval.data;
      const written: Appended[] = [];
      const { won, given, ended } = write(() => {
        written.length = 0;
        const had = resolution(requestId);
        if (had) return { won: false, given: approvals(requestId), ended: had };
        written.push(appendOne(session, approval));
        const given = approvals(requestId);
        const end = conclude(given);
        if (end) written.push(appendOne(session, end));
        return { won: written[0]!.won, given, ended: end?.data };
      });
      hub.tell(written.flatMap((result) => (result.won ? [result.fact] : [])));
      return { won, approvals: given, ...(ended && { ended }) };
    },
  };
}

function createReading(
  { all, path, mend }: FactParts,
  { chained: { row }, where, read, byKey, ofSession }: Rows,
): Reading {
  const resolution = (id: string): Resolution | undefined => {
    const { session, key } = splitRequestId(id);
    return byKey(session, resolvedKey(key))?.data as Resolution | undefined;
  };
  const approvals = (id: string): Approval[] => {
    const { session, key } = splitRequestId(id);
    const { prefix, end } = approvalKeys(key);
    const found = where("session=? AND key>=? AND key<? ORDER BY seq", session, prefix, end);
    return found.map((row) => read(row).data as Approval);
  };
  const inTime = (request: InputRequest): InputRequest => {
    if (!hasDue(request)) return request;
    const { from, end } = movedKeys;
    const moves = where("session=? AND key>=? AND key<? ORDER BY seq", request.session, from, end);
    return moved(
      request,
      moves.map((row) => read(row).data as TimeMoved),
    );
  };
  return {
    approvals,
    opened: (session) => byKey(session, "session")?.data as FactData["session.opened"] | undefined,
    load(session, { verified = false } = {}) {
      const { head } = row(session);
      const rows = ofSession(session);
      const broken = verified ? firstBroken(longIn(all), session, rows, head) : undefined;
      if (broken) throw new SageError("journal-damaged", reason("record-changed", { key: broken.key, session, path }));
      const found = rows.map((row) => factIn(all, row, session));
      if (verified) mend(session, found);
      return found;
    },
    head(session, upTo = Number.MAX_SAFE_INTEGER) {
      const newest = "SELECT seq, hash FROM fact WHERE seq=(SELECT max(seq) FROM fact WHERE session=? AND seq<=?)";
      const [found] = all<{ seq: number; hash: string }>(newest, session, upTo);
      return found && { ...found };
    },
    verify: (session) => firstBroken(longIn(all), session, ofSession(session), row(session).head),
    pending(session, page) {
      const { after = "", limit = -1 } = page ?? {};
      const { session: of, key } = splitRequestId(after);
      const seq = after === "" ? 0 : (byKey(of, key)?.seq ?? 0);
      // Numbers are sorted and then looked up: sorting whole requests takes ten times as long.
      const found = (which: string, ...values: string[]) =>
        where(
          `seq IN (SELECT seq FROM ask WHERE ${which} seq>? ORDER BY seq LIMIT ?) ORDER BY seq`,
          ...values,
          seq,
          limit,
        );
      const rows = session === undefined ? found("") : found("session=? AND", session);
      return rows.map((row) => inTime(read(row).data as InputRequest));
    },
    resolution,
    find(id) {
      const { session, key } = splitRequestId(id);
      const asked = byKey(session, key);
      return asked?.type === "input.requested"
        ? { request: inTime(asked.data), resolution: resolution(id) }
        : undefined;
    },
    draft(id) {
      const { session, key } = splitRequestId(id);
      const { prefix, end } = draftKeys(key);
      const [found] = where("session=? AND key>=? AND key<? ORDER BY seq DESC LIMIT 1", session, prefix, end);
      return found && (read(found).data as FactData["draft.saved"]).draft;
    },
    inquiries(id) {
      const { session, key } = splitRequestId(id);
      const { from, end } = inquiryKeys(key);
      return where("session=? AND key>=? AND key<? ORDER BY seq", session, from, end).map(read) as InquiryFact[];
    },
    since: (session, after, limit = -1) =>
      where("session=? AND seq>? ORDER BY seq LIMIT ?", session, after, limit).map(read),
    read: (session, { types, after = 0, limit = -1 } = {}) => {
      const some = types ? `AND type IN (${types.map(() => "?").join(",")})` : "";
      return where(`session=? AND seq>? ${some} ORDER BY seq LIMIT ?`, session, after, ...(types ?? []), limit).map(
        read,
      );
    },
    fact: byKey,
  };
}
