import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { sageHome } from "../../../config/home/home.ts";
import { version } from "../../../config/version.ts";
import { askFromOutside, endFromOutside, sessionOutside, type OutsideSettings } from "../../../input/outside.ts";
import { untilWritten } from "../../../journal/store/retry.ts";
import { sqliteStore } from "../../../journal/sqlite/sqlite.ts";
import type { Store } from "../../../journal/store/store.ts";
import { noteProcess } from "../../../processes/registry.ts";
import { askedKey } from "../../../protocol/key.ts";
import { isProven } from "../../../input/passkey.ts";
import type { Resolution } from "../../../protocol/facts/request.ts";
import type { OutsideEnd } from "../../../protocol/host/outside.ts";
import { outsideAsk, hookDecision, eventFrom, isSameCall, type HookAgent, type HookEvent } from "./event.ts";

/** Codex shows its own dialog only after its hooks: a person who sits there does not wait long. */
const CODEX_WAITS_MS = 30_000;
const POLL_MS = 1_000;

type HookProcess = {
  env: NodeJS.ProcessEnv;
  input: AsyncIterable<unknown>;
  /** Aborted when the agent tells the hook to end: the person refused or interrupted there. */
  stopped: AbortSignal;
  isOrphan(): boolean;
  write(text: string): void;
  codexWaitsMs?: number;
};

/** Reads one event of the agent and does what it asks for. Writes a decision only if somebody made one through Sage. */
export async function serveHook(agent: HookAgent, around: HookProcess): Promise<void> {
  // An agent that runs as a guest of Sage is asked by Sage already.
  if (around.env["SAGE_GUEST"] !== undefined) return;
  let text = "";
  for await (const chunk of around.input) text += String(chunk);
  const event = eventFrom(text);
  if (event === undefined) return;
  const store = sqliteStore(sageHome(around.env, event.cwd).journal);
  try {
    switch (event.kind) {
      case "asks":
        return await ask(store, agent, event, around);
      case "ran":
        return await ended(store, agent, event, { type: "answered", allowed: true });
      case "over":
        return await ended(store, agent, event, { type: "gone" });
      default:
        return event satisfies never;
    }
  } finally {
    store.close();
  }
}

type Asks = HookEvent & { kind: "asks" };

async function ask(store: Store, agent: HookAgent, event: Asks, around: HookProcess): Promise<void> {
  const left = new AbortController();
  const silence = await silenceIn(sageHome(around.env, event.cwd).settings);
  const parts = { store, version, signal: left.signal, silence, asker: "attached" } as const;
  const asked = outsideAsk(agent, event);
  const of = { session: sessionOutside(asked), key: askedKey(asked.id) };
  const forget = noteProcess(sageHome(around.env, event.cwd).dir, "asker", process.pid, of);
  try {
    const { request, resolution: had } = await untilWritten(() => askFromOutside(parts, asked), {
      signal: around.stopped,
    });
    const resolution = had ?? (await answerTo(store, request.id, agent, around));
    // Other code of this account may have written a yes into the journal.
    const decision = isProven(request, resolution) ? hookDecision(agent, event, resolution) : undefined;
    if (decision) around.write(JSON.stringify(decision));
  } finally {
    left.abort();
    forget();
  }
}

/** Settings are loaded only where they say something of it: the hook runs for every prompt. Broken ones keep nobody from being asked. */
async function silenceIn(file: string): Promise<OutsideSettings> {
  let text = "";
  try {
    text = readFileSync(file, "utf8");
    if (!/"(?:silence|signed)"/.test(text)) return {};
    const [{ readSettings }, { silenceOptions }] = await Promise.all([
      import("../../../config/settings/settings.ts"),
      import("../../../config/settings/silence.ts"),
    ]);
    return silenceOptions(readSettings(file));
  } catch {
    return text.includes('"signed"') ? { signed: ["hard"] } : {}; // a proof that was wanted is not given up for a typing mistake
  }
}

/** First answer wins: somebody's through Sage, or the one in the agent's own terminal, of which a signal and the agent's end tell. */
async function answerTo(store: Store, requestId: string, agent: HookAgent, around: HookProcess): Promise<Resolution> {
  const { stopped, isOrphan, codexWaitsMs = CODEX_WAITS_MS } = around;
  const { promise, resolve, reject } = Promise.withResolvers<Resolution>();
  const forget = store.hub.wait(requestId, resolve);
  const end = (how: OutsideEnd) =>
    void untilWritten(() => endFromOutside(store, { requestId, end: how, ...person(agent) })).then(
      ({ resolution }) => resolve(resolution),
      reject,
    );
  const refused = () => end({ type: "answered", allowed: false });
  stopped.addEventListener("abort", refused);
  if (stopped.aborted) refused();
  const looking = setInterval(() => isOrphan() && end({ type: "gone" }), POLL_MS);
  const late = agent === "codex" ? setTimeout(() => end({ type: "gone" }), codexWaitsMs) : undefined;
  const had = store.resolution(requestId);
  if (had) resolve(had);
  try {
    return await promise;
  } finally {
    forget();
    clearInterval(looking);
    clearTimeout(late);
    stopped.removeEventListener("abort", refused);
  }
}

/** It ran, or its turn is over: requests about it that are still open have been answered there, or nobody waits for them. */
async function ended(store: Store, agent: HookAgent, event: HookEvent, end: OutsideEnd): Promise<void> {
  const session = sessionOutside({ agent: [agent], conversation: event.conversation, cwd: event.cwd });
  if (!store.session(session)) return;
  const open = store.pending(session).filter((request) => event.kind === "over" || isSameCall(request, event));
  // Of two that are alike one ran.
  for (const { id } of event.kind === "over" ? open : open.slice(0, 1))
    await untilWritten(() => endFromOutside(store, { requestId: id, end, ...person(agent) }));
}

function person(agent: HookAgent): { by: string; surface: string } {
  return { by: userInfo().username, surface: agent };
}
