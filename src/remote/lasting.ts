import type { Command, CommandReply, Host, InboxEvent, WatchEvent, WatchOptions } from "../protocol/host/host.ts";
import { refusalOf } from "../protocol/host/refusal.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";
import { connectHost, LinkClosed, type RemoteHost } from "./client.ts";
import { isKnownType } from "./fact-types.ts";
import { FRAME_ROOM, MAX_FRAME_BYTES, type Hello, type Welcome } from "./frames.ts";
import { isForNow, mayRepeat } from "./repeat.ts";
import { closeCodes, closedBy, isForGood, type Closed, type OpenWire } from "./wire.ts";

/** Nothing that lets something run is sent later than this after the person pressed. */
export const LATE_MS = 5_000;
/** Other repeatable commands wait this long for the host to come back. */
const TIMEOUT_MS = 60_000;
/** The host says something every 20 s. */
const SILENT_MS = 45_000;
const CONNECT_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/** State of the connection to a remote host. */
export type LinkState =
  | { name: "connecting" }
  | { name: "open"; welcome: Welcome }
  /** It was open, and is being dialled again. */
  | { name: "lost"; since: number }
  /** The host rejected this client; redialling would not help. */
  | { name: "refused"; closed: Closed }
  | { name: "left" };

export type Clock = { now(): number; later(ms: number, act: () => void): () => void };

export type LastingOptions = {
  open: OpenWire;
  hello: Omit<Hello, "protocols">;
  key?: string;
  changed?(state: LinkState): void;
  clock?: Clock;
  random?(): number;
};

/** A host that is elsewhere and stays the same one while connections come and go. */
export type LastingHost = Host & {
  state(): LinkState;
  /** The first welcome. Rejects when the host refuses, or when nobody waits for it any more. */
  readonly welcome: Promise<Welcome>;
  /** Redials now instead of after the pause, for example when the network is back or the page becomes visible. */
  hurry(): void;
  close(): void;
};

/** Reconnects by itself, resumes each watch where it was, and repeats commands that are safe to repeat. */
export function lastingHost(options: LastingOptions): LastingHost {
  const { clock = realClock } = options;
  const line = keepLine(options, clock);

  async function send<C extends Command>(given: C): Promise<CommandReply<C["type"]>> {
    const command = withId(given);
    const length = new TextEncoder().encode(JSON.stringify(command)).length + FRAME_ROOM;
    if (length > MAX_FRAME_BYTES)
      return refusalOf(new SageError("input-invalid", reason("frame-too-long", { limit: MAX_FRAME_BYTES, length })));
    const pressed = clock.now();
    const forNow = isForNow(command);
    const patience = forNow ? LATE_MS : TIMEOUT_MS;
    let sent = false;
    const refused = (code: "host-unreachable" | "sent-too-late") => {
      const why = sent ? reason("reply-lost", {}) : code === "sent-too-late" ? late : reason("host-unreachable", {});
      return refusalOf(new SageError("host-gone", why));
    };
    for (;;) {
      let link: RemoteHost | undefined;
      try {
        link = await line.standing({ within: pressed + patience - clock.now() });
      } catch (error) {
        return refusalOf(error);
      }
      const passed = clock.now() - pressed;
      if (forNow && passed >= LATE_MS) return refused("sent-too-late");
      if (!link) return refused("host-unreachable");
      const reply = await link.ask(command, forNow ? line.hostTime(link) + LATE_MS - passed : undefined);
      if (reply) return reply;
      sent = true;
      if (!mayRepeat(command)) return refused("host-unreachable");
    }
  }

  async function* watch(session: string, { after, last, signal }: WatchOptions): AsyncGenerator<WatchEvent> {
    let seen = after;
    let ready = false;
    const noticed = new Set<string>();
    const start = (link: RemoteHost) =>
      link.watch(session, { ...(seen !== undefined ? { after: seen } : last !== undefined && { last }), signal });
    for await (const event of line.each<WatchEvent>(start, signal)) {
      if (event.type === "fact") {
        const { seq, type } = event.fact;
        if (seen !== undefined && seq <= seen) continue;
        seen = seq;
        if (!isKnownType(type)) continue;
      } else if (event.type === "ready") {
        // All changes in between came as facts, except for the session's owner.
        if (ready) {
          yield { type: "owner", live: event.live, stopped: !event.owned };
          continue;
        }
        ready = true;
      } else if (event.type === "delta" && event.delta.kind === "notice") {
        const { key, attempt, n } = event.delta;
        if (event.delta.whole && noticed.has(`${key} ${attempt} ${n}`)) continue; // already shown
        noticed.add(`${key} ${attempt} ${n}`);
      }
      yield event;
    }
  }

  /** A snapshot with every connection: there is no place to continue from, and none to get wrong. */
  async function* inbox({ signal }: { signal: AbortSignal }): AsyncGenerator<InboxEvent> {
    const start = (link: RemoteHost) => link.inbox({ signal });
    for await (const event of line.each<InboxEvent>(start, signal, { anyJournal: true }))
      if (event.type === "inbox" || (event.type === "fact" && isKnownType(event.fact.type))) yield event;
  }

  return { send, watch, inbox, state: line.state, welcome: line.welcome, hurry: line.hurry, close: line.close };
}

