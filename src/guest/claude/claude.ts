import { randomUUID } from "node:crypto";
import { canonicalJson } from "../../base/canonical-json.ts";
import type { Call } from "../../protocol/facts/message.ts";
import {
  askOfHook,
  askOfPrompt,
  readEnd,
  hookReply,
  inputFor,
  isBookkeeping,
  promptReply,
  readResults,
  saidOf,
} from "./map.ts";
import type { Guest, GuestAnswer, GuestAsk, GuestDriver, GuestEvent, GuestStart } from "../driver.ts";
import { fields, list, text } from "../json.ts";
import { lastWords, startPeer, type Json, type Peer, type PeerEnd } from "../peer.ts";
import { createQueue } from "../rpc.ts";

type ClaudeOptions = {
  /** The agent's name in the settings. */
  name: string;
  /** The person's own install. */
  command: string;
  args: readonly string[];
  /** Its own permission mode. Sage is asked about every call in any of them. */
  mode?: string;
};

const HOOK_SECONDS = 2_000_000;
/** It answers to a greeting after half a second to two; a slow machine takes longer. */
const GREETING_MS = 60_000;
const DEFERRED_MS = 10_000;
const CLOSE_MS = 1_500;
/** A version that does not say whether it has something to do is given this long to ask. */
const FIRST_ASK_MS = 3_000;
/** Since then the callback before a tool may defer it. */
const DEFERS_SINCE = [2, 1, 89] as const;

const another = "Another call of this reply waits for the person. Make this call again once that one has its result.";

/** Claude Code over its own control protocol. A call that waits for a person is deferred, so no process is kept waiting. */
export function claudeDriver({ name, command, args, mode = "default" }: ClaudeOptions): GuestDriver {
  const open = (start: GuestStart, session: string, how: "--resume" | "--session-id") =>
    startPeer(
      command,
      [
        ...args,
        "-p",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "--permission-prompt-tool",
        "stdio",
        "--permission-mode",
        mode,
        how,
        session,
      ],
      start,
    );
  return {
    name,
    parks: "at once",
    edits: true,
    async start(start) {
      if (start.resume !== undefined) {
        const met = await meet(open(start, start.resume, "--resume"), start.resume, start.signal);
        if ("guest" in met) return met.guest;
      }
      const session = randomUUID();
      const met = await meet(open(start, session, "--session-id"), session, start.signal);
      if ("guest" in met) return met.guest;
      throw new Error(met.words);
    },
  };
}

/** Greets it. Its words where it ends instead of greeting back. */
async function meet(peer: Peer, session: string, signal: AbortSignal): Promise<{ guest: Guest } | { words: string }> {
  const leave = () => peer.kill();
  signal.addEventListener("abort", leave, { once: true });
  const late = setTimeout(leave, GREETING_MS);
  const speaking = createSpeaking(peer);
  const hooks = { PreToolUse: [{ matcher: null, hookCallbackIds: ["pre"], timeout: HOOK_SECONDS }] };
  speaking.control({ subtype: "initialize", hooks });
  const greeting = await Promise.race([speaking.greeting, peer.ended]);
  clearTimeout(late);
  signal.removeEventListener("abort", leave);
  signal.throwIfAborted();
  if (isEnd(greeting)) return { words: lastWords(greeting) };
  const version = text(greeting["claude_code_version"]) ?? "";
  const { session_state: state } = greeting;
  const goesOn = typeof state === "string" ? state === "running" : await speaking.asksSoon();
  return { guest: { session, version, goesOn, ...speaking.guest(canDefer(version)) } };
}

function isEnd(greeting: Json | PeerEnd): greeting is PeerEnd {
  return "code" in greeting;
}

type Speaking = {
  greeting: Promise<Json>;
  /** Did the turn begin with a call, before any message? */
  asksSoon(): Promise<boolean>;
  control(request: Json): void;
  guest(defers: boolean): Omit<Guest, "session" | "version" | "goesOn">;
};

