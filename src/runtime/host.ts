import { randomBytes, randomUUID } from "node:crypto";
import type { UnifiedExecutor } from "../agent/executor.ts";
import { drain } from "../agent/strategy.ts";
import { expandMessage, type Skill } from "../context/skills.ts";
import type { Hooks } from "../hooks/hook.ts";
import { noHooks } from "../hooks/hooks.ts";
import { respond, settle } from "../input/respond.ts";
import { openSession, Stopped, type SessionLog } from "../journal/session.ts";
import { draftKeys, splitRequestId, type SessionRow, type Store } from "../journal/store.ts";
import { readRule } from "../permission/rules.ts";
import {
  SageError,
  messageOf,
  type AgentOutcome,
  type Command,
  type CommandReply,
  type Fact,
  type Host,
  type InputResponse,
  type InterruptAction,
  type PendingRequest,
  type SessionSummary,
  type WatchEvent,
} from "../protocol/index.ts";
import { builtinTools } from "../tools/registry.ts";
import { createBlocks } from "./blocks.ts";
import type { LifecycleManager } from "../agent/lifecycle.ts";
import { journaledLifecycle } from "../agent/states.ts";
import { createMoments } from "./moments.ts";
import { supervise, type Supervision } from "./supervisor.ts";
import { watch } from "./watch.ts";

const QUEUED_MESSAGES = 50;
const LEAVING_MS = 5_000;

export type LocalHost = Host & {
  /** Runs the session's open turn or begins one, in this process, and gives its outcome. */
  run(session: string): Promise<AgentOutcome>;
  /** Lets go of one session, as `close` does of all. */
  leave(session: string): void;
  /** Leaves: nothing is resolved, nothing is lost, and another process may go on. */
  close(): Promise<void>;
};

export type HostParts = {
  store: Store;
  version: string;
  /** Who runs a session's turns; made when the first one begins. */
  executor(session: SessionRow): Promise<UnifiedExecutor>;
  hooks?: Hooks;
  supervision?: Supervision;
  skills?: readonly Skill[];
};

type Running = {
  log: SessionLog | undefined;
  done: Promise<AgentOutcome>;
  /** Undefined while the turn has not begun here. */
  handleInterrupt(): InterruptAction | undefined;
  /** Before the turn has begun: it ends, or is paused, as it begins. */
  stopEarly(reason: Stopped): void;
  leave(): void;
};

type Reply<C extends Command["type"]> = Exclude<CommandReply<C>, { ok: false }>;