const late = reason("sent-too-late", { limitMs: LATE_MS });

/** A message, an inquiry and an interrupt that carry an id are recorded once, however often they arrive. */
function withId<C extends Command>(command: C): C {
  const takesOne = command.type === "say" || command.type === "inquire" || command.type === "interrupt";
  return takesOne && command.id === undefined ? { ...command, id: crypto.randomUUID() } : command;
}

type Line = {
  state(): LinkState;
  welcome: Promise<Welcome>;
  /** The current connection, or the next one. Undefined: none in time, or the wait was aborted. Rejects when the host refuses. */
  standing(until: { within?: number; signal?: AbortSignal }): Promise<RemoteHost | undefined>;
  /** Events of one connection after the other, with `link` events when one is lost and the next one is open. */
  each<E>(
    start: (link: RemoteHost) => AsyncIterable<E>,
    signal: AbortSignal,
    options?: { anyJournal: true },
  ): AsyncGenerator<E | (WatchEvent & { type: "link" })>;
  /** The host's clock now. */
  hostTime(link: RemoteHost): number;
  hurry(): void;
  close(): void;
};

/** Keeps one connection after the other. */
function keepLine({ open, hello, key, changed = () => {}, random = Math.random }: LastingOptions, clock: Clock): Line {
  let state: LinkState = { name: "connecting" };
  let current: { link: RemoteHost; at: number } | undefined;
  const leaving = new AbortController();
  const { pause, hurry } = createPauses(clock, leaving.signal);
  const waiters = new Set<() => void>();
  const first = Promise.withResolvers<Welcome>();
  first.promise.catch(() => {}); // most callers do not ask
  const move = (next: LinkState) => {
    if (state.name === "left") return;
    state = next;
    if (state.name === "open") first.resolve(state.welcome);
    if (state.name === "refused") first.reject(refusal(state.closed));
    if (state.name === "left") first.reject(new SageError("host-gone", reason("host-unreachable", {})));
    for (const wake of waiters) wake();
    changed(state);
  };

  const connectOnce = async (): Promise<Closed> => {
    const attempt = new AbortController();
    const giveUp = () => attempt.abort();
    leaving.signal.addEventListener("abort", giveUp, { once: true });
    const stopWaiting = clock.later(CONNECT_MS, giveUp);
    let heardAt = clock.now();
    try {
      const heard = () => void (heardAt = clock.now());
      const link = await connectHost(open, { hello, ...(key !== undefined && { key }), signal: attempt.signal, heard });
      stopWaiting();
      current = { link, at: clock.now() };
      move({ name: "open", welcome: link.welcome });
      leaving.signal.addEventListener("abort", () => link.close(), { once: true });
      return await untilOver(link, () => heardAt, clock);
    } catch (error) {
      return error instanceof LinkClosed ? error.closed : { code: closeCodes.notUnderstood, why: String(error) };
    } finally {
      current = undefined;
      stopWaiting();
      leaving.signal.removeEventListener("abort", giveUp);
    }
  };

  const dial = async () => {
    for (let tries = 0; !leaving.signal.aborted;) {
      const began = clock.now();
      const closed = await connectOnce();
      if (leaving.signal.aborted) return;
      if (isForGood(closed)) return move({ name: "refused", closed });
      if (state.name === "open") move({ name: "lost", since: clock.now() });
      // A connection that stood for a while says nothing against the next one; a host that hangs up at once is left in peace.
      if (clock.now() - began > MAX_PAUSE_MS) tries = 0;
      const longest = closed.code === closeCodes.tooMany ? MAX_PAUSE_MS : FIRST_PAUSE_MS * 2 ** tries++;
      await pause(Math.min(MAX_PAUSE_MS, longest) * (0.5 + random()));
    }
  };
  void dial();

  const standing: Line["standing"] = ({ within, signal }) =>
    new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        waiters.delete(look);
        stop?.();
        signal?.removeEventListener("abort", look);
        settle();
      };
      const look = () => {
        if (state.name === "refused") return end(() => reject(refusal((state as { closed: Closed }).closed)));
        if (state.name === "left" || signal?.aborted) return end(() => resolve(undefined));
        if (current && !current.link.over.aborted) return end(() => resolve(current?.link));
      };
      const stop = within === undefined ? undefined : clock.later(within, () => end(() => resolve(undefined)));
      waiters.add(look);
      signal?.addEventListener("abort", look, { once: true });
      look();
    });

  return {
    state: () => state,
    welcome: first.promise,
    standing,
    each: (start, signal, options) => eachLink({ standing, pause, leaving: leaving.signal }, start, signal, options),
    hostTime: (link) => link.welcome.now + clock.now() - (current?.at ?? clock.now()),
    hurry,
    close() {
      leaving.abort();
      move({ name: "left" });
    },
  };
}

