import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { messageOf, type Host, type InputRequest } from "../../protocol/index.ts";
import { noticeText } from "../../texts/error.ts";
import type { Texts } from "../../texts/texts.ts";
import { createAsker, type Asker, type AskerParts } from "./asker.ts";
import { restartCard } from "./cards/closed.ts";
import { plainWords } from "./cards/escape.ts";
import { inLocales, type Speech } from "./cards/speech.ts";
import { attachment, conclusionOf, type ConclusionParts } from "./conclusion.ts";
import { createExecutionHandle, type ExecutionHandle } from "./execution-handle.ts";
import { passes } from "./failure.ts";
import { nextPhase, type Effect, type Happening, type Pace, type Phase } from "./phase.ts";
import { createAppointments } from "./appointments.ts";
import { CARD_LIFE_MS, uuidOf, type Home } from "./records.ts";
import { closeProgress, createStreamer, targetOf } from "./streamer.ts";
import { createView, type SessionView } from "./view.ts";

const FIRST_MS = 50;
const CALM_MS = 600;
const NEXT_MS = 400;
const PATCH_MS = 1_000;
/** Each card's share of the calls that the platform allows an app. */
const SHARE_MS = 100;
const LOOK_MS = 6 * 60 * 60_000;
/** While the platform is out of reach, nothing else could be sent either. */
const AGAIN_MS = [2_000, 5_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000];

export type FollowParts = AskerParts & ConclusionParts & { host: Host; signal: AbortSignal };

/** One session, from its facts to the messages of its chat. */
export type Follow = {
  readonly handle: ExecutionHandle;
  readonly view: SessionView;
  readonly asker: Asker;
  home(): Home;
  /** All that is known is folded; cards of before are in order. */
  readonly ready: Promise<void>;
  /** Everything that was to be sent is sent, or has failed. */
  settled(): Promise<void>;
};

