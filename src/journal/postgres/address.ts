import type { Pool } from "pg";

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
