import { type Untold, createAsks } from "./asks.ts";
import { createNews } from "./news.ts";
import type { Guest, GuestDriver, GuestEvent, GuestStart } from "../driver.ts";
import { type Fields, fields, list, text } from "../json.ts";
import { lastWords, startPeer } from "../peer.ts";
import { createQueue, createRpc, type Incoming, NOT_OFFERED, type Rpc, RpcError } from "../rpc.ts";

/** Time in which the agent has to say that it is there. */
const TIMEOUT_MS = 60_000;

/** An agent that speaks the Agent Client Protocol, version 1, on its standard input and output. */
type AcpAgent = {
  name: string;
  command: string;
  args: readonly string[];
  /** The mode in which it asks. */
  mode?: string;
};

const CLOSING_MS = 2_000;

export function acpDriver(agent: AcpAgent): GuestDriver {
  return { name: agent.name, parks: "never", start: (options) => start(agent, options) };
}

async function start({ name, command, args, mode }: AcpAgent, options: GuestStart): Promise<Guest> {
  const { cwd, env, resume, spawned, signal } = options;
  const events = createQueue<GuestEvent>();
  const queue: { words: string; sent(): void }[] = [];
  let turn: "none" | "running" | "interrupted" = "none";
  const untold = createUntold();

  const peer = startPeer(command, args, { cwd, env, spawned });
  const rpc = createRpc(peer, { version: "2.0" });
  const { push } = events;
  const news = createNews({ name, cwd, push, wentOn: untold.wentOn });
  const asks = createAsks({ name, cwd, rpc, news, push, tellLater: untold.add, signal });
  const stopped = () => peer.kill();
  signal.addEventListener("abort", stopped, { once: true });
  void listen();
  const { session, version } = await join(rpc, { name, mode, cwd, resume, late: stopped }).catch(
    async (error: unknown) => {
      signal.removeEventListener("abort", stopped);
      peer.kill();
      const words = lastWords(await peer.ended);
      if (error instanceof RpcError && error.code === undefined) throw new Error(words);
      throw error;
    },
  );

  async function listen(): Promise<void> {
    for await (const message of rpc.incoming) hear(message);
    const words = lastWords(await peer.ended);
    end(turn === "interrupted" ? "interrupted" : { how: "died", words });
  }

  function end(how: "done" | "interrupted" | { how: "failed" | "died"; words: string }): void {
    news.flush();
    push({ type: "ended", ...(typeof how === "string" ? { how } : how), ...news.spent() });
    events.end();
  }

  function hear({ id, method, params }: Incoming): void {
    // Updates before our first message replay the past, which the journal has.
    if (turn === "none") return id === undefined ? undefined : rpc.refuse(id, NOT_OFFERED, "not now");
    if (method === "session/update") news.update(fields(params["update"]));
    else if (id === undefined) return;
    else if (method === "session/request_permission") asks.permission(id, params);
    else if (method === "elicitation/create") void asks.form(id, params);
    else rpc.refuse(id, NOT_OFFERED, "not offered");
  }

  function prompt(line: string): void {
    turn = "running";
    void prompted(line);
  }

  async function prompted(line: string): Promise<void> {
    const said = rpc.request("session/prompt", { sessionId: session, prompt: [{ type: "text", text: line }] });
    const result = await said.catch((error: RpcError) => error);
    // Process everything it sent before its answer first.
    await new Promise((resolve) => setImmediate(resolve));
    if (!(result instanceof RpcError)) ended(result);
    else if (result.code !== undefined) end({ how: "failed", words: result.message });
  }

  function ended(result: Fields): void {
    news.flush(result["usage"]);
    asks.forget();
    if (turn === "interrupted") return end("interrupted");
    const waiting = queue.splice(0);
    const next = [...untold.take(), ...waiting].map((message) => message.words).join("\n\n");
    if (next === "")
      return end(result["stopReason"] === "refusal" ? { how: "failed", words: "it refused to go on" } : "done");
    prompt(next);
    for (const { sent } of waiting) sent();
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
    answer: asks.answer,
    park: () => Promise.resolve(false),
    interrupt() {
      if (turn === "none") return end("interrupted");
      turn = "interrupted";
      rpc.notify("session/cancel", { sessionId: session });
      asks.cancel();
    },
    async close() {
      signal.removeEventListener("abort", stopped);
      await peer.close(CLOSING_MS);
    },
  };
}

/** The protocol has no field for the words of an answer, so they are sent as a message after the turn. */
function createUntold() {
  let words: Untold[] = [];
  let hasGoneOn = true;
  return {
    add(untold: Untold): void {
      hasGoneOn = false;
      words.push(untold);
    },
    /** The agent has said or done something. */
    wentOn(): void {
      hasGoneOn = true;
    },
    /** An agent that continued after a bare no has understood it. */
    take(): Untold[] {
      const all = words.filter(({ reason }) => reason !== undefined || !hasGoneOn);
      words = [];
      return all;
    },
  };
}

type Joining = {
  name: string;
  /** The mode in which the agent asks. */
  mode: string | undefined;
  cwd: string;
  /** The session to continue. */
  resume: string | undefined;
  /** The agent took too long. */
  late(): void;
};

/** Opens a session with an agent, in the mode in which it asks. */
async function join(rpc: Rpc, joining: Joining): Promise<{ session: string; version: string }> {
  const { name, cwd } = joining;
  const timer = setTimeout(joining.late, TIMEOUT_MS);
  try {
    // Neither files nor terminals are offered: the agent uses its own, and asks before it does.
    const here = await rpc.request("initialize", {
      protocolVersion: 1,
      clientInfo: { name: "sage", version: "1" },
      clientCapabilities: {
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        elicitation: { form: {} },
      },
    });
    const opened =
      (await resumed(rpc, joining, fields(here["agentCapabilities"]))) ??
      (await rpc.request("session/new", { cwd, mcpServers: [] }));
    const session = text(opened["sessionId"]);
    if (session === undefined) throw new Error(`${name} began no session`);
    await setMode(rpc, session, fields(opened["modes"]), joining.mode);
    return { session, version: text(fields(here["agentInfo"])["version"]) ?? "" };
  } finally {
    clearTimeout(timer);
  }
}

/** The session to continue. Its replay of the past is dropped: the journal has it. */
async function resumed(rpc: Rpc, { resume, cwd }: Joining, can: Fields): Promise<Fields | undefined> {
  if (resume === undefined) return undefined;
  const canResume = "resume" in fields(can["sessionCapabilities"]);
  if (!canResume && can["loadSession"] !== true) return undefined;
  const way = canResume ? "session/resume" : "session/load";
  return rpc.request(way, { sessionId: resume, cwd, mcpServers: [] }).then(
    (opened) => ({ ...opened, sessionId: resume }),
    () => undefined, // deleted, or never written: a new session gets a summary instead
  );
}

/** Agents do not persist their mode. An agent without a mode that asks for permission is not run. */
async function setMode(rpc: Rpc, sessionId: string, modes: Fields, mode: string | undefined): Promise<void> {
  const offered = list(modes["availableModes"]).map((offer) => text(fields(offer)["id"]));
  const wanted = mode ?? (offered.includes("default") ? "default" : undefined);
  if (wanted === undefined || modes["currentModeId"] === wanted) return;
  await rpc.request("session/set_mode", { sessionId, modeId: wanted });
}
