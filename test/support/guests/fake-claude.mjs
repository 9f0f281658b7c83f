#!/usr/bin/env node
// Stands in for Claude Code: speaks its control messages, keeps its conversation in a file, really runs commands, and loses things as it
// does. No model and nobody's texts: the script is a list of steps [{ text?, calls?: [{ name, input, sub?: [...] }] }], and the "model"
// plays the first step that has a call without a final result, under new ids.
// Its transcript has the lines of the real one, and what follows from their order is lost in the same way: a call that was kept and has a
// bystander's result behind it, an edit of which the model was not told, a subagent in the background that asked when it was killed.
// `sent` in the session's file is what the model read. A call with `beside` runs beside those after it, and takes
// so many milliseconds; one that is `unhooked` fails before anybody is asked.
// FAKE_DIR: script.json, and a file for each session. FAKE_KILL: dies after so many messages. FAKE_DEFER_MS: takes so long to keep a call. FAKE_LOSES: the first answer does not
// reach its model, whatever is done. FAKE_RULES: tools for which its own rules ask ("ask") or allow ("allow").
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
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
const state = {
  ...{ heard: [], models: 0, results: {}, open: [], deferred: undefined, sent: [], unsent: [], lost: [], cut: [] },
  ...(existsSync(file) && JSON.parse(readFileSync(file, "utf8"))),
};
const transcript = `${process.env.CLAUDE_CONFIG_DIR ?? dir}/projects/-stand-in/${id}.jsonl`;
mkdirSync(transcript.replace(/[^/]*$/, ""), { recursive: true });
const write = (entry) => {
  const uuid = randomUUID();
  appendFileSync(transcript, `${JSON.stringify({ uuid, isSidechain: false, sessionId: id, ...entry })}\n`);
  return uuid;
};
const attach = (type, call) => write({ type: "attachment", attachment: { type, toolUseID: call.id } });
const missing = "[Tool result missing due to internal error]";
const save = () => {
  writeFileSync(`${file}.new`, JSON.stringify(state));
  renameSync(`${file}.new`, file); // killed meanwhile, it has the conversation as it was
};
save();
const log = (line) => appendFileSync(`${dir}/log.txt`, `${line}\n`);
const dbg = (...a) =>
  process.env.FAKE_DEBUG && appendFileSync(process.env.FAKE_DEBUG, `${process.pid} ${JSON.stringify(a)}\n`);
