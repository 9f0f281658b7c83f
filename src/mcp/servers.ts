import type { Transport } from "@modelcontextprotocol/client";
import { reason, type Reason, reasonOf } from "../protocol/reasons/reason.ts";
import type { Tool } from "../tools/definition/tool.ts";
import type { Connection } from "./connection.ts";
import { definitionHash, definitionsOf, type ToolDefinition } from "./definition.ts";
import { type ServerDefinition, ServerFailure } from "./server.ts";
import type { KnownPrompt, ServerMemory } from "./memory.ts";
import type { StdioPlace } from "./stdio.ts";
import { serverTool } from "./tool.ts";

/** A run that is over sooner pays nothing for servers that it did not need. */
const BACKGROUND_MS = 1_000;
const REFRESH_MS = 1_000;
/** First pause after a failure of a server; it doubles with each further one. */
const REST_MS = 5_000;
const MAX_REST_MS = 300_000;
const IDLE_MS = 600_000;
const NOTICE_MS = 1_000;

export type ServersParts = {
  definitions: readonly ServerDefinition[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Sage's folder, where its processes are noted. */
  home?: string;
  version: string;
  /** Starts servers of a folder's own settings in a sandbox; without it they are started as any other. */
  start?: NonNullable<StdioPlace["start"]>;
  memory: ServerMemory;
  http?(definition: ServerDefinition): Promise<Transport>;
};

/** All servers of a folder. None is started before it is needed, or a turn has run for a moment. */
export type Servers = {
  /** Waits for servers of which nothing is known; others start in the background. Never rejects: `notice` tells what is missing. */
  ready(signal: AbortSignal, notice: (why: Reason) => void): Promise<void>;
  /** Tools of all servers, as they are known now. The same array while nothing changed. */
  tools(): readonly Tool[];
  /** Once it was known it stays: a call that was judged runs or fails, and never stops its turn. */
  tool(name: string): Tool | undefined;
  readonly list: readonly ServerLine[];
  close(): Promise<void>;
};

export type ServerLine = {
  readonly definition: ServerDefinition;
  readonly problem: Reason | undefined;
  readonly isKnown: boolean;
  readonly prompts: readonly KnownPrompt[];
  tools(): readonly ToolDefinition[];
  /** The line of this session: a server keeps a state, and two sessions must not meet in it. */
  connection(session: string, signal: AbortSignal): Promise<Connection>;
  /** Connects, if it is not, and learns what it offers. */
  start(): Promise<void>;
  close(): Promise<void>;
};

export function createServers(parts: ServersParts): Servers {
  let offered: readonly Tool[] | undefined;
  const made = new Map<string, { hash: string; tool: Tool }>();
  const lines = parts.definitions.map((definition) => createLine(definition, parts, () => (offered = undefined)));
  let background: NodeJS.Timeout | undefined;

  const toolsOf = (line: ServerLine) =>
    line.tools().map((defined) => {
      const hash = definitionHash(defined);
      const before = made.get(defined.name);
      if (before?.hash === hash) return before.tool;
      const { definition, connection } = line;
      const current = (name: string) => line.tools().find((tool) => tool.name === name);
      const tool = serverTool({ definition, memory: parts.memory, connection, current }, defined);
      made.set(defined.name, { hash, tool });
      return tool;
    });

  return {
    list: lines,
    async ready(signal, notice) {
      background ??= setTimeout(
        () => lines.forEach((line) => void line.start().catch(() => {})),
        BACKGROUND_MS,
      ).unref();
      // A server that failed is not waited for again; it joins when it can.
      for (const line of lines) if (line.problem) line.start().catch(() => {});
      const unknown = lines.filter(({ isKnown, problem }) => !isKnown && !problem);
      if (unknown.length === 0) return;
      const names = unknown.map(({ definition }) => definition.name);
      const slow = setTimeout(() => notice(reason("servers-awaited", { servers: names })), NOTICE_MS);
      try {
        await orAborted(Promise.allSettled(unknown.map((line) => line.start())), signal);
      } finally {
        clearTimeout(slow);
      }
      for (const { definition, problem } of unknown)
        if (problem) notice(reason("servers-failed", { server: definition.name, problem }));
    },
    tools: () => (offered ??= lines.flatMap(toolsOf)),
    tool(name) {
      return (offered ??= lines.flatMap(toolsOf)).find((tool) => tool.name === name) ?? made.get(name)?.tool;
    },
    async close() {
      clearTimeout(background);
      await Promise.all(lines.map((line) => line.close()));
    },
  };
}

function createLine(definition: ServerDefinition, parts: ServersParts, changed: () => void): ServerLine {
  const { memory, cwd, env, version, home, start } = parts;
  let known = memory.known(definition);
  let tools: readonly ToolDefinition[] | undefined;
  let problem: Reason | undefined;
  let failures = 0;
  let restUntil = 0;
  let closed = false;
  let refreshing: NodeJS.Timeout | undefined;

  const learn = async (connection: Connection) => {
    known = await connection.list();
    memory.keep(definition, known);
    tools = undefined;
    changed();
  };
  const refresh = (connection: () => Connection | undefined) => {
    refreshing ??= setTimeout(() => {
      refreshing = undefined;
      const now = connection();
      if (now && !now.ended && !closed) learn(now).catch(() => {}); // it ends, or tells again
    }, REFRESH_MS).unref();
  };

  const connectAnew = async (): Promise<Connection> => {
    if (Date.now() < restUntil && problem)
      throw new ServerFailure(reason("server-given-up", { times: failures, problem }));
    const { connect } = await import("./connection.ts");
    let made: Connection | undefined;
    try {
      const http = parts.http && (() => parts.http!(definition));
      const on = { listChanged: () => refresh(() => made), ended: () => connections.forget(made) };
      made = await connect(definition, { cwd, env, version, home, ...(start && { start }) }, on, http);
      if (closed) await made.close();
      await learn(made);
      problem = undefined;
      failures = 0;
      return made;
    } catch (error) {
      await made?.close();
      const failed = made?.ended ?? reason("server-unreachable", { problem: reasonOf(error) });
      problem = error instanceof ServerFailure ? error.reason : failed;
      restUntil = Date.now() + Math.min(MAX_REST_MS, REST_MS * 2 ** failures++);
      throw new ServerFailure(problem);
    }
  };
  const connections = createConnections(connectAnew);

  return {
    definition,
    get problem() {
      return problem;
    },
    get isKnown() {
      return known !== undefined;
    },
    get prompts() {
      return known?.prompts ?? [];
    },
    tools: () => (tools ??= definitionsOf(definition.name, known?.tools ?? [])),
    connection: (session, signal) => orAborted(connections.of(session), signal),
    start: connections.start,
    async close() {
      closed = true;
      clearTimeout(refreshing);
      await connections.close();
    },
  };
}

type Connections = {
  of(session: string): Promise<Connection>;
  /** Connects before any session calls. */
  start(): Promise<void>;
  forget(ended: Connection | undefined): void;
  close(): Promise<void>;
};

/** Connections to one server by session; the first session that calls takes over the one that listed the tools. */
function createConnections(connect: () => Promise<Connection>): Connections {
  const open = new Map<string, Promise<Connection>>();
  let first: Promise<Connection> | undefined;
  /** A connection that only one of many sessions has is closed once it is not used any more. */
  const closeWhenIdle = (session: string, mine: Promise<Connection>) => {
    const look = async () => {
      const connection = await mine.catch(() => undefined);
      if (!connection || open.get(session) !== mine) return;
      if (connection.busy) return closeWhenIdle(session, mine);
      open.delete(session);
      await connection.close();
    };
    setTimeout(() => void look(), IDLE_MS).unref();
  };
  return {
    of(session) {
      const mine = open.get(session);
      if (mine) return mine;
      const taken = [...open.values()];
      const next = first && !taken.includes(first) ? first : connect();
      first ??= next;
      open.set(session, next);
      next.catch(() => {
        open.delete(session);
        if (first === next) first = undefined;
      });
      if (open.size > 1) closeWhenIdle(session, next);
      return next;
    },
    async start() {
      if (open.size > 0 && first === undefined) return;
      first ??= connect();
      const mine = first;
      mine.catch(() => (first = first === mine ? undefined : first));
      await mine;
    },
    forget(ended) {
      if (ended === undefined) return;
      const drop = (promise: Promise<Connection> | undefined, remove: () => void) =>
        void promise?.then((connection) => connection === ended && remove()).catch(() => {});
      drop(first, () => (first = undefined));
      for (const [session, promise] of open) drop(promise, () => open.delete(session));
    },
    async close() {
      const all = [...new Set([...open.values(), ...(first ? [first] : [])])];
      await Promise.allSettled(all.map(async (connection) => (await connection).close()));
    },
  };
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, fail) => {
    const aborted = () => fail(signal.reason as Error);
    if (signal.aborted) return aborted();
    signal.addEventListener("abort", aborted, { once: true });
    work.then(done, fail).finally(() => signal.removeEventListener("abort", aborted));
  });
}
