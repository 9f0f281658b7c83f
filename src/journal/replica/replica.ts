import type { Fact } from "../../protocol/facts/fact.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import { unseenMessages } from "../../protocol/facts/unseen.ts";
import { isOutsideRequest } from "../../protocol/host/outside.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { createCopies, newest, type Copies } from "./copies.ts";
import { emptySession, holdSession, pageOf, reading, rowOf, type HeldSession } from "../store/held-session.ts";
import type { Housekeeping } from "../store/housekeeping.ts";
import { createHub } from "../store/hub.ts";
import type { Ledger, News, TakeOptions } from "./ledger.ts";
import { untilWritten } from "../store/retry.ts";
import { createRoster, type Roster } from "./roster.ts";
import type { Appended, Beat, InboundFact, SessionRow, Store } from "../store/store.ts";
import { createMembers } from "../store/store.ts";

/** Notes that this process keeps of its own: commands that it has started, which only its machine can see. */
type Local = Pick<Store, "noteChild" | "children" | "callOf" | "place">;

type ReplicaOptions = {
  /** The place of new sessions. */
  place?(): string;
  /** The clock of the server. */
  now?(): number;
  /** Keeps a list of all sessions and open requests, for callers that list all of them. */
  roster?: boolean;
};

export type Replica = {
  readonly store: Store;
  /** Claims the session to run it here: `claim` returns its epoch afterwards. */
  take(session: string, options?: TakeOptions): Promise<void>;
  /** Keeps a watched session in memory until the returned function is called. */
  look(session: string): Promise<() => void>;
  /** Lets go of the session if it is still this process's. */
  letGo(session: string): Promise<void>;
  /** True if the owner could not release it: something was written that it has not seen. Can be asked once. */
  again(session: string): boolean;
  /** Other processes have written: read the sessions held here. */
  heard(news: News): void;
  /** Notifications may have been missed: read all held sessions again. */
  caughtUp(): Promise<void>;
  /** Another process has taken the session. */
  lost(session: string): void;
  /** This process is a worker: it enforces the deadlines of its place, and no others. */
  worksAt(place: string): void;
  readonly held: number;
};

/** Sessions of a ledger as a `Store`: read from memory, written through. Facts are told in the order of their numbers, each once, whoever brought them. */
export function createReplica(
  ledger: Ledger,
  local: Local,
  { place = () => "", roster = false, now }: ReplicaOptions = {},
): Replica {
  const hub = createHub();
  const over = new AbortController();
  const members = createMembers();
  const unreleased = new Set<string>();
  const tell = (facts: readonly Fact[]) => {
    const last = facts.at(-1);
    if (last) list?.told(last.session, last.seq);
    hub.tell(facts);
  };
  const copies = createCopies({ ledger, tell, signal: over.signal });
  const time = createTime(ledger, (session) => list?.row(session)?.place?.name);
  const list = roster
    ? createRoster(ledger, hub, { isHeld: (id) => copies.all.has(id), look: time.look, signal: over.signal })
    : undefined;
  const store: Store = {
    ...local,
    ...(now && { now }),
    shared: true,
    hub,
    member: (make) => members(store, make),
    ...readingHalf(ledger, copies, list),
    ...writingHalf(ledger, copies, { place, unreleased }),
    lastBeat: time.lastBeat,
    beat: time.beat,
    enforced: () => time.enforced(() => store.pending()),
    housekeeping: housekeepingOf(ledger, copies, list),
    close: () => over.abort(),
  };

  return {
    store,
    async take(id, options) {
      const { epoch } = await ledger.take(id, options);
      const copy = await copies.load(id);
      await copies.catchUp(id);
      [copy.epoch, copy.batch] = [epoch, 0];
      delete copy.unconfirmed;
    },
    async look(id) {
      const isNew = !copies.all.has(id);
      const copy = await copies.load(id);
      copy.uses++;
      if (isNew) await copies.catchUp(id); // news that came while it was read found no copy
      if (list && !list.row(id)) await list.heard(id); // its place, which no fact tells
      let looks = true;
      return () => {
        if (!looks) return;
        looks = false;
        copy.uses--;
        copies.drop(id, copy);
      };
    },
    async letGo(id) {
      const epoch = copies.all.get(id)?.epoch ?? 0;
      if (epoch > 0 && !unreleased.has(id)) await store.release(id, epoch);
    },
    again: (id) => unreleased.delete(id),
    heard({ session, upTo }) {
      const copy = copies.all.get(session);
      if (copy && upTo > newest(copy)) void copies.catchUp(session);
      void list?.heard(session);
    },
    caughtUp: async () => void (await Promise.all([list?.refresh(), ...[...copies.all.keys()].map(copies.catchUp)])),
    lost(id) {
      const copy = copies.all.get(id);
      if (!copy || copy.epoch === 0) return;
      copy.epoch = 0;
      hub.lost(id, new SageError("lease-lost", reason("taken-over", { session: id })));
      copies.drop(id, copy);
    },
    worksAt: time.worksAt,
    get held() {
      return copies.all.size;
    },
  };
}

