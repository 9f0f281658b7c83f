import { randomUUID } from "node:crypto";
import { readEnd, readResults, readSpent, saidOf } from "./map.ts";
import { createPrompts } from "./prompts.ts";
import type { Guest, GuestDriver, GuestEvent, GuestStart } from "../driver.ts";
import { fields, list, text } from "../json.ts";
import { lastWords, startPeer, type Json, type Peer, type PeerEnd } from "../peer.ts";
import { createQueue } from "../rpc.ts";
import { deliveriesIn, markerIn, readTranscript } from "./transcript.ts";

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
/** Time to ask, for a version that says that it has something to do, and for one that does not say. */
const RESUMED_MS = 30_000;
const FIRST_ASK_MS = 3_000;
/** Spoken to, it begins within less than a second. */
const SIGN_MS = 60_000;
/** Since then the callback before a tool may defer it. */
const DEFERS_SINCE = [2, 1, 89] as const;

/** Claude Code over its own control protocol. A call that waits for a person is deferred, so no process is kept waiting. */
export function claudeDriver({ name, command, args, mode = "default" }: ClaudeOptions): GuestDriver {
  const open = (start: GuestStart, session: string, how: "--resume" | "--session-id", at?: string) =>
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
        ...(at === undefined ? [] : ["--resume-session-at", at]),
      ],
      { ...start, env: { ...start.env, CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" } },
    );
  return {
    name,
    parks: "at once",
    edits: true,
    async start(start) {
      if (start.resume !== undefined) {
        const at = markerIn(readTranscript(start.env, start.resume));
        const met = await meet(open(start, start.resume, "--resume", at), start.resume, start);
        if ("guest" in met) return met.guest;
      }
      const session = randomUUID();
      const met = await meet(open(start, session, "--session-id"), session, start);
      if ("guest" in met) return met.guest;
      throw new Error(met.words);
    },
  };
}

/** Greets it. Its words where it ends instead of greeting back. */
async function meet(
  peer: Peer,
  session: string,
  { signal, env }: GuestStart,
): Promise<{ guest: Guest } | { words: string }> {
  const leave = () => peer.kill();
  signal.addEventListener("abort", leave, { once: true });
  const late = setTimeout(leave, GREETING_MS);
  const speaking = createSpeaking(peer);
  const hooks = { PreToolUse: [{ matcher: null, hookCallbackIds: ["pre"], timeout: HOOK_SECONDS }] };
  control(peer, { subtype: "initialize", hooks });
  const greeting = await Promise.race([speaking.greeting, peer.ended]);
  clearTimeout(late);
  signal.removeEventListener("abort", leave);
  signal.throwIfAborted();
  if (isEnd(greeting)) return { words: lastWords(greeting) };
  const version = text(greeting["claude_code_version"]) ?? "";
  const { session_state: state } = greeting;
  const patience = state === "running" ? RESUMED_MS : FIRST_ASK_MS;
  const does =
    state === "idle"
      ? "rests"
      : await Promise.race([speaking.asked, new Promise<"silent">((no) => setTimeout(no, patience, "silent").unref())]);
  const silent = does === "silent" && state === "running" && ({ silent: true } as const);
  const read: Guest["read"] = (told) => deliveriesIn(readTranscript(env, session), told);
  return {
    guest: { session, version, goesOn: does === "asks", ...silent, read, ...speaking.guest(canDefer(version)) },
  };
}

function isEnd(greeting: Json | PeerEnd): greeting is PeerEnd {
  return "code" in greeting;
}

type Speaking = {
  greeting: Promise<Json>;
  /** Does it take up a call without being spoken to? One that was cut off says that it runs, and then rests. */
  asked: Promise<"asks" | "rests">;
  guest(defers: boolean): Omit<Guest, "session" | "version" | "goesOn" | "silent" | "read">;
};

function createSpeaking(peer: Peer): Speaking {
  const events = createQueue<GuestEvent>();
  const counted = new Set<string>();
  let tasks = 0;
  let over = false;
  /** The end of its last turn. It is at rest when it says so: a subagent in the background begins another. */
  let last: (GuestEvent & { type: "ended" }) | undefined;
  let tellsRest = false;
  const { promise: greeting, resolve: greet } = Promise.withResolvers<Json>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<"asks" | "rests">();
  const prompts = createPrompts(peer, {
    arrived: () => ask("asks"),
    asks: (prompt) => events.push({ type: "asks", ask: prompt }),
  });

  const { say, answered } = createVoice(peer, (words) => {
    end({ type: "ended", how: "died", words });
    peer.kill();
  });
  const end = (event: GuestEvent & { type: "ended" }) => {
    if (over) return;
    over = true;
    events.push(event);
    events.end();
  };
  const heard = (message: Json) => {
    answered();
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
        for (const result of readResults(message)) events.push(prompts.ended(result));
        return;
      case "system":
        if (message["subtype"] === "background_tasks_changed") tasks = list(message["tasks"]).length;
        if (message["subtype"] !== "session_state_changed") return;
        tellsRest = true;
        if (message["state"] !== "idle") return;
        return last ? end(last) : ask("rests");
      case "result": {
        const ended = readEnd(message);
        // It does not know the call it was left with: the next attempt describes it in a message.
        if (ended === "unavailable") return peer.kill();
        if (!ended) return;
        last = { ...ended, ...readSpent(message) };
        if (ended.how === "parked" || ended.how === "interrupted" || (!tellsRest && tasks === 0)) end(last);
        return;
      }
      default:
        return;
    }
  };
  const listen = async () => {
    for await (const message of peer.messages) heard(message);
    const { words } = await peer.ended;
    ask("rests");
    end({ type: "ended", how: "died", words });
  };
  void listen();

  return {
    greeting,
    asked,
    guest: (defers) => ({
      events,
      say: async (words) => say(words),
      answer(prompt, given) {
        if (!prompts.answer(prompt.id, given) && given.type === "allowed" && given.words !== undefined)
          say(given.words);
      },
      works() {
        const own = last === undefined || prompts.askers.has(undefined) ? 1 : 0;
        return !over && prompts.askers.size < tasks + own;
      },
      async park(asks) {
        // Whatever else the process holds is lost when it ends.
        if (!defers || tasks > 0 || !(await prompts.defer(asks))) return false;
        setTimeout(() => !over && peer.kill(), DEFERRED_MS).unref();
        return true;
      },
      interrupt: () => control(peer, { subtype: "interrupt" }),
      async close() {
        // At the end of its input it would refuse what it asks in the person's name, and continue by itself.
        if (prompts.isWaiting || !over || tasks > 0) peer.kill();
        await peer.close(CLOSE_MS);
      },
    }),
  };
}

function control(peer: Peer, request: Json): void {
  peer.send({ type: "control_request", request_id: randomUUID(), request });
}

/** Speaks to it. The first time, a process that gives no sign is given up. */
function createVoice(peer: Peer, giveUp: (words: string) => void) {
  let late: NodeJS.Timeout | undefined;
  let isFirst = true;
  return {
    say(words: string): void {
      const content = { role: "user", content: words };
      peer.send({ type: "user", message: content, parent_tool_use_id: null, session_id: "", uuid: randomUUID() });
      if (isFirst) late = setTimeout(giveUp, SIGN_MS, `it did not begin within ${SIGN_MS / 1_000} seconds`).unref();
      isFirst = false;
    },
    answered: () => clearTimeout(late),
  };
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
