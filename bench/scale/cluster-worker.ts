// A worker under measure. argv: <url> <dir> <sleepAfterMs>. It tells when calls begin, and how large its heap is when asked.
import { joinCluster } from "../../src/host/cluster/cluster.ts";
import { startWorker } from "../../src/host/cluster/worker/worker.ts";
import { createHost } from "../../src/host/host.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { workOf } from "./works.ts";

const [url = "", dir = "", sleepAfterMs = "500"] = process.argv.slice(2);
process.on("disconnect", () => process.exit(1));
const { noteChild, children, callOf, place } = memoryStore();
const local = { noteChild, children, callOf, place };
const cluster = await joinCluster({ url, as: "worker", local, place: () => "bench", roster: false });
const { store } = cluster.replica;
const host = createHost({
  ...{ store, version: "bench", letsGo: true, sleepAfterMs: Number(sleepAfterMs) },
  executor: async ({ id }) =>
    workOf(store, id, dir, (session) => process.send?.({ session, at: performance.timeOrigin + performance.now() })),
});
await startWorker({ cluster, place: "bench", host });
process.on("message", () => {
  globalThis.gc?.();
  process.send?.({ heapMb: process.memoryUsage().heapUsed / 2 ** 20, held: cluster.replica.held });
});
process.send?.("ready");
