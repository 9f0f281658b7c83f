// One process under measure. argv: <role> <journal> <sessions>. It prints what it found as a line of JSON.
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { fold } from "../../src/agent/turn/projection.ts";
import { openSession } from "../../src/journal/session/session.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { LocalStore } from "../../src/journal/store/store.ts";
import type { Model } from "../../src/models/model.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { createHost, type LocalHost } from "../../src/host/host.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { begin, createAgent, grant as grantNow, measured, Run } from "../agent.ts";
import { percentile } from "../measure.ts";

const [role = "", path = "", count = "0"] = process.argv.slice(2);
const sessions = Number(count);
const bench = { by: "bench", surface: "bench" };
const pause = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks for one call, hears of it, and is done. */
const model: Model = {
  id: "bench",
  async reply({ messages }) {
    const frame = { usage: noUsage, model: "bench" };
    if (messages.at(-1)?.role === "tool")
      return { ...frame, parts: [{ type: "text", text: "done" }], finish: "stop" as const };
    const call = { type: "call", id: "call", tool: "shell", input: { command: "true" } } as const;
    return { ...frame, parts: [call], finish: "calls" as const };
  },
};

/** When each session's call was started. */
const started = new Map<string, number>();

function hostOn(store: LocalStore, { hangs = false, sleepAfterMs = 500 } = {}): LocalHost {
  return createHost({
    store,
    version: "bench",
    sleepAfterMs,
    async executor({ id }) {
      const shell: Tool<{ command: string }> = {
        name: "shell",
        description: "Runs a command",
        inputSchema: z.object({ command: z.string() }),
        effect: "writes",
        async execute() {
          started.set(id, performance.now());
          if (hangs) await new Promise(() => {});
          return { ok: true, text: "the command ended with exit code 0" };
        },
      };
      return measured(store, model, [shell], 100, dirname(path)); // a small folder: what changed in it is looked up
    },
  });
}

