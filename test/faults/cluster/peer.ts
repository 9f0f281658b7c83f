// One process of a cluster that is killed and frozen. argv: a Life. A gateway does what it is told by its parent.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { hash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { TurnExecutor } from "../../../src/agent/turn/executor.ts";
import { joinCluster } from "../../../src/host/cluster/cluster.ts";
import { createGatewayHost } from "../../../src/host/cluster/stream/gateway.ts";
import { startWorker } from "../../../src/host/cluster/worker/worker.ts";
import { createHost, type LocalHost } from "../../../src/host/host.ts";
import { explained } from "../../../src/journal/postgres/error.ts";
import { isRetryable } from "../../../src/journal/store/retry.ts";
import { sqliteStore } from "../../../src/journal/sqlite/sqlite.ts";
import type { Store } from "../../../src/journal/store/store.ts";
import type { Model } from "../../../src/models/model.ts";
import type { ToolInput } from "../../../src/protocol/facts/call.ts";
import type { Fact } from "../../../src/protocol/facts/fact.ts";
import { noUsage, type Part } from "../../../src/protocol/facts/message.ts";
import type { Command } from "../../../src/protocol/host/host.ts";
import type { Tool } from "../../../src/tools/definition/tool.ts";
import { runnerIn } from "../../support/command-runner.ts";
import { allow, askUser, bash, config, question } from "../../support/sage.ts";
import { plain } from "../history.ts";
import { attend } from "../story.ts";
import { observer } from "./observe.ts";
import { AWAY, type Life } from "./seat.ts";

const { name, role, url, dir, notified, graceMs, outlives, skewMs = 0 } = JSON.parse(process.argv[2] ?? "{}") as Life;
process.on("disconnect", () => process.exit(1)); // nobody is left to be told anything
const observe = observer(join(dir, "seen"), name);
const wallNow = Date.now.bind(Date);
if (skewMs !== 0) Date.now = () => wallNow() + skewMs;

const { noteChild, children, callOf } = sqliteStore(join(dir, "machine.db"));
const cluster = await joinCluster({
  ...{
    url,
    as: role,
    place: () => "here",
    roster: role === "gateway",
    notified,
    ...(graceMs !== undefined && { graceMs }),
  },
  local: { noteChild, children, callOf, place: undefined },
}).catch(leaveIfAway);
const store = observed(cluster.replica.store);
observe({ type: "booted" });

if (role === "gateway") {
  const wake = (session: string) => void cluster.wake(session).catch(() => {});
  const refuse = async (): Promise<never> => Promise.reject(new Error("a gateway runs nothing"));
  const host = createGatewayHost(
    createHost({ store, version: "test", executor: refuse, elsewhere: { wake } }),
    cluster.replica,
  );
  process.on("message", async (told: { n: number } & ({ command: Command } | Watching)) => {
    const reply = "command" in told ? await host.send(told.command) : await watch(host, told);
    process.send?.({ n: told.n, reply });
  });
} else {
  const runner = runnerIn(dir); // as a worker has: its commands outlive it
  const made = createHost({
    ...{ store, version: "test", letsGo: true, sleepAfterMs: 100 },
    async executor({ id }) {
      listen(id);
      const rules = [allow("Look")];
      const options = id.includes("-due") ? { promptTimeout: 3_000, timeoutPolicy: "deny" as const } : {};
      const parts = { script: [], dir, store, rules, tools: tools(id), wrap: () => marking(id) };
      const run = { ...options, workingDirectory: dir };
      return new TurnExecutor(config({ ...parts, ...(outlives && { runner }) }), run);
    },
  });
  const run: LocalHost["run"] = async (session) => {
    const outcome = await made.run(session).catch((error: unknown) => {
      observe({ type: "ran", session, how: String(error) });
      throw error;
    });
    observe({ type: "ran", session, how: outcome.status });
    // A process that has lost the session ends nothing: only an end that is on disk counts.
    const isKept = (fact: Fact) => fact.type === "turn.ended" && isDeepStrictEqual(fact.data.stats, outcome.stats);
    if (store.load(session).some(isKept))
      observe({ type: "ended", session, status: outcome.status, messages: outcome.messages });
    return outcome;
  };
  const worker = await startWorker({ cluster, place: "here", host: { ...made, run } }).catch(leaveIfAway);
  process.once("SIGTERM", async () => {
    await worker.stop();
    await cluster.close();
    process.exit(0);
  });
}
process.send?.("ready");

/** The database may be away as it comes: then it ends, and another one comes. */
function leaveIfAway(error: unknown): never {
  if (isRetryable(explained("", error))) process.exit(AWAY);
  throw error;
}

type Watching = { watch: string; surface: string; how: "on" | "once" };

