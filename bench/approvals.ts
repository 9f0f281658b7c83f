import { join } from "node:path";
import { memoryStore } from "../src/journal/store/memory.ts";
import { sqliteStore } from "../src/journal/sqlite/sqlite.ts";
import type { LocalStore } from "../src/journal/store/store.ts";
import { begin, createAgent, grant, Run } from "./agent.ts";
import { bareCommits } from "./floors/bare-commits.ts";
import { median, removeDatabase, type Row } from "./measure.ts";

const lengths = [
  { length: 50, rounds: 12 },
  { length: 200, rounds: 6 },
  { length: 800, rounds: 4 },
];
/** Of a call: the answer, `call.started`, and the result with all that follows up to the next request. */
const commits = 3;

/** From an answer to the next request: what a person's yes costs. */
export async function approvals(dir: string): Promise<Row[]> {
  const file = join(dir, "approvals.db");
  const rows: Row[] = [];
  await inMemory(500); // the first ones pay for the compiler
  for (const { length, rounds } of lengths) {
    const memory: number[][] = [];
    const sqlite: number[][] = [];
    const bare: number[][] = [];
    let counted = 0;
    for (let round = 0; round < rounds; round++) {
      memory.push(await inMemory(length));
      const onDisk = await inSqlite(length, file);
      counted = onDisk.commits;
      sqlite.push(onDisk.micros);
      bare.push(bareCommits({ file, approvals: length, commits }));
    }
    const figure = (what: string) => `${what}, ${length} approvals`;
    const floor = { name: `${commits} bare commits`, value: median(bare.flat()) };
    rows.push(
      { figure: figure("memory journal"), unit: "µs", sage: median(memory.flat()) },
      flatness(figure("memory journal"), memory),
      { figure: figure("SQLite journal"), unit: "µs", sage: median(sqlite.flat()), floor, aim: { ratio: 1.5 } },
      flatness(figure("SQLite journal"), sqlite),
      { figure: figure("SQLite commits on the way"), unit: "", sage: counted, aim: { atMost: 3 } },
    );
  }
  return rows;
}

function flatness(figure: string, runs: number[][]): Row {
  const part = (of: (micros: number[]) => number[]) => median(runs.flatMap(of));
  const first = part((micros) => micros.slice(0, micros.length / 10));
  const last = part((micros) => micros.slice(-micros.length / 10));
  return {
    figure: `${figure}, last tenth`,
    unit: "µs",
    sage: last,
    floor: { name: "its first tenth", value: first },
    aim: { ratio: 1.2 },
  };
}

async function inMemory(length: number): Promise<number[]> {
  return approve(memoryStore(), length);
}

async function inSqlite(length: number, file: string): Promise<{ micros: number[]; commits: number }> {
  removeDatabase(file);
  const store = sqliteStore(file);
  let commits = 0;
  const counting: LocalStore = {
    ...store,
    commit: (...args) => (commits++, store.commit(...args)),
    append: (...args) => (commits++, store.append(...args)),
  };
  try {
    const micros = await approve(counting, length, () => (commits = 0));
    return { micros, commits: commits / length };
  } finally {
    store.close();
    removeDatabase(file);
  }
}

async function approve(store: LocalStore, length: number, blocked = () => {}): Promise<number[]> {
  begin(store, "s");
  const run = new Run(createAgent(store, length), store, "s");
  const micros: number[] = [];
  let request = await run.next();
  blocked();
  while (request !== undefined) {
    const before = performance.now();
    grant(store, request);
    request = await run.next();
    micros.push((performance.now() - before) * 1000);
  }
  run.close();
  return micros;
}
