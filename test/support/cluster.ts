// Gateway and workers on one PostgreSQL: each with a replica, connections and jobs of its own, as processes have them.
import assert from "node:assert/strict";
import { Client } from "pg";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { type Cluster, joinCluster } from "../../src/host/cluster/cluster.ts";
import { createGatewayHost } from "../../src/host/cluster/stream/gateway.ts";
import { startWorker } from "../../src/host/cluster/worker/worker.ts";
import { createHost, type LocalHost } from "../../src/host/host.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { Model } from "../../src/models/model.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import { noUsage } from "../../src/protocol/facts/message.ts";
import type { ExecutionOptions } from "../../src/protocol/host/options.ts";
import { createPrepared } from "./postgres.ts";
import { config } from "./sage.ts";
import { until } from "./until.ts";

export const lin = { by: "Lin", surface: "test" };

/** Asks for as many commands as the first message says, whoever runs it. */
const counting: Model = {
  id: "counting",
  async reply({ messages }) {
    const wanted = Number(/\d+/.exec(JSON.stringify(messages.find(({ role }) => role === "user")))?.[0] ?? 1);
    const step = messages.filter(({ role }) => role === "assistant").length;
    const slowly = JSON.stringify(messages).includes("slowly") ? "; sleep 60" : "";
    const command = `echo ${step} >> ran.txt${slowly}`;
    const call = { type: "call", id: `c${step}`, tool: "Bash", input: { command } } as const;
    return step < wanted
      ? { parts: [call], usage: noUsage, finish: "calls", model: "counting" }
      : { parts: [{ type: "text", text: "all done" }], usage: noUsage, finish: "stop", model: "counting" };
  },
};

type Place = AsyncDisposable & {
  /** For a gateway. */
  url: string;
  host: LocalHost;
  cluster: Cluster;
  /** Somebody who may do everything to the database. */
  asOwner(text: string): Promise<void>;
  /** `behindMs`: as if all that it does had been done so much earlier, apart from its heartbeats. */
  worker(
    name?: string,
    more?: { loop?: number; behindMs?: number },
  ): Promise<{ cluster: Cluster; stop(): Promise<void> }>;
};

/** A gateway, and as many workers as are asked for. */
export async function place(
  dir: string,
  {
    notified = true,
    options = {},
    prepares = () => {},
  }: {
    notified?: boolean;
    options?: Partial<ExecutionOptions>;
    /** Before a run; may throw. */ prepares?(): void;
  } = {},
): Promise<Place> {
  const { url, worker, gateway: speaker, drop } = await createPrepared();
  const join = async (roster: boolean) => {
    const { noteChild, children, callOf, place: at } = memoryStore();
    return joinCluster({
      ...(roster ? { url: speaker, as: "gateway" } : { url: worker, as: "worker" }),
      local: { noteChild, children, callOf, place: at },
      place: () => "here",
      notified,
      roster,
    });
  };
  const ends: (() => Promise<void>)[] = [];
  const cluster = await join(true);
  const refuse = async (): Promise<never> => assert.fail("a gateway runs nothing");
  const wake = (session: string) => void cluster.dispatch.wake(session, "here");
  const host = createGatewayHost(
    createHost({ store: cluster.replica.store, version: "test", executor: refuse, elsewhere: { wake } }),
    cluster.replica,
  );
  ends.push(async () => {
    await host.close();
    await cluster.close();
  });
  return {
    host,
    cluster,
    url: speaker,
    async asOwner(text) {
      const client = new Client(url);
      await client.connect();
      await client.query(text);
      await client.end();
    },
    async worker(at = "here", { loop, behindMs = 0 } = {}) {
      const own = await join(false);
      const { store } = own.replica;
      const { now } = own.dispatch;
      store.now = () => now() - behindMs;
      const runs = createHost({
        ...{ store, version: "test", letsGo: true, sleepAfterMs: 50 },
        executor: async () => {
          prepares();
          return new TurnExecutor(
            { ...config({ script: [], dir, store, wrap: () => counting }) },
            { ...options, workingDirectory: dir },
          );
        },
      });
      const working = await startWorker({
        ...{ cluster: own, place: at, host: runs, failedMs: 100 },
        ...(loop !== undefined && { loop }),
      });
      let stopped = false;
      const stop = async () => {
        if (stopped) return;
        stopped = true;
        await working.stop();
        await own.close();
      };
      ends.unshift(stop);
      return { cluster: own, stop };
    },
    async [Symbol.asyncDispose]() {
      for (const end of ends) await end();
      await drop();
    },
  };
}

/** Everything that is told of a session from now on. */
export function watching(host: LocalHost, session: string): { facts: Fact[]; stop(): void } {
  const over = new AbortController();
  const facts: Fact[] = [];
  void (async () => {
    for await (const event of host.watch(session, { signal: over.signal }))
      if (event.type === "fact") facts.push(event.fact);
  })();
  return { facts, stop: () => over.abort() };
}

export async function begin(host: LocalHost, dir: string, text: string): Promise<string> {
  const opened = await host.send({ type: "open", cwd: dir });
  assert.ok(opened.ok);
  const said = await host.send({ type: "say", session: opened.session, text, ...lin });
  assert.ok(said.ok, JSON.stringify(said));
  return opened.session;
}

export async function openRequest(host: LocalHost, session: string): Promise<string> {
  return until(async () => {
    const reply = await host.send({ type: "pending", session });
    return reply.ok ? reply.requests[0]?.request.id : undefined;
  }, "nobody is asked");
}