/** Watches from the beginning: until all is told that there is, or for as long as this process lives. */
async function watch(host: LocalHost, { watch: session, surface, how }: Watching): Promise<boolean> {
  const watcher = `${name} ${surface}`;
  const { promise: ready, resolve } = Promise.withResolvers<true>();
  const watched: Pick<LocalHost, "watch"> = {
    async *watch(id, options) {
      for await (const event of host.watch(id, options)) {
        if (event.type === "fact") {
          const { seq, key, data } = event.fact;
          observe({ type: "told", watcher, session, seq, key, data: digest(data) });
        }
        yield event;
        if (event.type === "ready") resolve(true);
      }
    },
  };
  const world = { observe: (_: string, what: Parameters<typeof observe>[0]) => observe(what) };
  // The judge knows when each fact was on disk.
  const unsure = { ...world, isDurable: () => true, durable: () => 0 };
  const process = { name, host: watched, dead: false, answer: async () => undefined };
  const person = attend(unsure, process, session, () => undefined, surface);
  if (how === "on") return true;
  const told = await Promise.race([ready, pause(20_000, false)]);
  await person.leave();
  return told;
}

function digest(data: unknown): string {
  return hash("sha256", JSON.stringify(data), "hex").slice(0, 16);
}

/** The store, seen from outside: all that was acknowledged, and to whom. */
function observed(real: Store): Store {
  const acknowledged = (session: string, epoch: number | undefined, facts: readonly Fact[]) => {
    const written = facts.map(({ seq, key, type, data }) => ({ seq, key, type, data: JSON.stringify(data) }));
    observe({ type: "committed", session, epoch, facts: written });
  };
  return {
    ...real,
    async commit(session, epoch, facts) {
      await real.commit(session, epoch, facts);
      acknowledged(
        session,
        epoch,
        facts.filter(({ seq }) => seq > 0),
      );
    },
    async append(session, fact) {
      const written = await real.append(session, fact);
      if (written.won) acknowledged(session, undefined, [written.fact]);
      return written;
    },
    async appendAll(facts) {
      const all = await real.appendAll(facts);
      for (const one of all) if ("won" in one && one.won) acknowledged(one.fact.session, undefined, [one.fact]);
      return all;
    },
  };
}

const listening = new Set<string>();
function listen(session: string): void {
  if (listening.has(session)) return;
  listening.add(session);
  store.hub.subscribe(session, { fact: ({ key }) => observe({ type: "heard", session, key, durable: true }) });
}

/** In each turn: a command, a question and an act at once; something that takes a while; a file and a look; then a reply. */
function marking(session: string): Model {
  return {
    id: "marking",
    async reply({ messages }) {
      const of = (role: string) => messages.filter((message) => message.role === role).length;
      const [turn, step] = [of("user"), of("assistant")];
      const results = messages.flatMap((message) => (message.role === "tool" ? message.results : [])).length;
      const kept = store.load(session).filter(({ type, key }) => type === "call.finished" && ofRoot.test(key)).length;
      const prompt = hash("sha256", JSON.stringify(messages), "hex");
      if (results === kept) observe({ type: "prompted", session, step, saw: turn, prompt });
      const mark = (n: number) => `${session}.${turn}.${step}.${n}`;
      const inTurn = messages.length - 1 - messages.findLastIndex((message) => message.role === "user");
      const echo = (n: number) => `echo ${mark(n)} >> witness`;
      const plans = [
        [bash(echo(0)), askUser(question("Which colour?")), { tool: "Act", input: { mark: mark(2) } }],
        [bash(`${echo(0)}; sleep 0.3`), { tool: "Act", input: { mark: mark(1) } }],
        [
          { tool: "Save", input: { mark: mark(0) } },
          { tool: "Look", input: { mark: mark(1) } },
        ],
      ];
      const calls = plans[inTurn / 2] ?? [];
      const frame = { usage: noUsage, model: "marking" };
      if (calls.length === 0) return { ...frame, parts: [{ type: "text", text: "done" }], finish: "stop" as const };
      const parts = calls.map((call, n): Part => ({ type: "call", id: `${step}-${n}`, ...call }));
      return { ...frame, parts, finish: "calls" as const };
    },
  };
}

const ofRoot = /^t\d+\/\d+\/\d+\/[^/]+$/;

/** Act does something once and cannot tell afterwards; Save can, by looking; Look changes nothing. */
function tools(session: string): Tool[] {
  const inputSchema = z.strictObject({ mark: z.string(), note: z.string().optional() });
  const executed = (tool: string, input: ToolInput) =>
    observe({ type: "executed", session, mark: String(input["mark"]), tool, input: plain(input), durable: 0 });
  const done = (verb: string, input: ToolInput) => ({ ok: true, text: `${verb} ${String(input["mark"])}` });
  const folder = join(dir, "saved");
  mkdirSync(folder, { recursive: true });
  const frame = { description: "", inputSchema };
  return [
    {
      ...{ ...frame, name: "Act", effect: "writes" as const },
      async execute(input) {
        executed("Act", input);
        await pause(50 + (String(input["mark"]).length % 7) * 30);
        return done("acted", input);
      },
    },
    {
      ...{ ...frame, name: "Save", effect: "writes" as const },
      reconcile: async (input) => (existsSync(join(folder, String(input["mark"]))) ? done("saved", input) : "again"),
      async execute(input) {
        writeFileSync(join(folder, String(input["mark"])), String(input["note"] ?? ""));
        executed("Save", input); // killed in between, it is found to be saved
        return done("saved", input);
      },
    },
    { ...{ ...frame, name: "Look", effect: "reads" as const }, execute: async (input) => done("looked", input) },
  ];
}
