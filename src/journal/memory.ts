import {
  approvalKeys,
  draftKeys,
  inquiryKeys,
  isInquiry,
  reason,
  removedKey,
  resolvedKey,
  SageError,
  splitRequestId,
  unseenMessages,
  withoutEnd,
  type Approval,
  type Fact,
  type FactData,
  type Resolution,
  type InquiryFact,
} from "../protocol/index.ts";
import { cwdOf, meanwhile, owned, REMOVED, renumbered, waiting } from "./housekeeping.ts";
import { createHub } from "./hub.ts";
import { createMembers, type Appended, type InboundFact, type SessionRow, type LocalStore } from "./store.ts";
import { errorBecause } from "../texts/error.ts";

type Session = {
  facts: Fact[];
  keys: Map<string, Fact>;
  epoch: number;
  owned: boolean;
  cwd: string;
  /** Kept as facts come: an answer looks at its session, and must not cost more the longer that is. */
  said?: Fact<"user.said">;
  titled?: Fact<"session.titled">;
  turn?: Fact<"turn.begun" | "turn.ended">;
  /** Requests without a resolution, by key. */
  open: Map<string, Fact<"input.requested">>;
};

/** A journal in memory, gone with the process: for tests, and for embedders who want no disk. */
export function memoryStore(): LocalStore {
  const hub = createHub();
  const sessions = new Map<string, Session>();
  const journal = crypto.randomUUID();
  let seq = 0;
  let removed: Fact<"session.removed">[] = [];
  const sessionOf = (id: string): Session => {
    const session = sessions.get(id);
    if (!session) throw errorBecause("session-unknown", reason("session-missing", { session: id }));
    return session;
  };
  const keep = (session: Session, fact: Fact) => {
    fact.seq = ++seq;
    session.facts.push(fact);
    session.keys.set(fact.key, fact);
    note(session, fact);
  };
  const resolution = (id: string): Resolution | undefined => {
    const { session, key } = splitRequestId(id);
    const fact = sessions.get(session)?.keys.get(resolvedKey(key));
    return fact?.type === "input.resolved" ? fact.data : undefined;
  };
  const append = (id: string, inbound: InboundFact): Appended => {
    const session = sessionOf(id);
    const had = session.keys.get(inbound.key);
    if (had) return { won: false, fact: had };
    const fact = { session: id, seq: 0, ...inbound } as Fact;
    keep(session, fact);
    hub.tell([fact]);
    return { won: true, fact };
  };
  const approvals = (id: string): Approval[] => {
    const { session, key } = splitRequestId(id);
    const { prefix } = approvalKeys(key);
    const all = sessions.get(session)?.facts ?? [];
    return all.flatMap((fact) => (fact.type === "input.approved" && fact.key.startsWith(prefix) ? [fact.data] : []));
  };
  const members = createMembers();
  const store: LocalStore = {
    hub,
    member: (make) => members(store, make),
    test: true, // nothing outlives the process
    place: undefined,
    owner: () => undefined,
    create(id, opened) {
      if (sessions.has(id)) return false;
      const session = emptySession(opened.cwd);
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
    opened: (id) => sessions.get(id)?.facts[0]?.data as FactData["session.opened"] | undefined,
    load: (id) => [...sessionOf(id).facts],
    commit(id, epoch, facts) {
      const session = sessionOf(id);
      if (session.epoch !== epoch) throw errorBecause("lease-lost", reason("taken-over", { session: id }));
      const keys = new Set<string>();
      // Somebody may have answered since: their answer stands.
      const fresh = facts.filter((fact) => fact.type !== "input.resolved" || !session.keys.has(fact.key));
      for (const { key } of fresh) {
        if (session.keys.has(key) || keys.has(key))
          throw new Error(`the key ${key} of session ${id} is written already`);
        keys.add(key);
      }
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
    approvals,
    pending(id, page) {
      const open = (id === undefined ? [...sessions.values()] : [sessions.get(id)])
        .flatMap((session) => (session ? [...session.open.values()] : []))
        .sort((a, b) => a.seq - b.seq);
      const { session = "", key = "" } = page?.after === undefined ? {} : splitRequestId(page.after);
      const after = sessions.get(session)?.keys.get(key)?.seq ?? 0;
      return open
        .filter(({ seq: at }) => at > after)
        .slice(0, page?.limit)
        .map(({ data }) => data);
    },
    resolution,
    find(id) {
      const { session, key } = splitRequestId(id);
      const asked = sessions.get(session)?.keys.get(key);
      return asked?.type === "input.requested" ? { request: asked.data, resolution: resolution(id) } : undefined;
    },
    draft(id) {
      const { session, key } = splitRequestId(id);
      const { prefix } = draftKeys(key);
      const saved = sessions
        .get(session)
        ?.facts.findLast((fact) => fact.type === "draft.saved" && fact.key.startsWith(prefix));
      return saved?.type === "draft.saved" ? saved.data.draft : undefined;
    },
    inquiries(id) {
      const { session, key } = splitRequestId(id);
      const { from } = inquiryKeys(key);
      const facts = sessions.get(session)?.facts ?? [];
      return facts.filter((fact): fact is InquiryFact => isInquiry(fact) && fact.key.startsWith(from));
    },
    session(id) {
      const session = sessions.get(id);
      return session && row(id, session);
    },
    sessions({ limit, after } = { limit: Infinity }) {
      const all = [...sessions].map(([id, session]) => row(id, session)).sort((a, b) => b.lastAt - a.lastAt);
      const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
      return all.slice(from, from + limit);
    },
    since: (id, after, limit) => (sessions.get(id)?.facts.filter((fact) => fact.seq > after) ?? []).slice(0, limit),
    fact: (id, key) => sessions.get(id)?.keys.get(key),
    journalId: () => journal,
    noteChild() {},
    children: () => [],
    callOf: () => undefined,
    leftCalls: () => false, // nothing outlives the process
    lookAtIndexes: () => ({ missing: 0, stale: 0 }), // there are none on a disk, which could differ from the facts
    rebuildIndexes() {},
    housekeeping: {
      copy(id, facts) {
        if (sessions.has(id)) throw errorBecause("input-invalid", reason("session-exists", { session: id }));
        const session = emptySession(cwdOf(facts));
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
      only: (session, types) => (sessions.get(session)?.facts ?? []).filter(({ type }) => types.includes(type)),
      shrink() {},
    },
    head: () => undefined,
    verify: () => undefined,
    close() {},
  };
  return store;
}

function emptySession(cwd: string): Session {
  return { facts: [], keys: new Map(), epoch: 0, owned: false, cwd, open: new Map() };
}

function note(session: Session, fact: Fact): void {
  switch (fact.type) {
    case "user.said":
      session.said ??= fact;
      return;
    case "session.titled":
      session.titled = fact;
      return;
    case "turn.begun":
    case "turn.ended":
      session.turn = fact;
      return;
    case "input.requested":
      if (!session.keys.has(resolvedKey(fact.key))) session.open.set(fact.key, fact);
      return;
    case "input.resolved":
      session.open.delete(withoutEnd(fact.key));
      return;
    default:
  }
}

function row(id: string, session: Session): SessionRow {
  const { facts, cwd, owned, said, titled, turn, open } = session;
  return {
    id,
    cwd,
    title: titled?.data.title ?? said?.data.text.slice(0, 200) ?? "",
    at: facts[0]?.at ?? 0,
    lastAt: facts.at(-1)?.at ?? 0,
    open: turn?.type === "turn.begun",
    unheard: turn?.type !== "turn.begun" && unseenMessages(facts).length > 0,
    owned,
    pending: open.size,
  };
}
