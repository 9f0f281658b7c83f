// One process of a cluster that is killed and frozen. argv: gateway|worker <url> <dir>. A gateway does what it is told by its parent.
import { join } from "node:path";
import { UnifiedExecutor } from "../../src/agent/turn/executor.ts";
import { joinCluster } from "../../src/host/cluster/cluster.ts";
import { gateway } from "../../src/host/cluster/gateway.ts";
import { startWorker } from "../../src/host/cluster/worker.ts";
import { createHost } from "../../src/host/host.ts";
import { sqliteStore } from "../../src/journal/sqlite.ts";
import type { Model } from "../../src/models/model.ts";
import { noUsage, type Command, type Part } from "../../src/protocol/index.ts";
import { askUser, bash, config, question } from "../support/sage.ts";

const [role = "", url = "", dir = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit(1)); // nobody is left to be told anything

const { noteChild, children, callOf, housekeeping } = sqliteStore(join(dir, "machine.db"));
const local = { noteChild, children, callOf, housekeeping, place: undefined };
// The database may be away as it comes: then it ends, and another one comes.
const cluster = await joinCluster({
  url,
  as: role === "gateway" ? "gateway" : "worker",
  local,
  place: () => "here",
  roster: role === "gateway",
}).catch(() => process.exit(1));
const { store } = cluster.replica;

if (role === "gateway") {
  const wake = (session: string) => void cluster.wake(session).catch(() => {});
  const refuse = async (): Promise<never> => Promise.reject(new Error("a gateway runs nothing"));
  const made = createHost({ store, version: "test", executor: refuse, elsewhere: { wake } });
  const host = gateway(made, cluster.replica);
  process.on("message", async ({ n, command }: { n: number; command: Command }) => {
    process.send?.({ n, reply: await host.send(command) });
  });
} else {
  const host = createHost({
    ...{ store, version: "test", letsGo: true, sleepAfterMs: 100 },
    executor: async ({ id }) =>
      new UnifiedExecutor(config({ script: [], dir, store, wrap: () => marking(id) }), { workingDirectory: dir }),
  });
  const worker = await startWorker({ cluster, place: "here", host });
  process.once("SIGTERM", async () => {
    await worker.stop();
    await cluster.close();
    process.exit(0);
  });
}
process.send?.("ready");

/** In each turn: a command that leaves a mark of its own and a question, another command that takes a while, then a reply. */
function marking(session: string): Model {
  return {
    id: "marking",
    async reply({ messages }) {
      const turn = messages.filter(({ role: whose }) => whose === "user").length;
      const step = messages.filter(({ role: whose }) => whose === "assistant").length;
      const inTurn = messages.length - 1 - messages.findLastIndex(({ role: whose }) => whose === "user");
      const frame = { usage: noUsage, model: "marking" };
      const mark = `echo ${session}.${turn}.${step} >> witness`;
      const calls =
        inTurn === 0
          ? [bash(mark), askUser(question("Which colour?"))]
          : inTurn < 4
            ? [bash(`${mark}; sleep 0.3`)]
            : [];
      if (calls.length === 0) return { ...frame, parts: [{ type: "text", text: "done" }], finish: "stop" as const };
      const parts = calls.map((call, n): Part => ({ type: "call", id: `${step}-${n}`, ...call }));
      return { ...frame, parts, finish: "calls" as const };
    },
  };
}
