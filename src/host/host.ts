import type { Executor } from "../agent/turn/execution.ts";
import { existingSession } from "../journal/session/existing-session.ts";
import type { Awaitable, SessionRow, Store } from "../journal/store/store.ts";
import type { Model } from "../models/model.ts";
import type { AgentOutcome } from "../protocol/facts/outcome.ts";
import type { Rule } from "../protocol/facts/permission.ts";
import type { Host, InboxEvent, WatchOptions } from "../protocol/host/host.ts";
import type { OutsideSettings } from "../input/outside.ts";
import { createBlocks } from "./run/blocks.ts";
import { createCommands } from "./commands.ts";
import type { CommandParts, HostHome, RulesKept, Surroundings } from "./commands/parts.ts";
import { pending } from "./commands/requests/request.ts";
import { checkSender, type Guard, type PersonOf } from "./guard.ts";
import { createMoments } from "./run/moments.ts";
import { createRunner, runnerElsewhere, type Runner } from "./run/runner.ts";
import type { Supervision } from "./run/supervisor.ts";
import { peersOf, type Peers } from "./socket/peers.ts";
import { createTitles } from "./run/titles.ts";
import { createWakes } from "./run/wakes.ts";
import { watch } from "./watch.ts";
import { dirname } from "node:path";
import { unheard } from "../input/other-end.ts";
import { settle } from "../input/respond.ts";
import { createReaper, type Entry } from "../processes/registry.ts";
import { requestId } from "../protocol/key.ts";

const LEAVING_MS = 5_000;

/** A host in this process, which also runs turns. */
export type LocalHost = Host & {
  /** Runs the session's open turn in this process, or begins one, and returns its outcome. */
  run(session: string): Promise<AgentOutcome>;
  /** Lets go of one session, as `close` does of all. */
  leave(session: string): void;
  /** Leaves: nothing is resolved, nothing is lost, and another process may continue. Waits for tools that do not listen, 5 s by default. */
  close(options?: { patienceMs?: number }): Promise<void>;
};

export type HostParts = {
  store: Store;
  version: string;
  /** Makes the executor of a session's turns, when a turn begins. */
  executor(session: SessionRow): Promise<Executor>;
  supervision?: Supervision;
  expand?(session: SessionRow, text: string): Awaitable<string | undefined>;
  /** Folder of a session's kept files. Without one no picture can be sent. */
  keepDir?(session: SessionRow): string;
  /** Rules in force where a session works; none without one. */
  rulesIn?(session: SessionRow): readonly Rule[];
  /** Without one everybody may do everything: an embedder checks its own people. */
  guard?: Guard;
  /** Without one, the name that a command carries is the person. */
  personOf?: PersonOf;
  /** For requests from outside that nobody answers; those of a turn have the settings of its run. */
  silence?: OutsideSettings;
  /** Without it there are no receipts and no rewinds. */
  home?: HostHome;
  /** Without them folders and models cannot be listed, and no model can be chosen. */
  surroundings?: Surroundings;
  /** Settings files of sessions, where there are no surroundings. */
  rulesKept?: RulesKept;
  /** Told when a turn of a session has ended and that is on disk. */
  turnEnded?(session: string): void;
  /** Names sessions; without one a session is called by its first message. */
  namer?(): Promise<Model>;
  /** How long a session waits for people alone before it is let out of memory; it continues as if it had not been. */
  sleepAfterMs?: number;
  /** True if any process may run a session: a sleeping one is released. */
  letsGo?: boolean;
  /** A background command that ends while nothing runs is told to who watches (`tells`), or also begins a turn (`begins`). */
  taskEnds?: "tells" | "begins" | undefined;
  /** Set where other processes alone run sessions: wakes them, and follows sessions there. */
  elsewhere?: { wake(session: string): void; peers?: Peers | undefined; kept?: CommandParts["keptElsewhere"] };
};

