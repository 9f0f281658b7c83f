// Runs these test files in this order: `node --test` sorts them by name. Flags of the runner stand before the name of this script.
import { run } from "node:test";
import { spec } from "node:test/reporters";
import report from "./reporter.ts";

const [concurrency, ...files] = process.argv.slice(2);
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stopping.abort());

const results = run({ files, concurrency: Number(concurrency), timeout: Infinity, signal: stopping.signal });
results.on("test:fail", ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1;
});
(process.stdout.isTTY ? results.compose(new spec()) : results.compose(report)).pipe(process.stdout);
