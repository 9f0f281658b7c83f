import type { Store } from "../../journal/store/store.ts";
import type { Delta, Fact } from "../../protocol/facts/fact.ts";
import { beginsAttempt } from "../../protocol/facts/session.ts";
import { withoutEnd } from "../../protocol/key.ts";
import { createBlocks, type Blocks } from "../run/blocks.ts";
import type { Peers } from "./peers.ts";

/** How long a watcher waits for the owner before it gets what is on disk. */
const TIMEOUT_MS = 1_000;
const POLL_MS = 1_000;
/** A dying process closes its connections a moment before it is gone. */
const DYING_MS = 50;

export type Following = {
  /** The first try to reach the owner is over. */
  readonly settled: Promise<void>;
  seen(): Seen;
  /** The text so far of what the owner streams. */
  blocks(): Delta[];
  /** A fact has come from the journal. */
  note(fact: Fact): void;
  /** Somebody else may run the session now. */
  look(): void;
  stop(): void;
};

export type FollowParts = {
  store: Pick<Store, "owner" | "session">;
  peers: Pick<Peers, "reach">;
  session: string;
  runsHere(): boolean;
  /** The newest fact that the watcher has, by its seq. */
  newest(): number;
  /** Facts up to here are in the journal: they come before whatever the owner streams next, which waits for the promise. */
  reached(seq: number): Promise<void>;
  delta(delta: Delta): void;
  changed(seen: Seen): void;
};

/** Stays with the process that runs a session, while that is another one: its deltas come from there, facts from the journal. */
export function followOwner(parts: FollowParts): Following {
  const { store, session, runsHere, changed } = parts;
  let link = unlinked;
  let call: Call | undefined;
  let timer: NodeJS.Timeout | undefined;
  let told: Seen | undefined;
  let stopped = false;
  const ahead = createAhead();
  const blocks = createBlocks();
  const first = Promise.withResolvers<void>();
  const patience = setTimeout(first.resolve, TIMEOUT_MS).unref();

  const seen = () => seenOver(link, () => store.session(session)?.open === true);
  const move = (event: LinkEvent) => {
    const before = link;
    link = nextLink(before, event);
    const { connection } = link;
    const to = connection.name === "none" ? undefined : connection.to;
    if (call && call.to !== to) {
      call.hangUp();
      call = undefined;
      blocks.forget(session); // the next owner streams it again
    }
    if (connection.name === "calling" && !call) call = dial(connection.to, parts, { ahead, blocks }, move);
    if (link.owner === undefined || connection.name !== "calling") first.resolve();
    if (told && isCertain(link)) report(seen());
    if (event.type === "hungUp" && mayBeDying(link)) setTimeout(look, DYING_MS).unref();
    keepLooking(before);
  };
  const report = (now: Seen) => {
    if (now.live === told?.live && now.stopped === told.stopped) return;
    told = now;
    changed(now);
  };
  /** An owner that dies tells nobody. Without an owner the next fact is reason enough to look. */
  const keepLooking = (before: Link) => {
    if ((before.owner === undefined) === (link.owner === undefined)) return;
    clearInterval(timer);
    timer = link.owner === undefined ? undefined : setInterval(look, POLL_MS).unref();
  };
  const look = () => {
    if (stopped) return;
    try {
      const here = runsHere();
      move({ type: "looked", here, owner: here ? undefined : store.owner(session) });
    } catch {
      // a journal that cannot be read for a moment; the next look may
    }
  };

  look();
  return {
    settled: first.promise.then(() => {
      clearTimeout(patience);
      told = seen();
    }),
    seen,
    look,
    blocks: () => blocks.of(session),
    note(fact) {
      blocks.fact(fact);
      if (fact.type === "turn.interrupted" && fact.data.to !== "now") move({ type: "interrupted" });
      else if (fact.type === "user.said" || beginsAttempt(fact)) move({ type: "wentOn" });
      if (call) ahead.note(fact);
      look();
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      clearTimeout(patience);
      call?.hangUp();
    },
  };
}

type Call = { to: string; hangUp(): void };

/** Calls the owner, and hands on what it streams until it or this process hangs up. */
function dial(to: string, parts: FollowParts, { ahead, blocks }: Heard, tell: (event: LinkEvent) => void): Call {
  const { peers, session, newest, reached, delta } = parts;
  const { host, release } = peers.reach(to);
  const leaving = new AbortController();
  const after = newest();
  ahead.begin(after);
  const stream = async () => {
    const owner = await host;
    for await (const event of owner.watch(session, { after, signal: leaving.signal })) {
      if (leaving.signal.aborted) return;
      if (event.type === "ready") tell({ type: "answered" });
      else if (event.type === "fact") {
        ahead.reach(event.fact.seq);
        await reached(event.fact.seq);
      } else if (event.type === "delta" && !ahead.has(event.delta.key)) {
        blocks.delta(event.delta);
        delta(event.delta);
      }
    }
  };
  void stream()
    .catch(() => {}) // the owner is gone or has no socket: facts still come from the journal
    .finally(() => {
      release();
      if (!leaving.signal.aborted) tell({ type: "hungUp" });
    });
  return { to, hangUp: () => leaving.abort() };
}

