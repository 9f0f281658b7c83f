// A PostgreSQL of one's own, without docker and without root: for `npm run engine`, tests and benches.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { chownSync, existsSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const PORT = 5432; // the name of the socket's file; nothing listens on the network

export type Postgres = {
  /** Of its first database, through its socket. */
  url: string;
  urlOf(database: string): string;
  pid: number;
  /** Ends it at once, as a machine that loses power does. */
  kill(): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Starts it again after either. */
  start(): Promise<void>;
};

/** The folder of `postgres` and `initdb`, or undefined where there is none. */
export function findPostgres(): string | undefined {
  const onPath = (process.env["PATH"] ?? "").split(delimiter);
  const ofDistribution = globSync("/usr/{lib,local,local/opt}/{postgresql,pgsql,postgresql@*}{,/*}/bin")
    .toSorted()
    .toReversed();
  const homebrew = globSync("/opt/homebrew/opt/postgresql@*/bin").toSorted().toReversed();
  return [...onPath, ...ofDistribution, ...homebrew].find(
    (dir) => existsSync(join(dir, "initdb")) && existsSync(join(dir, "postgres")),
  );
}

/**
 * Makes a cluster in the folder when there is none, and starts it. Ends with this process unless `detached`. `template`: a folder in
 * which `makeCluster` made one before; a copy takes a tenth of the time.
 */
export async function startPostgres(
  dir: string,
  options: {
    bin?: string;
    durable?: boolean;
    detached?: boolean;
    settings?: Record<string, string>;
    template?: string | undefined;
  } = {},
): Promise<Postgres> {
  const { bin, data, user } = makeCluster(dir, options);
  const socket = join(dir, `.s.PGSQL.${PORT}`);
  let child: ChildProcess;
  let ended: Promise<void>;
  const start = async () => {
    const settings = {
      listen_addresses: "",
      unix_socket_directories: dir,
      port: PORT,
      max_connections: 200,
      ...(options.durable === false && { fsync: "off", full_page_writes: "off" }),
      ...options.settings,
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    child = spawn(join(bin, "postgres"), ["-D", data, ...flags], {
      ...user,
      cwd: "/",
      stdio: ["ignore", "ignore", "pipe"],
      detached: options.detached === true,
    });
    let said = "";
    child.stderr?.on("data", (text: Buffer) => (said = (said + text.toString()).slice(-4_000)));
    ended = new Promise((resolve) => child.once("exit", () => resolve()));
    let over = false;
    void ended.then(() => (over = true));
    while (!(await answers(socket))) {
      if (over) throw new Error(`PostgreSQL did not start: ${said}`);
      await sleep(20);
    }
    // It ends with this process; this process does not wait for it.
    child.unref();
    (child.stderr as Socket | null)?.unref();
  };
  const end = (signal: NodeJS.Signals) => async () => {
    child.ref(); // whoever ends it waits for it
    child.kill(signal);
    await ended;
  };
  const urlOf = (database: string) => `postgres://sage@/${database}?host=${encodeURIComponent(dir)}`;
  await start();
  if (!options.detached) process.once("exit", () => child.kill("SIGQUIT"));
  return {
    url: urlOf("postgres"),
    urlOf,
    get pid() {
      return child.pid ?? 0;
    },
    kill: end("SIGKILL"),
    stop: end("SIGINT"),
    start,
  };
}

export function makeCluster(
  dir: string,
  options: { bin?: string; template?: string | undefined } = {},
): { bin: string; data: string; user: ReturnType<typeof otherUser> } {
  const bin = options.bin ?? findPostgres();
  if (bin === undefined)
    throw new Error(
      "no PostgreSQL is installed: `apt-get install postgresql`, `brew install postgresql`, or put its programs on the PATH",
    );
  const user = otherUser();
  const data = join(dir, "data");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (user) chownSync(dir, user.uid, user.gid);
  if (existsSync(join(data, "PG_VERSION"))) return { bin, data, user };
  const [program, ...flags] =
    options.template === undefined
      ? [join(bin, "initdb"), "-D", data, "-U", "sage", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
      : ["cp", "-R", join(options.template, "data"), data];
  execFileSync(program, flags, { ...user, cwd: "/", stdio: ["ignore", "ignore", "pipe"] });
  return { bin, data, user };
}

/** PostgreSQL refuses to run as root: there it runs as its own user, or as nobody. */
function otherUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [, , uid = "65534", gid = "65534"] =
    readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .find((line) => line.startsWith("postgres:"))
      ?.split(":") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** It greets a user: while it starts, it answers with an error. */
function answers(socket: string): Promise<boolean> {
  const words = Buffer.from("\0\x03\0\0user\0sage\0database\0postgres\0\0");
  const length = Buffer.alloc(4);
  length.writeInt32BE(words.length + 4);
  return new Promise((resolve) => {
    const connection = createConnection(socket);
    connection.once("error", () => resolve(false));
    connection.once("connect", () => connection.write(Buffer.concat([length, words])));
    connection.once("data", (reply: Buffer) => {
      connection.destroy();
      resolve(reply[0] === "R".charCodeAt(0));
    });
    connection.once("close", () => resolve(false));
  });
}
