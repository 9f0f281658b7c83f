import { reason, unseenMessages, type Fact } from "../protocol/index.ts";
import { errorBecause } from "../texts/error.ts";
import { emptySession, hold, pageOf, reading, rowOf, type Held } from "./held.ts";
import { createHub } from "./hub.ts";
import type { Ledger, News, TakeOptions } from "./ledger.ts";
import { untilWritten } from "./retry.ts";
import { createRoster } from "./roster.ts";
import { createMembers, type Appended, type InboundFact, type Store } from "./store.ts";

/** A session that is held here, as far as the ledger has confirmed it. */
type Copy = Held & {
  /** Of this process's lease; 0 where it only looks. */
  epoch: number;
  /** Counts commits under that epoch. A batch that was not confirmed keeps its number, for it may have been written. */
  batch: number;
  unconfirmed?: { facts: readonly Fact[]; number: number };
  /** Readings of what came between, one after the other. */
  catchingUp: Promise<void>;
  /** How many look at it. */
  uses: number;
};

/** Notes that this process keeps of its own: commands that it has started, which only its machine can see. */
type Local = Pick<Store, "noteChild" | "children" | "callOf" | "place">;

export type ReplicaOptions = {
  /** Of new sessions. */
  place?(): string;
  /** The clock of the server. */
  now?(): number;
  /** Keeps a list of all sessions and of everything that waits, for whoever looks at all of them. */
  roster?: boolean;
};

export type Replica = {
  readonly store: Store;
  /** Takes the session to run it here: `claim` gives its epoch then. */
  take(session: string, options?: TakeOptions): Promise<void>;
  /** Holds a session for as long as somebody looks at it, until the function that it gives is called. */
  look(session: string): Promise<() => void>;
  /** Lets go of the session if it is still this process's. */
  letGo(session: string): Promise<void>;
  /** True when the owner could not let go: something was written that it has not seen. Asked once. */
  again(session: string): boolean;
  /** Others have written: what is held here is read. */
  heard(news: News): void;
  /** News may have been missed: everything that is held is looked at again. */
  caughtUp(): Promise<void>;
  /** Another process has taken the session. */
  lost(session: string): void;
  readonly held: number;
};