const roles: Record<string, () => Promise<unknown>> = {
  /** Opens so many sessions that all wait for a person, and holds them. */
  async hold() {
    const { store, waiting } = watched(sqliteStore(path));
    const host = hostOn(store);
    await open(host, "warm", 1);
    await collected();
    const before = process.memoryUsage();
    await open(host, "s", sessions);
    while (store.pending().length < sessions + 1) await pause(50);
    await asleep(waiting);
    await collected();
    const [cpu, at] = [process.cpuUsage(), performance.now()];
    await pause(4_000);
    const used = process.cpuUsage(cpu);
    const cpuPercent = ((used.user + used.system) / 1000 / (performance.now() - at)) * 100;
    const delay = monitorEventLoopDelay({ resolution: 10 }); // it costs more than what it measures
    delay.enable();
    await pause(2_000);
    delay.disable();
    const after = process.memoryUsage();
    return {
      rssMb: after.rss / 2 ** 20,
      perSessionKb: (after.rss - before.rss) / sessions / 1024,
      heapPerSessionKb: (after.heapUsed - before.heapUsed) / sessions / 1024,
      descriptors: readdirSync("/proc/self/fd").length,
      timers: process.getActiveResourcesInfo().filter((name) => name === "Timeout").length,
      cpuPercent,
      loopDelayP99Ms: delay.percentile(99) / 1e6 - 10,
    };
  },
  /** Comes up over them, lists, answers, and lets all go on. */
  async restart() {
    const host = hostOn(sqliteStore(path));
    await host.send({ type: "pending", limit: 100 });
    const readyMs = performance.now();
    const first = await pendingOf(host);
    const listMs: number[] = [];
    for (let n = 0; n < 20; n++) listMs.push(await timed(() => pendingOf(host)));
    const pageMs: number[] = [];
    for (let n = 0; n < 20; n++) pageMs.push(await timed(() => host.send({ type: "pending", limit: 100 })));
    const one = first.slice(0, 300);
    const answerMs: number[] = [];
    for (const request of one) answerMs.push(await timed(() => grant(host, request)));
    const burst = first.slice(300, 1_300);
    const burstMs = await timed(async () => {
      const replies = await Promise.all(burst.flatMap((request) => [grant(host, request), grant(host, request)]));
      const won = replies.filter((reply) => reply.ok && !reply.again).length; // the same answer twice is one that was repeated
      if (won !== burst.length) throw new Error(`${won} of ${burst.length} answers were taken`);
    });
    for (const request of first.slice(1_300)) await grant(host, request);
    const listening: number[] = [];
    const count = new DatabaseSync(path).prepare("SELECT count(*) open FROM session WHERE open=1");
    const drainedMs = await timed(async () => {
      for (const { session } of first) void host.send({ type: "resume", session });
      for (;;) {
        const at = performance.now();
        await pause(); // a surface's request comes through the event loop like everything else
        await host.send({ type: "pending", limit: 100 });
        listening.push(performance.now() - at);
        if (count.get()?.["open"] === 0) return;
        await pause(50);
      }
    });
    await host.close();
    return {
      found: first.length,
      readyMs,
      listP99Ms: percentile(listMs, 99),
      pageP99Ms: percentile(pageMs, 99),
      answerP50Ms: percentile(answerMs, 50),
      answerP99Ms: percentile(answerMs, 99),
      burstMs,
      drainedMs,
      listWhileDrainingP99Ms: percentile(listening, 99),
    };
  },
  /** Sessions with a long past, asleep in this process: from the answer to the start of the call. */
  async wake() {
    const { store, waiting } = watched(sqliteStore(path));
    const host = hostOn(store, { sleepAfterMs: 50 });
    for (const { id } of store.sessions()) await host.send({ type: "say", session: id, text: "go", ...bench });
    while (store.pending().length < sessions) await pause(20);
    await asleep(waiting);
    const wokenMs: number[] = [];
    for (const request of store.pending()) {
      const at = performance.now();
      await grant(host, request);
      while (!started.has(request.session)) await new Promise((resolve) => setImmediate(resolve));
      wokenMs.push(started.get(request.session)! - at);
    }
    await host.close();
    return { wokenP50Ms: percentile(wokenMs, 50), wokenP99Ms: percentile(wokenMs, 99) };
  },
  /** Sessions in the middle of a command, to be killed. */
  async busy() {
    const store = sqliteStore(path);
    const host = hostOn(store, { hangs: true });
    await open(host, "r", sessions);
    while (store.pending().length < sessions) await pause(10);
    for (const request of store.pending()) await grant(host, request);
    while (started.size < sessions) await pause(10);
    return { running: started.size };
  },
  /** After the kill: until every one of them is asked about. */
  async recover() {
    const store = sqliteStore(path);
    const host = hostOn(store);
    for (const { id } of store.sessions()) await host.send({ type: "resume", session: id });
    while (store.pending().length < sessions) await pause(5);
    return { recoveredMs: performance.now() };
  },
  /** The index was dropped: opening makes it again. */
  async rebuild() {
    const at = performance.now();
    const store = sqliteStore(path);
    const rebuiltMs = performance.now() - at;
    return { rebuiltMs, open: store.pending().length };
  },
  /** One long session of approvals. */
  async grow() {
    const store = sqliteStore(path);
    begin(store, "s");
    const run = new Run(createAgent(store, sessions), store, "s");
    for (let n = 0; n < sessions; n++) grantNow(store, (await run.next())!);
    await run.next();
    run.close();
    store.close();
    return { calls: sessions };
  },
  /** A session of ten thousand facts: read, checked, folded. */
  async fold() {
    const store = sqliteStore(path);
    const [session] = store.sessions();
    const foldMs: number[] = [];
    for (let n = 0; n < 5; n++)
      foldMs.push(
        await timed(async () => {
          const log = openSession(store, session!.id);
          fold(log.loaded);
          await log.release();
        }),
      );
    return { foldMs: percentile(foldMs, 50), facts: store.load(session!.id).length };
  },
};

async function open(host: LocalHost, prefix: string, many: number): Promise<void> {
  for (let n = 0; n < many; n++) {
    await host.send({ type: "open", session: `${prefix}${n}`, cwd: "/" });
    await host.send({ type: "say", session: `${prefix}${n}`, text: "go", ...bench });
  }
}

async function pendingOf(host: LocalHost): Promise<InputRequest[]> {
  const reply = await host.send({ type: "pending" });
  return reply.ok ? reply.requests.map(({ request }) => request) : [];
}

const grant = (host: LocalHost, { id }: InputRequest) =>
  host.send({ type: "respond", response: { type: "granted", requestId: id }, ...bench });

/** Twice: what the first round frees is given back by the second. */
async function collected(): Promise<void> {
  for (let n = 0; n < 2; n++) {
    await pause(200);
    globalThis.gc?.();
  }
}

/** Nothing is waited for in memory any more. */
async function asleep(waiting: ReadonlySet<string>): Promise<void> {
  do await pause(200);
  while (waiting.size > 0);
}

function watched(store: LocalStore): { store: LocalStore; waiting: Set<string> } {
  const waiting = new Set<string>();
  const { wait } = store.hub;
  store.hub.wait = (id, wake) => {
    waiting.add(id);
    const stop = wait(id, wake);
    return () => (waiting.delete(id), stop());
  };
  return { store, waiting };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const at = performance.now();
  await work();
  return performance.now() - at;
}

console.log(JSON.stringify(await roles[role]!()));
if (role === "hold" || role === "busy") setInterval(() => {}, 1_000);
else process.exit();
