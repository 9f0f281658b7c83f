import type { Guest, GuestAsk, GuestEvent } from "../../guest/driver.ts";
import { NeedsInput } from "../../input/ask.ts";
import type { Opened } from "../../journal/session/durable.ts";
import { type SessionLog, Stopped } from "../../journal/session/session.ts";
import type { Delta } from "../../protocol/facts/fact.ts";
import { callKeys, replyKey } from "../../protocol/key.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { between } from "../turn/projection.ts";
import type { KnownCall } from "./book.ts";
import { conclude, finish, noteSaid, pauseIfAtOdds, placeCall, resolvedOf, takeUp } from "./calls.ts";
import { closeCarried, grantAgain, wordsFor, promptText } from "./carry.ts";
import { limitReached } from "../state/cap.ts";
import { type GuestTurn, noteJoined, noteSpent } from "./state.ts";
import { noteDeliveries } from "./delivery.ts";
import type { Limits } from "../state/context.ts";

type Ended = GuestEvent & { type: "ended" };

type Held = { ask: GuestAsk; known: KnownCall };

/** Time that a guest may take to stop, or to keep what it asks, before it is ended. */
const TIMEOUT_MS = 3_000;
/** Nobody can be asked here: a guest that keeps its prompts is left when it asked nothing more for so long, and any other at rest. */
const GATHER_MS = 400;
const REST_MS = 30_000;
const POLL_MS = 100;

type Run = {
  turn: GuestTurn;
  guest: Guest;
  /** Prompts that wait for a person, by id. */
  held: Map<string, Held>;
  /** Answers on their way to the guest. */
  settling: Set<Promise<unknown>>;
  work: ReturnType<typeof createWork>;
  /** Rejected with the reason that ends the attempt. */
  broken: PromiseWithResolvers<never>;
  /** The driver keeps a call that is asked about; the guest is about to end. */
  parking: boolean;
  asking: Promise<void> | undefined;
  /** The attempt has ended, and the guest is being stopped. */
  winding: boolean;
  /** Nobody can be asked here: running calls end first. */
  needed: NeedsInput | undefined;
  leaving: NodeJS.Timeout | undefined;
  /** Messages of people are passed to the guest in order. */
  telling: Promise<void>;
  shown: number;
};

/** Runs a guest, from its start to its end. Throws what ends the attempt: an interrupt, a person who is needed. */
export async function runGuest(turn: GuestTurn, guest: Guest): Promise<Ended> {
  const { log } = turn;
  const run = createRun(turn, guest);
  const stop = () => run.broken.reject(log.stopped);
  const unsubscribe = log.store.hub.subscribe(log.id, {
    fact: ({ type }) => void (type === "user.said" && listen(run)),
  });
  try {
    log.signal.addEventListener("abort", stop);
    if (log.stopped) throw log.stopped;
    run.work.be("works");
    const isNew = turn.joins === 0;
    await noteJoined(turn, guest);
    grantAgain(turn, guest);
    const words = await wordsFor(turn, guest, { isNew });
    if (words !== undefined) await guest.say(words);
    if (!isNew && !guest.goesOn) closeCarried(turn);
    listen(run);
    const pumping = pump(run);
    pumping.catch((error: unknown) => fail(run, error));
    try {
      const ended = await Promise.race([pumping, run.broken.promise]);
      turn.untold = await noteDeliveries(turn, guest, { over: ended.how === "done" });
      return ended;
    } catch (error) {
      await wind(run, pumping, error);
      throw error;
    }
  } finally {
    log.signal.removeEventListener("abort", stop);
    unsubscribe();
    run.held.clear();
    clearTimeout(run.leaving);
    await guest.close();
    await Promise.allSettled(run.settling);
    run.work.be("rests");
  }
}

function createRun(turn: GuestTurn, guest: Guest): Run {
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => {});
  return {
    turn,
    guest,
    held: new Map(),
    settling: new Set(),
    work: createWork(turn.log, turn.context),
    broken,
    parking: false,
    asking: undefined,
    winding: false,
    needed: undefined,
    leaving: undefined,
    telling: Promise.resolve(),
    shown: 0,
  };
}

