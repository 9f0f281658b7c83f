import { randomUUID } from "node:crypto";
import { SageError } from "../../protocol/reasons/error.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import type { Database } from "../database/database.ts";
import { dataVersion } from "./poller.ts";
import { isOfThisBoot, pidNamespace, startOf, uptime } from "../process.ts";

const BEAT_MS = 2_500;
/** A process that lives but has been silent for longer may be frozen for good: others may take its sessions. */
const SILENT_MS = 10_000;
/** Rows of processes that nobody has heard of for so long are removed. */
const FORGOTTEN_MS = 24 * 3_600_000;

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
  const me = { id: randomUUID(), pid: process.pid, started: startOf(process.pid), namespace: pidNamespace() };
  /** Epochs of the sessions that this process holds. */
  const held = new Map<string, number>();
  /** Sessions that were released while the disk was full: others would wait for this process until it ends. */
  const unreleased = new Map<string, number>();
  let beating: NodeJS.Timeout | undefined;
  let seenVersion = -1;

  const beat = () => {
    const done = prepared("UPDATE process SET beat=? WHERE id=?").run(uptime(), me.id);
    if (done.changes === 0)
      prepared("INSERT INTO process VALUES(?,?,?,?,?)").run(me.id, me.pid, me.started, uptime(), me.namespace);
  };
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
      // the journal cannot be read for a moment; the next beat looks again
    }
  };
  const register = () => {
    beat(); // also after a long sleep: the session claimed now must not look abandoned
    if (beating) return;
    for (const other of all<Process>("SELECT * FROM process"))
      if (!lives(other) || silenceOf(other) > FORGOTTEN_MS) prepared("DELETE FROM process WHERE id=?").run(other.id);
    beating = setInterval(onBeat, BEAT_MS).unref();
  };
  /** Of a process with other process numbers only its heartbeat can tell, unless the machine was started since. */
  const lives = ({ pid, started, namespace }: Process): boolean => {
    const isStranger = namespace !== null && me.namespace !== null && namespace !== me.namespace;
    return isStranger ? isOfThisBoot(started) : startOf(pid) === started;
  };
  const living = (id: string | null) => {
    const [other] = all<Process>("SELECT * FROM process WHERE id=?", id);
    return other && lives(other) && silenceOf(other) < SILENT_MS ? other : undefined;
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

/** Time since a process was heard of; Infinity when its heartbeat is from before the machine was started. */
function silenceOf({ beat }: Process): number {
  const silence = uptime() - beat;
  return silence < 0 ? Infinity : silence;
}
