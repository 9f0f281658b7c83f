import type { Pool, PoolClient } from "pg";

/** Runs the work in one transaction, on one connection. */
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
