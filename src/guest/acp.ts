import {
  callOf,
  judgedOf,
  numbered,
  optionOf,
  questionsIn,
  resultOf,
  seenWith,
  usageOf,
  type Seen,
} from "./acp-map.ts";
import { join } from "./acp-join.ts";
import type { Guest, GuestAnswer, GuestAsk, GuestDriver, GuestEvent, GuestStart } from "./driver.ts";
import { fields, text, type Fields } from "./json.ts";
import { startPeer } from "./peer.ts";
import { createQueue } from "./queue.ts";
import { createRpc, RpcError, type Incoming } from "./rpc.ts";

type RpcId = string | number;

/** An agent that speaks the Agent Client Protocol, version 1, on its standard input and output. */
export type AcpAgent = {
  name: string;
  command: string;
  args: readonly string[];
  /** The mode in which it asks. */
  mode?: string;
};

const CLOSING_MS = 2_000;
const NOT_OFFERED = -32_601;

export function acpDriver(agent: AcpAgent): GuestDriver {
  return { name: agent.name, parks: "never", start: (options) => start(agent, options) };
}

type Asked = { id: RpcId; params: Fields; ask: GuestAsk } & (
  | { kind: "permission" }
  | { kind: "questions" }
  | { kind: "form"; answered(answer: GuestAnswer): void }
);

