// Run by itself, with --expose-gc, it is the child that measures and prints what it found as JSON.
import { memoryStore } from "../src/journal/store/memory.ts";
import { begin, createAgent, grant, Run } from "./agent.ts";
import { median, sample, type Row } from "./measure.ts";

const runs = 10_000;
const answers = 200;

type Found = { heap: number; rss: number; openMicros: number; answerMicros: number };

/** Cost of many sessions that wait at once. */
export async function blocked(): Promise<Row[]> {
  const argv = [process.execPath, "--expose-gc", import.meta.filename];
  const { stdout } = await sample({ argv, cwd: import.meta.dirname });
  const found = JSON.parse(stdout) as Found;
  const among = `of ${runs} blocked runs`;
  return [
    { figure: `heap of one ${among}`, unit: "B", sage: found.heap, aim: { atMost: 6000 } },
    { figure: `resident memory of one ${among}`, unit: "B", sage: found.rss },
    { figure: `to open one ${among}`, unit: "µs", sage: found.openMicros },
    { figure: `to answer one ${among}`, unit: "µs", sage: found.answerMicros },
  ];
}

async function measure(): Promise<Found> {
  const store = memoryStore();
  const agent = createAgent(store, 2);
  const block = async (session: string): Promise<Blocked> => {
    begin(store, session);
    const run = new Run(agent, store, session);
    return { request: (await run.next())!, next: run.next() };
  };
  const answer = ({ request, next }: Blocked) => {
    grant(store, request);
    return next;
  };
  for (let n = 0; n < 200; n++) await answer(await block(`warm-${n}`));

  const before = memory();
  const openMicros: number[] = [];
  const all: Blocked[] = [];
  for (let n = 0; n < runs; n++) {
    const started = performance.now();
    all.push(await block(`s${n}`));
    openMicros.push((performance.now() - started) * 1000);
  }
  const after = memory();

  const answerMicros: number[] = [];
  for (let n = 0; n < answers; n++) {
    const one = all[Math.floor((n * runs) / answers)]!;
    const started = performance.now();
    await answer(one);
    answerMicros.push((performance.now() - started) * 1000);
  }
  return {
    heap: (after.heapUsed - before.heapUsed) / runs,
    rss: (after.rss - before.rss) / runs,
    openMicros: median(openMicros),
    answerMicros: median(answerMicros),
  };
}

/** `next` is waited for, as it is by everybody who follows a turn. */
type Blocked = { request: string; next: Promise<string | undefined> };

function memory(): NodeJS.MemoryUsage {
  globalThis.gc?.();
  return process.memoryUsage();
}

if (import.meta.main) {
  console.log(JSON.stringify(await measure()));
  process.exit(); // 10,000 turns wait for nobody
}
