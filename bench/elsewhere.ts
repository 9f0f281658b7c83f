// Run by itself with a journal, it is the child that waits: each of its requests is answered by the parent.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { sqliteStore } from "../src/journal/sqlite/sqlite.ts";
import { begin, createAgent, grant, Run } from "./agent.ts";
import { median, percentile, removeDatabase, type Row } from "./measure.ts";

const approvals = 100;

/** From an answer that another process gives to the call that it allows: what a follower's yes costs. */
export async function elsewhere(dir: string): Promise<Row[]> {
  const file = join(dir, "elsewhere.db");
  const store = sqliteStore(file);
  begin(store, "s");
  const child = spawn(process.execPath, [import.meta.filename, file], { stdio: "inherit" });
  const stop = store.hub.subscribe("s", {
    fact(fact) {
      // At any moment between two looks of the one that waits.
      if (fact.type === "input.requested") setTimeout(() => grant(store, fact.data.id), Math.random() * 50);
    },
  });
  await once(child, "exit");
  stop();
  const at = new Map(store.load("s").map((fact) => [fact.key, fact.at]));
  store.close();
  removeDatabase(file);
  const took = Array.from({ length: approvals }, (_, step) => {
    const [answered, started] = [at.get(`t0/${step}/0/permit0.resolved`), at.get(`t0/${step}/0/run0.started`)];
    return (started ?? Number.NaN) - (answered ?? Number.NaN);
  });
  const row = { unit: "ms", aim: { atMost: 50 } };
  return [
    { ...row, figure: "an answer from another process, to the call", sage: median(took) },
    { ...row, figure: "an answer from another process, to the call, p99", sage: percentile(took, 99) },
  ];
}

if (process.argv[1] === import.meta.filename) {
  const store = sqliteStore(process.argv[2] ?? "");
  const run = new Run(createAgent(store, approvals), store, "s");
  while ((await run.next()) !== undefined);
  run.close();
  store.close();
}
