import { attempt } from "../../../base/attempt.ts";
import { setImmediate as immediate } from "node:timers/promises";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import type { CommandReply, Host, SharedAnswer } from "../../../protocol/host/host.ts";
import { isOutsideSession } from "../../../protocol/host/outside.ts";
import { noticeText, thrownText } from "../../../texts/shared/error.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import { alikeTo } from "../../../view/request/alike.ts";
import { type FollowedSession, followSession, type SessionChange } from "../../../view/session.ts";
import { createAsker, type Asker, type AskerParts } from "../requests/asker.ts";
import { restartCard } from "../cards/closed.ts";
import { plainWords } from "../cards/escape.ts";
import { inLocales, type Speech } from "../cards/speech.ts";
import { attachment, conclusionOf, type ConclusionParts } from "./conclusion.ts";
import { nextPhase, type Call, type Effect, type Happening, type Pace, type Phase } from "./phase.ts";
import { createQueue, type Queue } from "../chat/queue.ts";
import { CARD_LIFE_MS, isAway, uuidOf, type Home } from "../bot/records.ts";
import { closeProgress, createStreamer, sendTarget, type Streamer } from "../chat/streamer.ts";
import { createView, type SessionView } from "./view.ts";
import type { InputResponse } from "../../../protocol/facts/answer.ts";
import type { TurnLimits } from "../../../protocol/facts/silence.ts";
import type { GivenImage } from "../../../protocol/image.ts";
import type { Sender } from "../../../protocol/sender.ts";

const FIRST_MS = 50;
const CALM_MS = 600;
const NEXT_MS = 400;
const PATCH_MS = 1_000;
/** Each card's share of the calls that the platform allows an app. */
const SHARE_MS = 100;
const POLL_MS = 6 * 60 * 60_000;
export type FollowParts = AskerParts &
  ConclusionParts & {
    host: Host;
    signal: AbortSignal;
    /** Name of the person whose account this process runs under, where the settings have one. */
    account?(): string | undefined;
  };

/** Follows a session, from its facts to the messages of its chat. */
export type Follow = {
  readonly session: FollowedSession;
  readonly handle: ExecutionHandle;
  readonly view: SessionView;
  readonly asker: Asker;
  home(): Home;
  leave(): void;
  /** All facts so far are folded; cards of earlier processes are in order. */
  readonly ready: Promise<void>;
  settled(): Promise<void>;
};

/** A followed session with its parts. `last` is the newest fact. */
type Following = {
  parts: FollowParts;
  session: string;
  followed: FollowedSession;
  fresh: boolean;
  home(): Home;
  view: SessionView;
  streamer: Streamer;
  asker: Asker;
  queue: Queue;
  reminders: Map<string, number>;
  last: { seq: number; at: number };
  happen(happening: Happening): void;
  /** Lets the queue send: all facts so far are folded. */
  begin(): void;
  /** Draws the card after this long; any earlier plan is dropped. */
  drawIn(ms: number | undefined): void;
  leave(): void;
};

/** `fresh`: earlier facts are not told. `away`: home of a session without one here. `left`: no longer followed. */
export function bridgeSession(
  parts: FollowParts,
  session: string,
  { fresh, away, left }: { fresh: boolean; away?: Home | undefined; left(): void },
): Follow {
  const { records, host, log, modes } = parts;
  const home = homeOf(session, parts, away);
  const leaving = new AbortController();
  const followed = followSession(host, session, {
    signal: AbortSignal.any([parts.signal, leaving.signal]),
    changed: (change) => changed(following, change),
    keep: "turn",
    resumes: () => !isAway(home()),
  });
  const { promise: ready, resolve: begin } = Promise.withResolvers<void>();
  let phase: Phase = { name: "catching-up", told: fresh ? Infinity : (records.told(session) ?? 0) };
  let timer: NodeJS.Timeout | undefined;
  const following: Following = {
    parts,
    session,
    followed,
    fresh,
    home,
    begin,
    view: createView(followed, () => parts.speak(home().chat)[0].words),
    streamer: createStreamer(parts, home),
    asker: createAsker(parts, home, {
      approvals: (id) => following.view.request(id)?.approvals ?? [],
      isCarried: (id) => following.view.request(id)?.carried === true,
      alike: (request) => alikeTo(request, following.view.open()),
      trials: async (requestId) => {
        const reply = await host.send({ type: "past", requestId });
        return reply.ok ? reply.trials : [];
      },
      askedBy: () => following.view.begunWith()?.by,
    }),
    queue: createQueue(session, ready, parts),
    reminders: new Map(),
    last: { seq: 0, at: 0 },
    happen(happening) {
      const before = phase;
      const step = nextPhase(phase, happening);
      phase = step.phase;
      if (!isAway(home())) modes.active += Number(phase.name === "working") - Number(before.name === "working");
      const shows = ({ do: what }: Effect) =>
        !isAway(home()) || shownAway.has(what) || (what === "ask" && isOutsideSession(session));
      for (const effect of step.effects) if (shows(effect)) perform(following, effect);
    },
    drawIn(ms) {
      clearTimeout(timer);
      if (ms !== undefined) timer = setTimeout(() => following.happen({ type: "draw-due" }), ms).unref();
    },
    leave: () => leaving.abort(),
  };
  const { view, asker, queue, happen } = following;
  const look = setInterval(() => {
    const old = parts.now() - following.last.at > CARD_LIFE_MS;
    happen({ type: "look", chat: view.state(), old });
  }, POLL_MS).unref();
  followed.done
    .catch((error: unknown) => log(`session ${session} is no longer watched: ${thrownText(error)}`))
    .finally(() => {
      happen({ type: "ended" });
      clearInterval(look);
      begin();
      left();
    });
  return {
    session: followed,
    handle: createExecutionHandle(followed),
    view,
    asker,
    home,
    ready,
    leave: following.leave,
    settled: queue.settled,
  };
}