/** Heartbeats of those who enforce deadlines: workers those of their place, gateways those of requests that call further people, or come from outside. */
function createTime(ledger: Ledger, placeOf: (session: string) => string | undefined) {
  let beats: ReadonlyMap<string, number> = new Map();
  let own = "";
  const look = async () => {
    beats = await ledger.beats();
  };
  const isOfGateways = (request: InputRequest) =>
    isOutsideRequest(request) || request.deadline?.escalation !== undefined;
  return {
    look,
    worksAt: (place: string) => void (own = place),
    beat: (_: Beat, opens: boolean) => ledger.beat(own, opens),
    lastBeat(request?: InputRequest): Beat | undefined {
      if (!request) return undefined;
      const names = [placeOf(request.session) ?? own, ...(isOfGateways(request) ? [""] : [])];
      const newest = Math.max(...names.map((name) => beats.get(name) ?? -Infinity));
      return newest === -Infinity ? undefined : { at: newest, boot: "", uptime: 0 };
    },
    async enforced(listed: () => InputRequest[]): Promise<InputRequest[]> {
      await look();
      if (own === "") return listed().filter(isOfGateways);
      const sessions = new Map<string, HeldSession>();
      for (const fact of await ledger.open(own)) {
        const session = sessions.get(fact.session) ?? emptySession("");
        sessions.set(fact.session, session);
        holdSession(session, fact);
      }
      for (const fact of await ledger.moves()) holdSession(sessions.get(fact.session) ?? emptySession(""), fact);
      return reading(sessions, () => 0).pending();
    },
  };
}

/** Reads what is held here; sessions that are only listed where all of them are asked for. */
function readingHalf(ledger: Ledger, copies: Copies, list: Roster | undefined) {
  const older = (a: Fact, b: Fact) =>
    a.at - b.at || (a.session < b.session ? -1 : a.session > b.session ? 1 : a.seq - b.seq);
  const known = list ? joined<HeldSession>(copies.all, list.sessions) : copies.all;
  const held = reading(copies.all, older);
  const { pending, find } = list ? reading(known, older) : held;
  const session = (id: string): SessionRow | undefined => {
    const copy = copies.all.get(id);
    const listed = list?.row(id);
    if (!copy) return listed;
    const row = rowOf(id, copy, copy.epoch > 0 || listed?.owned === true);
    return listed?.place ? { ...row, place: listed.place } : row;
  };
  return {
    ...held,
    pending,
    find,
    session,
    read: (id, options = {}) =>
      copies.all.has(id) ? held.read(id, options) : ledger.read(id, options.after ?? 0, options),
    sessions: (page) =>
      pageOf(
        [...known.keys()].flatMap((id) => session(id) ?? []),
        page,
      ),
    owner: (id) => (copies.all.get(id)?.epoch ? undefined : list?.row(id)?.owned ? "a worker" : undefined),
    journalId: () => ledger.journal,
    head: ledger.head,
    verify: ledger.verify,
    leftCalls: () => false,
    lookAtIndexes: () => ({ missing: 0, stale: 0 }),
    rebuildIndexes() {},
  } satisfies Partial<Store>;
}

