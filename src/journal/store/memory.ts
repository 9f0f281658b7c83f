import type { Fact } from "../../protocol/facts/fact.ts";
import { removedKey } from "../../protocol/key.ts";
import { SageError } from "../../protocol/reasons/error.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { emptySession, hold, pageOf, reading, rowOf, sessionIn, type Held } from "./held-session.ts";
import { cwdOf, meanwhile, owned, REMOVED, renumbered, waiting } from "./housekeeping.ts";
import { createHub } from "./hub.ts";
import { createMembers, type Appended, type InboundFact, type LocalStore } from "./store.ts";

type Session = Held & { epoch: number; owned: boolean };

/** A journal in memory, gone with the process: for tests, and for embedders who want no disk. */
export function memoryStore(): LocalStore {
  const hub = createHub();
  const sessions = new Map<string, Session>();
  const journal = crypto.randomUUID();
  let seq = 0;
  let removed: Fact<"session.removed">[] = [];
  const sessionOf = (id: string) => sessionIn(sessions, id);
  const read = reading(sessions, (a, b) => a.seq - b.seq);
  const { resolution, approvals } = read;
  const keep = (session: Session, fact: Fact) => {
    fact.seq = ++seq;
    hold(session, fact);
  };
  const empty = (cwd: string): Session => ({ ...emptySession(cwd), epoch: 0, owned: false });
  const append = (id: string, inbound: InboundFact): Appended => {
    const session = sessionOf(id);
    const had = session.keys.get(inbound.key);
    if (had) return { won: false, fact: had };
    const { key, type, at, data } = inbound;
    const fact = { session: id, seq: 0, key, type, at, data } as Fact; // of the same shape as those of a commit
    keep(session, fact);
    hub.tell([fact]);
    return { won: true, fact };
  };
  const members = createMembers();
  const store: LocalStore = {
    ...read,
    hub,
    member: (make) => members(store, make),
    test: true, // nothing outlives the process
    place: undefined,
    owner: () => undefined,
    create(id, opened) {
      if (sessions.has(id)) return false;
      const session = empty(opened.cwd);
      sessions.set(id, session);
      const fact: Fact = { session: id, seq: 0, key: "session", type: "session.opened", at: Date.now(), data: opened };
      keep(session, fact);
      hub.tell([fact]);
      return true;
    },
    claim(id) {
      const session = sessionOf(id);
      session.owned = true;
      return ++session.epoch;
    },
    release(id, epoch) {
      const session = sessionOf(id);
      if (session.epoch === epoch) session.owned = false;
    },
    commit(id, epoch, facts) {
      const session = sessionOf(id);
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
      for (const fact of fresh) keep(session, fact);
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
    session(id) {
      const session = sessions.get(id);
      return session && rowOf(id, session, session.owned);
    },
    sessions: (page) =>
      pageOf(
        [...sessions].map(([id, session]) => rowOf(id, session, session.owned)),
        page,
      ),
    journalId: () => journal,
    noteChild() {},
    children: () => [],
    callOf: () => undefined,
    leftCalls: () => false, // nothing outlives the process
    lookAtIndexes: () => ({ missing: 0, stale: 0 }), // there are none on a disk, which could differ from the facts
    rebuildIndexes() {},
    housekeeping: {
      copy(id, facts) {
        if (sessions.has(id)) throw new SageError("input-invalid", reason("session-exists", { session: id }));
        const session = empty(cwdOf(facts));
        sessions.set(id, session);
        for (const fact of renumbered(facts, id, seq + 1)) keep(session, fact);
      },
      remove(id, upTo, last) {
        const session = sessionOf(id);
        if (session.owned) throw owned(id, "this process");
        if (session.open.size > 0) throw waiting(id);
        if (session.facts.at(-1)?.seq !== upTo) throw meanwhile(id);
        sessions.delete(id);
        const frame = { session: REMOVED, seq: ++seq, key: removedKey(`${seq}`), at: Date.now() };
        removed.push({ ...frame, type: "session.removed", data: last });
      },
      removed: () => [...removed],
      verifyRemoved: () => undefined,
      forget(before) {
        const old = removed.filter(({ at }) => at < before).length;
        removed = removed.filter(({ at }) => at >= before);
        return old;
      },
      search(text, types) {
        const wanted = JSON.stringify(text).slice(1, -1).toLowerCase();
        const has = (fact: Fact) =>
          types.includes(fact.type) && JSON.stringify(fact.data).toLowerCase().includes(wanted);
        return [...sessions].flatMap(([session, { facts }]) => {
          const found = facts.find(has);
          return found ? [{ session, seq: found.seq }] : [];
        });
      },
      shrink: () => undefined,
    },
    head: () => undefined,
    verify: () => undefined,
    close() {},
  };
  return store;
}

/** True when a fact before this place has the key. */
function isBefore(facts: readonly Fact[], place: number, key: string): boolean {
  for (let n = 0; n < place; n++) if (facts[n]?.key === key) return true;
  return false;
}