type Links = Pick<Line, "standing"> & { pause(ms: number): Promise<void>; leaving: AbortSignal };

async function* eachLink<E>(
  { standing, pause, leaving }: Links,
  start: (link: RemoteHost) => AsyncIterable<E>,
  signal: AbortSignal,
  journals: { anyJournal: true } | undefined,
): AsyncGenerator<E | (WatchEvent & { type: "link" })> {
  let journal: string | undefined;
  for (;;) {
    const link = await standing({ signal });
    if (!link) return;
    if (journal !== undefined && !journals?.anyJournal) {
      if (journal !== link.welcome.journal) throw new SageError("host-gone", reason("journal-changed", {}));
      yield { type: "link", lost: false };
    }
    ({ journal } = link.welcome);
    try {
      yield* start(link);
    } catch (error) {
      if (!link.over.aborted) throw error;
    }
    if (signal.aborted || leaving.aborted) return;
    yield { type: "link", lost: true };
    // The host ended it, and not the connection: it is about to leave.
    if (!link.over.aborted) await pause(FIRST_PAUSE_MS);
  }
}

/** Pauses that end early when somebody is in a hurry, or leaves. */
function createPauses(clock: Clock, leaving: AbortSignal): { pause(ms: number): Promise<void>; hurry(): void } {
  const pauses = new Set<() => void>();
  return {
    pause: (ms) =>
      new Promise((resolve) => {
        const go = () => {
          stop();
          pauses.delete(go);
          leaving.removeEventListener("abort", go);
          resolve();
        };
        const stop = clock.later(ms, go);
        pauses.add(go);
        leaving.addEventListener("abort", go, { once: true });
      }),
    hurry: () => pauses.forEach((go) => go()),
  };
}

/** Closes the connection to a silent host: it may be dead long before it is closed. */
function untilOver({ over, close }: RemoteHost, heardAt: () => number, clock: Clock): Promise<Closed> {
  return new Promise((resolve) => {
    let stop = () => {};
    const end = () => {
      stop();
      resolve(closedBy(over));
    };
    const listen = () => {
      const left = heardAt() + SILENT_MS - clock.now();
      if (left <= 0) close();
      else stop = clock.later(left, listen);
    };
    over.addEventListener("abort", end, { once: true });
    if (over.aborted) end();
    else listen();
  });
}

function refusal(closed: Closed): SageError {
  if (closed.code === closeCodes.keyUnknown) return new SageError("key-unknown", reason("device-key-unknown", {}));
  const why = reason("host-refused", closed);
  return new SageError(closed.code === closeCodes.notPermitted ? "not-permitted" : "host-gone", why);
}

const realClock: Clock = {
  now: () => Date.now(),
  later(ms, act) {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};
