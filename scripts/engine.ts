// npm run engine             a PostgreSQL of one's own in .engine/, until Ctrl-C; nothing listens on the network
// npm run engine -- <folder>
import { resolve } from "node:path";
import { prepareEngine } from "../src/host/cluster/prepare-engine.ts";
import { startPostgres } from "./postgres.ts";

const dir = resolve(process.argv[2] ?? ".engine");
const { url, stop } = await startPostgres(dir);
const { default: pg } = await import("pg");
const pool = new pg.Pool({ connectionString: url, max: 1 });
await prepareEngine(url, pool, { worker: "worker", gateway: "gateway" });
await pool.end();
const as = (login: string) => `'${url.replace("//sage@", `//${login}@`)}'`;
console.log(
  `PostgreSQL runs in ${dir}\n\n  ${as("worker")}   for sage worker\n  ${as("gateway")}  for sage serve\n  ${as("sage")}     its owner\n\nCtrl-C ends it; what it keeps stays in that folder.`,
);
const keepAlive = setInterval(() => {}, 60_000);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    clearInterval(keepAlive);
    void stop();
  });
