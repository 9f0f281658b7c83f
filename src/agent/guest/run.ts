import type { Guest, GuestAsk, GuestEvent } from "../../guest/driver.ts";
import { NeedsInput } from "../../input/ask.ts";
import type { Opened } from "../../journal/session/durable.ts";
import { Stopped } from "../../journal/session/session.ts";
import type { Delta } from "../../protocol/facts/fact.ts";
import { callKeys, replyKey } from "../../protocol/key.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import { between } from "../turn/projection.ts";
import type { KnownCall } from "./book.ts";
import { conclude, finish, noteSaid, pauseIfAtOdds, placeOf, resolvedOf, takeUp } from "./calls.ts";
import { closeCarried, grantAgain, wordsFor, wordsOf } from "./carry.ts";
import { noteJoined, type GuestTurn } from "./state.ts";
import { createWork } from "./work.ts";

export type Ended = GuestEvent & { type: "ended" };

type Held = { ask: GuestAsk; known: KnownCall };

/** Time that a guest may take to stop, or to keep what it asks, before it is ended. */
const TIMEOUT_MS = 3_000;

/** Runs a guest, from its start to its end. Throws what ends the attempt: an interrupt, a person who is needed. */
export async function runGuest(turn: GuestTurn, guest: Guest): Promise<Ended> {
  const { log, context, driver } = turn;
  const held = new Map<string, Held>();
  /** Answers on their way to the guest. */
  const settling = new Set<Promise<unknown>>();
  const work = createWork(log, context);
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => {});
  let parking = false;
  /** The prompt that is being taken up. */
  let asking: Promise<void> | undefined;
  let winding = false;
  let needed: NeedsInput | undefined;

  const review = () => {
    const runs = turn.book.all.some(({ started, end }) => started && end === "open");
    if (held.size === 0) work.be("works");
    else work.be(driver.parks === "on leaving" && !runs ? "rests" : "waits");
    if (needed && !runs) broken.reject(needed); // nobody may be asked here: whatever runs ends first
  };
  /** Ends the attempt, whoever meets it. */
  const fail = (error: unknown) => {
    if (error instanceof NeedsInput) needed = error;
    else broken.reject(log.stopped ?? error);
    review();
  };

  const wait = async (ask: GuestAsk, known: KnownCall, opened: Opened): Promise<void> => {
    held.set(ask.id, { ask, known });
    review();
    const resolved = await resolvedOf(turn, known, opened);
    if (!held.has(ask.id)) return; // it is not there any more: whoever continues the turn uses the answer
    const concluding = conclude(turn, ask, known, resolved);
    settling.add(concluding);
    const settled = await concluding.finally(() => settling.delete(concluding));
    if (!settled || !held.delete(ask.id)) return;
    guest.answer(ask, settled.answer);
    if (settled.comment !== undefined)
      await guest.say(`[The person allowed ${ask.call.tool} and said: ${JSON.stringify(settled.comment)}]`);
    pauseIfAtOdds(turn, known);
    review();
  };

  const asks = async (ask: GuestAsk): Promise<void> => {
    if (winding) return guest.answer(ask, { type: "refused", by: "person", words: "Not run: the person interrupted." });
    if (parking) return; // the driver sees to those that come with a call that is kept
    if (turn.leftover.has(ask.call.id) && !turn.book.find(ask.call))
      return guest.answer(ask, {
        type: "refused",
        by: "person",
        words: "Not run: the person ended the turn in which you asked this.",
      });
    const known = placeOf(turn, ask);
    const taken = await takeUp(turn, ask, known);
    if ("answer" in taken) {
      guest.answer(ask, taken.answer);
      return pauseIfAtOdds(turn, known);
    }
    const open = [...held.values()].map((one) => one.ask);
    if (!taken.opened.resolution && driver.parks === "at once") parking = await guest.park([...open, ask]);
    if (parking) return;
    void wait(ask, known, taken.opened).catch(fail);
  };

  const pump = async (): Promise<Ended> => {
    let shown = 0;
    for await (const event of guest.events) {
      if (event.type === "ended") return event;
      if (log.closed) continue;
      switch (event.type) {
        case "said":
          noteSaid(turn, event);
          break;
        case "delta":
          show(turn, event, shown++);
          break;
        case "asks":
          await (asking = asks(event.ask));
          break;
        case "withdrawn": {
          const one = held.get(event.id);
          held.delete(event.id);
          if (one && !winding) withdraw(turn, one.known);
          break;
        }
        case "result":
          noteResult(turn, event);
          break;
        default:
          event satisfies never;
      }
      if (!winding) review();
    }
    return { type: "ended", how: "died", words: "" };
  };

  /** A guest that is about to keep its call has kept it only when it has ended. */
  const leave = async (pumping: Promise<Ended>): Promise<void> => {
    await asking?.catch(() => {});
    if (parking) await pumping;
    else if (held.size > 0) await guest.park([...held.values()].map(({ ask }) => ask));
  };

  let telling = Promise.resolve();
  const listen = () => {
    telling = telling.then(() => tellNews(turn, guest)).catch(fail);
  };
  const stop = () => broken.reject(log.stopped);
  const unsubscribe = log.store.hub.subscribe(log.id, { fact: ({ type }) => void (type === "user.said" && listen()) });
  try {
    log.signal.addEventListener("abort", stop);
    if (log.stopped) throw log.stopped;
    work.be("works");
    const isNew = turn.joins === 0;
    await noteJoined(turn, guest);
    grantAgain(turn, guest);
    const words = wordsFor(turn, guest, { isNew });
    if (words !== undefined) await guest.say(words);
    if (!isNew && !guest.goesOn) closeCarried(turn);
    listen();
    const pumping = pump();
    pumping.catch(fail);
    try {
      return await Promise.race([pumping, broken.promise]);
    } catch (error) {
      winding = true;
      if (error instanceof Stopped && error.why === "leaving") await orLater(leave(pumping));
      else if (error instanceof Stopped) {
        guest.interrupt();
        await orLater(pumping);
      }
      throw error;
    }
  } finally {
    log.signal.removeEventListener("abort", stop);
    unsubscribe();
    held.clear();
    await guest.close();
    await Promise.allSettled(settling);
    work.be("rests");
  }
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
  log.show({ ...delta, text: context.config.redact(text) });
}

function noteResult(turn: GuestTurn, { call, ok, text }: GuestEvent & { type: "result" }): void {
  const known = turn.book.open(call);
  if (!known) return;
  const end = known.started || !known.request ? (ok ? "done" : "failed") : "not-run";
  withdraw(turn, known);
  finish(turn, known, { ok, text, end });
}

/** The guest knows the end of a call by itself: whoever is still asked about it need not be. */
function withdraw({ log, driver }: GuestTurn, { request }: KnownCall): void {
  if (!request || log.store.resolution(request.id)) return;
  const frame = { requestId: request.id, by: driver.name, surface: driver.name, at: Date.now() };
  const why = reason("guest-withdrew", { agent: driver.name });
  log.branch("").resolve({ ...frame, outcome: "superseded", reason: why });
}

/** Tells the guest what people say while it works. */
async function tellNews(turn: GuestTurn, guest: Guest): Promise<void> {
  const { log, progress, context } = turn;
  const heard = log.mailbox.hear(turn.heard.sawUpTo);
  const words = wordsOf(turn, between(log.said, turn.heard.sawUpTo, heard));
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
