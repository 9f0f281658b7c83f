// Processes of Sage that can be killed at any moment, without a process each: everything that could reach the world goes
// through a seam, and a dead one reaches nothing any more. Each has its own connection to the same real journal.
import { hash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { TurnExecutor } from "../../src/agent/turn/executor.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { LocalStore } from "../../src/journal/store/store.ts";
import type { Model } from "../../src/models/model.ts";
import type { Script } from "../../src/models/scripted.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { ToolInput } from "../../src/protocol/facts/call.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import type { Command, CommandReply } from "../../src/protocol/host/host.ts";
import type { ExecutionOptions } from "../../src/protocol/host/options.ts";
import { resolvedKey, splitRequestId } from "../../src/protocol/key.ts";
import { said, SageError } from "../../src/protocol/reasons/reason.ts";
import type { SubagentDefinition } from "../../src/protocol/subagent.ts";
import { createHost, type LocalHost } from "../../src/host/host.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { config } from "../support/sage.ts";
import { plain, type Event, type History, type Observation } from "./history.ts";

/** Kill at the nth commit, spawn, or request to the model, right before it happens or right after. */
export type Fault = { point: Point; nth: number; side: "before" | "after" };
export type Point = "commit" | "spawn" | "model";

/** Nothing that a dead process does has any effect; this is what its code meets while it is swept away. */
export class Crash extends SageError {
  constructor() {
    super("lease-lost", said("this process is dead"));
  }
}

export type Life = {
  name?: string;
  fault?: Fault | undefined;
  rules?: readonly Rule[];
  options?: Partial<ExecutionOptions>;
  sleepAfterMs?: number | undefined;
};

export type Process = {
  readonly name: string;
  readonly host: LocalHost;
  readonly store: LocalStore;
  readonly dead: boolean;
  /** Settles when it dies. */
  readonly died: Promise<void>;
  /** How often each point was passed. */
  readonly passed: Record<Point, number>;
  /** Requests that something in this process waits for. */
  readonly waiting: Set<string>;
  /** As a surface: a reply of a process that died meanwhile never comes. */
  send<C extends Command>(command: C): Promise<CommandReply<C["type"]> | undefined>;
  answer(surface: string, response: InputResponse, by?: string): Promise<CommandReply<"respond"> | undefined>;
  crash(): void;
  /** Kills it at the nth boundary from now on. */
  trip(fault: Fault): void;
  /** Sweeps up what is left of a dead process, or leaves an orderly one. */
  bury(): Promise<void>;
};

export type World = {
  readonly dir: string;
  readonly path: string;
  readonly events: Event[];
  /** Files that the tool Save writes. */
  readonly files: Map<string, string>;
  boot(life?: Life): Process;
  /** The disk refuses, from now on or no longer. */
  full: boolean;
  observe(process: string, what: Observation): void;
  /** The newest fact that another connection sees. */
  durable(): number;
  isDurable(session: string, key: string): boolean;
  facts(session: string): Fact[];
  sessions(): string[];
  history(over?: boolean): History;
  /** Kills every process that still lives, and sweeps everything up. */
  end(): Promise<void>;
  /** Somebody may take over from a process that has been silent for too long. */
  silence(process: Process): void;
} & Disposable;

export type Setting = {
  dir: string;
  script(session: string): Script;
  now?: () => { mono: number; wall: number };
};

export function createWorld({ dir, script, now = realNow }: Setting): World {
  const path = `${dir}/journal.db`;
  const events: Event[] = [];
  const files = new Map<string, string>();
  const processes: Process[] = [];
  let booted = 0;
  let ended = false;
  let other: DatabaseSync | undefined;
  const outside = () => (other ??= new DatabaseSync(path));
  const world: World = {
    dir,
    path,
    events,
    files,
    full: false,
    observe: (process, what) => void events.push({ n: events.length, ...now(), process, ...what }),
    boot(life = {}) {
      if (ended) throw new Crash();
      const process = boot(world, script, { name: `p${++booted}`, ...life });
      processes.push(process);
      return process;
    },
    async end() {
      ended = true;
      for (const process of processes) {
        process.crash();
        await process.bury();
      }
    },
    durable: () => Number(outside().prepare("SELECT max(seq) n FROM fact").get()?.["n"] ?? 0),
    isDurable: (session, key) =>
      outside().prepare("SELECT 1 FROM fact WHERE session=? AND key=?").get(session, key) !== undefined,
    facts: (session) =>
      outside()
        .prepare("SELECT seq, session, key, type, at, data FROM fact WHERE session=? ORDER BY seq")
        .all(session)
        .map((row) => ({ ...row, data: JSON.parse(String(row["data"])) as unknown }) as unknown as Fact),
    sessions: () =>
      outside()
        .prepare("SELECT id FROM session ORDER BY id")
        .all()
        .map(({ id }) => String(id)),
    silence: ({ store, name }) => {
      world.observe(name, { type: "silenced" });
      for (const session of held.get(store) ?? [])
        outside().prepare("UPDATE process SET beat=0 WHERE id=(SELECT process FROM session WHERE id=?)").run(session);
    },
    history(over = true) {
      const store = sqliteStore(path);
      try {
        const journal = new Map(world.sessions().map((id) => [id, world.facts(id)]));
        const broken = new Map<string, string>();
        for (const id of journal.keys()) {
          const at = store.verify(id);
          if (at) broken.set(id, at.key);
        }
        return { events, journal, broken, listed: store.pending().map(({ id }) => id), over };
      } finally {
        store.close();
      }
    },
    [Symbol.dispose]: () => other?.close(),
  };
  return world;
}

/** Sessions that a store has claimed, ever. */
const held = new WeakMap<LocalStore, Set<string>>();

function boot(world: World, script: Setting["script"], life: Life & { name: string }): Process {
  const { name, rules = [], options = {} } = life;
  let { fault } = life;
  const passed: Record<Point, number> = { commit: 0, spawn: 0, model: 0 };
  const waiting = new Set<string>();
  const { promise: died, resolve: die } = Promise.withResolvers<void>();
  let dead = false;
  let buried = false;
  const crash = () => {
    if (dead) return;
    dead = true;
    world.observe(name, { type: "crashed" });
    die();
  };
  const pass = (point: Point, side: "before" | "after") => {
    if (buried) return;
    if (dead) throw new Crash();
    if (point === "commit" && side === "before" && world.full) throw fullDisk();
    if (side === "before") passed[point]++;
    if (fault?.point !== point || fault.side !== side || fault.nth !== passed[point]) return;
    crash();
    throw new Crash();
  };
  const real = sqliteStore(world.path, { onCommit: (side) => pass("commit", side) });
  const store = observed(world, real, name, () => dead, waiting);
  const host = createHost({
    store,
    version: "test",
    ...(life.sleepAfterMs !== undefined && { sleepAfterMs: life.sleepAfterMs }),
    async executor({ id }) {
      const made = config({
        script: script(id),
        dir: world.dir,
        store,
        tools: tools(world, name, id, pass),
        agents: [asker],
        rules: [{ behavior: "allow", text: "Look", source: "user" }, ...rules],
        wrap: (model) => watched(model, world, name, id, pass),
      });
      return new TurnExecutor(made, { ...options, workingDirectory: world.dir });
    },
  });
  world.observe(name, { type: "booted" });
  const send = async <C extends Command>(command: C) => {
    if (dead) return undefined;
    const reply = await host.send(command);
    return dead ? undefined : reply;
  };
  return {
    name,
    host,
    store,
    died,
    passed,
    waiting,
    get dead() {
      return dead;
    },
    send,
    async answer(surface, response, by = "Lin") {
      const reply = await send({ type: "respond", response, by, surface });
      world.observe(name, { type: "answered", surface, response, reply: plain(reply) });
      return reply;
    },
    crash,
    trip({ point, nth, side }) {
      fault = { point, nth: passed[point] + nth, side };
    },
    async bury() {
      if (buried) return;
      buried = dead;
      await host.close();
      real.close();
    },
  };
}

/** The journal interface, seen from outside: what was acknowledged to whom, and who heard of what. */
function observed(world: World, real: LocalStore, name: string, dead: () => boolean, waiting: Set<string>): LocalStore {
  const alive =
    <A extends unknown[], R>(fn: (...args: A) => R) =>
    (...args: A): R => {
      if (dead()) throw new Crash();
      return fn(...args);
    };
  const { hub } = real;
  const { wait, tell } = hub;
  // The journal is open for as long as it takes to bury the process, which hears of nothing by then.
  hub.tell = (facts) => void (dead() || tell(facts));
  hub.wait = (id, wake) => {
    waiting.add(id);
    const stop = wait(id, (resolution) => (waiting.delete(id), wake(resolution)));
    return () => (waiting.delete(id), stop());
  };
  const acknowledged = (session: string, epoch: number | undefined, facts: readonly Fact[]) => {
    if (dead()) return;
    const written = facts.map(({ seq, key, type, data }) => ({ seq, key, type, data: JSON.stringify(data) }));
    world.observe(name, { type: "committed", session, epoch, facts: written });
  };
  const listening = new Set<string>();
  const listen = (session: string) => {
    if (listening.has(session)) return;
    listening.add(session);
    hub.subscribe(session, {
      fact: ({ key }) => {
        if (!dead()) world.observe(name, { type: "heard", session, key, durable: world.isDurable(session, key) });
      },
    });
  };
  const methods = Object.entries(real).filter((entry) => typeof entry[1] === "function");
  const store: LocalStore = {
    ...(Object.fromEntries(
      methods.map(([name, method]) => [name, alive(method as () => unknown)]),
    ) as unknown as LocalStore),
    hub,
    member: real.member, // memory of the process, which nothing outside of it sees
    claim: alive((session) => {
      listen(session);
      const epoch = real.claim(session);
      held.set(store, (held.get(store) ?? new Set()).add(session));
      return epoch;
    }),
    release: (session, epoch) => void (dead() || real.release(session, epoch)),
    commit: alive((session, epoch, facts) => {
      real.commit(session, epoch, facts);
      // An answer that was there already stands, and ours was not written.
      acknowledged(
        session,
        epoch,
        facts.filter(({ seq }) => seq > 0),
      );
    }),
    append: alive((session, fact) => {
      const written = real.append(session, fact);
      if (written.won) acknowledged(session, undefined, [written.fact]);
      return written;
    }),
    appendAll: alive((facts) => {
      const written = real.appendAll(facts);
      for (const one of written) if ("won" in one && one.won) acknowledged(one.fact.session, undefined, [one.fact]);
      return written;
    }),
    approve: alive((session, approval, conclude) => {
      const written = real.approve(session, approval, conclude);
      const { key } = splitRequestId(approval.data.requestId);
      const keys = written.won ? [approval.key, resolvedKey(key)] : [];
      if (written.won)
        acknowledged(
          session,
          undefined,
          real.load(session).filter((fact) => keys.includes(fact.key)),
        );
      return written;
    }),
    close: () => {},
  };
  return store;
}

const asker: SubagentDefinition = {
  name: "Asker",
  type: "custom",
  description: "asks",
  prompt: "",
  toolAccess: "all",
  workingDirectory: "inherited",
  ask: "root",
};

type Pass = (point: Point, side: "before" | "after") => void;

function watched(model: Model, world: World, process: string, session: string, pass: Pass): Model {
  return {
    id: model.id,
    async reply(request, scope) {
      pass("model", "before");
      const { messages, agent } = request;
      const step = messages.filter(({ role }) => role === "assistant").length;
      const saw = messages.filter(({ role }) => role === "user").length;
      const prompt = hash("sha256", JSON.stringify(messages), "hex");
      // A result may ride with the reply to it: lost together, nobody but the model has seen it.
      const results = messages.flatMap((message) => (message.role === "tool" ? message.results : [])).length;
      const kept = world.facts(session).filter((fact) => fact.type === "call.finished" && ofRoot.test(fact.key)).length;
      if (agent.length === 0 && results === kept)
        world.observe(process, { type: "prompted", session, step, saw, prompt });
      const reply = await model.reply(request, scope);
      pass("model", "after");
      return reply;
    },
  };
}

const ofRoot = /^t\d+\/\d+\/\d+\/[^/]+$/;

/** Act does something once and cannot tell afterwards; Save can, by looking; Look changes nothing. */
function tools(world: World, process: string, session: string, pass: Pass): Tool[] {
  const inputSchema = z.strictObject({ mark: z.string(), note: z.string().optional() });
  const change = (tool: string, input: ToolInput, effect: () => void) => {
    pass("spawn", "before");
    effect();
    const mark = String(input["mark"]);
    world.observe(process, { type: "executed", session, mark, tool, input: plain(input), durable: world.durable() });
    pass("spawn", "after");
  };
  const done = (verb: string, input: ToolInput) => ({ ok: true, text: `${verb} ${String(input["mark"])}` });
  const file = (input: ToolInput) => `${session}/${String(input["mark"])}`;
  return [
    {
      name: "Act",
      description: "acts",
      inputSchema,
      effect: "writes",
      async execute(input) {
        change("Act", input, () => {});
        await new Promise((resolve) => setImmediate(resolve));
        pass("spawn", "after");
        return done("acted", input);
      },
    },
    {
      name: "Save",
      description: "saves",
      inputSchema,
      effect: "writes",
      reconcile: async (input) => (world.files.has(file(input)) ? done("saved", input) : "again"),
      async execute(input) {
        change("Save", input, () => world.files.set(file(input), String(input["note"] ?? "")));
        return done("saved", input);
      },
    },
    {
      name: "Look",
      description: "looks",
      inputSchema,
      effect: "reads",
      execute: async (input) => done("looked", input),
    },
  ];
}

export function fullDisk(): Error {
  return Object.assign(new Error("database or disk is full"), { errcode: 13 });
}

const realNow = () => ({ mono: performance.now(), wall: Date.now() });
