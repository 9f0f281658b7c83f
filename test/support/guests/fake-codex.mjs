#!/usr/bin/env node
// A stand-in for Codex: `fake-codex app-server --listen unix://PATH`. It plays the list of replies in `script.json` of a thread's folder, keeps the
// thread in `threads` there, really runs its commands, and keeps and loses what Codex does: a request stays open while no client is there and is put to
// every client that resumes the thread; killed, it has forgotten it; a thread that is resumed without a policy no longer asks. A call that was allowed
// runs at once, and its end is told when everything that was asked about in its reply is settled.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

if (process.argv[2] === "--version") {
  console.log("codex-cli 9.9.9");
  process.exit(0);
}
const path = process.argv[process.argv.indexOf("--listen") + 1].replace("unix://", "");
const live = new Map();
let requests = 0;
const fileOf = (cwd, id) => `${cwd}/threads/${id}.json`;
const save = ({ id, cwd, heard, played, results }) => {
  mkdirSync(`${cwd}/threads`, { recursive: true });
  writeFileSync(`${cwd}/thread.part`, JSON.stringify({ id, heard, played, results }));
  renameSync(`${cwd}/thread.part`, fileOf(cwd, id)); // whoever reads it sees the whole
};
const thread = (state) => ({
  id: state.id,
  cliVersion: "9.9.9",
  status: state.turn ? { type: "active", activeFlags: [] } : { type: "idle" },
  turns: state.turn ? [{ id: state.turn.id, items: [...state.items.values()] }] : [],
});

function ask(state, method, params) {
  const id = requests++;
  const { promise, resolve } = Promise.withResolvers();
  state.asked.set(id, { method, params: { threadId: state.id, turnId: state.turn.id, ...params }, resolve });
  for (const client of state.clients) client.send({ id, ...state.asked.get(id), resolve: undefined });
  return promise;
}

async function play(state) {
  const turn = state.turn;
  const tell = (method, params) => {
    for (const client of state.clients)
      client.send({ method, params: { threadId: state.id, turnId: turn.id, ...params } });
  };
  const over = (status) => {
    if (state.turn !== turn) return;
    state.turn = undefined;
    state.items.clear();
    tell("turn/completed", { turn: { id: turn.id, status } });
  };
  turn.interrupt = () => {
    for (const id of state.asked.keys()) tell("serverRequest/resolved", { requestId: id });
    state.asked.clear();
    over("interrupted");
  };
  for (;;) {
    const script = JSON.parse(readFileSync(`${state.cwd}/script.json`, "utf8"));
    const step = script[Math.min(state.played++, script.length - 1)];
    save(state);
    if (step.text) tell("item/completed", { item: { type: "agentMessage", id: `m${state.played}`, text: step.text } });
    if (!step.calls?.length) return over("completed");
    // Codex asks about several calls at once, and not in the model's order.
    const settled = [];
    await Promise.all([...step.calls].reverse().map((call) => run(state, call, { tell, settled })));
    if (state.turn !== turn) return;
    save(state);
  }
}

async function run(state, call, { tell, settled }) {
  if (call.questions) {
    const { answers } = await ask(state, "item/tool/requestUserInput", { itemId: call.id, questions: call.questions });
    return state.results.push({ id: call.id, answers });
  }
  const item = call.changes
    ? { type: "fileChange", id: call.id, changes: call.changes, status: "inProgress" }
    : {
        type: "commandExecution",
        id: call.id,
        command: `/bin/bash -lc '${call.command}'`,
        cwd: state.cwd,
        status: "inProgress",
      };
  // A subagent works in a thread of its own, which is told of or not.
  const at = call.thread ? { threadId: call.thread } : {};
  if (!call.thread) state.items.set(call.id, item);
  if (!call.untold) tell("item/started", { item, ...at });
  const kind = call.changes ? "item/fileChange/requestApproval" : "item/commandExecution/requestApproval";
  const shown = call.changes ? {} : { command: item.command, cwd: item.cwd };
  const asks = call.asks !== false && state.policy === "untrusted";
  if (asks) settled.push(ask(state, kind, { itemId: call.id, reason: call.reason ?? null, ...shown, ...at }));
  const { decision } = asks ? await settled.at(-1) : { decision: "accept" };
  if (decision === "accept" && call.command) execFileSync("/bin/sh", ["-c", call.command], { cwd: state.cwd });
  if (decision === "accept") for (const change of call.changes ?? []) writeFileSync(change.path, change.diff);
  await Promise.all(settled);
  item.status = decision === "accept" ? "completed" : "declined";
  state.results.push({ id: call.id, decision });
  if (!call.untold) tell("item/completed", { item, ...at });
}

function handle(client, { id, method, params, result }) {
  if (method === undefined) {
    for (const state of live.values()) {
      const open = state.asked.get(id);
      if (!open) continue;
      state.asked.delete(id);
      for (const other of state.clients)
        other.send({ method: "serverRequest/resolved", params: { threadId: state.id, requestId: id } });
      open.resolve(result);
    }
    return;
  }
  const reply = (answer) => client.send({ id, result: answer });
  const refuse = (message) => client.send({ id, error: { code: -32600, message } });
  const state = live.get(params?.threadId);
  switch (method) {
    case "initialize":
      return reply({});
    case "initialized":
      return;
    case "thread/start":
    case "thread/resume": {
      if (params.threadId && !state && !existsSync(fileOf(params.cwd, params.threadId)))
        return refuse("no such thread");
      const kept =
        params.threadId && !state ? JSON.parse(readFileSync(fileOf(params.cwd, params.threadId), "utf8")) : {};
      const fresh = {
        id: randomUUID(),
        heard: [],
        played: 0,
        results: [],
        ...kept,
        asked: new Map(),
        items: new Map(),
        clients: new Set(),
      };
      const mine = state ?? fresh;
      live.set(mine.id, mine);
      mine.clients.add(client);
      mine.policy = params.approvalPolicy ?? "never";
      mine.cwd = params.cwd ?? mine.cwd;
      save(mine);
      reply({ thread: thread(mine), model: "fake-model" });
      for (const [open, { method: asked, params: about }] of mine.asked)
        client.send({ id: open, method: asked, params: about });
      return;
    }
    case "turn/start":
      state.heard.push(params.input[0].text);
      state.turn = { id: randomUUID() };
      reply({ turn: { id: state.turn.id } });
      return void play(state);
    case "turn/steer":
      if (state.turn?.id !== params.expectedTurnId) return refuse("no such turn");
      state.heard.push(`steered: ${params.input[0].text}`);
      save(state);
      return reply({ turnId: state.turn.id });
    case "turn/interrupt":
      reply({});
      return state.turn?.interrupt();
    default:
      return refuse("no such method");
  }
}

const server = createServer();
new WebSocketServer({ server }).on("connection", (socket) => {
  const client = { send: (message) => socket.readyState === 1 && socket.send(JSON.stringify(message)) };
  socket.on("message", (data) => handle(client, JSON.parse(Buffer.concat([data].flat()).toString())));
  socket.on("close", () => live.forEach(({ clients }) => clients.delete(client)));
});
process.on("SIGTERM", () => {
  if (existsSync(path)) unlinkSync(path);
  process.exit(0);
});
server.listen(path);