export function createHost(parts: HostParts): LocalHost {
  const { store, version, executor, hooks = noHooks, supervision = {}, skills = [] } = parts;
  const running = new Map<string, Running>();
  const watchers = new Map<string, number>();
  const blocks = createBlocks();
  const closing = new AbortController();
  const moments = createMoments(hooks, store);

  const known = (id: string): SessionRow => {
    const session = store.session(id);
    if (!session) throw new SageError("session-unknown", `there is no session ${id}; \`sage sessions\` lists them`);
    return session;
  };

  /** One turn after the other, until nothing said is left unseen. */
  const start = (id: string): Running => {
    const before = running.get(id);
    if (before) return before;
    let log: SessionLog | undefined;
    let left = false;
    let early: Stopped | undefined;
    let lifecycle: LifecycleManager | undefined;
    let resting = new AbortController();
    const notice = (key: string, text: string) =>
      store.hub.delta({ session: id, key, attempt: 0, n: 0, kind: "notice", text });
    const attempt = async (runner: UnifiedExecutor, supervised: boolean) => {
      const held = (log = openSession(store, id));
      if (left) held.close();
      if (early) held.stop(early);
      early = undefined;
      const listeners = [blocks, moments].map((listener) => store.hub.subscribe(id, listener));
      try {
        lifecycle = journaledLifecycle(held);
        return { held, outcome: await drain(runner.execute({ log: held, lifecycle, supervised }), () => {}) };
      } catch (error) {
        log = lifecycle = undefined; // until the next one begins, nobody runs the turn
        throw error;
      } finally {
        for (const stop of listeners) stop();
        blocks.forget(id);
        held.release();
      }
    };
    const turns = async (): Promise<AgentOutcome> => {
      const session = known(id);
      moments.start(session);
      const runner = await executor(session);
      for (;;) {
        const { held, outcome } = await supervise(({ supervised }) => attempt(runner, supervised), {
          ...supervision,
          notice: (text) => notice("supervisor", text),
          hurry: () => resting.signal,
        });
        if (!left && goesOn(store, held, outcome)) continue;
        running.delete(id); // in the same breath: who speaks now starts a new one
        return outcome;
      }
    };
    const hurry = () => {
      resting.abort();
      resting = new AbortController();
    };
    const one: Running = {
      get log() {
        return log;
      },
      handleInterrupt: () => lifecycle?.handleInterrupt(),
      stopEarly(reason) {
        early = reason;
        log?.stop(reason);
        hurry();
      },
      leave() {
        left = true;
        log?.close();
        hurry();
      },
      done: turns().finally(() => {
        if (running.get(id) === one) running.delete(id);
      }),
    };
    one.done.catch((error: unknown) => {
      // Whoever asked for the outcome hears of it there; whoever only spoke, here.
      notice("host", messageOf(error));
    });
    running.set(id, one);
    return one;
  };

  /** Starts a session here unless somebody else runs it: they hear of what was written by themselves. */
  const wake = (id: string): void => {
    if (running.has(id) || known(id).owned) return;
    start(id);
  };

  const cancel = (id: string, sender: { by: string; surface: string }): void => {
    const reason = `${sender.by} stopped the turn`;
    for (const request of store.pending(id))
      settle(store, request, { requestId: request.id, ...sender, at: Date.now(), outcome: "cancelled", reason });
    store.append(id, {
      key: `interrupt/${randomUUID()}`,
      type: "turn.interrupted",
      at: Date.now(),
      data: { to: "cancel", ...sender },
    });
    wake(id); // if nobody runs it, the turn is ended here
  };

  const handlers: {
    [C in Command["type"]]: (command: Extract<Command, { type: C }>) => Reply<C> | Promise<Reply<C>>;
  } = {
    open({ session, cwd, model }) {
      if (session !== undefined && !/^[\w.-]{1,100}$/.test(session))
        throw new SageError(
          "input-invalid",
          `a session's id should be letters, digits, ".", "_" and "-" (at most 100); got ${JSON.stringify(session)}`,
        );
      if (session !== undefined && store.session(session)) return { ok: true, session, created: false };
      for (;;) {
        const id = session ?? newSessionId();
        if (store.create(id, { cwd, version, ...(model !== undefined && { model }) }))
          return { ok: true, session: id, created: true };
      }
    },
    say({ session, text, id = randomUUID(), by, surface }) {
      known(session);
      if (text.trim() === "") throw new SageError("input-invalid", "there is nothing to say in an empty message");
      const expanded = expandMessage(skills, text);
      if (expanded === undefined && /^\/[\p{L}\p{N}_-]+$/u.test(text.trim()))
        throw new SageError("input-invalid", `there is no command and no skill ${text.trim()}`);
      const waiting = running.get(session)?.log;
      if (waiting && queued(waiting) >= QUEUED_MESSAGES)
        throw new SageError(
          "queue-full",
          `${QUEUED_MESSAGES} messages wait to be read already; wait for the agent, or interrupt it`,
        );
      const { fact } = store.append(session, {
        key: `said/${id}`,
        type: "user.said",
        at: Date.now(),
        data: { text, by, surface, ...(expanded !== undefined && { expanded }) },
      });
      wake(session);
      return { ok: true, seq: fact.seq };
    },
    async respond({ response, by, surface }) {
      checkRules(response);
      await checkInput(store, response);
      const { won, resolution } = respond(store, response, { by, surface });
      if (!won) throw new AlreadyResolved(resolution);
      const { session } = splitRequestId(response.requestId);
      return { ok: true, resolution, running: running.has(session) || known(session).owned };
    },
    interrupt({ session, cancel: forGood, by, surface }) {
      const row = known(session);
      const here = running.get(session);
      const aboutToBegin = here !== undefined && (here.log === undefined || queued(here.log) > 0);
      if (!row.open && !aboutToBegin) return { ok: true, to: "nothing" };
      const watched = !forGood && (watchers.get(session) ?? 0) > 0;
      const elsewhere = row.owned && row.pending === 0;
      const early = !row.open || (here !== undefined && here.log === undefined);
      const pause = watched && (early || (here ? here.handleInterrupt() === "pause" : elsewhere));
      if (early)
        here?.stopEarly(
          pause ? new Stopped("interrupted", `${by} interrupted`) : new Stopped("cancelled", `${by} stopped the turn`),
        );
      if (pause) {
        store.append(session, {
          key: `interrupt/${randomUUID()}`,
          type: "turn.interrupted",
          at: Date.now(),
          data: { to: "pause", by, surface },
        });
        return { ok: true, to: "pause" };
      }
      cancel(session, { by, surface });
      return { ok: true, to: "cancel" };
    },
    resume({ session }) {
      if (known(session).open) wake(session);
      return { ok: true };
    },
    async compact({ session }) {
      if (running.has(session) || known(session).owned || known(session).open)
        throw new SageError("input-invalid", "a turn is open; room is made by hand once it has ended");
      const runner = await executor(known(session));
      const log = openSession(store, session);
      try {
        const outcome = await runner.compact({ log });
        if (outcome.status === "error") throw new SageError(outcome.error.code, outcome.error.message);
        if (outcome.text !== "") throw new SageError("input-invalid", outcome.text);
        return { ok: true };
      } finally {
        log.release();
      }
    },
    saveDraft({ requestId, draft, by, surface }) {
      const found = store.find(requestId);
      if (!found) throw new SageError("request-unknown", `there is no request ${requestId}`);
      if (found.resolution) throw new AlreadyResolved(found.resolution);
      const { session, key } = splitRequestId(requestId);
      const data = { requestId, draft, by, surface };
      store.append(session, { key: draftKeys(key).prefix + randomUUID(), type: "draft.saved", at: Date.now(), data });
      return { ok: true };
    },
    sessions: () => ({ ok: true, sessions: store.sessions().map((row) => summary(row, running.has(row.id))) }),
    pending: ({ session }) => ({ ok: true, requests: pending(store, session) }),
  };

  return {
    async send(command) {
      try {
        const handle = handlers[command.type] as unknown as (
          c: typeof command,
        ) => Promise<CommandReply<(typeof command)["type"]>>;
        return await handle(command);
      } catch (error) {
        return refusal(error);
      }
    },
    async *watch(session, options): AsyncGenerator<WatchEvent> {
      known(session);
      watchers.set(session, (watchers.get(session) ?? 0) + 1);
      try {
        const signal = AbortSignal.any([options.signal, closing.signal]);
        yield* watch(store, session, {
          ...options,
          signal,
          blocks: () => blocks.of(session),
          live: () => running.has(session) || !known(session).owned,
          pending: () => pending(store, session),
        });
      } finally {
        watchers.set(session, (watchers.get(session) ?? 1) - 1);
      }
    },
    run: (session) => start(session).done,
    leave: (session) => running.get(session)?.leave(),
    async close() {
      if (closing.signal.aborted) return;
      const all = [...running.values()];
      for (const one of all) one.leave();
      const patience = new Promise((resolve) => setTimeout(resolve, LEAVING_MS).unref());
      await Promise.race([Promise.allSettled(all.map((one) => one.done)), patience]); // a tool may not listen
      closing.abort();
      await moments.end();
      store.close();
    },
  };
}

