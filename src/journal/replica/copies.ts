import type { Fact } from "../../protocol/facts/fact.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { emptySession, holdSession, sessionIn, type HeldSession } from "../store/held-session.ts";
import type { Ledger } from "./ledger.ts";
import { untilWritten } from "../store/retry.ts";

/** A session that is held here, as far as the ledger has confirmed it. */
type Copy = HeldSession & {
  /** Epoch of this process's lease; 0 if it only reads. */
  epoch: number;
  /** Counts commits under that epoch. A batch that was not confirmed keeps its number, for it may have been written. */
  batch: number;
  unconfirmed?: { facts: readonly Fact[]; number: number };
  /** Readings of what came between, one after the other. */
  catchingUp: Promise<void>;
  /** Number of those who look at it. */
  uses: number;
};

/** Copies of a ledger's sessions. */
export type Copies = {
  readonly all: ReadonlyMap<string, Copy>;
  /** The copy of a session; an error where there is none. */
  of(id: string): Copy;
  /** Reads the whole session, unless it is held already. */
  load(id: string): Promise<Copy>;
  /** Reads what is missing, after every reading that was begun before. */
  catchUp(id: string): Promise<void>;
  /** Adds facts that this process has written after the fact `before`: with nothing missing before them they are known already. */
  written(id: string, before: number, facts: readonly Fact[]): Promise<void>;
  /** Drops a session that nobody watches and that does not run here. */
  drop(id: string, copy: Copy): void;
  /** Forgets a session that was deleted. */
  remove(id: string): void;
};

type CopiesParts = {
  ledger: Ledger;
  /** Told of facts in the order of their numbers, each once. */
  tell(facts: readonly Fact[]): void;
  signal: AbortSignal;
};

/** Keeps copies of sessions up to date. */
export function createCopies({ ledger, tell, signal }: CopiesParts): Copies {
  const all = new Map<string, Copy>();
  const keep = (copy: Copy, facts: readonly Fact[]) => {
    const fresh = facts.filter(({ seq }) => seq > newest(copy));
    for (const fact of fresh) holdSession(copy, fact);
    tell(fresh);
  };
  const catchUp = (id: string): Promise<void> => {
    const copy = all.get(id);
    if (!copy) return Promise.resolve();
    const read = async () => {
      const facts = await untilWritten(() => ledger.read(id, newest(copy)), { signal });
      if (all.get(id) === copy) keep(copy, facts);
    };
    // Facts that cannot be read now are read with the next news.
    return (copy.catchingUp = copy.catchingUp.then(read).catch(() => {}));
  };
  return {
    all,
    catchUp,
    of: (id) => sessionIn(all, id),
    async load(id) {
      const facts = await ledger.read(id, 0);
      const had = all.get(id);
      if (had) return had; // somebody else was quicker
      const [opened] = facts;
      if (opened?.type !== "session.opened")
        throw new SageError("session-unknown", reason("session-missing", { session: id }));
      const session = emptySession(opened.data.cwd);
      const copy: Copy = { ...session, epoch: 0, batch: 0, catchingUp: Promise.resolve(), uses: 0 };
      for (const fact of facts) holdSession(copy, fact);
      all.set(id, copy);
      return copy;
    },
    async written(id, before, facts) {
      const copy = all.get(id);
      if (!copy) return;
      await copy.catchingUp;
      if (before <= newest(copy)) keep(copy, facts);
      else await catchUp(id);
    },
    drop(id, copy) {
      if (copy.uses === 0 && copy.epoch === 0 && all.get(id) === copy) all.delete(id);
    },
    remove: (id) => void all.delete(id),
  };
}

/** The number of the newest fact of a copy. */
export function newest(copy: Copy): number {
  return copy.facts.at(-1)?.seq ?? 0;
}