/** Commands in, facts and deltas out. */
export function createHost(parts: HostParts): LocalHost {
  const { store, version, executor, supervision = {}, expand = () => undefined, namer, guard } = parts;
  const watchers = createWatchers();
  const blocks = createBlocks();
  const leaving = new AbortController();
  const closing = new AbortController();
  const moments = createMoments(store);
  const titles = namer && createTitles(store, namer);
  const peers = parts.elsewhere?.peers ?? peersOf(store);
  const wakes = createWakes({ store, told: parts.taskEnds, signal: leaving.signal, runner: () => runner });
  const runner: Runner = parts.elsewhere
    ? runnerElsewhere(parts.elsewhere)
    : createRunner({
        store,
        executor,
        supervision,
        blocks,
        moments,
        titles,
        wakes,
        turnEnded: (session) => parts.turnEnded?.(session),
        sleepAfterMs: parts.sleepAfterMs,
        letsGo: parts.letsGo,
        // A process connected to the socket gets what happens here, not what this process receives from others.
        serve: (session) =>
          peers?.serve(session, { send, inbox, watch: (id, options) => watchHere(id, options, undefined) }),
      });
  const send = createCommands({
    store,
    version,
    expand,
    keepDir: (session) => parts.keepDir?.(session),
    rulesIn: (session) => parts.rulesIn?.(session) ?? [],
    runner,
    executor,
    check: guard && ((command) => checkSender(guard, command, (id) => store.find(id)?.request)),
    personOf: parts.personOf,
    silence: parts.silence,
    home: parts.home,
    surroundings: parts.surroundings,
    rulesKept: parts.rulesKept ?? parts.surroundings,
    keptElsewhere: parts.elsewhere?.kept,
    watched: (session) => watchers.has(session),
    // Text that a stopped attempt has streamed is left there for a moment.
    isReplying: (session) =>
      runner.of(session)?.log?.stopped === undefined && blocks.of(session).some(({ kind }) => kind !== "state"),
    leaving: leaving.signal,
  });

  startReaper(store, { home: parts.home?.dir, runsHere: (id) => runner.of(id) !== undefined, signal: leaving.signal });

  async function* watchHere(session: string, options: WatchOptions, others: Peers | undefined) {
    existingSession(store, session);
    watchers.count(session, 1);
    wakes?.opened(session);
    try {
      const signal = AbortSignal.any([options.signal, closing.signal]);
      yield* watch(store, session, {
        ...options,
        signal,
        blocks: () => blocks.of(session),
        runsHere: () => runner.of(session) !== undefined,
        pending: () => pending(store, session),
        peers: others,
      });
    } finally {
      watchers.count(session, -1);
    }
  }

  async function* inbox(options: { signal: AbortSignal }): AsyncGenerator<InboxEvent> {
    const { watchInbox } = await import("./inbox.ts"); // most hosts have one session, and nobody asks
    yield* watchInbox(store, send, AbortSignal.any([options.signal, closing.signal]));
  }

  return {
    send,
    inbox,
    watch: (session, options) => watchHere(session, options, peers),
    run: (session) => runner.start(session).done,
    leave: (session) => runner.of(session)?.leave(),
    async close({ patienceMs = LEAVING_MS } = {}) {
      if (closing.signal.aborted) return;
      titles?.stop();
      leaving.abort();
      await patiently(patienceMs, Promise.allSettled(runner.leaveAll())); // a tool may not listen
      closing.abort();
      await moments.end();
      store.close();
    },
  };
}

async function patiently(patienceMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: patience, resolve: lose } = Promise.withResolvers<void>();
  // It keeps the process alive: where nothing else does, the process would end before the store is closed.
  const timer = setTimeout(lose, patienceMs);
  await Promise.race([work, patience]);
  clearTimeout(timer);
}

/** Kept only while somebody watches: a host sees many sessions come and go. */
function createWatchers() {
  const watchers = new Map<string, number>();
  return {
    has: (session: string) => watchers.has(session),
    count(session: string, by: 1 | -1): void {
      const now = (watchers.get(session) ?? 0) + by;
      if (now > 0) watchers.set(session, now);
      else watchers.delete(session);
    },
  };
}

const BEAT_MS = 2_500;

/** Looks at the list of processes at the start and from then on: helpers that were left behind end, and so do requests that nobody waits for. */
function startReaper(
  store: Store,
  { home, runsHere, signal }: { home: string | undefined; runsHere(session: string): boolean; signal: AbortSignal },
): void {
  const folder = store.place ? dirname(store.place.journal) : home;
  if (folder === undefined) return;
  const askerGone = async ({ session = "", key = "" }: Entry) => {
    const found = store.find(requestId(session, key));
    if (found && !found.resolution) await settle(store, found.request, unheard(found.request));
  };
  const reap = createReaper(folder, { runsHere, askerGone });
  let busy: Promise<void> | undefined;
  const look = () => void (busy ??= reap().finally(() => (busy = undefined)));
  look();
  const timer = setInterval(look, BEAT_MS).unref();
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}