/** Sessions of a ledger as a `Store`: read from memory, written through. Facts are told in the order of their numbers, each once, whoever brought them. */
export function createReplica(
  ledger: Ledger,
  local: Local,
  { place = () => "", roster = false, now }: ReplicaOptions = {},
): Replica {
  const hub = createHub();
  const copies = new Map<string, Copy>();
  const unreleased = new Set<string>();
  const members = createMembers();
  const over = new AbortController();
  const list = roster ? createRoster(ledger, hub, (id) => copies.has(id), over.signal) : undefined;
  const known = list ? joined<Held>(copies, list.sessions) : copies;
  const older = (a: Fact, b: Fact) =>
    a.at - b.at || (a.session < b.session ? -1 : a.session > b.session ? 1 : a.seq - b.seq);
  const read = reading(copies, older);
  const wide = list ? reading(known, older) : read;

  const copyOf = (id: string): Copy => {
    const copy = copies.get(id);
    if (!copy) throw errorBecause("session-unknown", reason("session-missing", { session: id }));
    return copy;
  };
  const newest = (copy: Copy) => copy.facts.at(-1)?.seq ?? 0;
  const keep = (copy: Copy, facts: readonly Fact[]) => {
    const fresh = facts.filter(({ seq }) => seq > newest(copy));
    for (const fact of fresh) hold(copy, fact);
    const [first] = fresh;
    if (first) list?.told(first.session, newest(copy));
    hub.tell(fresh);
  };
  /** Reads what is missing, after every reading that was begun before. */
  const catchUp = (id: string): Promise<void> => {
    const copy = copies.get(id);
    if (!copy) return Promise.resolve();
    const read = async () => {
      const facts = await untilWritten(() => ledger.read(id, newest(copy)), { signal: over.signal });
      if (copies.get(id) === copy) keep(copy, facts);
    };
    // Facts that cannot be read now are read with the next news.
    return (copy.catchingUp = copy.catchingUp.then(read).catch(() => {}));
  };
  /** Facts that this process has written: with nothing missing before them they are known already. */
  const written = async (id: string, before: number, facts: readonly Fact[]): Promise<void> => {
    const copy = copies.get(id);
    if (!copy) return;
    await copy.catchingUp;
    if (before <= newest(copy)) keep(copy, facts);
    else await catchUp(id);
  };
  const load = async (id: string): Promise<Copy> => {
    const facts = await ledger.read(id, 0);
    const had = copies.get(id);
    if (had) return had; // somebody else was quicker
    const [opened] = facts;
    if (opened?.type !== "session.opened")
      throw errorBecause("session-unknown", reason("session-missing", { session: id }));
    const copy: Copy = {
      ...emptySession(opened.data.cwd),
      epoch: 0,
      batch: 0,
      catchingUp: Promise.resolve(),
      uses: 0,
    };
    for (const fact of facts) hold(copy, fact);
    copies.set(id, copy);
    return copy;
  };
  const drop = (id: string, copy: Copy) => {
    if (copy.uses === 0 && copy.epoch === 0 && copies.get(id) === copy) copies.delete(id);
  };
  const append = async (id: string, fact: InboundFact): Promise<Appended> => {
    const { before, ...appended } = await ledger.append(id, fact);
    await written(id, before, [appended.fact]);
    return appended;
  };

  const store: Store = {
    ...read,
    pending: wide.pending,
    find: wide.find,
    ...local,
    shared: true,
    hub,
    read: (id, options = {}) =>
      copies.has(id) ? read.read(id, options) : ledger.read(id, options.after ?? 0, options),
    member: (make) => members(store, make),
    ...(now && { now }),
    async create(id, opened) {
      const created = await ledger.create(id, opened, place());
      if (created) await load(id);
      return created;
    },
    claim(id) {
      const { epoch } = copyOf(id);
      if (epoch === 0) throw errorBecause("session-owned", reason("taken-over", { session: id }));
      return epoch;
    },
    async release(id, epoch, knew) {
      const copy = copies.get(id);
      if (!copy || copy.epoch !== epoch) return;
      const { again } = await untilWritten(() => ledger.release(id, epoch, knew ?? newest(copy)));
      if (again) {
        unreleased.add(id);
        await catchUp(id);
        return;
      }
      copy.epoch = 0;
      drop(id, copy);
    },
    owner: (id) => (copies.get(id)?.epoch ? undefined : list?.row(id)?.owned ? "a worker" : undefined),
    async commit(id, epoch, facts) {
      const copy = copyOf(id);
      if (copy.epoch !== epoch) throw errorBecause("lease-lost", reason("taken-over", { session: id }));
      const number = copy.unconfirmed?.facts === facts ? copy.unconfirmed.number : ++copy.batch;
      copy.unconfirmed = { facts, number };
      const ends = facts.some(({ type }) => type === "turn.ended");
      const unheard = ends && unseenMessages([...copy.facts, ...facts]).length > 0;
      const { numbers, before } = await ledger.commit(id, epoch, { number, facts, unheard, knew: newest(copy) });
      delete copy.unconfirmed;
      const own = facts.filter((fact, n) => (fact.seq = numbers[n] ?? 0) > 0);
      await written(id, before, own);
    },
    append,
    appendAll: (facts) => Promise.all(facts.map(({ session, fact }) => append(session, fact))),
    async approve(id, approval, conclude) {
      const { written: facts, ...consented } = await ledger.approve(id, approval, conclude);
      for (const { fact, before } of facts) await written(id, before, [fact]);
      return consented;
    },
    session(id) {
      const copy = copies.get(id);
      const listed = list?.row(id);
      if (!copy) return listed;
      const row = rowOf(id, copy, copy.epoch > 0 || listed?.owned === true);
      return listed?.place ? { ...row, place: listed.place } : row;
    },
    sessions: (page) =>
      pageOf(
        [...known.keys()].flatMap((id) => store.session(id) ?? []),
        page,
      ),
    journalId: () => ledger.journal,
    leftCalls: () => false,
    lookAtIndexes: () => ({ missing: 0, stale: 0 }),
    rebuildIndexes() {},
    head: ledger.head,
    verify: ledger.verify,
    housekeeping: {
      ...ledger.housekeeping,
      async copy(id, facts) {
        await ledger.housekeeping.copy(id, facts);
        await list?.heard(id);
      },
      async remove(id, upTo, last) {
        await ledger.housekeeping.remove(id, upTo, last);
        copies.delete(id);
        await list?.heard(id);
      },
    },
    close: () => over.abort(),
  };

  return {
    store,
    async take(id, options) {
      const { epoch } = await ledger.take(id, options);
      const copy = await load(id);
      await catchUp(id);
      [copy.epoch, copy.batch] = [epoch, 0];
      delete copy.unconfirmed;
    },
    async look(id) {
      const isNew = !copies.has(id);
      const copy = await load(id);
      copy.uses++;
      if (isNew) await catchUp(id); // news that came while it was read found no copy
      let looks = true;
      return () => {
        if (!looks) return;
        looks = false;
        copy.uses--;
        drop(id, copy);
      };
    },
    async letGo(id) {
      const epoch = copies.get(id)?.epoch ?? 0;
      if (epoch > 0 && !unreleased.has(id)) await store.release(id, epoch);
    },
    again: (id) => unreleased.delete(id),
    heard({ session, upTo }) {
      const copy = copies.get(session);
      if (copy && upTo > newest(copy)) void catchUp(session);
      void list?.heard(session);
    },
    caughtUp: async () => void (await Promise.all([list?.refresh(), ...[...copies.keys()].map(catchUp)])),
    lost(id) {
      const copy = copies.get(id);
      if (!copy || copy.epoch === 0) return;
      copy.epoch = 0;
      hub.lost(id, errorBecause("lease-lost", reason("taken-over", { session: id })));
      drop(id, copy);
    },
    get held() {
      return copies.size;
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
    values: () => [...first.values(), ...rest().map(([, one]) => one)].values(),
  };
}