/**
 * Is there something to go on with? A turn that ended is followed by what nobody has seen yet, a paused one by what was said
 * after the interrupt. Asked of the store, once the session is let go: another process may have left it to this one.
 */
function goesOn(store: Store, log: SessionLog, outcome: AgentOutcome): boolean {
  if (outcome.status === "needs-input") return false;
  const after = outcome.status === "paused" ? Math.max(log.sawUpTo, log.interruptedAt) : log.sawUpTo;
  if (outcome.status === "paused" && log.interruptedAt === 0) return false;
  return store.since(log.id, after).some(({ type }) => type === "user.said");
}

/** Messages that no reply has seen yet. */
function queued(log: SessionLog): number {
  return log.said.filter(({ seq }) => seq > log.sawUpTo).length;
}

function pending(store: Store, session: string | undefined): PendingRequest[] {
  return store.pending(session).map((request) => {
    const draft = store.draft(request.id);
    return draft ? { request, draft } : { request };
  });
}

function summary({ open, owned, pending: waiting, ...row }: SessionRow, here: boolean): SessionSummary {
  const runs = here || owned;
  const state = !open ? "idle" : waiting > 0 ? "waiting" : runs ? "running" : "stopped";
  return { ...row, pending: waiting, state };
}

/** Short enough to type, from an alphabet without look-alikes. */
function newSessionId(): string {
  const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";
  return Array.from(randomBytes(8), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** A rule that would not parse must not be recorded as granted. */
function checkRules(response: InputResponse): void {
  if (response.type !== "granted") return;
  for (const { rule, behavior } of response.rules ?? []) {
    const parsed = readRule(rule, behavior);
    if (!parsed.ok) throw new SageError("request-invalid", `the rule "${rule}" cannot be read: ${parsed.message}`);
  }
}

/** An edit that does not fit its tool is refused while the request is still open. Tools of an embedder check their own. */
async function checkInput(store: Store, response: InputResponse): Promise<void> {
  if (response.type !== "granted" || !response.input) return;
  const request = store.find(response.requestId)?.request;
  const tool = request?.kind === "permission" ? builtinTools().find(({ name }) => name === request.tool) : undefined;
  const parsed = tool?.inputSchema.safeParse(response.input);
  if (!parsed || parsed.success) return;
  const { z } = await import("zod");
  throw new SageError(
    "request-invalid",
    `the edited input does not fit ${tool?.name}: ${z.prettifyError(parsed.error)}`,
  );
}

class AlreadyResolved extends Error {
  readonly resolution;
  constructor(resolution: Fact<"input.resolved">["data"]) {
    super(
      `already ${resolution.outcome} by ${resolution.by} from ${resolution.surface} at ${new Date(resolution.at).toISOString()}`,
    );
    this.resolution = resolution;
  }
}

function refusal(error: unknown): CommandReply & { ok: false } {
  if (error instanceof AlreadyResolved)
    return { ok: false, code: "request-resolved", message: error.message, resolution: error.resolution };
  if (error instanceof SageError) return { ok: false, code: error.code, message: error.message };
  return { ok: false, code: "turn-failed", message: messageOf(error) };
}
