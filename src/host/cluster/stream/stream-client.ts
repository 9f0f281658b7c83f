import type { Replica } from "../../../journal/replica/replica.ts";
import { version } from "../../../config/version.ts";
import type { Command, Refused } from "../../../protocol/host/host.ts";
import { errorOf } from "../../../protocol/host/refusal.ts";
import { reason, type Reason, reasonOf, SageError } from "../../../protocol/reasons/reason.ts";
import { connectHost, type RemoteHost } from "../../../remote/client.ts";
import { followOwner, type FollowParts, type Following } from "../../socket/following.ts";
import { lineWire } from "../../socket/line-wire.ts";
import { createLines, type Lines } from "../../socket/lines.ts";
import type { Peers } from "../../socket/peers.ts";
import type { HostParts } from "../../host.ts";
import type { Cluster } from "../cluster.ts";
import { HEARTBEAT_MS } from "./stream-server.ts";
import { secureConnect } from "./secure-wire.ts";

const REFRESH_MS = 1_000;
const CONNECT_MS = 3_000;
const RETRY_MS = 5_000;
/** Retries before a worker counts as unreachable: a dead one stays in the list for a while. */
const REPORT_AFTER_RETRIES = 4;
/** A fact announced by a worker arrives by notification; after this long it is read instead. */
const NOTIFICATION_MS = 50;
/** A stream whose facts cannot be read for this long is closed and joined again. */
const READ_TIMEOUT_MS = 5_000;
/** Workers of a place that are asked for a file, one after the other. */
const MAX_ASKED = 5;

type StreamClientParts = {
  cluster: Pick<Cluster, "pool" | "replica">;
  /** A worker that has an address cannot be reached there. Told once for each. */
  unreachable(worker: { process: string; place: string; address: string; problem: Reason }): void;
  retryMs?: number;
};

/** A gateway's ways to workers. */
export type StreamClient = {
  peers: Peers;
  /** Asks a worker of the session's place. */
  kept: NonNullable<NonNullable<HostParts["elsewhere"]>["kept"]>;
  /** Tracks the owner of a watched session until the returned function is called. */
  watching(session: string): Promise<() => void>;
  close(): void;
};

