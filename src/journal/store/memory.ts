import type { Fact } from "../../protocol/facts/fact.ts";
import { removedKey } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { HeldSession, Reading } from "./held-session.ts";
import { emptySession, holdSession, pageOf, reading, rowOf, sessionIn } from "./held-session.ts";
import { cwdOf, meanwhile, owned, REMOVED, renumbered, waiting } from "./housekeeping.ts";
import { createHub, type Hub } from "./hub.ts";
import { createMembers, type Appended, type Beat, type InboundFact, type LocalStore } from "./store.ts";

type Session = HeldSession & { epoch: number; owned: boolean };

/** Facts of a journal in memory. */
type Memory = { hub: Hub; sessions: Map<string, Session>; removed: Fact<"session.removed">[]; seq: number };

// SQLite's `:memory:` would spare this file. It is eight times as slow before it has any index or hash chain: 2.7 µs for a bare insert
// against 0.3 µs for a commit here, and 1.9 µs against 0.03 µs for a fact by its key.
/** A journal in memory, gone with the process: for tests, and for embedders who want no disk. */
export function memoryStore(): LocalStore {
  const memory: Memory = { hub: createHub(), sessions: new Map(), removed: [], seq: 0 };
  const { hub, sessions } = memory;
  const journal = crypto.randomUUID();
  const read = reading(sessions, (a, b) => a.seq - b.seq);
  const rows = () => [...sessions].map(([id, session]) => rowOf(id, session, session.owned));
  const members = createMembers();
  let lastBeat: Beat | undefined;
  const store: LocalStore = {
    ...read,
    ...writing(memory, read),
    hub,
    member: (make) => members(store, make),
    lastBeat: () => lastBeat,
    beat: (beat) => void (lastBeat = beat),
    test: true, // nothing outlives the process
    place: undefined,
    owner: () => undefined,
    claim(id) {
      const session = sessionIn(sessions, id);
      session.owned = true;
      return ++session.epoch;
    },
    release(id, epoch) {
      const session = sessionIn(sessions, id);
      if (session.epoch === epoch) session.owned = false;
    },
    session(id) {
      const session = sessions.get(id);
      return session && rowOf(id, session, session.owned);
    },
    sessions: (page) => pageOf(rows(), page),
    journalId: () => journal,
    noteChild() {},
    children: () => [],
    callOf: () => undefined,
    leftCalls: () => false, // nothing outlives the process
    lookAtIndexes: () => ({ missing: 0, stale: 0 }), // there are none on a disk, which could differ from the facts
    rebuildIndexes() {},
    housekeeping: housekeeping(memory),
    head: () => undefined,
    verify: () => undefined,
    close() {},
  };
  return store;
}

function addSession({ sessions }: Memory, id: string, cwd: string): Session {
  const session = { ...emptySession(cwd), epoch: 0, owned: false };
  sessions.set(id, session);
  return session;
}

function addFact(memory: Memory, session: Session, fact: Fact): void {
  fact.seq = ++memory.seq;
  holdSession(session, fact);
}

type Writing = Pick<LocalStore, "create" | "commit" | "append" | "appendAll" | "approve">;

function writing(memory: Memory, { resolution, approvals }: Pick<Reading, "resolution" | "approvals">): Writing {
  const { hub, sessions } = memory;
  const append = (id: string, inbound: InboundFact): Appended => {
    const session = sessionIn(sessions, id);
    const had = session.keys.get(inbound.key);
    if (had) return { won: false, fact: had };
    const { key, type, at, data } = inbound;
    const fact = { session: id, seq: 0, key, type, at, data } as Fact; // of the same shape as those of a commit
    addFact(memory, session, fact);
    hub.tell([fact]);
    return { won: true, fact };
  };
  return {
    create(id, opened) {
      if (sessions.has(id)) return false;
      const fact: Fact = { session: id, seq: 0, key: "session", type: "session.opened", at: Date.now(), data: opened };
      addFact(memory, addSession(memory, id, opened.cwd), fact);
      hub.tell([fact]);
      return true;
    },
    commit(id, epoch, facts) {
      const session = sessionIn(sessions, id);
      if (session.epoch !== epoch) throw new SageError("lease-lost", reason("taken-over", { session: id }));
      // Somebody may have answered since: their answer stands.
      let late = 0;
      let place = 0;
      for (const { key, type } of facts) {
        const isThere = session.keys.has(key);
        if (isThere && type === "input.resolved") late++;
        else if (isThere || isBefore(facts, place, key))
          throw new Error(`the key ${key} of session ${id} is written already`);
        place++;
      }
      const fresh = late > 0 ? facts.filter(({ key }) => !session.keys.has(key)) : facts;
      for (const fact of fresh) addFact(memory, session, fact);
      hub.tell(fresh);
    },
    append,
    appendAll: (facts) =>
      facts.map(({ session, fact }) => {
        try {
          return append(session, fact);
        } catch (error) {
          if (error instanceof SageError) return error;
          throw error;
        }
      }),
    approve(id, approval, conclude) {
      const { requestId } = approval.data;
      const had = resolution(requestId);
      if (had) return { won: false, approvals: approvals(requestId), ended: had };
      const { won } = append(id, approval);
      const given = approvals(requestId);
      const end = conclude(given);
      if (end) append(id, end);
      return { won, approvals: given, ...(end && { ended: end.data }) };
    },
  };
}

function housekeeping(memory: Memory): LocalStore["housekeeping"] {
  const { sessions } = memory;
  return {
    copy(id, facts) {
      if (sessions.has(id)) throw new SageError("input-invalid", reason("session-exists", { session: id }));
      const session = addSession(memory, id, cwdOf(facts));
      for (const fact of renumbered(facts, id, memory.seq + 1)) addFact(memory, session, fact);
    },
    remove(id, upTo, last) {
      const session = sessionIn(sessions, id);
      if (session.owned) throw owned(id, "this process");
      if (session.open.size > 0) throw waiting(id);
      if (session.facts.at(-1)?.seq !== upTo) throw meanwhile(id);
      sessions.delete(id);
      const seq = ++memory.seq;
      const frame = { session: REMOVED, seq, key: removedKey(`${seq}`), at: Date.now() };
      memory.removed.push({ ...frame, type: "session.removed", data: last });
    },
    removed: () => [...memory.removed],
    verifyRemoved: () => undefined,
    forget(before) {
      const kept = memory.removed.filter(({ at }) => at >= before);
      const forgotten = memory.removed.length - kept.length;
      memory.removed = kept;
      return forgotten;
    },
    search(text, types) {
      const wanted = JSON.stringify(text).slice(1, -1).toLowerCase();
      const has = (fact: Fact) => types.includes(fact.type) && JSON.stringify(fact.data).toLowerCase().includes(wanted);
      return [...sessions].flatMap(([session, { facts }]) => {
        const found = facts.find(has);
        return found ? [{ session, seq: found.seq }] : [];
      });
    },
    shrink: () => undefined,
  };
}

/** True when a fact before this place has the key. */
function isBefore(facts: readonly Fact[], place: number, key: string): boolean {
  for (let n = 0; n < place; n++) if (facts[n]?.key === key) return true;
  return false;
}
