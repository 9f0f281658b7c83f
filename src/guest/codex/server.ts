import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { connect as dial } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";
import { attempt } from "../../base/attempt.ts";
import { endGroup, signalGroup } from "../../processes/group.ts";
import { identify, lifeOf, type Identity } from "../../processes/identity.ts";
import { createQueue, type Wire } from "../rpc.ts";
import type { Json } from "../peer.ts";

export type CodexInstall = { command: string; args: readonly string[]; /** Sage's folder for guests. */ dir: string };

/** Paths of one app-server. */
type Place = { socket: string; mark: string; parked: string; note: string; log: string; lock: string };

export type CodexLine = Wire & {
  /** The thread has a request open: the server is kept until it has been answered. */
  keep(thread: string): void;
  release(thread: string): void;
  close(): void;
};

const MAX_PATH_LENGTH = 100;
const STARTING_MS = 20_000;
const MAX_BYTES = 64 * 1024 * 1024;
const ENDING_MS = 5_000;
const USED_EVERY_MS = 30 * 60_000;

/** Connects to the app-server of this install, which outlives us, and starts it when nobody answers there. */
export async function reachCodex(
  install: CodexInstall,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<CodexLine> {
  const place = socketPlace(install, env);
  const found = await connected(place);
  if (found) return found;
  return withLock(place, signal, async () => (await connected(place)) ?? started(install, place, env, signal));
}

/** Ends Sage's app-servers. Threads continue from their files; a request that one of them held is carried. Tells how many there were. */
export async function stopCodex(dir: string): Promise<number> {
  const servers = serversIn(dir).filter(({ lives }) => lives);
  await Promise.all(servers.map(({ pid }) => endGroup(pid, ENDING_MS)));
  return servers.length;
}

type CodexServer = { pid: number; command: string; since: number; lives: boolean; parked: number };

export function serversIn(dir: string): CodexServer[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => /^codex-\w+\.json$/.test(name))
    .flatMap((name) => {
      const note = attempt(() => JSON.parse(readFileSync(join(dir, name), "utf8")) as Note);
      const parked = join(dir, name.replace(/json$/, "parked"));
      return note
        ? [
            {
              ...note,
              lives: lifeOf(note) === "alive",
              parked: existsSync(parked) ? readdirSync(parked).length : 0,
            },
          ]
        : [];
    });
}

function socketPlace({ command, args, dir }: CodexInstall, env: NodeJS.ProcessEnv): Place {
  const key = [command, ...args, env["CODEX_HOME"] ?? "", env["HOME"] ?? ""].join("\0");
  const name = `codex-${createHash("sha256").update(key).digest("hex").slice(0, 10)}`;
  privately(dir);
  const near = join(dir, `${name}.sock`);
  const far = join(
    tmpdir(),
    `sage-${process.getuid?.() ?? ""}-guests-${createHash("sha256").update(dir).digest("hex").slice(0, 8)}`,
  );
  if (Buffer.byteLength(near) > MAX_PATH_LENGTH) privately(far);
  const at = (ending: string) => join(dir, `${name}.${ending}`);
  return {
    socket: Buffer.byteLength(near) > MAX_PATH_LENGTH ? join(far, `${name}.sock`) : near,
    mark: at("used"),
    parked: at("parked"),
    note: at("json"),
    log: at("log"),
    lock: at("lock"),
  };
}

/** Only this user can enter; a folder that somebody else made first is not used. */
function privately(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const found = lstatSync(dir);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) throw new Error(`${dir} belongs to somebody else`);
  if ((found.mode & 0o077) !== 0) chmodSync(dir, 0o700);
}

// A day without use ends the server. A thread with an open request keeps it, for a month at the most.
const keeper = `
mark=$1; parked=$2; shift 2
"$@" & server=$!
trap 'kill "$server" 2>/dev/null; exit 0' TERM INT HUP
( while sleep 600; do
    [ -n "$(find "$mark" -mmin -1440 2>/dev/null)" ] || [ -n "$(find "$parked" -type f -mtime -30 2>/dev/null)" ] || kill "$server"
  done ) & watch=$!
wait "$server"
kill "$watch" 2>/dev/null
`;

async function started({ command, args }: CodexInstall, place: Place, env: NodeJS.ProcessEnv, signal: AbortSignal) {
  signal.throwIfAborted();
  rmSync(place.socket, { force: true }); // its server was killed
  mkdirSync(place.parked, { recursive: true, mode: 0o700 });
  used(place);
  const log = openSync(place.log, "w", 0o600);
  const line = [command, "app-server", "--listen", `unix://${place.socket}`, ...args];
  const child = spawn("/bin/sh", ["-c", keeper, "sage-codex", place.mark, place.parked, ...line], {
    cwd: "/",
    env,
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  child.unref();
  const over = once(child, "exit").then(() => true);
  if (child.pid === undefined) throw new Error(`${command} could not be started`);
  const note: Note = { ...identify(child.pid), command, since: Date.now() };
  writeFileSync(place.note, JSON.stringify(note), { mode: 0o600 });
  for (let waited = 0; waited < STARTING_MS; waited += 50) {
    signal.throwIfAborted();
    const connection = existsSync(place.socket) ? await connected(place) : undefined;
    if (connection) return connection;
    if ((await Promise.race([over, sleep(50)])) === true) break;
  }
  signalGroup(child.pid, "SIGKILL");
  throw new Error(readFileSync(place.log, "utf8").trim().slice(-400) || `${command} app-server did not answer`);
}

/** Two processes of Sage that begin at once start one server. */
async function withLock<T>({ lock }: Place, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      if (age > STARTING_MS * 2) rmSync(lock, { recursive: true, force: true });
      await sleep(100, undefined, { signal });
    }
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

async function connected(place: Place): Promise<CodexLine | undefined> {
  const { WebSocket: Socket } = await import("ws");
  const socket = new Socket("ws://localhost/", {
    createConnection: () => dial(place.socket),
    maxPayload: MAX_BYTES,
    perMessageDeflate: false,
  });
  // Taken from the first moment: the server may speak at once.
  const line = lineOver(socket, place);
  const opened = await new Promise<boolean>((resolve) => {
    socket.once("open", () => resolve(true));
    socket.on("error", () => resolve(false)); // a close follows
  });
  if (!opened) return undefined;
  used(place);
  return line;
}

function lineOver(socket: WebSocket, place: Place): CodexLine {
  const messages = createQueue<Json>();
  const timer = setInterval(() => used(place), USED_EVERY_MS).unref();
  socket.on("message", (data: Buffer) => {
    try {
      messages.push(JSON.parse(data.toString("utf8")) as Json);
    } catch {
      // no message of the protocol
    }
  });
  socket.on("close", () => {
    clearInterval(timer);
    messages.end();
  });
  const keeping = (thread: string) => join(place.parked, thread.replaceAll(/[^\w-]/g, "_"));
  return {
    messages,
    send: (message) => void (socket.readyState === socket.OPEN && socket.send(JSON.stringify(message))),
    keep: (thread) => writeFileSync(keeping(thread), ""),
    release: (thread) => rmSync(keeping(thread), { force: true }),
    close() {
      used(place);
      socket.close();
    },
  };
}

function used({ mark }: Place): void {
  const now = new Date();
  try {
    utimesSync(mark, now, now);
  } catch {
    writeFileSync(mark, "");
  }
}

type Note = Identity & { command: string; since: number };