function createSpeaking(peer: Peer): Speaking {
  const events = createQueue<GuestEvent>();
  const counted = new Set<string>();
  let tasks = 0;
  let over = false;
  const { promise: greeting, resolve: greet } = Promise.withResolvers<Json>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<boolean>();
  const prompts = createPrompts(peer, {
    arrived: () => ask(true),
    asks: (prompt) => events.push({ type: "asks", ask: prompt }),
  });

  const control = (request: Json) => peer.send({ type: "control_request", request_id: randomUUID(), request });
  const end = (event: GuestEvent & { type: "ended" }) => {
    if (over) return;
    over = true;
    events.push(event);
    events.end();
  };
  const heard = (message: Json) => {
    switch (message["type"]) {
      case "control_request":
        return prompts.requested(text(message["request_id"]) ?? "", { ...fields(message["request"]) });
      case "control_response": // the first is the one to the greeting
        return greet({ ...fields(fields(message["response"])["response"]) });
      case "control_cancel_request": {
        const id = text(message["request_id"]) ?? "";
        if (prompts.withdraw(id)) events.push({ type: "withdrawn", id });
        return;
      }
      case "assistant": {
        const said = saidOf(message, (id) => counted.has(id) || !counted.add(id));
        return said && events.push(said);
      }
      case "user":
        return readResults(message).forEach(events.push);
      case "system":
        if (message["subtype"] === "background_tasks_changed") tasks = list(message["tasks"]).length;
        return;
      case "result": {
        const ended = readEnd(message);
        // It does not know the call it was left with: the next attempt describes it in a message.
        if (ended === "unavailable") return peer.kill();
        return ended && end(ended);
      }
      default:
        return;
    }
  };
  const listen = async () => {
    for await (const message of peer.messages) heard(message);
    const { words } = await peer.ended;
    ask(false);
    end({ type: "ended", how: "died", words });
  };
  void listen();

  return {
    greeting,
    control,
    asksSoon: () => Promise.race([asked, new Promise<boolean>((no) => setTimeout(no, FIRST_ASK_MS, false).unref())]),
    guest: (defers) => ({
      events,
      async say(words) {
        const content = { role: "user", content: words };
        peer.send({ type: "user", message: content, parent_tool_use_id: null, session_id: "", uuid: randomUUID() });
      },
      answer: (prompt, given) => prompts.answer(prompt.id, given),
      async park(asks) {
        // Whatever else the process holds is lost when it ends.
        if (!defers || tasks > 0 || !prompts.defer(asks)) return false;
        setTimeout(() => !over && peer.kill(), DEFERRED_MS).unref();
        return true;
      },
      interrupt: () => control({ subtype: "interrupt" }),
      async close() {
        // At the end of its input it would refuse what it asks in the person's name, and continue by itself.
        if (prompts.isWaiting || !over) peer.kill();
        await peer.close(CLOSE_MS);
      },
    }),
  };
}

type Prompts = {
  readonly isWaiting: boolean;
  requested(id: string, request: Json): void;
  /** False if no such prompt is waiting. */
  withdraw(id: string): boolean;
  answer(id: string, given: GuestAnswer | "defer"): void;
  /** Leaves the process with the one call that it asks for, and refuses the others. False where something would be lost. */
  defer(asks: readonly GuestAsk[]): boolean;
};

/** Unanswered prompts. `arrived` is called for each, `asks` for those that a person has to answer. */
function createPrompts(peer: Peer, on: { arrived(): void; asks(prompt: GuestAsk): void }): Prompts {
  const open = new Map<string, { ask: GuestAsk; from: "hook" | "prompt" }>();
  /** Calls that a person has allowed, as they run: a prompt of its own rules for them is answered already. */
  const allowed = new Set<string>();
  let deferred = false;

  const reply = (id: string, response: Json) =>
    peer.send({ type: "control_response", response: { subtype: "success", request_id: id, response } });
  const answer = (id: string, given: GuestAnswer | "defer") => {
    const prompt = open.get(id);
    if (!prompt || !open.delete(id)) return;
    if (given === "defer") return reply(id, hookReply(prompt.ask, given));
    if (given.type !== "refused" && (given.type === "answers" || given.by === "person"))
      allowed.add(runOf(prompt.ask.call, inputFor(prompt.ask.call, given)));
    reply(id, prompt.from === "hook" ? hookReply(prompt.ask, given) : promptReply(prompt.ask, given));
  };
  const asks = (prompt: GuestAsk, from: "hook" | "prompt") => {
    open.set(prompt.id, { ask: prompt, from });
    on.arrived();
    if (deferred) return answer(prompt.id, { type: "refused", by: "rule", words: another });
    on.asks(prompt);
  };

  return {
    get isWaiting() {
      return open.size > 0;
    },
    requested(id, request) {
      const { subtype } = request;
      if (subtype === "hook_callback") {
        const prompt = askOfHook(id, request);
        if (isBookkeeping(prompt.call.tool)) reply(id, {});
        else asks(prompt, "hook");
      } else if (subtype === "can_use_tool") {
        const prompt = askOfPrompt(id, request);
        if (allowed.has(runOf(prompt.call))) reply(id, promptReply(prompt, { type: "allowed", by: "person" }));
        else asks(prompt, "prompt");
      } else
        peer.send({ type: "control_response", response: { subtype: "error", request_id: id, error: "not supported" } });
    },
    withdraw: (id) => open.delete(id),
    answer,
    defer(asks) {
      const [first] = asks;
      const kept = asks.length === 1 && first ? open.get(first.id) : undefined;
      const others = [...open.values()].filter((other) => other !== kept);
      // A deferral inside a subagent is lost, and so is whatever else the process holds when it ends.
      const lost = [kept, ...others].some((other) => other && (other.ask.agent.length > 0 || other.from === "prompt"));
      if (!kept || lost) return false;
      deferred = true;
      for (const { ask: other } of others) answer(other.id, { type: "refused", by: "rule", words: another });
      answer(kept.ask.id, "defer");
      return true;
    },
  };
}

/** Models repeat ids: a yes is for this input alone. */
function runOf({ id, tool, input }: Call, edited = input): string {
  return canonicalJson([id, tool, edited]);
}

function canDefer(version: string): boolean {
  const numbers = version.split(".").map((part) => Number.parseInt(part, 10));
  for (const [n, least] of DEFERS_SINCE.entries()) {
    const number = numbers[n] ?? 0;
    if (Number.isNaN(number)) return false;
    if (number !== least) return number > least;
  }
  return true;
}