type Heard = { ahead: ReturnType<typeof createAhead>; blocks: Blocks };

/** Steps that facts from the journal have ended already, though the owner's stream has not come to their end yet. */
function createAhead() {
  const ended = new Map<string, number>();
  let position = 0;
  return {
    begin: (seq: number) => void (position = seq),
    note({ key, seq }: Fact) {
      if (seq > position) ended.set(withoutEnd(key), seq);
    },
    reach(seq: number) {
      position = seq;
      for (const [key, at] of ended) if (at <= position) ended.delete(key);
    },
    has: (key: string) => ended.has(key),
  };
}

/** Refused or broken connections in a row before the owner counts as unreachable: one that dies hangs up a moment before it is gone. */
const MISSES = 3;

/** The connection to another process. */
export type Connection =
  | { name: "none"; misses: number }
  /** Dialled, no reply yet. */
  | { name: "calling"; to: string; misses: number }
  /** Deltas of the session come from there. */
  | { name: "open"; to: string };

/** State of a session that another process may run, as seen by a watching process. */
export type Link = {
  /** The session runs in this process. */
  here: boolean;
  /** The other process that runs it. */
  owner: string | undefined;
  /** Another process ran it while it was watched here. */
  followed: boolean;
  /** A person has paused the turn: nobody runs it, and that is as it should be. */
  paused: boolean;
  connection: Connection;
};

export type LinkEvent =
  | { type: "looked"; here: boolean; owner: string | undefined }
  | { type: "answered" }
  | { type: "hungUp" }
  | { type: "interrupted" }
  /** Somebody spoke, or an attempt began. */
  | { type: "wentOn" };

/** The part of it that watchers see. */
type Seen = {
  /** Deltas of the session's owner reach this process; also true if no other process runs it. */
  live: boolean;
  /** Another process ran it, a turn is open, and nobody runs it now, though no person has paused it. */
  stopped: boolean;
};

export const unlinked: Link = {
  here: false,
  owner: undefined,
  followed: false,
  paused: false,
  connection: { name: "none", misses: 0 },
};

export function nextLink(link: Link, event: LinkEvent): Link {
  switch (event.type) {
    case "looked": {
      const { here, owner } = event;
      const followed = link.followed || owner !== undefined;
      return { ...link, here, owner, followed, connection: connectionTo(owner, link.connection, here) };
    }
    case "answered":
      if (link.connection.name !== "calling") return link;
      return { ...link, connection: { name: "open", to: link.connection.to } };
    case "hungUp": {
      const misses = link.connection.name === "open" ? 1 : link.connection.misses + 1;
      return link.connection.name === "none" ? link : { ...link, connection: { name: "none", misses } };
    }
    case "interrupted":
      return { ...link, paused: true };
    case "wentOn":
      return { ...link, paused: false };
    default:
      return event satisfies never;
  }
}

/** An owner that released the session may take it again: its connection is kept until another process runs the session. */
function connectionTo(owner: string | undefined, connection: Connection, here: boolean): Connection {
  const to = connection.name === "none" ? undefined : connection.to;
  if (here) return { name: "none", misses: 0 };
  if (owner === undefined) return connection.name === "open" ? connection : { ...connection, misses: 0 };
  return to === owner ? connection : { name: "calling", to: owner, misses: missesOf(connection) };
}

/** While the owner is being dialled, or has just hung up, its state is unknown: watchers are told nothing. */
export function isCertain({ connection }: Link): boolean {
  const misses = missesOf(connection);
  return connection.name !== "calling" && (misses === 0 || misses >= MISSES);
}

/** Worth another call at once, instead of at the next look. */
export function mayBeDying({ connection }: Link): boolean {
  return connection.name === "none" && connection.misses > 0 && connection.misses < MISSES;
}

export function seenOver({ here, owner, followed, paused, connection }: Link, turnIsOpen: () => boolean): Seen {
  return {
    live: owner === undefined || connection.name === "open",
    stopped: owner === undefined && followed && !paused && !here && turnIsOpen(),
  };
}

function missesOf(connection: Connection): number {
  return connection.name === "open" ? 0 : connection.misses;
}
