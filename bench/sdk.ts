// The packed SDK, as an embedder meets it. Run by itself with a measure's name it is the child that prints what it found as JSON.
import { closeSync, copyFileSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";
import { buildBundle } from "./cli.ts";
import { checkLength, factsPerApproval } from "./facts.ts";
import { median, removeDatabase, sample, type Row } from "./measure.ts";

const root = join(import.meta.dirname, "..");
const library = join(root, "dist/index.mjs");
const runs = 2_000;

type Sdk = typeof import("../src/sdk/index.ts");
type SdkOptions = NonNullable<ConstructorParameters<Sdk["SageAgentSDK"]>[0]>;
type Handle = ReturnType<InstanceType<Sdk["SageAgentSDK"]>["executeWithChannel"]>["handle"];
type Found = Record<string, number>;

export async function sdk(dir: string): Promise<Row[]> {
  await buildBundle();
  const child = async (measure: string, ...args: string[]): Promise<Found> => {
    const argv = [process.execPath, "--expose-gc", import.meta.filename, measure, ...args];
    return JSON.parse((await sample({ argv, cwd: root })).stdout) as Found;
  };
  const blocked = await child("blocked");
  const approvals = await child("approvals");
  const file = join(dir, "sdk.db");
  const resumed: Row[] = [];
  for (const facts of [200, 5_000]) {
    await child("write", file, `${facts}`); // in a process of its own: the one that resumes has run nothing yet
    const found = await child("resume", file, `${facts}`);
    const figure = `SDK: to resume from ${facts} facts`;
    resumed.push(
      { figure, unit: "ms", sage: found["resumed"]! },
      { figure: `${figure}, first in its process`, unit: "ms", sage: found["first"]! },
      { figure: `SDK: to answer at ${facts} facts, up to the next request`, unit: "ms", sage: found["answered"]! },
    );
    removeDatabase(file);
  }
  return [
    { figure: "SDK: CPU to start a run", unit: "ms", sage: blocked["startMs"]! },
    { figure: `SDK: heap of one of ${runs} blocked runs`, unit: "B", sage: blocked["heap"]! },
    { figure: "SDK: the same asleep", unit: "B", sage: blocked["asleep"]!, aim: { atMost: 14_000 } },
    { figure: "SDK: resident memory of one of them", unit: "B", sage: blocked["rss"]! },
    { figure: "SDK: an approval, 200 in all", unit: "µs", sage: approvals["short"]! },
    { figure: "SDK: an approval, 20,000 in all", unit: "µs", sage: approvals["long"]! },
    { figure: "SDK: CPU of an approval, 200 in all", unit: "µs", sage: approvals["shortCpu"]! },
    { figure: "SDK: CPU of an approval, 20,000 in all", unit: "µs", sage: approvals["longCpu"]! },
    ...resumed,
  ];
}

type Place = Pick<SdkOptions, "journal" | "store">;

async function createSdk(calls: number, place?: Place) {
  return (await embedder(calls))(place);
}

/** A model that asks for one call after another, and a tool that no rule covers. */
async function embedder(calls: number) {
  const { SageAgentSDK, noUsage } = (await import(library)) as Sdk;
  const model = {
    id: "bench",
    async reply({ messages }: { messages: readonly unknown[] }) {
      const step = (messages.length - 1) / 2;
      const call = { type: "call" as const, id: `call-${step}`, tool: "shell", input: { command: `true ${step}` } };
      const parts = step < calls ? [call] : [{ type: "text" as const, text: "done" }];
      return { parts, usage: noUsage, finish: step < calls ? ("calls" as const) : ("stop" as const), model: "bench" };
    },
  };
  const { z } = await import("zod");
  const shell = {
    name: "shell",
    description: "Runs a command",
    inputSchema: z.object({ command: z.string() }),
    effect: "writes" as const,
    execute: async () => ({ ok: true, text: "the command ended with exit code 0" }),
  };
  return (place?: Place) => new SageAgentSDK({ model, tools: [shell], sleepAfterMs: 100, ...place });
}

async function measureBlocked(): Promise<Found> {
  const sage = await createSdk(2);
  const block = async (): Promise<Handle> => {
    const { handle, result } = sage.executeWithChannel("go");
    result.catch(() => {});
    await handle.nextRequest();
    return handle;
  };
  for (let n = 0; n < 200; n++) await block();
  const before = memory();
  const cpu = process.cpuUsage();
  const handles: Handle[] = [];
  for (let n = 0; n < runs; n++) handles.push(await block());
  const { user, system } = process.cpuUsage(cpu);
  const after = memory();
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setTimeout(resolve, 50)); // until all of them sleep
  const asleep = memory();
  if (handles.length !== runs) throw new Error("a run was lost");
  const each = (now: number, then: number) => (now - then) / runs;
  return {
    startMs: (user + system) / 1000 / runs,
    heap: each(after.heapUsed, before.heapUsed),
    asleep: each(asleep.heapUsed, before.heapUsed),
    rss: each(after.rss, before.rss),
  };
}

