import { randomUUID } from "node:crypto";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Database } from "../database/database.ts";
import { lifeOf, pidNamespace, startOf, uptime } from "../../processes/identity.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import { requestId, withoutEnd } from "../../protocol/key.ts";
import { type Hub, createHub } from "../store/hub.ts";
import { type Row, stored, whole } from "../database/row.ts";

const BEAT_MS = 2_500;
/** A living process without a heartbeat for longer may be frozen for good: others can take its sessions. */
const SILENT_MS = 10_000;
/** Rows of processes without a heartbeat for this long are removed. */
const FORGOTTEN_MS = 24 * 3_600_000;
const POLL_MS = 25;

export type Lease = {
  /** This process's id in the `process` table. */
  readonly process: string;
  claim(session: string): number;
  release(session: string, epoch: number): void;
  /** The process that holds the session, if that is another one and lives. */
  owner(session: string): string | undefined;
  /** The living process with this id; undefined when it died or has been silent for too long. */
  living(process: string | null): { pid: number } | undefined;
  /** Tells of many sessions whether somebody holds them; asks about each process once. */
  owned(): (session: string, process: string | null) => boolean;
  close(): void;
};

type LeaseParts = Pick<Database, "prepared" | "all" | "writeUnsynced" | "writeIfPossible" | "gone"> & {
  row(session: string): { epoch: number; process: string | null };
  /** Called when this process may not continue a session: another one has taken it, or the journal is gone. */
  lost(session: string, problem: SageError): void;
};

/** Ownership of sessions: one process at a time, under an epoch that grows with each owner. Every commit is fenced by that epoch. */
export function createLease({ prepared, all, writeUnsynced, writeIfPossible, gone, row, lost }: LeaseParts): Lease {
  const { me, beat, living, forgetDead } = createProcesses({ prepared, all });
  /** Epochs of the sessions that this process holds. */
  const held = new Map<string, number>();
  /** Sessions that were released while the disk was full: others would wait for this process until it ends. */
  const unreleased = new Map<string, number>();
  let beating: NodeJS.Timeout | undefined;
  let seenVersion = -1;

  const release = (session: string, epoch: number) => {
    if (held.get(session) === epoch) held.delete(session);
    const written = writeIfPossible(() =>
      prepared("UPDATE session SET process=NULL WHERE id=? AND epoch=?").run(session, epoch),
    );
    if (written) unreleased.delete(session);
    else unreleased.set(session, epoch);
  };
  // Somebody may have taken a session while this process was frozen: the commands it runs must end, not only its writing.
  const checkHeld = () => {
    const now = dataVersion(all);
    if (held.size === 0 || now === seenVersion) return; // nobody else has written since
    seenVersion = now;
    const mine = new Map(
      all<{ id: string; epoch: number }>("SELECT id, epoch FROM session WHERE process=?", me.id).map(
        ({ id, epoch }) => [id, epoch],
      ),
    );
    for (const [session, epoch] of held)
      if (mine.get(session) !== epoch) {
        held.delete(session);
        lost(session, new SageError("lease-lost", reason("taken-over", { session })));
      }
  };
  const onBeat = () => {
    const problem = gone();
    if (problem) {
      clearInterval(beating);
      for (const session of held.keys()) lost(session, problem);
      return held.clear();
    }
    writeIfPossible(beat);
    for (const [session, epoch] of unreleased) release(session, epoch);
    try {
      checkHeld();
    } catch {
      // the journal is briefly unreadable; the next heartbeat retries
    }
  };
  const register = () => {
    beat(); // also after a long sleep: the session claimed now must not look abandoned
    if (beating) return;
    forgetDead();
    beating = setInterval(onBeat, BEAT_MS).unref();
  };
  return {
    process: me.id,
    claim: (session) =>
      writeUnsynced(() => {
        const { epoch, process: holder } = row(session);
        const owner = holder === me.id ? undefined : living(holder);
        if (owner) throw new SageError("session-owned", reason("run-by-process", { session, pid: owner.pid }));
        register();
        prepared("UPDATE session SET epoch=?, process=? WHERE id=?").run(epoch + 1, me.id, session);
        held.set(session, epoch + 1);
        return epoch + 1;
      }),
    release,
    owner(session) {
      const { process: holder } = row(session);
      return holder !== null && holder !== me.id && living(holder) ? holder : undefined;
    },
    living,
    owned() {
      const owners = new Map<string, boolean>(); // ten thousand sessions have few owners
      return (session, holder) => {
        if (holder === null) return false;
        if (holder === me.id) return held.has(session); // released, though the disk may have been too full to record it
        let lives = owners.get(holder);
        if (lives === undefined) owners.set(holder, (lives = living(holder) !== undefined));
        return lives;
      };
    },
    close() {
      clearInterval(beating);
      if (beating) writeIfPossible(() => prepared("DELETE FROM process WHERE id=?").run(me.id));
    },
  };
}

type Process = { id: string; pid: number; started: string; beat: number; namespace: string | null };

/** The `process` table: this process's heartbeat, and whether others live. */
function createProcesses({ prepared, all }: Pick<LeaseParts, "prepared" | "all">) {
  const me = { id: randomUUID(), pid: process.pid, started: startOf(process.pid), namespace: pidNamespace() };
  /** Of a process with other process numbers only its heartbeat can tell. */
  const lives = ({ namespace, ...other }: Process): boolean =>
    lifeOf(other, namespace?.replaceAll(/\D/g, "") ?? undefined) !== "dead";
  return {
    me,
    beat() {
      const done = prepared("UPDATE process SET beat=? WHERE id=?").run(uptime(), me.id);
      if (done.changes === 0)
        prepared("INSERT INTO process VALUES(?,?,?,?,?)").run(me.id, me.pid, me.started, uptime(), me.namespace);
    },
    living(id: string | null): Process | undefined {
      const [other] = all<Process>("SELECT * FROM process WHERE id=?", id);
      return other && lives(other) && silenceOf(other) < SILENT_MS ? other : undefined;
    },
    forgetDead() {
      for (const other of all<Process>("SELECT * FROM process"))
        if (!lives(other) || silenceOf(other) > FORGOTTEN_MS) prepared("DELETE FROM process WHERE id=?").run(other.id);
    },
  };
}

/** Time since a process was heard of; Infinity when its heartbeat is from before the machine was started. */
function silenceOf({ beat }: Process): number {
  const silence = uptime() - beat;
  return silence < 0 ? Infinity : silence;
}

/** Hears other processes, too. `data_version` moves only with their commits, so a quiet poll costs microseconds. */
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

function dataVersion(all: Database["all"]): number {
  return all<{ data_version: number }>("PRAGMA data_version")[0]?.data_version ?? 0;
}

export function newestSeq(all: Database["all"]): number {
  return all<{ n: number | null }>("SELECT max(seq) n FROM fact")[0]?.n ?? 0;
}
