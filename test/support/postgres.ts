// A real PostgreSQL for tests: one server for a run, one database for each who asks.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Pool } from "pg";
import { prepareEngine } from "../../src/host/cluster/prepare-engine.ts";
import { postgresLedger } from "../../src/journal/postgres/postgres-ledger.ts";
import { listen } from "../../src/journal/postgres/stay-connected.ts";
import { createReplica, type Replica } from "../../src/journal/replica/replica.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { findPostgres, startPostgres } from "../../scripts/postgres.ts";

/** Tests that need a PostgreSQL skip themselves where there is none. */
export const hasPostgres = findPostgres() !== undefined;

let server: ReturnType<typeof startPostgres> | undefined;

/** A new folder for a server. In a run of all tests it is beside the template: in memory, where there is room. */
export function folderOfServer(): { dir: string; template: string | undefined } {
  const template = process.env["SAGE_TEST_CLUSTER"];
  return { dir: mkdtempSync(join(template ?? tmpdir(), "sage-pg-")), template };
}

function start(): ReturnType<typeof startPostgres> {
  const { dir, template } = folderOfServer();
  process.once("exit", () => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
  return startPostgres(dir, { durable: false, template });
}

/** The server of this process, to be ended and started. Nothing of it outlives a kill that was not written to its log. */
export function serverOf(): ReturnType<typeof startPostgres> {
  return (server ??= start());
}

/** A database of its own on the server of this process. A `prefix` may be one that SQL has to quote. */
export async function createDatabase(prefix = "t"): Promise<{ url: string; name: string; drop(): Promise<void> }> {
  const { url, urlOf } = await serverOf();
  const name = `${prefix}${randomUUID().replaceAll("-", "")}`;
  const run = async (sql: string) => {
    const client = new Client(url);
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  await run(`CREATE DATABASE "${name}"`);
  return { url: urlOf(name), name, drop: () => run(`DROP DATABASE "${name}" WITH (FORCE)`) };
}

/** A database of its own in which workers and gateways have a login each, and neither owns anything. */
export async function createPrepared(): Promise<{
  url: string;
  name: string;
  worker: string;
  gateway: string;
  drop(): Promise<void>;
}> {
  const { url, name, drop } = await createDatabase();
  const pool = new Pool({ connectionString: url, max: 1 });
  const id = randomUUID().slice(0, 8);
  const logins = { worker: `w_${id}`, gateway: `g_${id}` };
  await prepareEngine(url, pool, logins);
  await pool.end();
  return { url, name, worker: asLogin(url, logins.worker), gateway: asLogin(url, logins.gateway), drop };
}

/** The same database for another login: the server of tests asks for no password. */
export function asLogin(url: string, login: string): string {
  return url.replace("//sage@", `//${login}@`);
}

/** A process's view of the sessions of a database, with notifications or without. */
export async function openReplica(
  url: string,
  process: string,
  { notified = true }: { notified?: boolean } = {},
): Promise<{ replica: Replica; close(): Promise<void> }> {
  const pool = new Pool({ connectionString: url, max: 4 });
  pool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
  const ledger = await postgresLedger(pool, { process });
  const { noteChild, children, callOf, place } = memoryStore();
  const replica = createReplica(ledger, { noteChild, children, callOf, place });
  const over = new AbortController();
  const connect = async () => {
    const client = new Client(url);
    client.on("error", () => {});
    await client.connect();
    return client;
  };
  const listening = notified
    ? listen({ connect, heard: replica.heard, back: () => void replica.caughtUp(), signal: over.signal })
    : undefined;
  return {
    replica,
    async close() {
      over.abort();
      replica.store.close();
      await listening;
      await ledger.close();
    },
  };
}