/** Keeps a connection to each worker and a stream for each session. Facts come from the database alone, also where no worker is reached. */
export function createStreamClient({
  cluster: { pool, replica },
  unreachable,
  retryMs = RETRY_MS,
}: StreamClientParts): StreamClient {
  const watched = new Map<string, { watchers: number; owner: string | undefined }>();
  const follow = sharedStreams({
    owner: (session) => watched.get(session)?.owner,
    read: (session, seq, newest) => readUpTo(replica, session, seq, newest),
    asked: () => void refresh(),
  });
  let timer: NodeJS.Timeout | undefined;
  let refreshing: Promise<void> | undefined;
  /** The living owners of everything that is watched, in one question. */
  const refresh = (): Promise<void> => {
    const ask = async () => {
      const sessions = [...watched.keys()];
      const { rows } = await pool.query<{ session: string; owner: string }>(
        "SELECT s.id AS session, p.id AS owner FROM sage.session s JOIN sage.process p ON p.id=s.process WHERE s.id=ANY($1)",
        [sessions],
      );
      const owners = new Map(rows.map(({ session, owner }) => [session, owner]));
      for (const session of sessions) {
        const watch = watched.get(session);
        if (!watch || watch.owner === owners.get(session)) continue;
        watch.owner = owners.get(session);
        follow.look(session);
      }
    };
    return (refreshing ??= ask()
      .catch(() => {}) // the database is away: at the next look, then
      .finally(() => (refreshing = undefined)));
  };
  const reach = reachWorkers(pool, unreachable, retryMs);
  return {
    peers: { serve: () => () => {}, reach, follow: follow.join },
    kept: (command) => askAtPlace(pool, reach, command),
    async watching(session) {
      const watch = watched.get(session) ?? { watchers: 0, owner: undefined };
      watched.set(session, watch);
      watch.watchers++;
      timer ??= setInterval(() => void refresh(), REFRESH_MS).unref();
      if (watch.watchers === 1) {
        await refreshing; // that one began without this session
        await refresh();
      }
      return () => {
        if (--watch.watchers > 0 || watched.get(session) !== watch) return;
        watched.delete(session);
        if (watched.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    close: () => clearInterval(timer),
  };
}

type Sharing = {
  owner(session: string): string | undefined;
  read(session: string, seq: number, newest: () => number): Promise<void>;
  /** Another worker may run a session now. */
  asked(): void;
};

/** Streams by session, each shared by all that watch it. */
function sharedStreams({ owner, read, asked }: Sharing) {
  type Shared = { following: Following; listeners: Set<FollowParts> };
  const streams = new Map<string, Shared>();
  const begin = (parts: FollowParts): Shared => {
    const { session } = parts;
    const listeners = new Set([parts]);
    const newest = () => Math.max(...[...listeners].map((listener) => listener.newest()));
    const following = followOwner({
      session,
      newest,
      peers: parts.peers,
      runsHere: () => false,
      // A session without an owner is taken by the first free worker: no person has to resume it.
      store: { owner, session: () => undefined },
      reached: (seq) => read(session, seq, newest),
      delta: (delta) => listeners.forEach((listener) => listener.delta(delta)),
      changed: (seen) => listeners.forEach((listener) => listener.changed(seen)),
    });
    return { following, listeners };
  };
  return {
    look: (session: string) => streams.get(session)?.following.look(),
    join(parts: FollowParts): Following {
      const { session } = parts;
      const shared = streams.get(session) ?? begin(parts);
      streams.set(session, shared);
      const { following, listeners } = shared;
      listeners.add(parts);
      return {
        ...following,
        note(fact) {
          if (listeners.values().next().value !== parts) return; // all hear of it, one tells
          following.note(fact);
          if (fact.type === "state.changed" || fact.type === "turn.begun") asked();
        },
        stop() {
          listeners.delete(parts);
          if (listeners.size > 0) return;
          following.stop();
          if (streams.get(session) === shared) streams.delete(session);
        },
      };
    },
  };
}

/** Resolves when all listeners here have received the fact. */
function readUpTo(
  { store, heard }: Pick<Replica, "store" | "heard">,
  session: string,
  seq: number,
  newest: () => number,
): Promise<void> {
  if (seq <= newest()) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const stop = store.hub.subscribe(session, { fact: (fact) => fact.seq >= seq && end(resolve) });
    const late = setTimeout(() => heard({ session, before: seq - 1, upTo: seq }), NOTIFICATION_MS).unref();
    const never = setTimeout(() => end(() => reject(new Error("its facts cannot be read"))), READ_TIMEOUT_MS).unref();
    const end = (settle: () => void) => {
      clearTimeout(late);
      clearTimeout(never);
      stop();
      settle();
    };
  });
}

function reachWorkers(pool: Cluster["pool"], unreachable: StreamClientParts["unreachable"], againMs: number): Lines {
  const failed = new Map<string, { since: number; at: number; told: boolean }>();
  const gone = () => new SageError("host-gone", reason("process-unreachable", {}));
  const dial = async (process: string): Promise<RemoteHost> => {
    const before = failed.get(process);
    const now = performance.now();
    if (before && now - before.at < againMs) throw gone();
    const { rows } = await pool.query<{ place: string; address: string | null; key: string | null }>(
      "SELECT place, address, key FROM sage.process LEFT JOIN sage.door ON process=id WHERE id=$1",
      [process],
    );
    const [worker] = rows;
    const { address, key } = worker ?? {};
    if (!worker || !address || !key) throw gone();
    try {
      const host = await dialWorker(address, key);
      failed.delete(process);
      return host;
    } catch (error) {
      const { since, told } = before ?? { since: now, told: false };
      // A killed worker stays in the list for a while.
      const tells = now - since > REPORT_AFTER_RETRIES * againMs;
      if (tells && !told) unreachable({ process, place: worker.place, address, problem: reasonOf(error) });
      if (failed.size > 1_000) failed.clear();
      failed.set(process, { since, at: performance.now(), told: told || tells });
      throw error;
    }
  };
  return createLines(dial);
}

/** The worker that runs the session first, then others of its place: they have the same files. */
async function askAtPlace(pool: Cluster["pool"], reach: Lines, command: Extract<Command, { type: "output" }>) {
  const { rows } = await pool.query<{ place: string; process: string | null }>(
    `SELECT s.place, p.id AS process FROM sage.session s LEFT JOIN sage.process p ON p.place=s.place AND p.address IS NOT NULL
     WHERE s.id=$1 ORDER BY p.id=s.process DESC NULLS LAST, p.since LIMIT $2`,
    [command.session, MAX_ASKED],
  );
  let refused: Refused | undefined;
  for (const { process } of rows) {
    if (process === null) continue;
    const { host, release } = reach(process);
    try {
      const reply = await (await host).ask(command);
      if (reply?.ok) return reply;
      refused = reply ?? refused;
    } catch {
      // it is gone, or cannot be reached from here: the next one may
    } finally {
      release();
    }
  }
  throw refused ? errorOf(refused) : new SageError("host-gone", reason("output-away", { place: rows[0]?.place ?? "" }));
}

async function dialWorker(address: string, key: string): Promise<RemoteHost> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const socket = secureConnect({ host, port: Number(port) }, Buffer.from(key, "base64url"), {
    silenceMs: 3 * HEARTBEAT_MS,
  });
  let problem: Error | undefined;
  socket.once("error", (error) => (problem = error));
  return connectHost((hear) => lineWire(socket, hear), {
    hello: { surface: "process", client: `sage ${version}` },
    signal: AbortSignal.timeout(CONNECT_MS),
    lost: reason("process-unreachable", {}),
  }).catch((error: unknown) => {
    throw problem ?? error;
  });
}
