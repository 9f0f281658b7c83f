// Run by itself, it is the server: Sage's, or the bare one that sends the same bytes.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { WebSocket, WebSocketServer } from "ws";
import { createHost } from "../src/host/host.ts";
import { createWireServer, webLimits } from "../src/host/socket/serve.ts";
import { webWire } from "../src/host/socket/web-wire.ts";
import { sqliteStore } from "../src/journal/sqlite/sqlite.ts";
import { connectWeb } from "../src/host/socket/connect-web.ts";
import { bareSockets } from "./floors/bare-sockets.ts";
import { median, percentile, removeDatabase, type Row } from "./measure.ts";

const watchers = 100;
const idle = 300;
const facts = 250;
const perSecond = 50;
const history = 5_000;

const lin = { by: "Lin", surface: "web" };
const hello = { hello: { protocols: [1], surface: "web", client: "bench" } };

type Figures = { p50: number; p99: number; cpu: number; kbEach: number; historyMs: number };

/** Cost of the page and of terminals elsewhere: everybody who watches, and a client that comes to a long session. */
export async function web(dir: string): Promise<Row[]> {
  const sage = await measure("sage", dir);
  const bare = await measure("bare", dir);
  const floor = (value: number) => ({ floor: { name: "the same bytes from a bare WebSocket", value } });
  const crowd = `a fact to ${watchers} watchers (inbox and session), ${perSecond} a second`;
  return [
    { figure: `${crowd}, p50`, unit: "ms", sage: sage.p50, ...floor(bare.p50), aim: { atMost: 20 } },
    { figure: `${crowd}, p99`, unit: "ms", sage: sage.p99, ...floor(bare.p99), aim: { atMost: 100 } },
    { figure: `${crowd}, of a core`, unit: "%", sage: sage.cpu, ...floor(bare.cpu) },
    { figure: "memory a watcher", unit: "kB", sage: sage.kbEach, aim: { atMost: 100 } },
    {
      figure: `${history} facts to a client`,
      unit: "ms",
      sage: sage.historyMs,
      ...floor(bare.historyMs),
      aim: { atMost: 300 },
    },
  ];
}

async function measure(which: "sage" | "bare", dir: string): Promise<Figures> {
  const file = join(dir, `web-${which}.db`);
  const child = fork(import.meta.filename, [which, file]);
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  const took: number[] = [];
  let live = true;
  const sockets: WebSocket[] = [];
  while (sockets.length < watchers) sockets.push(await watcher(port, which, took, () => live));
  const { cpu } = await ask<{ cpu: number }>(child, { do: "emit" });
  live = false; // whoever comes now is told what has been
  // The first ones fill what the process had room for; those after them cost what they cost.
  const before = await ask<{ kb: number }>(child, { do: "memory" });
  while (sockets.length < watchers + idle) sockets.push(await watcher(port, which, took, () => live));
  const after = await ask<{ kb: number }>(child, { do: "memory" });
  for (const socket of sockets) socket.terminate();
  const tries: number[] = [];
  for (let n = 0; n < 5; n++) tries.push(await readHistory(port, which));
  child.send({ do: "end" });
  await once(child, "exit");
  removeDatabase(file);
  const kbEach = (after.kb - before.kb) / idle;
  return { p50: median(took), p99: percentile(took, 99), cpu, kbEach, historyMs: median(tries) };
}

async function ask<T>(child: ChildProcess, message: object): Promise<T> {
  child.send(message);
  const [reply] = (await once(child, "message")) as [T];
  return reply;
}