type WritingParts = Required<Pick<ReplicaOptions, "place">> & {
  /** Sessions that their owner could not release. */
  unreleased: Set<string>;
};

/** Writes to the ledger, and keeps what was written. */
function writingHalf(ledger: Ledger, copies: Copies, { place, unreleased }: WritingParts) {
  const append = async (id: string, fact: InboundFact): Promise<Appended> => {
    const { before, ...appended } = await ledger.append(id, fact);
    await copies.written(id, before, [appended.fact]);
    return appended;
  };
  return {
    append,
    async appendAll(facts) {
      const id = facts[0]?.session;
      if (id === undefined || facts.length === 1 || facts.some(({ session }) => session !== id))
        return Promise.all(facts.map(({ session, fact }) => append(session, fact)));
      const together = await ledger.appendAll(
        id,
        facts.map(({ fact }) => fact),
      );
      for (const { fact, before } of together) await copies.written(id, before, [fact]);
      return together;
    },
    async create(id, opened) {
      const created = await ledger.create(id, opened, place());
      if (created) await copies.load(id);
      return created;
    },
    claim(id) {
      const { epoch } = copies.of(id);
      if (epoch === 0) throw new SageError("session-owned", reason("taken-over", { session: id }));
      return epoch;
    },
    async release(id, epoch, knew) {
      const copy = copies.all.get(id);
      if (!copy || copy.epoch !== epoch) return;
      const { again } = await untilWritten(() => ledger.release(id, epoch, knew ?? newest(copy)));
      if (again) {
        unreleased.add(id);
        await copies.catchUp(id);
        return;
      }
      copy.epoch = 0;
      copies.drop(id, copy);
    },
    async commit(id, epoch, facts) {
      const copy = copies.of(id);
      if (copy.epoch !== epoch) throw new SageError("lease-lost", reason("taken-over", { session: id }));
      const number = copy.unconfirmed?.facts === facts ? copy.unconfirmed.number : ++copy.batch;
      copy.unconfirmed = { facts, number };
      const ends = facts.some(({ type }) => type === "turn.ended");
      const unheard = ends && unseenMessages([...copy.facts, ...facts]).length > 0;
      const { numbers, before } = await ledger.commit(id, epoch, { number, facts, unheard, knew: newest(copy) });
      delete copy.unconfirmed;
      const own = facts.filter((fact, n) => (fact.seq = numbers[n] ?? 0) > 0);
      await copies.written(id, before, own);
    },
    async approve(id, approval, conclude) {
      const { written, ...consented } = await ledger.approve(id, approval, conclude);
      for (const { fact, before } of written) await copies.written(id, before, [fact]);
      return consented;
    },
  } satisfies Partial<Store>;
}

function housekeepingOf({ housekeeping }: Ledger, copies: Copies, list: Roster | undefined): Housekeeping {
  return {
    ...housekeeping,
    async copy(id, facts) {
      await housekeeping.copy(id, facts);
      await list?.heard(id);
    },
    async remove(id, upTo, last) {
      await housekeeping.remove(id, upTo, last);
      copies.remove(id);
      await list?.heard(id);
    },
  };
}

/** Two maps as one; the first knows better. */
function joined<T>(
  first: ReadonlyMap<string, T>,
  second: ReadonlyMap<string, T>,
): Pick<ReadonlyMap<string, T>, "get" | "keys" | "values"> {
  const rest = () => [...second].filter(([id]) => !first.has(id));
  return {
    get: (id) => first.get(id) ?? second.get(id),
    keys: () => [...first.keys(), ...rest().map(([id]) => id)].values(),
    values: () => [...first.values(), ...rest().map(([, value]) => value)].values(),
  };
}