function review(run: Run): void {
  const { turn, guest, held, work, needed, broken } = run;
  const keeps = turn.driver.parks === "on leaving";
  if (held.size === 0) work.be("works");
  else work.be(keeps ? "rests" : "waits");
  clearTimeout(run.leaving);
  const runs = turn.book.all.some(({ started, end }) => started && end === "open");
  // A guest that keeps its prompts tells the end of a call only once all of them are answered.
  if (!needed || (runs && !keeps)) return;
  const end = performance.now() + REST_MS;
  const look = () => {
    if (!keeps && guest.works?.() && performance.now() < end) run.leaving = setTimeout(look, POLL_MS);
    else broken.reject(needed);
  };
  run.leaving = setTimeout(look, keeps ? GATHER_MS : 0);
}

function fail(run: Run, error: unknown): void {
  if (error instanceof NeedsInput) run.needed = error;
  else run.broken.reject(run.turn.log.stopped ?? error);
  review(run);
}

function listen(run: Run): void {
  run.telling = run.telling.then(() => tellNews(run.turn, run.guest)).catch((error: unknown) => fail(run, error));
}

async function pump(run: Run): Promise<Ended> {
  for await (const event of run.guest.events) {
    if (event.type === "ended") {
      await noteSpent(run.turn, event.spent);
      return event;
    }
    if (run.turn.log.closed) continue;
    const taking = take(run, event);
    if (taking) await taking;
    if (!run.winding) review(run);
  }
  return { type: "ended", how: "died", words: "" };
}

function take(run: Run, event: Exclude<GuestEvent, Ended>): Promise<void> | undefined {
  const { turn, held, winding } = run;
  switch (event.type) {
    case "said":
      noteSaid(turn, event);
      return event.agent.length > 0 ? undefined : noteDeliveries(turn, run.guest, { over: false }).then(() => {});
    case "delta":
      return void show(turn, event, run.shown++);
    case "asks":
      return (run.asking = takePrompt(run, event.ask));
    case "withdrawn": {
      const withdrawn = held.get(event.id);
      held.delete(event.id);
      if (withdrawn && !winding) withdraw(turn, withdrawn.known);
      return undefined;
    }
    case "result":
      noteResult(run, event);
      return stopAtLimit(run);
    default:
      return event satisfies never;
  }
}

/** The calls of a reply run to their end; before the next one the guest is stopped, and a person asked. */
async function stopAtLimit({ turn, guest, winding }: Run): Promise<void> {
  const { limits, prices } = turn.context.config;
  if (!limits || winding || turn.limited || turn.book.all.some(({ end }) => end === "open")) return;
  await turn.log.flush();
  turn.limited = (await limitReached(turn.log.store, turn.log.id, { limits, prices })) !== undefined;
  if (turn.limited) guest.interrupt();
}

async function takePrompt(run: Run, ask: GuestAsk): Promise<void> {
  const { turn, guest, held } = run;
  const refuse = (words: string) => guest.answer(ask, { type: "refused", by: "person", words });
  if (run.winding) return refuse("Not run: the person interrupted.");
  if (turn.limited)
    return refuse("Not run: a limit of spending was reached before. Make this call again when you are told to go on.");
  if (run.parking) return; // the driver sees to those that come with a call that is kept
  if (turn.leftover.has(ask.call.id) && !turn.book.find(ask.call))
    return refuse("Not run: the person ended the turn in which you asked this.");
  const known = placeCall(turn, ask);
  const taken = await takeUp(turn, ask, known);
  if ("answer" in taken) {
    guest.answer(ask, taken.answer);
    return pauseIfAtOdds(turn, known);
  }
  const open = [...held.values()].map((other) => other.ask);
  if (!taken.opened.resolution && turn.driver.parks === "at once") run.parking = await guest.park([...open, ask]);
  if (run.parking) return;
  void wait(run, { ask, known }, taken.opened).catch((error: unknown) => fail(run, error));
}

async function wait(run: Run, { ask, known }: Held, opened: Opened): Promise<void> {
  const { turn, guest, held, settling } = run;
  held.set(ask.id, { ask, known });
  review(run);
  const resolved = await resolvedOf(turn, known, opened);
  if (!held.has(ask.id)) return; // the guest is gone: the next attempt uses the answer
  const concluding = conclude(turn, ask, known, resolved);
  settling.add(concluding);
  const settled = await concluding.finally(() => settling.delete(concluding));
  if (!settled || !held.delete(ask.id)) return;
  guest.answer(ask, settled.answer);
  pauseIfAtOdds(turn, known);
  review(run);
}

