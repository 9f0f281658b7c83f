// Run by itself with a journal, it is the child that resumes and prints how long each time took as JSON.
import { join } from "node:path";
import { sqliteStore } from "../src/journal/sqlite/sqlite.ts";
import { begin, createAgent, grant, Run } from "./agent.ts";
import { bareRead } from "./floors/bare-read.ts";
import { checkLength, factsPerApproval } from "./facts.ts";
import { median, removeDatabase, sample, type Row } from "./measure.ts";

const lengths = [200, 5_000];
const times = 15;

type Found = { resumed: number[]; read: number[] };

/** From a journal on disk to the request that a turn was blocked at: open, claim, load, replay. */
export async function resume(dir: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const facts of lengths) {
    const file = join(dir, "resume.db");
    await write(file, facts);
    const { stdout } = await sample({ argv: [process.execPath, import.meta.filename, file], cwd: dir });
    const { resumed, read } = JSON.parse(stdout) as Found;
    const row = { figure: `to resume from ${facts} facts`, unit: "ms" };
    const floor = (value: number) => ({ name: "open, read and parse", value });
    rows.push(
      { ...row, sage: median(resumed.slice(1)), floor: floor(median(read.slice(1))) },
      { ...row, figure: `${row.figure}, first in its process`, sage: resumed[0]!, floor: floor(read[0]!) },
    );
    removeDatabase(file);
  }
  return rows;
}

/** A turn of so many facts that waits for an answer. */
async function write(file: string, facts: number): Promise<void> {
  const store = sqliteStore(file);
  begin(store, "s");
  const run = new Run(createAgent(store, facts), store, "s");
  for (let n = factsPerApproval; n < facts; n += factsPerApproval) grant(store, (await run.next())!);
  await run.next();
  run.close();
  checkLength(store.load("s").length, facts);
  store.close();
}

async function resumeOnce(file: string): Promise<number> {
  const started = performance.now();
  const store = sqliteStore(file);
  const blocked = new Promise<void>((resolve) => {
    const { wait } = store.hub;
    store.hub.wait = (...args) => (resolve(), wait(...args));
  });
  const run = new Run(createAgent(store, Number.MAX_SAFE_INTEGER), store, "s");
  run.next().catch(() => {}); // closing ends it
  await blocked;
  const took = performance.now() - started;
  run.close();
  store.close();
  return took;
}

if (import.meta.main) {
  const file = process.argv[2]!;
  const found: Found = { resumed: [], read: [] };
  for (let n = 0; n < times; n++) {
    found.read.push(bareRead(file));
    found.resumed.push(await resumeOnce(file));
  }
  console.log(JSON.stringify(found));
}