/** Effects of a session that speaks elsewhere: they keep up to date only the cards of people who were called. */
const shownAway = new Set<Effect["do"]>(["call", "ask-again", "recount", "reply", "fold", "tidy", "leave"]);

function changed(following: Following, change: SessionChange): void {
  const { parts, session, followed, view, happen } = following;
  view.changed(change);
  const chat = view.state();
  switch (change.type) {
    case "fact":
      following.last = change.fact;
      return happen({ type: "fact", fact: change.fact, chat });
    case "delta": {
      const { kind, text, reason } = change.delta;
      if (kind === "state") return; // cards show facts and words
      return happen(
        change.refused ? { type: "refused", text, ...(reason && { reason }), chat } : { type: "delta", chat },
      );
    }
    case "owner":
      if (followed.run === "stopped") happen({ type: "owner-gone", begunHere: view.begunBy() === "feishu" });
      return;
    case "joined":
      if (following.fresh) parts.records.setTold(session, followed.seq);
      happen({ type: "ready", chat });
      return following.begin();
    case "request": // the facts say it
    case "earlier":
    case "link": // the bridge runs next to its host
      return;
    default:
      return change satisfies never;
  }
}

function perform(following: Following, effect: Effect): void {
  const { parts, session, home, view, streamer, asker, queue, happen } = following;
  switch (effect.do) {
    case "new-card":
      return queue.next(() => streamer.reset());
    case "schedule":
      return following.drawIn(waitOf(effect.pace, parts));
    case "unschedule":
      return following.drawIn(undefined);
    case "draw":
      return queue.next(async () => {
        happen({ type: "drawing" });
        if (view.state() === "EXECUTING") await streamer.show(view.progress());
      });
    case "ask":
      if (isAway(home())) return queue.next(() => callAccount(following, effect.request), effect.seq);
      return queue.next(() => ask(following, effect.request), effect.seq);
    case "ask-again":
      for (const request of view.open())
        queue.next(async () => {
          const known = !isAway(home()) || parts.records.openCards(session, request.id).length > 0;
          if (!known && isOutsideSession(session)) return callAccount(following, request);
          if (!known || !isOpen(view, request)) return;
          await asker.present(request);
          await asker.reply(request, view.request(request.id)?.inquiries ?? []);
        });
      return;
    case "recount": {
      const { requestId } = effect;
      for (const request of view.open())
        if (requestId === undefined || request.id === requestId)
          queue.beside(async () => {
            if (isOpen(view, request)) await asker.recount(request);
          });
      return;
    }
    case "reply": {
      const known = view.request(effect.requestId);
      if (known) queue.beside(() => asker.reply(known.request, known.inquiries));
      return;
    }
    case "call":
      if ("n" in effect) following.reminders.set(effect.requestId, effect.n);
      return queue.beside(() => call(following, effect));
    case "fold": {
      const request = view.request(effect.resolution.requestId)?.request;
      if (request)
        queue.beside(async () => {
          await asker.settle(request, effect.resolution);
          // An agent outside asks again in the next moment.
          const isOver = !isOutsideSession(session) && parts.records.openCards(session).length === 0;
          if (isAway(home()) && isOver) following.leave();
        });
      following.reminders.delete(effect.resolution.requestId);
      return;
    }
    case "conclude":
      return queue.next(conclusionOf(effect.ending, { parts, view, streamer, home }), effect.ending.seq);
    case "tell-refusal":
      return tellRefusal(following, effect);
    case "tidy":
      return tidy(following, effect.goesOn);
    case "resume":
      return void following.followed.send({ type: "resume", session });
    case "leave":
      return following.leave();
    default:
      return effect satisfies never;
  }
}

