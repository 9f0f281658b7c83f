import type { Socket } from "node:net";
import type { Client, ClientBase, ClientConfig, Pool, PoolClient, PoolConfig } from "pg";

/** A server that is silent this long counts as gone: a network that drops a connection tells neither side. */
export const SILENT_MS = 30_000;
/** The same where a person waits for one long answer: a search of years, functions that are made anew, a session that is brought over. */
export const PATIENT_MS = 300_000;

type Patience = { silentMs?: number | undefined };

/** Opens a pool. A connection that breaks, or falls silent, is met by the next caller who asks something on it. */
export async function openPool(config: PoolConfig, { silentMs = SILENT_MS }: Patience = {}): Promise<Pool> {
  const { default: pg } = await import("pg");
  const onConnect = async (client: ClientBase) => {
    client.on("error", () => {});
    endWhenSilent(client, silentMs);
    await client.query(forgetful(silentMs)).catch(() => {}); // a server that lacks one of these settings does without
  };
  const options = { connectionTimeoutMillis: silentMs, keepAlive: true, onConnect }; // the pool waits for `onConnect`
  return new pg.Pool({ ...options, ...config }).on("error", () => {});
}

/** Opens one connection, for notifications and locks. Nothing is asked on it for days, so it is asked for a sign of life. */
export async function openClient(config: ClientConfig, { silentMs = SILENT_MS }: Patience = {}): Promise<Client> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionTimeoutMillis: silentMs, keepAlive: true, ...config }).on("error", () => {});
  await client.connect();
  endWhenSilent(client, silentMs);
  let isAsked = false;
  const ask = async () => {
    if (isAsked) return; // a second question would look like a sign of life
    isAsked = true;
    await client.query(forgetful(silentMs)).catch(() => {});
    isAsked = false;
  };
  const asking = setInterval(() => void ask(), silentMs / 3).unref();
  client.once("end", () => clearInterval(asking));
  void ask();
  return client;
}

/** To everybody who waits for an answer on it, a connection on which nothing moves is a broken one. */
function endWhenSilent(client: ClientBase, silentMs: number): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  const problem = `no word for ${silentMs / 1_000} s`;
  stream.setTimeout(silentMs, () => stream.destroy(Object.assign(new Error(problem), { code: "ETIMEDOUT" })));
}

/** Makes the server release locks of a lost process, on its session and on its life, which may otherwise last for hours. */
function forgetful(silentMs: number): string {
  const settings = {
    idle_in_transaction_session_timeout: `${silentMs}ms`,
    tcp_keepalives_idle: "10",
    tcp_keepalives_interval: "5",
    tcp_keepalives_count: "3",
    tcp_user_timeout: `${silentMs}ms`,
  };
  return `SELECT ${Object.entries(settings)
    .map(([name, value]) => `set_config('${name}','${value}',false)`)
    .join(",")}`;
}

export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const done = await work(client);
    await client.query("COMMIT");
    client.release();
    return done;
  } catch (error) {
    client.release(true); // the transaction ends with its connection
    throw error;
  }
}

/** The address of the pool's database, as people may read it. */
export function addressOf({ options: { connectionString, host = "localhost", database = "" } }: Pool): string {
  return connectionString === undefined ? `postgres://${host}/${database}` : publicAddress(connectionString);
}

/** The address without user, password and options; the folder of a socket as people write it. */
export function publicAddress(url: string): string {
  const [given = "", options] = url.replace(/\/\/.*@/s, "//").split("?");
  const [, scheme = "", folder, rest = ""] = /^(\w+:\/\/)(%2F[^/]*)(.*)$/i.exec(given) ?? [];
  const address = folder === undefined ? given : scheme + rest;
  const socket = folder === undefined ? new URLSearchParams(options).get("host") : folder.replaceAll(/%2F/gi, "/");
  return socket === null ? address : `${address}?host=${socket}`;
}