let sent = 0;
const send = (message) => {
  dbg("<<", message);
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
  const input = {
    tool_name: call.name,
    tool_input: call.input,
    tool_use_id: call.id,
    transcript_path: transcript,
    ...agent,
  };
  const body = { subtype: "hook_callback", callback_id: "pre", input: { hook_event_name: "PreToolUse", ...input } };
  const { continue: goes, hookSpecificOutput } = await request(body, { hookSpecificOutput: closed });
  return { stops: goes === false, ...hookSpecificOutput };
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
  if (parent === null) state.unsent.push({ id: call.id, text });
  state.open = state.open.filter((one) => one.id !== call.id);
  if (state.deferred?.id === call.id) state.deferred = undefined;
  save();
  const block = { tool_use_id: call.id, type: "tool_result", content: text, is_error: !ok };
  if (parent === null) write({ type: "user", message: { role: "user", content: [block] } });
  send({ type: "user", message: { role: "user", content: [block] }, parent_tool_use_id: parent });
};
/** A request to the model: what it reads of results and remarks. */
const ask = () => {
  const blob = (role, content) => write({ type: "api-request-blob", message: { role, content } });
  for (const { id: call, text, words } of state.unsent) {
    const read = state.lost.includes(call) ? missing : text;
    if (read === missing) blob("user", [{ type: "tool_result", tool_use_id: call, content: read, is_error: true }]);
    if (words !== undefined) blob("system", [{ type: "text", text: words }]);
    state.sent.push(words ?? read);
  }
  state.unsent = [];
  state.models++;
  save();
  write({ type: "api-request", id: randomUUID() });
};
const run = (call, input, parent) => {
  if (call.name === "AskUserQuestion")
    return finish(call, true, `answered: ${JSON.stringify(input.answers)}`, true, parent);
  if (call.name !== "Bash") return finish(call, true, `${call.name} done`, true, parent);
  if (input.run_in_background) {
    tasks.set("b1", { task_id: "b1", task_type: "local_bash", description: input.command });
    tellTasks();
    return finish(call, true, "runs in the background", true, parent);
  }
  call.running = true;
  save();
  const { stdout, status } = spawnSync("/bin/sh", ["-c", input.command], { encoding: "utf8" });
  log(`ran ${input.command}`);
  const end = () => finish(call, status === 0, stdout || "(no output)", true, parent);
  if (!call.beside) return end();
  return new Promise((done) => setTimeout(done, call.beside)).then(end);
};
/** "deferred", or undefined when it has its result. */
const decide = async (call, agent, parent) => {
  const answer = await hook(call, agent);
  const { permissionDecision: decision, permissionDecisionReason: why = "", updatedInput, additionalContext } = answer;
  if (stopped) return undefined;
  if (additionalContext) state.unsent.push({ id: call.id, words: `hook additional context: ${additionalContext}` });
  if (decision === "defer") {
    attach("hook_deferred_tool", call);
    return "deferred";
  }
  if (decision === "deny") {
    finish(call, false, `hook: ${why}`, !/make this call again/i.test(why), parent);
    if (answer.stops) attach("hook_stopped_continuation", call);
    return undefined;
  }
  const asks =
    rules[call.name] === "ask" || (decision === undefined && rules[call.name] !== "allow" && call.name !== "Task");
  if (!asks) return void (await run(call, updatedInput ?? call.input, parent));
  const given = await prompt(call);
  if (given.behavior === "allow") return void (await run(call, given.updatedInput, parent));
  return void finish(call, false, given.message, true, parent);
};
// FAKE_COST: dollars of each reply; its end tells totals of the conversation, whichever process they were used in.
const spent = () => {
  const cost = Number(process.env.FAKE_COST ?? 0);
  if (cost === 0) return {};
  const tokens = { inputTokens: 100 * state.models, outputTokens: 50 * state.models };
  return {
    total_cost_usd: cost * state.models,
    modelUsage: { "stand-in": { ...tokens, cacheReadInputTokens: 1000 * state.models } },
  };
};
const result = (more) =>
  send({ ...spent(), type: "result", is_error: false, result: "", usage, queued_turn_count: queued.length, ...more });
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

/** Subagents at work in the background, and those that have told nobody of their end. */
const tasks = new Map();
const notices = [];
const system = (subtype, more) => send({ type: "system", subtype, ...more });
const tell = (state) => process.env.CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS && system("session_state_changed", { state });
const tellTasks = () => system("background_tasks_changed", { tasks: [...tasks.values()] });
const works = () => [...tasks.values()].some(({ task_type }) => task_type === "local_agent");
const rest = () => queued.length + notices.length === 0 && !works() && tell("idle");
/** In the background unless the call says otherwise: its end begins a turn of its own. */
const launch = (call) => {
  const agent = `a${call.key}`;
  tasks.set(agent, { task_id: agent, task_type: "local_agent" });
  state.cut = [...state.cut.filter(({ key }) => key !== call.key), call];
  tellTasks();
  system("task_started", { task_id: agent, tool_use_id: call.id, is_backgrounded: true });
  finish(call, true, `launched ${agent}`);
  void delegate(call).then(() => {
    if (stopped || gone) return;
    state.cut = state.cut.filter(({ key }) => key !== call.key);
    tasks.delete(agent);
    notices.push(agent);
    system("task_notification", { task_id: agent, status: "completed" });
    tellTasks();
    working = working.then(async () => {
      notices.pop();
      if (!stopped) await turn({ origin: { kind: "task-notification" } });
    });
  });
};
const delegate = async (call) => {
  const agent = { agent_id: `a${call.key}`, agent_type: "helper" };
  for (const [n, inner] of call.sub.entries()) {
    const one = { ...inner, id: `${call.id}_${state.models}_sub${n}`, key: `${call.key}.${n}` };
    if (state.results[one.key]?.final) continue;
    const deciding = decide(one, agent, call.id); // in a subagent the callback comes before the message
    said(
      { type: "tool_use", id: one.id, name: one.name, input: one.input },
      { parent_tool_use_id: call.id, subagent_type: "helper" },
    );
    if ((await deciding) === "deferred") break; // the subagent ends quietly, and the call is lost
  }
};

