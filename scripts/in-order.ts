// Runs these test files in this order: `node --test` sorts them by name. Flags of the runner stand before the name of this script.
import { Readable } from "node:stream";
import { run } from "node:test";
import { spec, type TestEvent } from "node:test/reporters";
import { bySource } from "./groups.ts";
import { report } from "./reporter.ts";

const [concurrency, ...files] = process.argv.slice(2);
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stopping.abort());

const results = run({ files, concurrency: Number(concurrency), timeout: Infinity, signal: stopping.signal });
async function* named(): AsyncGenerator<TestEvent> {
  for await (const event of bySource(results)) {
    if (event.type === "test:fail" && (event.data.todo === undefined || event.data.todo === false))
      process.exitCode = 1;
    yield event;
  }
}
Readable.from(process.stdout.isTTY ? Readable.from(named()).compose(new spec()) : report(named())).pipe(process.stdout);
