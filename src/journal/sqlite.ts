import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { SageError, type Fact, type FactData, type InputRequest, type Resolution } from "../protocol/index.ts";
import { openDatabase } from "./database.ts";
import { fault } from "./fault.ts";
import { createHousekeeping, REMOVED } from "./housekeeping.ts";
import { createIndexes } from "./indexes.ts";
import { groupLives, startOf, uptime } from "./process.ts";
import { chain, firstBroken, parse, stored, type Row } from "./row.ts";
import {
  createHub,
  draftKeys,
  requestId,
  resolvedKey,
  splitRequestId,
  type Appended,
  type InboundFact,
  type SessionRow,
  type Store,
} from "./store.ts";

const POLL_MS = 25;
const BEAT_MS = 2_500;
/** A living process that is silent for longer has lost its claim to whoever wants it: it may be frozen for good. */
const SILENT_MS = 10_000;

export type StoreSeams = {
  /** Called around every commit, inside it: whoever throws before it undoes it. */
  onCommit?(side: "before" | "after"): void;
};

export function sqliteStore(path: string, { onCommit = (side) => fault("commit", side) }: StoreSeams = {}): Store {
  const { q, all, write, writeUnsynced, close } = openDatabase(path, onCommit);
  let poll: NodeJS.Timeout | undefined;
  // The poller is the one thing that holds a process open while it only waits for an answer from elsewhere.
  const hub = createHub((interested) => {
    clearInterval(poll);
    poll = interested ? setInterval(look, POLL_MS) : undefined;
    if (interested) [version, last] = [dataVersion(), top()];
  });
  const me = createIdentity();

  let version = 0;
  /** Everything up to this seq is told, or on its way in `news`. */
  let last = 0;
  const dataVersion = () => all<{ data_version: number }>("PRAGMA data_version")[0]?.data_version ?? 0;
  const top = () => all<{ n: number | null }>("SELECT max(seq) n FROM fact")[0]?.n ?? 0;
  // Facts are told in the order of their seq, one's own among the others': whoever hears of one knows all before it.
  const news: Fact[] = [];
  let telling = false;
  const deliver = () => {
    if (telling) return; // whoever is told may write in answer: that comes after
    telling = true;
    try {
      for (let fact = news.shift(); fact; fact = news.shift()) hub.fact(fact);
    } finally {
      telling = false;
    }
  };
  const tell = (facts: readonly Fact[]) => {
    const [first, end] = [facts[0]?.seq ?? 0, facts.at(-1)?.seq ?? 0];
    try {
      if (poll && first > last + 1) hear(first - 1);
    } catch {
      version = -1; // a disk that fails for a moment: they are told with the others, at the next look
      return;
    }
    last = Math.max(last, end);
    news.push(...facts);
    deliver();
  };
  const hear = (upTo: number) => {
    const rows = all<Row>("SELECT seq, session, key FROM fact WHERE seq>? AND seq<=? ORDER BY seq", last, upTo);
    const heard = rows.flatMap((row) => {
      const asked = row.key.endsWith(".resolved") ? row.key.slice(0, -".resolved".length) : row.key;
      if (!hub.cares(row.session, requestId(row.session, asked))) return [];
      return all<Row>("SELECT * FROM fact WHERE seq=?", row.seq).map(stored);
    });
    last = Math.max(last, upTo); // only now: what could not be read is read again
    news.push(...heard);
  };
  // data_version moves only when another connection has committed, so a quiet poll costs a few microseconds.
  const look = () => {
    try {
      const now = dataVersion();
      if (now === version) return;
      hear(top());
      version = now;
    } catch {
      return; // a disk that fails for a moment: look again next time
    }
    deliver();
  };

  const insert = (fact: Fact, head: string): string => {
    const data = JSON.stringify(fact.data);
    const next = chain(head, fact, data);
    const { lastInsertRowid } = q("INSERT INTO fact(session,key,type,at,data,hash) VALUES(?,?,?,?,?,?)").run(
      fact.session,
      fact.key,
      fact.type,
      fact.at,
      data,
      next,
    );
    fact.seq = Number(lastInsertRowid);
    return next;
  };
  const { index, noted, ...indexes } = createIndexes({ q, all, write });
  const advance = (session: string, at: number, head: string) =>
    q("UPDATE session SET head=?, last_at=? WHERE id=?").run(head, at, session);
  const row = (session: string) => {
    type Found = { epoch: number; head: string; process: string | null };
    const [found] = all<Found>("SELECT epoch, head, process FROM session WHERE id=?", session);
    if (!found) throw new SageError("session-unknown", `there is no session ${session}; \`sage sessions\` lists them`);
    return found;
  };
  const byKey = (session: string, key: string) => {
    const [found] = all<Row>("SELECT * FROM fact WHERE session=? AND key=?", session, key);
    return found && stored(found);
  };

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

  /** Alive, and heard of lately: or merely slow, with nobody else interested yet. */
  const holds = (process: string | null): { pid: number } | undefined => {
    const [other] = all<Process>("SELECT pid, started, beat FROM process WHERE id=?", process);
    if (!other) return undefined;
    const silence = uptime() - other.beat; // below 0: from before the machine was started
    return startOf(other.pid) === other.started && silence >= 0 && silence < SILENT_MS ? other : undefined;
  };

  const summaries = (which: string, ...values: string[]): SessionRow[] => {
    const owners = new Map<string, boolean>(); // ten thousand sessions have few owners
    const lives = (process: string | null, id: string): boolean => {
      if (process === null) return false;
      if (process === me.id) return held.has(id); // let go of, though the disk was too full to say so
      const known = owners.get(process);
      if (known !== undefined) return known;
      const now = holds(process) !== undefined;
      owners.set(process, now);
      return now;
    };
    const columns =
      "id, cwd, title, at, last_at lastAt, open, process, (SELECT count(*) FROM ask WHERE session=id) pending";
    type Found = Omit<SessionRow, "open" | "owned"> & { open: number; process: string | null };
    return all<Found>(`SELECT ${columns} FROM session ${which}`, ...values).map(({ process, open, ...found }) => ({
      ...found,
      open: open === 1,
      owned: lives(process, found.id),
    }));
  };

  const writeIfPossible = (fn: () => unknown): boolean => {
    try {
      writeUnsynced(fn);
      return true;
    } catch {
      // A full disk must not stop whoever leaves, or works on. A lost beat loses nothing as long as nobody takes over,
      // and then the next commit says so.
      return false;
    }
  };
  let closed = false;
  /** Sessions this process has, by the epoch it has them under. */
  const held = new Map<string, number>();
  let beating: NodeJS.Timeout | undefined;
  const beat = () => {
    const done = q("UPDATE process SET beat=? WHERE id=?").run(uptime(), me.id);
    if (done.changes === 0) q("INSERT INTO process VALUES(?,?,?,?)").run(me.id, me.pid, me.started, uptime());
  };
  /** Let go of, and not written yet: others would wait for this process until it ends. */
  const unsaid = new Map<string, number>();
  const letGo = (session: string, epoch: number) => {
    if (held.get(session) === epoch) held.delete(session);
    const said = writeIfPossible(() => q("UPDATE session SET process=NULL WHERE id=? AND epoch=?").run(session, epoch));
    if (said) unsaid.delete(session);
    else unsaid.set(session, epoch);
  };
  let beaten = -1;
  // Somebody may have taken a session while this process was frozen: what it runs must end, not only what it writes.
  const stillMine = () => {
    const now = dataVersion();
    if (held.size === 0 || now === beaten) return; // nobody else has written since
    beaten = now;
    const mine = new Map(
      all<{ id: string; epoch: number }>("SELECT id, epoch FROM session WHERE process=?", me.id).map(
        ({ id, epoch }) => [id, epoch],
      ),
    );
    for (const [session, epoch] of held)
      if (mine.get(session) !== epoch) {
        held.delete(session);
        hub.lost(session);
      }
  };
  const register = () => {
    beat(); // also after a long sleep: what is claimed now must not look abandoned
    if (beating) return;
    for (const other of all<Process>("SELECT id, pid, started FROM process"))
      if (startOf(other.pid) !== other.started) q("DELETE FROM process WHERE id=?").run(other.id);
    beating = setInterval(() => {
      writeIfPossible(beat);
      for (const [session, epoch] of unsaid) letGo(session, epoch);
      try {
        stillMine();
      } catch {
        // a journal that cannot be read for a moment; the next beat looks again
      }
    }, BEAT_MS).unref();
  };

  const over = new AbortController();
  return {
    hub,
    place: { journal: resolve(path), process: me.id, over: over.signal },
    create: (session, opened) =>
      write(() => {
        const at = Date.now();
        const fact: Fact = { session, seq: 0, key: "session", type: "session.opened", at, data: opened };
        const made = q("INSERT INTO session VALUES(?,?,'',?,?,0,'',0,NULL) ON CONFLICT DO NOTHING").run(
          session,
          opened.cwd,
          at,
          at,
        );
        if (made.changes === 0) return false;
        advance(session, at, insert(fact, session));
        return true;
      }),
    claim: (session) =>
      writeUnsynced(() => {
        const { process, epoch } = row(session);
        const owner = process === me.id ? undefined : holds(process);
        if (owner)
          throw new SageError(
            "session-owned",
            `session ${session} is run by process ${owner.pid}; answer from here, or stop that one first`,
          );
        register();
        q("UPDATE session SET epoch=?, process=? WHERE id=?").run(epoch + 1, me.id, session);
        held.set(session, epoch + 1);
        return epoch + 1;
      }),
    release: letGo,
    owner(session) {
      const { process } = row(session);
      return process !== null && process !== me.id && holds(process) ? process : undefined;
    },
    load(session, { proven = false } = {}) {
      const { head } = row(session);
      const rows = all<Row & { hash: string }>("SELECT * FROM fact WHERE session=? ORDER BY seq", session);
      const broken = proven ? firstBroken(session, rows, head) : undefined;
      if (broken)
        throw new SageError(
          "journal-damaged",
          `record ${broken.key} of session ${session} in ${path} is not as it was written; it can be looked at, and not gone on with (\`sage doctor\` tells more)`,
        );
      if (proven) indexes.mend(session, rows);
      return rows.map(stored);
    },
    commit(session, epoch, facts) {
      const written = write(() => {
        const owner = row(session);
        if (owner.epoch !== epoch)
          throw new SageError("lease-lost", `session ${session} was taken over by another process`);
        // Somebody may have answered since: their answer stands.
        const fresh = facts.filter((fact) => fact.type !== "input.resolved" || !byKey(session, fact.key));
        let head = owner.head;
        for (const fact of fresh) head = insert(fact, head);
        for (const fact of fresh) index(fact);
        advance(session, fresh.at(-1)?.at ?? 0, head);
        return fresh;
      });
      tell(written);
    },
    append(session, inbound) {
      const written = write(() => appendOne(session, inbound));
      if (written.won) tell([written.fact]);
      return written;
    },
    appendAll(facts) {
      const written = write(() =>
        facts.map(({ session, fact }) => {
          try {
            return appendOne(session, fact);
          } catch (error) {
            if (error instanceof SageError && error.code === "session-unknown") return error;
            throw error;
          }
        }),
      );
      tell(written.flatMap((one) => ("won" in one && one.won ? [one.fact] : [])));
      return written;
    },
    pending(session, page) {
      const { after = "", limit = -1 } = page ?? {};
      const { session: of, key } = splitRequestId(after);
      const seq = after === "" ? 0 : (byKey(of, key)?.seq ?? 0);
      // Numbers are sorted and then looked up: sorting whole requests takes ten times as long.
      const found = (which: string, ...values: string[]) =>
        all<Row>(
          `SELECT f.* FROM (SELECT seq FROM ask WHERE ${which} seq>? ORDER BY seq LIMIT ?) a JOIN fact f ON f.seq=a.seq ORDER BY f.seq`,
          ...values,
          seq,
          limit,
        );
      const rows = session === undefined ? found("") : found("session=? AND", session);
      return rows.map((row) => parse(row, row.data) as InputRequest);
    },
    resolution(id) {
      const { session, key } = splitRequestId(id);
      return byKey(session, resolvedKey(key))?.data as Resolution | undefined;
    },
    find(id) {
      const { session, key } = splitRequestId(id);
      const asked = byKey(session, key);
      if (asked?.type !== "input.requested") return undefined;
      return { request: asked.data, resolution: byKey(session, resolvedKey(key))?.data as Resolution | undefined };
    },
    draft(id) {
      const { session, key } = splitRequestId(id);
      const { prefix, end } = draftKeys(key);
      const latest = "SELECT * FROM fact WHERE session=? AND key>=? AND key<? ORDER BY seq DESC LIMIT 1";
      const [found] = all<Row>(latest, session, prefix, end);
      return found && (parse(found, found.data) as FactData["draft.saved"]).draft;
    },
    session: (id) => summaries("WHERE id=?", id)[0],
    sessions: () => summaries("WHERE id<>? ORDER BY last_at DESC", REMOVED),
    since: (session, after) =>
      all<Row>("SELECT * FROM fact WHERE session=? AND seq>? ORDER BY seq", session, after).map(stored),
    noteChild(session, key, pid) {
      writeIfPossible(() => q("INSERT INTO child VALUES(?,?,?,?)").run(session, key, pid, startOf(pid)));
      noted.add(requestId(session, key));
    },
    children: (session, key) =>
      all<Process>("SELECT pid, started FROM child WHERE session=? AND key=?", session, key)
        .filter(({ pid, started }) => groupLives(pid, started))
        .map(({ pid }) => pid),
    housekeeping: createHousekeeping({ q, all, write, top, insert, index, advance, row, holds }),
    leftBehind: indexes.leftBehind,
    lookAtIndexes: indexes.look,
    rebuildIndexes: indexes.rebuild,
    verify: (session) =>
      firstBroken(session, all("SELECT * FROM fact WHERE session=? ORDER BY seq", session), row(session).head),
    close() {
      if (closed) return;
      closed = true;
      over.abort();
      clearInterval(poll);
      clearInterval(beating);
      if (beating) writeIfPossible(() => q("DELETE FROM process WHERE id=?").run(me.id));
      close();
    },
  };
}

type Process = { id: string; pid: number; started: string; beat: number };

function createIdentity(): { id: string; pid: number; started: string } {
  return { id: randomUUID(), pid: process.pid, started: startOf(process.pid) };
}
