#!/usr/bin/env node
// A stand-in for an agent that speaks ACP. It plays FAKE_SCRIPT (a list of replies), keeps each session in FAKE_STATE, really runs its
// commands, and loses what such agents lose: a call that was asked about when it was killed is not asked about again, modes are forgotten,
// and a load tells the past once more. FAKE_ACP is JSON:
//   forgets: a session that never ended a turn cannot be loaded     endsOnNo: a refusal ends the turn
//   titleOnly: calls come without their input                       firstMode: the mode it is in when it starts ("default" asks)
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";

const script = JSON.parse(readFileSync(process.env.FAKE_SCRIPT, "utf8"));
const how = JSON.parse(process.env.FAKE_ACP ?? "{}");
mkdirSync(process.env.FAKE_STATE, { recursive: true });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const waiting = new Map();
let asked = 0;
const request = (method, params) =>
  new Promise((done) => {
    waiting.set(asked, done);
    send({ id: asked++, method, params });
  });
const pathOf = (id) => `${process.env.FAKE_STATE}/${id}.json`;
const sessions = new Map();
const modes = { currentModeId: how.firstMode ?? "default", availableModes: [{ id: "default" }, { id: "auto" }] };

async function prompt(sessionId, text) {
  const { state } = sessions.get(sessionId);
  const save = () => writeFileSync(pathOf(sessionId), JSON.stringify(state));
  const update = (news) => send({ method: "session/update", params: { sessionId, update: news } });
  state.heard.push(text);
  sessions.get(sessionId).cancelled = false;
  for (;;) {
    const step = script[Math.min(state.played++, script.length - 1)];
    if (!how.forgets) save();
    if (step.text) update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: step.text } });
    if (!step.calls?.length) {
      save();
      if (how.cost)
        update({ sessionUpdate: "usage_update", used: 1, size: 9, cost: { amount: how.cost, currency: "USD" } });
      return { stopReason: "end_turn", usage: { inputTokens: 7, outputTokens: 3 } };
    }
    for (const [number, call] of step.calls.entries()) {
      const toolCallId = call.id ?? `call_${state.played}_${number}`;
      const answer = await ask(sessionId, toolCallId, call, update);
      if (sessions.get(sessionId).cancelled) return { stopReason: "cancelled" };
      state.results.push({ toolCallId, ...answer });
      const content = [{ type: "content", content: { type: "text", text: answer.text } }];
      update({ sessionUpdate: "tool_call_update", toolCallId, status: answer.ok ? "completed" : "failed", content });
      if (!how.forgets) save();
      if (!answer.ok && how.endsOnNo) return { stopReason: "end_turn" };
    }
  }
}

async function ask(sessionId, toolCallId, call, update) {
  if (call.form) {
    const { action, content } = await request("elicitation/create", {
      sessionId,
      toolCallId,
      mode: "form",
      ...call.form,
    });
    return { ok: action === "accept", text: JSON.stringify(content ?? action) };
  }
  const options = [
    { optionId: "always", name: "Always", kind: "allow_always" },
    { optionId: "yes", name: "Allow", kind: "allow_once" },
    { optionId: "no", name: "Reject", kind: "reject_once" },
  ];
  if (call.questions) {
    const toolCall = { toolCallId, title: "Questions", kind: "think", _meta: { qwenQuestions: call.questions } };
    const { outcome, answers } = await request("session/request_permission", { sessionId, toolCall, options });
    return { ok: outcome.optionId === "yes", text: JSON.stringify(answers ?? null) };
  }
  const rawInput = how.titleOnly ? {} : { rawInput: call.input };
  const toolCall = {
    toolCallId,
    title: call.input.command ?? call.kind,
    kind: call.kind ?? "execute",
    status: "pending",
    ...rawInput,
  };
  update({ sessionUpdate: "tool_call", ...toolCall, rawInput: {} });
  const mayRun = call.asks === false || sessions.get(sessionId).mode === "auto";
  const { outcome } = mayRun
    ? { outcome: { optionId: "yes" } }
    : await request("session/request_permission", { sessionId, toolCall, options });
  if (outcome.optionId !== "yes") return { ok: false, text: "refused" };
  if (call.input.command) execFileSync("/bin/sh", ["-c", call.input.command]);
  return { ok: true, text: "ran" };
}

const handlers = {
  initialize: () => ({
    protocolVersion: 1,
    agentInfo: { name: "fake", version: "4.2" },
    agentCapabilities: { loadSession: true, sessionCapabilities: {} },
  }),
  "session/new": () => {
    const sessionId = randomUUID();
    sessions.set(sessionId, { state: { heard: [], played: 0, results: [] }, mode: modes.currentModeId });
    return { sessionId, modes };
  },
  "session/load": ({ sessionId }) => {
    if (!existsSync(pathOf(sessionId))) throw new Error("no such session");
    const state = JSON.parse(readFileSync(pathOf(sessionId), "utf8"));
    sessions.set(sessionId, { state, mode: modes.currentModeId });
    const content = { type: "text", text: "from the past" };
    send({
      method: "session/update",
      params: { sessionId, update: { sessionUpdate: "agent_message_chunk", content } },
    });
    return { modes };
  },
  "session/set_mode": ({ sessionId, modeId }) => {
    if (!modes.availableModes.some(({ id }) => id === modeId)) throw new Error(`no mode ${modeId}`);
    sessions.get(sessionId).mode = modeId;
    return {};
  },
  "session/prompt": ({ sessionId, prompt: parts }) => prompt(sessionId, parts.map(({ text }) => text).join("")),
  "session/cancel": ({ sessionId }) => void (sessions.get(sessionId).cancelled = true),
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.method === undefined) waiting.get(message.id)?.(message.result ?? { outcome: {} });
  else if (message.id === undefined) handlers[message.method]?.(message.params);
  else
    Promise.resolve()
      .then(() => handlers[message.method]?.(message.params) ?? Promise.reject(new Error("no such method")))
      .then(
        (result) => send({ id: message.id, result }),
        (error) => send({ id: message.id, error: { code: -32603, message: error.message } }),
      );
}
process.exit(0); // nobody listens: nothing more is done