async function start({ name, command, args, mode }: AcpAgent, options: GuestStart): Promise<Guest> {
  const { cwd, env, resume, spawned, signal } = options;
  const events = createQueue<GuestEvent>();
  const known = new Map<string, Seen>();
  const told = new Set<string>();
  const asked = new Map<string, Asked>();
  const queue: { words: string; sent(): void }[] = [];
  let turn: "none" | "running" | "interrupted" = "none";
  let words = "";
  /** Refusals, whose reasons have no place in the protocol: they are said once the turn has ended. */
  let refusals: { words: string; reason?: string }[] = [];
  /** The agent has said or done something since the last refusal. */
  let wentOn = true;

  const peer = startPeer(command, args, { cwd, env, spawned });
  const rpc = createRpc(peer, { version: "2.0" });
  const stopped = () => peer.kill();
  signal.addEventListener("abort", stopped, { once: true });
  void listen();
  const { session, version } = await join(rpc, { name, mode, cwd, resume, late: stopped }).catch(
    async (error: unknown) => {
      signal.removeEventListener("abort", stopped);
      peer.kill();
      const { words: complaint } = await peer.ended;
      if (error instanceof RpcError && error.code === undefined) throw new Error(complaint || `${name} ended`);
      throw error;
    },
  );

  async function listen(): Promise<void> {
    for await (const message of rpc.incoming) hear(message);
    const { code, signal: by, words: complaint } = await peer.ended;
    end(
      turn === "interrupted"
        ? "interrupted"
        : { how: "died", words: complaint || `it ended with ${by ?? `code ${code}`}` },
    );
  }

  function end(how: "done" | "interrupted" | { how: "failed" | "died"; words: string }): void {
    flush();
    events.push({ type: "ended", ...(typeof how === "string" ? { how } : how) });
    events.end();
  }

  function hear({ id, method, params }: Incoming): void {
    // Before it was spoken to it tells of the past, which the journal knows.
    if (turn === "none") return id === undefined ? undefined : rpc.refuse(id, NOT_OFFERED, "not now");
    if (method === "session/update") update(fields(params["update"]));
    else if (id === undefined) return;
    else if (method === "session/request_permission") permission(id, params);
    else if (method === "elicitation/create") void form(id, params);
    else rpc.refuse(id, NOT_OFFERED, "not offered");
  }

  function update(news: Fields): void {
    const chunk = text(fields(news["content"])["text"]) ?? "";
    switch (news["sessionUpdate"]) {
      case "agent_message_chunk":
        if (chunk === "") return;
        words += chunk;
        wentOn = true;
        return events.push({ type: "delta", kind: "text", text: chunk });
      case "agent_thought_chunk":
        return chunk === "" ? undefined : events.push({ type: "delta", kind: "reasoning", text: chunk });
      case "tool_call":
      case "tool_call_update":
        return called(news);
      default:
        return;
    }
  }

  function called(news: Fields): void {
    const seen = seenWith(known.get(text(news["toolCallId"]) ?? ""), news);
    if (seen === undefined) return;
    known.set(seen.toolCallId, seen);
    const isOver = news["status"] === "completed" || news["status"] === "failed";
    // Before that it may not have its input yet, and a call is known by its input.
    if (isOver && !told.has(seen.toolCallId)) {
      flush();
      told.add(seen.toolCallId);
      wentOn = true;
      events.push({ type: "said", parts: [callOf(seen, cwd)], model: name, agent: [] });
    }
    if (isOver)
      events.push({ type: "result", call: seen.toolCallId, ok: news["status"] === "completed", text: resultOf(seen) });
  }

  function permission(id: RpcId, params: Fields): void {
    const given = fields(params["toolCall"]);
    const seen = seenWith(known.get(text(given["toolCallId"]) ?? ""), given);
    if (seen === undefined) return rpc.refuse(id, NOT_OFFERED, "a permission for no call");
    flush();
    wentOn = true;
    known.set(seen.toolCallId, seen);
    told.add(seen.toolCallId);
    const questions = questionsIn(seen);
    const call = questions
      ? { type: "call" as const, id: seen.toolCallId, tool: "AskUserQuestion", input: { questions } }
      : callOf(seen, cwd);
    const ask: GuestAsk = {
      id: JSON.stringify(id),
      call,
      judged: questions ? [] : judgedOf(seen, cwd),
      ...(questions && { questions }),
      agent: [],
    };
    asked.set(ask.id, { id, params, ask, kind: questions ? "questions" : "permission" });
    events.push({ type: "asks", ask });
  }

  async function form(id: RpcId, params: Fields): Promise<void> {
    const { askForm } = await import("./form.ts");
    const result = await askForm(params, {
      name,
      signal,
      ask(questions) {
        flush();
        wentOn = true;
        const call = {
          type: "call" as const,
          id: text(params["toolCallId"]) ?? `form-${id}`,
          tool: "AskUserQuestion",
          input: { questions },
        };
        told.add(call.id);
        const why = text(params["message"]);
        const ask: GuestAsk = {
          id: JSON.stringify(id),
          call,
          judged: [],
          questions,
          agent: [],
          ...(why !== undefined && { why }),
        };
        const { promise, resolve } = Promise.withResolvers<GuestAnswer>();
        asked.set(ask.id, { id, params, ask, kind: "form", answered: resolve });
        events.push({ type: "asks", ask });
        return promise;
      },
    });
    rpc.reply(id, result);
  }

  function prompt(line: string): void {
    turn = "running";
    void prompted(line);
  }

  async function prompted(line: string): Promise<void> {
    const said = rpc.request("session/prompt", { sessionId: session, prompt: [{ type: "text", text: line }] });
    const result = await said.catch((error: RpcError) => error);
    // Everything that it told before it answered is heard first.
    await new Promise((resolve) => setImmediate(resolve));
    if (!(result instanceof RpcError)) ended(result);
    else if (result.code !== undefined) end({ how: "failed", words: result.message });
  }

  function ended(result: Fields): void {
    flush(result["usage"]);
    for (const id of asked.keys()) events.push({ type: "withdrawn", id });
    asked.clear();
    if (turn === "interrupted") return end("interrupted");
    const waiting = queue.splice(0);
    // An agent that went on after a bare no has understood it.
    const untold = refusals.filter(({ reason }) => reason !== undefined || !wentOn);
    refusals = [];
    const next = [...untold, ...waiting].map((one) => one.words).join("\n\n");
    if (next === "")
      return end(result["stopReason"] === "refusal" ? { how: "failed", words: "it refused to go on" } : "done");
    prompt(next);
    for (const { sent } of waiting) sent();
  }

  function flush(usage?: unknown): void {
    const used = usageOf(usage);
    if (words !== "")
      events.push({
        type: "said",
        parts: [{ type: "text", text: words }],
        ...(used && { usage: used }),
        model: name,
        agent: [],
      });
    words = "";
  }

  function answer(ask: GuestAsk, given: GuestAnswer): void {
    const open = asked.get(ask.id);
    if (open === undefined) return;
    asked.delete(ask.id);
    if (given.type === "refused") {
      wentOn = false;
      refusals.push(given);
    }
    if (open.kind === "form") return open.answered(given);
    const chosen = optionOf(open.params, given.type === "refused" ? "reject_once" : "allow_once");
    const outcome = chosen === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: chosen };
    const answers = given.type === "answers" && { answers: numbered(ask.questions ?? [], given.answers) };
    rpc.reply(open.id, { outcome, ...answers });
  }

  return {
    session,
    version,
    goesOn: false,
    events,
    say(line) {
      if (turn === "none") return Promise.resolve(prompt(line));
      return new Promise((sent) => queue.push({ words: line, sent }));
    },
    answer,
    park: () => Promise.resolve(false),
    interrupt() {
      if (turn === "none") return end("interrupted");
      turn = "interrupted";
      rpc.notify("session/cancel", { sessionId: session });
      for (const { id, kind } of asked.values())
        rpc.reply(id, kind === "form" ? { action: "cancel" } : { outcome: { outcome: "cancelled" } });
      asked.clear();
    },
    async close() {
      signal.removeEventListener("abort", stopped);
      await peer.close(CLOSING_MS);
    },
  };
}