async function turn(more = {}) {
  tell("running");
  await play(more);
  rest();
}
async function play(more) {
  for (;;) {
    if (stopped) return result({ stop_reason: "tool_use", terminal_reason: "aborted_tools" });
    // A subagent that was cut off is woken by a message: it makes its call again, under another id.
    for (const call of state.cut.filter(({ key }) => !tasks.has(`a${key}`)))
      await hook({ ...call, name: "SendMessage", id: `wake_${state.models}`, input: { to: `a${call.key}` } }, {}).then(
        () => launch({ ...call, id: `${call.id}_again` }),
      );
    const at = next();
    ask();
    const step = at < 0 ? { text: script.at(-1).text ?? "done" } : script[at];
    if (step.text) said({ type: "text", text: step.text });
    if (at < 0)
      return result({ stop_reason: "end_turn", terminal_reason: "completed", result: step.text ?? "", ...more });
    const calls = keyed(step.calls, at).map((call, n) => ({ ...call, id: call.id ?? `toolu_${state.models}_${n}` }));
    state.open = calls;
    save();
    for (const { id: call, name, input } of calls) {
      write({
        type: "assistant",
        message: { id: `m${state.models}`, content: [{ type: "tool_use", id: call, name, input }] },
      });
      said({ type: "tool_use", id: call, name, input });
    }
    let kept;
    const running = [];
    for (const call of calls) {
      if (state.results[call.key]?.final) continue;
      if (call.sub) {
        await hook({ ...call, name: "Agent" }, {});
        if (call.input.run_in_background === false) {
          await delegate(call);
          finish(call, true, "the helper is back");
        } else launch(call);
        continue;
      }
      if (call.unhooked) {
        finish(call, false, `no such tool: ${call.name}`);
        continue;
      }
      const deciding = decide(call);
      running.push(deciding);
      if (call.beside) await new Promise((done) => setTimeout(done, 20));
      else if ((await deciding) === "deferred") kept = call; // of several the last one is kept, the others are forgotten
      if (stopped) break;
    }
    await Promise.all(running);
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
/** What the order of the transcript's lines does to the call that was kept. */
function loadTranscript(call) {
  if (!existsSync(transcript)) return; // a conversation that an earlier version of this stand-in began
  const lines = readFileSync(transcript, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const at = lines.findLastIndex(({ attachment }) => attachment?.type === "hook_deferred_tool");
  const behind = lines.slice(at + 1).filter(({ type }) => type !== "api-request" && type !== "api-request-blob");
  const results = behind.flatMap(({ type, message }) => (type === "user" ? [message.content[0].tool_use_id] : []));
  if (process.env.FAKE_LOSES && state.lost.length === 0) state.lost.push(call.id);
  else if (value("--resume-session-at") === lines[at]?.uuid) state.lost.push(...results);
  else if (behind.at(-1)?.type === "user" && state.models > 1) state.lost.push(call.id);
}
async function goOn() {
  const call = state.deferred;
  loadTranscript(call);
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
  dbg(">>", message);
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
    const cut = value("--resume") === undefined ? [] : state.cut;
    const response = {
      claude_code_version: version,
      session_state: state.deferred || cut.length > 0 ? "running" : "idle",
    };
    send({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response } });
    if (state.deferred) working = goOn();
    else if (cut.length > 0) {
      for (const call of cut) system("task_notification", { task_id: `a${call.key}`, status: "stopped" });
      tell("running");
      result({ stop_reason: null, origin: { kind: "task-notification" } });
      tell("idle");
    }
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
    write({ type: "user", message: { role: "user", content: message.message.content } });
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