/** `fresh`: what happened so far is not told again; only what is open is shown. `left` is called once it is no longer followed. */
export function followSession(
  parts: FollowParts,
  session: string,
  { fresh, left }: { fresh: boolean; left(): void },
): Follow {
  const { channel, records, host, log, modes } = parts;
  const home = homeOf(session, parts);
  const leaving = new AbortController();
  const handle = createExecutionHandle(host, session, AbortSignal.any([parts.signal, leaving.signal]));
  const view = createView(() => parts.speak(home().chat)[0].words);
  const streamer = createStreamer(parts, home);
  const asker = createAsker(parts, home);
  const { promise: ready, resolve: begin } = Promise.withResolvers<void>();
  const queue = createQueue(session, ready, parts);
  let phase: Phase = { name: "catching-up", told: fresh ? Infinity : (records.told(session) ?? 0) };
  let last = { seq: 0, at: 0 };
  let timer: NodeJS.Timeout | undefined;

  const happen = (happening: Happening): void => {
    const before = phase;
    const step = nextPhase(phase, happening);
    phase = step.phase;
    modes.active += Number(phase.name === "working") - Number(before.name === "working");
    for (const effect of step.effects) perform(effect);
  };

  /** The more cards change at once, the less often each does. */
  const waitOf = (pace: Pace): number => {
    if (pace === "at-once") return FIRST_MS;
    return pace === "calm" ? CALM_MS : Math.max(modes.entities ? NEXT_MS : PATCH_MS, modes.active * SHARE_MS);
  };
  const appointments = createAppointments(parts.now, (request, appointment) =>
    queue.beside(async () => {
      if (!isOpen(request)) return;
      if (appointment.what === "remind") await asker.remind(request);
      else await asker.escalate(request, appointment.to);
    }),
  );
  const isOpen = ({ id }: InputRequest) => view.open().some((one) => one.id === id);

  const perform = (effect: Effect): void => {
    switch (effect.do) {
      case "new-card":
        return queue.next(() => streamer.reset());
      case "schedule":
        clearTimeout(timer);
        timer = setTimeout(() => happen({ type: "draw-due" }), waitOf(effect.pace)).unref();
        return;
      case "unschedule":
        return clearTimeout(timer);
      case "draw":
        return queue.next(async () => {
          happen({ type: "drawing" });
          if (view.state() === "EXECUTING") await streamer.show(view.progress());
        });
      case "ask":
        appointments.plan(effect.request);
        return queue.next(() => ask(effect.request), effect.seq);
      case "ask-again":
        for (const request of view.open()) {
          queue.next(async () => {
            if (isOpen(request)) await asker.present(request);
          });
          appointments.plan(request);
        }
        return;
      case "fold": {
        const request = view.request(effect.resolution.requestId)?.request;
        appointments.drop(effect.resolution.requestId);
        if (request) queue.beside(() => asker.settle(request, effect.resolution));
        return;
      }
      case "conclude":
        return queue.next(conclusionOf(effect.ending, { parts, view, streamer, home }), effect.ending.seq);
      case "tell-refusal": {
        const why = (words: Texts) => parts.redaction.text(noticeText(effect, words));
        const text = inLocales(parts.speak(home().chat), ({ t, words }) => plainWords(t.failedBecause(why(words))));
        const uuid = uuidOf(session, "failed", last.seq, parts.redaction.text(effect.text));
        return queue.next(() => channel.sendText({ ...targetOf(home()), uuid, text }));
      }
      case "tidy":
        return tidy(effect.goesOn);
      case "resume":
        return void host.send({ type: "resume", session });
      case "leave":
        return leaving.abort();
      default:
        return effect satisfies never;
    }
  };

  const ask = async (request: InputRequest): Promise<void> => {
    await immediate(); // requests that came together are known together
    if (!isOpen(request)) return;
    const sofar = view.progress();
    const attach = attachment(sofar.text, uuidOf(request.id, "text"), parts, home);
    const finish = ({ t }: Speech) => ({ title: t.waiting, template: "grey" as const, notes: [] });
    await streamer.finish(sofar, { in: finish }, { ifShown: true, uuid: "", attach });
    await asker.present(request);
  };

  const tidy = (goesOn: boolean): void => {
    const shown = records.progress(session);
    if (shown)
      queue.next(async () => {
        records.endProgress(session);
        await closeProgress(channel, shown, restartCard(goesOn, parts.speak(home().chat)));
      });
    for (const record of records.openCards(session)) {
      const known = view.request(record.request);
      if (!known?.resolution) continue;
      const { request, resolution } = known;
      queue.beside(() => asker.settle(request, resolution));
    }
  };

  const look = setInterval(() => {
    const old = parts.now() - last.at > CARD_LIFE_MS;
    happen({ type: "look", chat: view.state(), old });
  }, LOOK_MS).unref();

  const watch = async (): Promise<void> => {
    for await (const event of handle.stream) {
      switch (event.type) {
        case "fact":
          last = event.fact;
          view.fact(event.fact);
          happen({ type: "fact", fact: event.fact, chat: view.state() });
          break;
        case "delta": {
          const { delta } = event;
          view.delta(delta);
          const refused = delta.kind === "notice" && delta.key === "host";
          if (refused) view.failed();
          const chat = view.state();
          const { text, reason } = delta;
          happen(refused ? { type: "refused", text, ...(reason && { reason }), chat } : { type: "delta", chat });
          break;
        }
        case "owner":
          if (event.stopped) happen({ type: "owner-gone", begunHere: view.begunBy() === "feishu" });
          break;
        case "ready":
          if (fresh) records.setTold(session, last.seq);
          view.ready(event.requests);
          happen({ type: "ready", chat: view.state() });
          begin();
          break;
        default:
          event satisfies never;
      }
    }
  };
  watch()
    .catch((error: unknown) => log(`session ${session} is no longer watched: ${messageOf(error)}`))
    .finally(() => {
      happen({ type: "ended" });
      appointments.stop();
      clearInterval(look);
      begin();
      left();
    });

  return {
    handle,
    view,
    asker,
    home,
    ready,
    settled: queue.settled,
  };
}

/** Also when it was forgotten meanwhile: a session that is still followed still speaks somewhere. */
function homeOf(session: string, { records }: FollowParts): () => Home {
  let known = records.home(session);
  return () => {
    known = records.home(session) ?? known;
    if (!known) throw new Error(`session ${session} has no home`);
    return known;
  };
}

type Work = () => Promise<unknown> | void;

/** What one session sends, one thing after the other, and none before everything is known. */
function createQueue(session: string, ready: Promise<void>, { records, signal, log }: FollowParts) {
  const failed = (error: unknown) => log(`session ${session}: ${messageOf(error)}`);
  let chain: Promise<void> = ready;
  const asides = new Set<Promise<void>>();
  return {
    /** With a `seq`: what happened up to there has been told then, well or badly; it is not told again after a restart. */
    next(work: Work, seq?: number): void {
      chain = chain.then(async () => {
        await persist(work, signal).catch(failed);
        if (seq !== undefined && !signal.aborted) records.setTold(session, seq);
      });
    },
    /** An old card that cannot be changed just now holds up nothing new; but it is changed after what was sent before. */
    beside(work: Work): void {
      const aside = chain
        .then(() => persist(work, signal))
        .catch(failed)
        .finally(() => asides.delete(aside));
      asides.add(aside);
    },
    async settled(): Promise<void> {
      for (let before; before !== chain;) await (before = chain);
      await Promise.all(asides);
    },
  };
}

/** Sending the same thing twice is harmless, so what may work later is tried again. */
async function persist(work: Work, signal: AbortSignal): Promise<void> {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      await work();
      return;
    } catch (error) {
      if (!passes(error)) throw error;
      const ms = AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)];
      await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}