/**
 * From an answer to the next request, as in bench/approvals.ts: the median of all. Collections and the compiler make some of them long,
 * and work beside them: processor time counts all of that.
 */
async function measureApprovals(): Promise<Found> {
  const approve = async (calls: number) => {
    const sage = await createSdk(calls);
    const { handle, result } = sage.executeWithChannel("go", { maxSteps: calls + 1, maxContextTokens: 1e9 });
    const micros: number[] = [];
    const before = process.cpuUsage();
    let request = await handle.nextRequest();
    while (request !== undefined && micros.length < calls) {
      const answered = performance.now();
      await handle.respond({ type: "granted", requestId: request.id });
      request = await (micros.length + 1 < calls ? handle.nextRequest() : result.then(() => undefined));
      micros.push((performance.now() - answered) * 1000);
    }
    const { user, system } = process.cpuUsage(before);
    await sage.close();
    return { micros: median(micros), cpu: (user + system) / calls };
  };
  await approve(10);
  const short = await approve(200);
  const long = await approve(20_000);
  return { short: short.micros, shortCpu: short.cpu, long: long.micros, longCpu: long.cpu };
}

/** A turn of so many facts that waits for an answer. */
async function writeJournal(journal: string, facts: number): Promise<Found> {
  const sage = await createSdk(facts, { journal });
  const { handle, result } = sage.executeWithChannel("go", { maxSteps: facts, maxContextTokens: 1e9 });
  result.catch(() => {});
  for (let n = factsPerApproval; n < facts; n += factsPerApproval) {
    const request = await handle.nextRequest();
    await handle.respond({ type: "granted", requestId: request!.id });
  }
  await handle.nextRequest();
  await sage.close();
  return {};
}

async function measureResume(journal: string, facts: number): Promise<Found> {
  const { sqliteStore } = (await import(library)) as Sdk;
  const store = sqliteStore(journal);
  const session = store.sessions()[0]!.id;
  checkLength(store.since(session, 0).length, facts);
  store.close();
  const create = await embedder(facts); // whose tools are there before a session is
  const resumed: number[] = [];
  const answered: number[] = [];
  const copy = `${journal}.copy`;
  for (let n = 0; n < 15; n++) {
    copySynced(journal, copy); // each answer makes the session longer
    const started = performance.now();
    const opened = sqliteStore(copy);
    const blocked = blocking(opened);
    const sage = create({ store: opened });
    const agent = await sage.openTurns({ session, maxSteps: facts, maxContextTokens: 1e9 });
    const { needsInput: waits } = await agent.runTurn("");
    await blocked;
    const resumedAt = performance.now();
    await agent.answerQuestion(true);
    const { needsInput } = await agent.runTurn("");
    const answeredAt = performance.now();
    if (!waits || !needsInput) throw new Error("the turn should wait");
    resumed.push(resumedAt - started);
    answered.push(answeredAt - resumedAt);
    await sage.close();
  }
  removeDatabase(copy);
  const least = (times: number[]) => Math.min(...times.slice(1));
  return { resumed: least(resumed), first: resumed[0]!, answered: least(answered) };
}

/** On disk, so that the first sync of the session does not pay for it. */
function copySynced(from: string, to: string): void {
  copyFileSync(from, to);
  const file = openSync(to, "r+");
  fsyncSync(file);
  closeSync(file);
}

/**
 * Fulfilled once the turn itself waits for the answer. A caller is shown the open request as soon as the record is read, which
 * is less than to resume; an answer, with its three synced commits and all that follows up to the next request, is more. So
 * each has a figure of its own.
 */
function blocking({ hub }: { hub: ReturnType<Sdk["sqliteStore"]>["hub"] }): Promise<void> {
  return new Promise((resolve) => {
    const { wait } = hub;
    hub.wait = (...args) => (resolve(), wait(...args));
  });
}

function memory(): NodeJS.MemoryUsage {
  globalThis.gc?.();
  return process.memoryUsage();
}

if (import.meta.main) {
  const [measure, file = "", facts = "0"] = process.argv.slice(2);
  const found =
    measure === "blocked"
      ? await measureBlocked()
      : measure === "approvals"
        ? await measureApprovals()
        : measure === "write"
          ? await writeJournal(file, Number(facts))
          : await measureResume(file, Number(facts));
  console.log(JSON.stringify(found));
  process.exit(); // turns may wait for nobody
}
