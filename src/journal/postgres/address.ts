import type { Pool } from "pg";

/** The address of the pool's database, as people may read it. */
export function addressOf({ options: { connectionString, host = "localhost", database = "" } }: Pool): string {
  return connectionString === undefined ? `postgres://${host}/${database}` : publicAddress(connectionString);
}

/** The address without user, password and options. */
export function publicAddress(url: string): string {
  const [address = "", options] = url.replace(/\/\/.*@/, "//").split("?");
  const socket = new URLSearchParams(options).get("host");
  return socket === null ? address : `${address}?host=${socket}`;
}
