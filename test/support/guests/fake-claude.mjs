#!/usr/bin/env node
// Stands in for Claude Code: speaks its control messages, keeps its conversation in a file, really runs commands, and loses things as it
// does. No model and nobody's texts: the script is a list of steps [{ text?, calls?: [{ name, input, sub?: [...] }] }], and the "model"
// plays the first step that has a call without a final result, under new ids.
// FAKE_DIR: script.json, and a file for each session. FAKE_KILL: dies after so many messages. FAKE_DEFER_MS: takes so long to keep a call. FAKE_RULES: tools for which its own rules ask ("ask") or allow ("allow").
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const dir = process.env.FAKE_DIR ?? ".";
const args = process.argv.slice(2);
const value = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const version = process.env.FAKE_VERSION ?? "2.1.325";
if (args.includes("--version")) {
  console.log(`${version} (stand-in)`);
  process.exit(0);
}
const id = value("--resume") ?? value("--session-id") ?? randomUUID();
const file = `${dir}/session-${id}.json`;
if (value("--resume") !== undefined && !existsSync(file)) {
  console.error("this conversation is not here");
  process.exit(1);
}
const script = JSON.parse(readFileSync(`${dir}/script.json`, "utf8"));
const rules = JSON.parse(process.env.FAKE_RULES ?? "{}");
const state = existsSync(file)
  ? JSON.parse(readFileSync(file, "utf8"))
  : { heard: [], models: 0, results: {}, open: [], deferred: undefined };
const save = () => {
  writeFileSync(`${file}.new`, JSON.stringify(state));
  renameSync(`${file}.new`, file); // killed meanwhile, it has the conversation as it was
};
save();
const log = (line) => appendFileSync(`${dir}/log.txt`, `${line}\n`);
let sent = 0;
const send = (message) => {
  writeSync(1, `${JSON.stringify({ ...message, session_id: id })}\n`);
  // Killed from outside after so many messages, once.
  if (++sent !== Number(process.env.FAKE_KILL) || existsSync(`${dir}/killed`)) return;
  writeFileSync(`${dir}/killed`, "");
  process.kill(process.pid, "SIGKILL");
};
const usage = { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };

const asked = new Map();
const queued = [];
let gone = false;
let stopped = false;
const request = (body, otherwise) =>
  new Promise((done) => {
    const request_id = randomUUID();
    if (gone || stopped) return done(otherwise);
    asked.set(request_id, (response) => done(response ?? otherwise));
    send({ type: "control_request", request_id, request: body });
  });
// Nobody is there any more to answer: refused in the person's name, and on it goes.
const closed = { permissionDecision: "deny", permissionDecisionReason: "refused: nobody listens" };
const hook = async (call, agent) => {
  const input = { tool_name: call.name, tool_input: call.input, tool_use_id: call.id, ...agent };
  const body = { subtype: "hook_callback", callback_id: "pre", input: { hook_event_name: "PreToolUse", ...input } };
  return (await request(body, { hookSpecificOutput: closed })).hookSpecificOutput ?? {};
};
const prompt = (call) =>
  request(
    {
      subtype: "can_use_tool",
      tool_name: call.name,
      input: call.input,
      tool_use_id: call.id,
      decision_reason_type: "rule",
    },
    { behavior: "deny", message: "refused: nobody listens" },
  );

const finish = (call, ok, text, final = true, parent = null) => {
  state.results[call.key] = { ok, text, final };
  state.open = state.open.filter((one) => one.id !== call.id);
  if (state.deferred?.id === call.id) state.deferred = undefined;
  save();
  const block = { tool_use_id: call.id, type: "tool_result", content: text, is_error: !ok };
  send({ type: "user", message: { role: "user", content: [block] }, parent_tool_use_id: parent });
};
const run = (call, input, parent) => {
  if (call.name === "AskUserQuestion")
    return finish(call, true, `answered: ${JSON.stringify(input.answers)}`, true, parent);
  if (call.name !== "Bash") return finish(call, true, `${call.name} done`, true, parent);
  if (input.run_in_background) {
    send({
      type: "system",
      subtype: "background_tasks_changed",
      tasks: [{ task_id: "b1", description: input.command }],
    });
    return finish(call, true, "runs in the background", true, parent);
  }
  call.running = true;
  save();
  const { stdout, status } = spawnSync("/bin/sh", ["-c", input.command], { encoding: "utf8" });
  log(`ran ${input.command}`);
  finish(call, status === 0, stdout || "(no output)", true, parent);
};
/** "deferred", or undefined when it has its result. */
const decide = async (call, agent, parent) => {
  const { permissionDecision: decision, permissionDecisionReason: why = "", updatedInput } = await hook(call, agent);
  if (stopped) return undefined;
  if (decision === "defer") return "deferred";
  if (decision === "deny") return void finish(call, false, `hook: ${why}`, !/make this call again/i.test(why), parent);
  const asks =
    rules[call.name] === "ask" || (decision === undefined && rules[call.name] !== "allow" && call.name !== "Task");
  if (!asks) return void run(call, updatedInput ?? call.input, parent);
  const answer = await prompt(call);
  if (answer.behavior === "allow") return void run(call, answer.updatedInput, parent);
  return void finish(call, false, answer.message, true, parent);
};
const result = (more) =>
  send({ type: "result", is_error: false, result: "", usage, queued_turn_count: queued.length, ...more });