/** An inbox and a session on one connection, as a tab has them. */
async function watcher(port: number, which: string, took: number[], isLive: () => boolean): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/wire`, { perMessageDeflate: false });
  const ready = Promise.withResolvers<void>();
  let begun = 0;
  socket.on("message", (data: Buffer) => {
    const text = data.toString("utf8");
    if (/"type":"(ready|inbox)"/.test(text)) {
      if (++begun === (which === "bare" ? 1 : 2)) ready.resolve();
      return;
    }
    const sent = /"title":"at (\d+\.?\d*)"/.exec(text)?.[1];
    if (sent !== undefined && isLive()) took.push(performance.timeOrigin + performance.now() - Number(sent));
  });
  await once(socket, "open");
  if (which === "sage") {
    socket.send(JSON.stringify(hello));
    socket.send(JSON.stringify({ do: "inbox", id: 1 }));
    socket.send(JSON.stringify({ do: "watch", id: 2, session: "live" }));
  }
  await ready.promise;
  return socket;
}

async function readHistory(port: number, which: "sage" | "bare"): Promise<number> {
  const started = performance.now();
  if (which === "bare") {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/wire?history`, { perMessageDeflate: false });
    let read = 0;
    const done = Promise.withResolvers<void>();
    socket.on("message", (data: Buffer) => {
      JSON.parse(data.toString("utf8"));
      if (++read === history + 1) done.resolve();
    });
    await once(socket, "open");
    socket.send("history");
    await done.promise;
    socket.terminate();
    return performance.now() - started;
  }
  const host = connectWeb(`http://127.0.0.1:${port}`, "");
  const leaving = new AbortController();
  for await (const event of host.watch("long", { signal: leaving.signal })) if (event.type === "ready") leaving.abort();
  host.close();
  return performance.now() - started;
}

const titled = (n: number, title: string) =>
  ({ key: `title/${n}`, type: "session.titled", at: Date.now(), data: { title, ...lin } }) as const;
const filler = "x".repeat(250);

async function serveSage(file: string): Promise<{ port: number; emit(n: number): void }> {
  const store = sqliteStore(file);
  const host = createHost({ store, version: "bench", executor: () => Promise.reject(new Error("nothing runs here")) });
  for (const session of ["live", "long"]) await host.send({ type: "open", session, cwd: "/" });
  store.appendAll(Array.from({ length: history }, (_, n) => ({ session: "long", fact: titled(n, filler) })));
  const http = createServer();
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
  const wires = createWireServer(webLimits);
  const journal = store.journalId();
  sockets.on("connection", (socket) =>
    wires.serve(
      (hear) => webWire(socket, hear),
      () => ({ host, version: "bench", journal, me: lin, may: [] }),
    ),
  );
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  return {
    port,
    emit: (n) => void store.append("live", titled(n, `at ${performance.timeOrigin + performance.now()}`)),
  };
}

async function serveBare(): Promise<{ port: number; emit(n: number): void }> {
  const frame = (n: number, title: string) =>
    JSON.stringify({ id: 1, event: { type: "fact", fact: { session: "s", seq: n, ...titled(n, title) } } });
  const { port, all } = await bareSockets((socket) => {
    socket.send(`{"type":"ready"}`);
    socket.once("message", () => {
      for (let n = 0; n < history; n++) socket.send(frame(n, filler));
    });
  });
  return {
    port,
    emit(n) {
      const text = frame(n, `at ${performance.timeOrigin + performance.now()}`);
      for (const socket of all) for (const copy of [text, text]) socket.send(copy);
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  const [, , which, file = ""] = process.argv;
  const server = which === "sage" ? await serveSage(file) : await serveBare();
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const carryOut = async (what: "memory" | "emit" | "end"): Promise<object> => {
    if (what === "end") process.exit(0);
    if (what === "memory") {
      await new Promise((resolve) => setTimeout(resolve, 500));
      gc();
      return { kb: process.memoryUsage().rss / 1024 };
    }
    const started = process.cpuUsage();
    const began = performance.now();
    for (let n = 0; n < facts; n++) {
      server.emit(n);
      await new Promise((resolve) => setTimeout(resolve, 1_000 / perSecond));
    }
    const { user, system } = process.cpuUsage(started);
    return { cpu: (user + system) / 10 / (performance.now() - began) };
  };
  process.on("message", (message: { do: "memory" | "emit" | "end" }) => {
    void carryOut(message.do).then((reply) => process.send?.(reply));
  });
  process.send?.({ port: server.port });
}
