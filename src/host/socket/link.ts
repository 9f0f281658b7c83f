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
export type Seen = {
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