const said = (content, more = {}) =>
  send({
    type: "assistant",
    message: { id: `msg_${id}_${state.models}`, role: "assistant", model: "stand-in", content: [content], usage },
    parent_tool_use_id: null,
    ...more,
  });
const keyed = (calls, step) => calls.map((call, n) => ({ ...call, key: `${step}.${n}` }));
const next = () =>
  script.findIndex((step, n) => keyed(step.calls ?? [], n).some(({ key }) => !state.results[key]?.final));

const delegate = async (call) => {
  const agent = { agent_id: "a1", agent_type: "helper" };
  for (const [n, inner] of call.sub.entries()) {
    const one = { ...inner, id: `${call.id}_sub${n}`, key: `${call.key}.${n}` };
    const deciding = decide(one, agent, call.id); // in a subagent the callback comes before the message
    said(
      { type: "tool_use", id: one.id, name: one.name, input: one.input },
      { parent_tool_use_id: call.id, subagent_type: "helper" },
    );
    if ((await deciding) === "deferred") break; // the subagent ends quietly, and the call is lost
  }
  finish(call, true, "the helper is back");
};

async function turn() {
  for (;;) {
    if (stopped) return result({ stop_reason: "tool_use", terminal_reason: "aborted_tools" });
    const at = next();
    state.models++;
    save();
    const step = at < 0 ? { text: script.at(-1).text ?? "done" } : script[at];
    if (step.text) said({ type: "text", text: step.text });
    if (at < 0) return result({ stop_reason: "end_turn", terminal_reason: "completed", result: step.text ?? "" });
    const calls = keyed(step.calls, at).map((call, n) => ({ ...call, id: call.id ?? `toolu_${state.models}_${n}` }));
    state.open = calls;
    save();
    for (const { id: call, name, input } of calls) said({ type: "tool_use", id: call, name, input });
    let kept;
    for (const call of calls) {
      if (state.results[call.key]?.final) continue;
      if (call.sub) {
        await hook({ ...call, name: "Agent" }, {});
        await delegate(call);
      } else if ((await decide(call)) === "deferred") kept = call; // of several the last one is kept, the others are forgotten
      if (stopped) break;
    }
    if (!kept || stopped) continue;
    await new Promise((done) => setTimeout(done, Number(process.env.FAKE_DEFER_MS ?? 0)));
    state.deferred = kept;
    state.open = [];
    save();
    return result({
      stop_reason: "tool_deferred",
      terminal_reason: "tool_deferred",
      deferred_tool_use: { id: kept.id },
    });
  }
}
async function goOn() {
  const call = state.deferred;
  if ((await decide(call)) === "deferred")
    return result({
      stop_reason: "tool_deferred",
      terminal_reason: "tool_deferred",
      deferred_tool_use: { id: call.id },
    });
  await turn();
}

let working = Promise.resolve();
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === "control_response") {
    const { request_id, response } = message.response;
    asked.get(request_id)?.(response ?? {});
    asked.delete(request_id);
  } else if (message.type === "control_request" && message.request.subtype === "initialize") {
    // Killed while it asked or ran: the call has a made-up result, and is not asked about again.
    for (const call of state.open)
      state.results[call.key] ??= { ok: false, text: "cut off", final: call.running === true };
    state.open = [];
    save();
    const response = { claude_code_version: version, session_state: state.deferred ? "running" : "idle" };
    send({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response } });
    if (state.deferred) working = goOn();
  } else if (message.type === "control_request") {
    stopped = true;
    for (const [request_id, done] of asked) {
      send({ type: "control_cancel_request", request_id });
      done(undefined);
    }
    asked.clear();
    send({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response: {} } });
  } else if (message.type === "user") {
    state.heard.push(message.message.content);
    save();
    queued.push(message);
    working = working.then(() => {
      queued.shift();
      return turn();
    });
  }
}
gone = true;
for (const done of asked.values()) done(undefined);
await working;
