import type { Store } from "../../journal/store.ts";
import type { Delta, Fact } from "../../protocol/index.ts";
import type { Meeting } from "./meeting.ts";

/** A surface is told what is on disk after this long, with or without the owner. */
const PATIENCE_MS = 1_000;
const LOOK_MS = 1_000;
/** A process that dies lets go of its connections a moment before it is gone. */
const DYING_MS = 50;
const MISSES = 3;

/** How a session that another process may run looks from here. */
export type Seen = {
  /** What is streamed there reaches this process; also when nobody else runs it. */
  live: boolean;
  /** Somebody else ran it, a turn is open, and nobody runs it now, though no person has paused it. */
  stopped: boolean;
};

export type Following = {
  /** The first try to reach the owner is over. */
  readonly settled: Promise<void>;
  seen(): Seen;
  /** A fact has come from the journal. */
  note(fact: Fact): void;
  stop(): void;
};

type Parts = {
  store: Store;
  meeting: Meeting;
  session: string;
  runsHere(): boolean;
  /** Facts up to here are known. */
  known(): number;
  /** Facts up to here are on disk: they come before whatever the owner streams next. */
  heard(seq: number): void;
  delta(delta: Delta): void;
  changed(seen: Seen): void;
};

type Line = { owner: string; ready: boolean; leave(): void };

/** Stays with whoever runs a session, as long as that is another process: its deltas come from there, facts from the journal. */
export function followOwner(parts: Parts): Following {
  const { store, meeting, session, runsHere, known, heard, delta, changed } = parts;
  let owner: string | undefined;
  let line: Line | undefined;
  let timer: NodeJS.Timeout | undefined;
  let followed = false;
  let paused = false;
  let misses = 0;
  let stopped = false;
  let told: Seen | undefined;
  /** What facts from the journal have ended already, though the owner's stream has not come to it yet. */
  const ahead = new Map<string, number>();
  let position = 0;
  const first = Promise.withResolvers<void>();
  const patience = setTimeout(first.resolve, PATIENCE_MS).unref();

  const seen = (): Seen => ({
    live: owner === undefined || line?.ready === true,
    stopped: owner === undefined && followed && !paused && !runsHere() && store.session(session)?.open === true,
  });
  /** Once it is certain: somebody who is just being called, or has hung up a moment ago, may still be there. */
  const report = () => {
    if (!told || (line && !line.ready) || (misses > 0 && misses < MISSES)) return;
    const now = seen();
    if (now.live === told.live && now.stopped === told.stopped) return;
    told = now;
    changed(now);
  };

  const look = () => {
    if (stopped) return;
    owner = runsHere() ? undefined : store.owner(session);
    if (owner === undefined) misses = 0;
    else followed = true;
    // One that has let go of the session may take it up again: the line to it is kept until somebody else has it.
    const another = owner !== undefined && line?.owner !== owner;
    if (another || runsHere()) line?.leave();
    if (another && owner !== undefined) follow(owner);
    if (owner === undefined || line === undefined) first.resolve();
    report();
    clearInterval(timer);
    timer = owner === undefined ? undefined : setInterval(lookIfPossible, LOOK_MS).unref();
  };
  const lookIfPossible = () => {
    try {
      look();
    } catch {
      // a journal that cannot be read for a moment; the next look may
    }
  };

  const follow = (process: string) => {
    const { host, release } = meeting.reach(process);
    const leaving = new AbortController();
    const mine: Line = (line = {
      owner: process,
      ready: false,
      leave() {
        leaving.abort();
        if (line === mine) line = undefined;
      },
    });
    position = known();
    const stream = async () => {
      const owners = await host;
      for await (const event of owners.watch(session, { after: position, signal: leaving.signal })) {
        if (leaving.signal.aborted) return;
        if (event.type === "ready") {
          mine.ready = true;
          misses = 0;
          first.resolve();
          report();
        } else if (event.type === "fact") {
          position = event.fact.seq;
          for (const [key, seq] of ahead) if (seq <= position) ahead.delete(key);
          heard(position);
        } else if (event.type === "delta" && !ahead.has(event.delta.key)) delta(event.delta);
      }
    };
    void stream()
      .catch(() => {}) // it is gone, or has no socket: what it writes is heard all the same
      .finally(() => {
        release();
        if (leaving.signal.aborted) return;
        line = undefined;
        misses++;
        first.resolve();
        if (misses < MISSES) setTimeout(lookIfPossible, DYING_MS).unref();
        report();
      });
  };

  lookIfPossible();
  return {
    settled: first.promise.then(() => {
      clearTimeout(patience);
      told = seen();
    }),
    seen,
    note(fact) {
      if (fact.type === "turn.interrupted") paused = true;
      else if (fact.type === "user.said" || (fact.type === "state.changed" && fact.data.from.state === "initializing"))
        paused = false; // it goes on, or is meant to
      if (line && fact.seq > position) ahead.set(fact.key.replace(/\.finished$/, ""), fact.seq);
      lookIfPossible();
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      clearTimeout(patience);
      line?.leave();
    },
  };
}
