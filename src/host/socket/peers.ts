import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { createServer, connect as dial, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Store } from "../../journal/store/store.ts";
import type { Command, Host } from "../../protocol/host/host.ts";
import { splitRequestId } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Following, FollowParts } from "./following.ts";
import { createLines, type Lines } from "./lines.ts";

/** Bytes that a socket's path may have on the system that is strictest about it. */
const MAX_PATH_LENGTH = 103;
const MAX_CONNECTIONS = 64;
const CONNECT_MS = 2_000;
/** A file this young may belong to a process that is about to listen on it. */
const YOUNG_MS = 10_000;

/** The other processes on one journal. A process that runs sessions has one private socket for all of them. */
export type Peers = {
  /** Lets other processes follow this session through `host`, until the returned function is called. */
  serve(session: string, host: Host): () => void;
  /** The host of the process with this id; the caller leaves it with `release`. */
  reach: Lines;
  /** Used in place of `followOwner`, where many may watch one session. */
  follow?: (parts: FollowParts) => Following;
};

/** Undefined where no other process can come. */
export function peersOf(store: Store): Peers | undefined {
  return store.member((store) => store.place && peersAt(store, store.place));
}

function peersAt(store: Store, { journal, process: me, over }: NonNullable<Store["place"]>): Peers {
  const hosts = new Map<string, Host>();
  let latest: Host | undefined;
  let server: Server | undefined;
  const visitors = new Set<Socket>();
  const hostFor = (session: string | undefined): Host => {
    const host = (session === undefined ? undefined : hosts.get(session)) ?? latest;
    if (!host) throw new SageError("host-gone", reason("process-unreachable", {}));
    return host;
  };
  const routed: Host = {
    send: (command) => hostFor(sessionOf(command)).send(command),
    watch: (session, options) => hostFor(session).watch(session, options),
    inbox: (options) => hostFor(undefined).inbox(options),
  };
  const open = () => {
    const address = socketPath(journal, me);
    if (server || over.aborted || address === undefined) return;
    server = createServer((socket) => {
      socket.unref(); // a visitor keeps no process alive
      visitors.add(socket);
      socket.on("close", () => visitors.delete(socket));
      socket.on("error", () => socket.destroy());
      // Loaded with the first visitor: most processes have none.
      void import("./process-door.ts").then(({ letIn }) => letIn(socket, routed, store));
    }).unref();
    server.maxConnections = MAX_CONNECTIONS;
    // Without a socket followers have facts only, and say so: nothing else depends on it.
    server.on("error", () => (server = undefined));
    server.listen(address, () => {
      if (process.platform === "win32") return;
      try {
        chmodSync(address, 0o600); // nobody else can enter its folder either
        sweep(dirname(address), address);
      } catch {
        // somebody has cleared the folder away
      }
    });
    over.addEventListener("abort", () => close(address), { once: true });
  };
  const close = (address: string) => {
    server?.close();
    for (const socket of visitors) socket.destroy();
    if (process.platform === "win32") return;
    rmSync(address, { force: true });
    try {
      rmdirSync(dirname(address));
    } catch {
      // others are in it
    }
  };

  return {
    serve(session, host) {
      hosts.set(session, (latest = host));
      open();
      return () => {
        if (hosts.get(session) === host) hosts.delete(session);
      };
    },
    reach: createLines(async (other) => {
      const address = socketPath(journal, other);
      if (address === undefined) throw new SageError("host-gone", reason("process-unreachable", {}));
      const { reachHost } = await import("./process-door.ts");
      return reachHost(address, AbortSignal.timeout(CONNECT_MS));
    }),
  };
}

function sessionOf(command: Command): string | undefined {
  if ("session" in command) return command.session;
  if (command.type === "respond") return splitRequestId(command.response.requestId).session;
  return "requestId" in command ? splitRequestId(command.requestId).session : undefined;
}

/** Folder of sockets: beside the journal or, where its path is too long for a socket, a folder of ours among the temporary ones. */
function socketPath(journal: string, id: string): string | undefined {
  const name = id.replaceAll("-", "").slice(0, 12);
  const place = createHash("sha256").update(journal).digest("hex").slice(0, 12);
  if (process.platform === "win32") return `\\\\.\\pipe\\sage-${place}-${name}`;
  const near = join(`${journal}-run`, name);
  const far = join(tmpdir(), `sage-${process.getuid?.() ?? ""}-${place}`, name);
  const address = [near, far].find((path) => Buffer.byteLength(path) <= MAX_PATH_LENGTH);
  return address !== undefined && isPrivate(dirname(address)) ? address : undefined;
}

/** Made, if need be, so that only this user can enter; a folder that somebody else made first is not used. */
function isPrivate(dir: string): boolean {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const found = lstatSync(dir);
    if (!found.isDirectory() || found.uid !== process.getuid?.()) return false;
    if ((found.mode & 0o077) !== 0) chmodSync(dir, 0o700);
    return true;
  } catch {
    return false;
  }
}

/** Sockets of processes that were killed: nobody listens on them any more. */
function sweep(dir: string, mine: string): void {
  for (const name of readdirSync(dir).slice(0, 1_000)) {
    const path = join(dir, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (path === mine || !found?.isSocket() || Date.now() - found.mtimeMs < YOUNG_MS) continue;
    const socket = dial(path);
    socket.unref();
    socket.on("connect", () => socket.destroy());
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") rmSync(path, { force: true });
    });
  }
}
