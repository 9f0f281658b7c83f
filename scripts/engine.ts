// npm run engine             a PostgreSQL of one's own in .engine/, until Ctrl-C; nothing listens on the network
// npm run engine -- <folder>
import { resolve } from "node:path";
import { startPostgres } from "./postgres.ts";

const dir = resolve(process.argv[2] ?? ".engine");
const { url, stop } = await startPostgres(dir);
console.log(`PostgreSQL runs in ${dir}\n\n  '${url}'\n\nCtrl-C ends it; what it keeps stays in that folder.`);
const keepAlive = setInterval(() => {}, 60_000);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    clearInterval(keepAlive);
    void stop();
  });
