import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import {
  messageOf,
  type Fact,
  type Host,
  type InputRequest,
  type Resolution,
  type TurnEnd,
} from "../../protocol/index.ts";
import { createAsker, type Asker, type AskerParts } from "./asker.ts";
import { restartCard, whereOf } from "./cards/closed.ts";
import { plainWords } from "./cards/escape.ts";
import type { Finish } from "./cards/progress.ts";
import { createExecutionHandle, type ExecutionHandle } from "./execution-handle.ts";
import { passes } from "./failure.ts";
import { filesIn } from "./files.ts";
import { CARD_LIFE_MS, uuidOf, type Home } from "./records.ts";
import { closeProgress, createStreamer, targetOf } from "./streamer.ts";
import { createView, type SessionView } from "./view.ts";

const FIRST_MS = 50;
const NEXT_MS = 400;
const PATCH_MS = 1_000;
/** Each card's share of the calls that the platform allows an app. */
const SHARE_MS = 100;
const LOOK_MS = 6 * 60 * 60_000;
/** After an answer, the turn may end at once: a card that says "working" for a moment is noise. */
const CALM_MS = 600;
/** While the platform is out of reach, nothing else could be sent either. */
const AGAIN_MS = [2_000, 5_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000];

export type FollowParts = AskerParts & {
  host: Host;
  signal: AbortSignal;
  mayRead(path: string, cwd: string): Promise<boolean>;
};

/** One session, from its facts to the messages of its chat. */
export type Follow = {
  readonly handle: ExecutionHandle;
  readonly view: SessionView;
  readonly asker: Asker;
  home(): Home;
  /** A request of long ago, from the journal. */
  lookUp(requestId: string): Promise<{ request: InputRequest; resolution?: Resolution } | undefined>;
  /** All that is known is folded; cards of before are in order. */
  readonly ready: Promise<void>;
  /** Everything that was to be sent is sent, or has failed. */
  settled(): Promise<void>;
};