/** The more cards change at once, the less often each does. */
function waitOf(pace: Pace, { modes }: FollowParts): number {
  if (pace === "at-once") return FIRST_MS;
  return pace === "calm" ? CALM_MS : Math.max(modes.entities ? NEXT_MS : PATCH_MS, modes.active * SHARE_MS);
}

function isOpen(view: SessionView, { id }: InputRequest): boolean {
  return view.open().some((request) => request.id === id);
}

async function call({ view, asker, reminders }: Following, due: Call): Promise<void> {
  await immediate(); // of reminders that are made up for together, the last one is enough
  const request = view.open().find(({ id }) => id === due.requestId);
  if (!request) return;
  if ("to" in due) await asker.escalate(request, due.to);
  else if (reminders.get(request.id) === due.n) await asker.remind(request, due.n);
}

/** An agent outside of Sage asks on this machine: its owner is asked in their own chat. */
async function callAccount({ parts, view, asker }: Following, request: InputRequest): Promise<void> {
  const name = parts.account?.();
  if (name !== undefined && isOpen(view, request)) await asker.escalate(request, name);
}

function tellRefusal({ parts, session, home, queue, last }: Following, refusal: Effect & { do: "tell-refusal" }): void {
  const { channel, redaction } = parts;
  const why = (words: Texts) => redaction.text(noticeText(refusal, words));
  const text = inLocales(parts.speak(home().chat), ({ t, words }) => plainWords(t.failedBecause(why(words))));
  const uuid = uuidOf(session, "failed", last.seq, redaction.text(refusal.text));
  queue.next(() => channel.sendText({ ...sendTarget(home()), uuid, text }));
}

async function ask({ parts, home, view, streamer, asker }: Following, request: InputRequest): Promise<void> {
  await immediate(); // requests that came together are known together
  if (!isOpen(view, request)) return;
  const sofar = view.progress();
  const attach = attachment(sofar.text, uuidOf(request.id, "text"), parts, home);
  const finish = ({ t }: Speech) => ({ title: t.waiting, template: "grey" as const, notes: [] });
  await streamer.finish(sofar, { in: finish }, { ifShown: true, uuid: "", attach });
  await asker.present(request);
}

/** Closes cards that an earlier process has left behind. */
function tidy({ parts, session, home, view, asker, queue }: Following, goesOn: boolean): void {
  const { channel, records } = parts;
  const shown = records.progress(session);
  if (shown)
    queue.next(async () => {
      records.endProgress(session);
      await closeProgress(channel, shown, restartCard(goesOn, parts.speak(home().chat)));
    });
  for (const record of records.openCards(session)) {
    const ended = view.request(record.request);
    if (!ended?.resolution) continue;
    const { request, resolution } = ended;
    queue.beside(() => asker.settle(request, resolution));
  }
}

/** The last known home: a session that is followed still speaks somewhere, even after its home was forgotten or the bot's records were closed. */
function homeOf(session: string, { records }: FollowParts, away?: Home): () => Home {
  let last = records.home(session) ?? away;
  return () => {
    last = attempt(() => records.home(session)) ?? last;
    if (!last) throw new Error(`session ${session} has no home`);
    return last;
  };
}

/** A session as the bridge runs it: its three inputs. What comes out is told to `follow.ts`. */
type ExecutionHandle = {
  readonly session: string;
  /** A task, or a word to a task that runs. `id` makes a message that comes twice harmless. */
  sendMessage(
    text: string,
    from: Sender,
    more: { id: string; when?: "now" | "next"; limits?: TurnLimits; images?: readonly GivenImage[] },
  ): Promise<CommandReply<"say">>;
  /** The first answer wins; later ones are told who gave it. */
  sendAnswer(response: InputResponse, from: Sender): Promise<CommandReply<"respond">>;
  /** A question about a request; `id` makes one that comes twice harmless. */
  sendInquiry(asked: { requestId: string; text: string; id: string }, from: Sender): Promise<CommandReply<"inquire">>;
  /** Gives the same answer to several requests that are alike. */
  sendAnswerToAll(
    requestIds: readonly string[],
    answer: SharedAnswer,
    from: Sender,
  ): Promise<CommandReply<"respondAll">>;
  /** Ends the turn for good, with whatever waits for an answer. */
  finish(from: Sender): Promise<CommandReply<"interrupt">>;
};

function createExecutionHandle({ id: session, send }: FollowedSession): ExecutionHandle {
  return {
    session,
    sendMessage: (text, from, more) => send({ type: "say", session, text, ...more, ...from }),
    sendAnswer: (response, from) => send({ type: "respond", response, ...from }),
    sendInquiry: (asked, from) => send({ type: "inquire", ...asked, ...from }),
    sendAnswerToAll: (requestIds, answer, from) => send({ type: "respondAll", requestIds, answer, ...from }),
    finish: (from) => send({ type: "interrupt", session, cancel: true, ...from }),
  };
}
