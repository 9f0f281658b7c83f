import type { Client, ClientConfig, Pool, PoolConfig } from "pg";

/** Opens a pool. A connection that breaks is met by the next caller who asks something on it. */
export async function openPool(config: PoolConfig): Promise<Pool> {
  const { default: pg } = await import("pg");
  return new pg.Pool(config).on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
}

/** Opens one connection, for notifications and locks. */
export async function openClient(config: ClientConfig): Promise<Client> {
  const { default: pg } = await import("pg");
  const client = new pg.Client(config).on("error", () => {});
  await client.connect();
  return client;
}