/** Lets the guest stop by itself, as far as it can. */
async function wind(run: Run, pumping: Promise<Ended>, error: unknown): Promise<void> {
  run.winding = true;
  if (!(error instanceof Stopped)) return;
  if (error.why === "leaving") return orLater(leave(run, pumping));
  run.guest.interrupt();
  return orLater(pumping);
}

/** A guest saves its open call while it shuts down, so the call is safe only once the process has ended. */
async function leave(run: Run, pumping: Promise<Ended>): Promise<void> {
  await run.asking?.catch(() => {});
  if (run.parking) await pumping;
  else if (run.held.size > 0) await run.guest.park([...run.held.values()].map(({ ask }) => ask));
}

/** `works`: its time counts. `waits`: for a person, whose time does not. `rests`: it can be put to sleep without loss. */
type Work = "works" | "waits" | "rests";

/** Tells the session whether the guest works: one that waits for people alone may sleep. */
function createWork(log: SessionLog, { activity }: Limits): { be(now: Work): void } {
  let working: Disposable | undefined;
  let busy: (() => void) | undefined;
  return {
    be(now) {
      if (now === "works") working ??= activity.begin();
      else {
        working?.[Symbol.dispose]();
        working = undefined;
      }
      if (now !== "rests") {
        if (!busy) void log.during(() => new Promise<void>((resolve) => (busy = resolve)));
      } else {
        busy?.();
        busy = undefined;
      }
    },
  };
}

/** Streams a delta of the guest; `n` counts those of this run. */
function show(
  { log, context, book, key: turnKey, progress, runs }: GuestTurn,
  event: GuestEvent & { type: "delta" },
  n: number,
): void {
  const { kind, text, call } = event;
  const place = call === undefined ? undefined : book.open(call)?.place;
  const key = place === undefined ? `${turnKey}/${replyKey(progress.steps)}` : `${place}/${callKeys.run(0)}`;
  const delta: Delta = { session: log.id, key, attempt: log.epoch * 1_000 + runs, n, kind, text };
  log.commits.show({ ...delta, text: context.config.redact(text) });
}

function noteResult({ turn, held }: Run, { call, ok, text }: GuestEvent & { type: "result" }): void {
  const known = turn.book.open(call);
  if (!known) return;
  if (known.request && !turn.log.store.resolution(known.request.id)) {
    // It no longer waits; the person is still asked, and the answer is carried.
    for (const [id, waiting] of held) if (waiting.known === known) held.delete(id);
    return;
  }
  const end = known.started || !known.request ? (ok ? "done" : "failed") : "not-run";
  finish(turn, known, { ok, text, end });
}

/** The guest took back this very prompt. */
function withdraw({ log, driver }: GuestTurn, { request }: KnownCall): void {
  if (!request || log.store.resolution(request.id)) return;
  const frame = { requestId: request.id, by: driver.name, surface: driver.name, at: Date.now() };
  const why = reason("guest-withdrew", { agent: driver.name });
  log.branch("").resolve({ ...frame, outcome: "superseded", reason: why });
}

async function tellNews(turn: GuestTurn, guest: Guest): Promise<void> {
  const { log, progress, context } = turn;
  const heard = log.mailbox.hear(turn.heard.sawUpTo);
  const words = promptText(turn, between(log.said, turn.heard.sawUpTo, heard));
  if (words === "" || log.stopped) return;
  await guest.say(words);
  context.memory.forgetRefusals();
  turn.heard = { ...heard, ...(turn.heard.without && { without: [...turn.heard.without, ...(heard.without ?? [])] }) };
  progress.sawUpTo = heard.sawUpTo;
}

async function orLater(work: Promise<unknown>): Promise<void> {
  let late: NodeJS.Timeout | undefined;
  const patience = new Promise((resolve) => (late = setTimeout(resolve, TIMEOUT_MS)));
  await Promise.race([work.catch(() => {}), patience]);
  clearTimeout(late);
}