/** `fresh`: what happened so far is not told again; only what is open is shown. */
export function followSession(
  parts: FollowParts,
  session: string,
  { fresh, left }: { fresh: boolean; /** It is no longer followed. */ left(): void },
): Follow {
  const { channel, records, t, words, host, log, modes } = parts;
  let lastHome = records.home(session);
  /** Also when it was forgotten meanwhile: what is still followed still speaks somewhere. */
  const home = (): Home => {
    lastHome = records.home(session) ?? lastHome;
    if (!lastHome) throw new Error(`session ${session} has no home`);
    return lastHome;
  };
  const leaving = new AbortController();
  const handle = createExecutionHandle(host, session, AbortSignal.any([parts.signal, leaving.signal]));
  const view = createView();
  const streamer = createStreamer(parts, home);
  const asker = createAsker(parts, home);
  let begin: () => void = () => {};
  const ready = new Promise<void>((resolve) => (begin = resolve));
  let told = fresh ? Infinity : (records.told(session) ?? 0);
  let last = 0;
  let lastAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let flushing = false;
  let active = false;
  let isReady = false;
  let missed: (() => void) | undefined;
  const rest = () => {
    if (active) modes.active--;
    active = false;
  };
  // A card that waits for weeks is sent anew before it is too old to be clicked.
  const look = setInterval(() => {
    for (const request of view.open()) job(() => asker.present(request));
    if (view.state() === "IDLE" && parts.now() - lastAt > CARD_LIFE_MS) leaving.abort();
  }, LOOK_MS).unref();
  /** One thing after the other, and none before everything is known. What goes wrong with one is its own. */
  let chain: Promise<void> = ready;
  const job = (work: () => Promise<unknown> | void, seq?: number): void => {
    chain = chain
      .then(async () => {
        await persist(work, parts.signal);
        if (seq !== undefined && !parts.signal.aborted) records.setTold(session, seq);
      })
      .catch((error: unknown) => log(`session ${session}: ${messageOf(error)}`));
  };

  /** An old card that cannot be changed just now holds up nothing new; but it is changed after what was sent before. */
  let mending: Promise<unknown> = ready;
  const mend = (work: () => Promise<void>): void => {
    mending = Promise.all([mending, chain])
      .then(() => persist(work, parts.signal))
      .catch((error: unknown) => log(`session ${session}: ${messageOf(error)}`));
  };

  /** The more cards change at once, the less often each does. */
  const pace = () => Math.max(modes.entities ? NEXT_MS : PATCH_MS, modes.active * SHARE_MS);

  const flushSoon = (ms: number): void => {
    if (timer !== undefined || flushing || !view.working() || view.open().length > 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      flushing = true;
      job(async () => {
        flushing = false;
        if (view.working() && view.open().length === 0) await streamer.show(view.progress());
      });
    }, ms);
    timer.unref();
  };
  const calm = () => {
    clearTimeout(timer);
    timer = undefined;
  };

  const happened = (fact: Fact): void => {
    switch (fact.type) {
      case "turn.begun":
        if (!active) modes.active++;
        active = true;
        job(() => streamer.reset());
        return flushSoon(FIRST_MS);
      case "input.requested": {
        calm();
        const request = fact.data;
        let cut: boolean | undefined; // kept, for what comes after it may have to be tried again
        return job(async () => {
          await immediate(); // requests that came together are known together
          if (!view.open().some(({ id }) => id === request.id)) return;
          const waiting: Finish = { title: t.waiting, template: "grey", notes: [] };
          const sofar = view.progress();
          cut ??= await streamer.finish(sofar, waiting, { ifShown: true, uuid: "" });
          if (cut) await sendText(sofar.text, uuidOf(request.id, "text"));
          await asker.present(request);
        }, fact.seq);
      }
      case "input.resolved": {
        const request = view.request(fact.data.requestId)?.request;
        if (request) mend(() => asker.settle(request, fact.data));
        return flushSoon(CALM_MS);
      }
      case "turn.interrupted":
        if (fact.data.to === "cancel") return;
        calm();
        return end(fact.seq, { title: t.pausedTitle, template: "grey", notes: [t.pausedBecause(fact.data.by)] });
      case "turn.ended":
        calm();
        rest();
        return end(fact.seq, finishOf(fact.data), fact.data);
      case "model.replied":
      case "call.started":
      case "call.finished":
        return flushSoon(pace());
      default:
    }
  };

  /** What a card could only begin to show. */
  const sendText = (text: string, uuid: string) =>
    channel.sendFile({
      ...targetOf(home()),
      uuid,
      name: t.answerFile,
      content: Buffer.from(parts.redaction.text(text)),
    });

  const end = (seq: number, given: Finish, outcome?: TurnEnd): void => {
    const sofar = view.progress();
    const whole = outcome?.text.trim() ?? "";
    const shown = sofar.text.trim() === "" ? { ...sofar, text: whole } : sofar;
    const notes = [...begunElsewhere(), ...given.notes].map(parts.redaction.text);
    const finish = { ...given, notes };
    let cut: boolean | undefined;
    const tell = async () => {
      const uuid = uuidOf(session, "end", seq);
      const found = outcome?.status === "success" ? await filesIn(whole, home().cwd, parts) : [];
      cut ??= await streamer.finish(shown, finish, { uuid });
      const target = targetOf(home());
      if (cut) await sendText(whole === "" ? shown.text : whole, uuidOf(uuid, "file"));
      for (const [n, { name, content, image }] of found.entries()) {
        const each = { ...target, uuid: uuidOf(uuid, n, name), content }; // two may have the same name
        await (image ? channel.sendImage(each) : channel.sendFile({ ...each, name }));
      }
    };
    // Of the turns that ended while nobody was here, the last one is told.
    missed = () => job(tell, seq);
    if (isReady) missed();
  };

  /** What a turn was begun with that nobody in this chat has said. */
  const begunElsewhere = (): string[] => {
    const said = view.begunWith();
    if (!said || said.surface === "feishu") return [];
    const text = [...parts.redaction.text(said.text)].slice(0, 200).join("");
    return [t.begunBy(said.by, whereOf(said.surface, t), text)];
  };

  const finishOf = (outcome: TurnEnd): Finish => {
    const { stats, usage } = outcome;
    const cost = t.stats(stats.toolCalls, usage.inputTokens + usage.outputTokens, words.duration(stats.durationMs));
    switch (outcome.status) {
      case "success":
        return { title: t.done, template: "green", notes: [cost] };
      case "cancelled": {
        const late = view.expired()?.deadline;
        const why = late ? t.promptTimeout(words.duration(late.timeoutMs)) : t.cancelledBecause(outcome.reason);
        return { title: t.cancelledTitle, template: "grey", notes: [why] };
      }
      case "paused":
        return { title: t.pausedTitle, template: "grey", notes: [t.pausedBecause(outcome.reason)] };
      case "max-steps":
        return { title: t.cancelledTitle, template: "orange", notes: [t.maxSteps(outcome.steps), cost] };
      case "needs-input":
        return { title: t.waiting, template: "grey", notes: [] };
      case "error": {
        const limit = outcome.error.code === "timeout" ? view.begunWith()?.limits?.executionTimeout : undefined;
        const late = view.expired()?.deadline;
        const why = late
          ? t.promptTimeout(words.duration(late.timeoutMs))
          : limit !== undefined
            ? t.taskTimeout(words.duration(limit))
            : t.failedBecause(outcome.error.message);
        return { title: t.failed, template: "red", notes: [why] };
      }
      default:
        return outcome satisfies never;
    }
  };

  /** Cards that a process before this one has left behind. */
  const tidy = (): void => {
    const left = records.progress(session);
    if (left)
      job(async () => {
        records.endProgress(session);
        await closeProgress(channel, left, restartCard(view.working() || missed !== undefined, { t }));
      });
    const open = new Set(view.open().map(({ id }) => id));
    for (const record of records.openCards(session)) {
      if (open.has(record.request)) continue;
      const known = view.request(record.request);
      if (known?.resolution) {
        const { request, resolution } = known;
        mend(() => asker.settle(request, resolution));
      }
    }
    for (const request of view.open()) job(() => asker.present(request));
  };

  const run = async (): Promise<void> => {
    for await (const event of handle.stream) {
      if (event.type === "delta") {
        view.delta(event.delta);
        if (event.delta.kind === "notice" && event.delta.key === "host") {
          view.failed();
          const text = plainWords(t.failedBecause(parts.redaction.text(event.delta.text)));
          const uuid = uuidOf(session, "failed", last, text);
          job(() => channel.sendText({ ...targetOf(home()), uuid, text }));
        } else flushSoon(pace());
      } else if (event.type === "fact") {
        last = event.fact.seq;
        lastAt = event.fact.at;
        view.fact(event.fact);
        if (event.fact.seq > told) happened(event.fact);
      } else if (event.type === "owner") {
        // Who ran it elsewhere is gone. What was begun from a chat goes on here.
        if (event.stopped && view.begunBy() === "feishu") await host.send({ type: "resume", session });
      } else {
        if (told === Infinity) records.setTold(session, (told = last));
        view.ready(event.requests);
        isReady = true;
        tidy();
        missed?.();
        begin();
        flushSoon(CALM_MS);
      }
    }
  };
  run()
    .catch((error: unknown) => log(`session ${session} is no longer watched: ${messageOf(error)}`))
    .finally(() => {
      clearTimeout(timer);
      clearInterval(look);
      rest();
      begin();
      left();
    });

  return {
    handle,
    view,
    asker,
    home,
    ready,
    async lookUp(requestId) {
      let request: InputRequest | undefined;
      for await (const event of host.watch(session, { signal: parts.signal })) {
        if (event.type !== "fact") break;
        if (event.fact.type === "input.requested" && event.fact.data.id === requestId) request = event.fact.data;
        if (request && event.fact.type === "input.resolved" && event.fact.data.requestId === requestId)
          return { request, resolution: event.fact.data };
      }
      return request && { request };
    },
    async settled() {
      for (let before; before !== chain;) await (before = chain);
      await mending;
    },
  };
}

/** Sending the same thing twice is harmless, so what may work later is tried again. */
async function persist(work: () => Promise<unknown> | void, signal: AbortSignal): Promise<void> {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      await work();
      return;
    } catch (error) {
      const ms = AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)];
      if (!passes(error)) throw error;
      await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}
