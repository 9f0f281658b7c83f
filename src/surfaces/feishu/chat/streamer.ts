import { thrownText } from "../../../texts/shared/error.ts";
import { bytesOf, type Card } from "../cards/card.ts";
import { plainWords } from "../cards/escape.ts";
import {
  finishedCard,
  OUT,
  outOf,
  progressCard,
  ROLL_BYTES,
  STEPS,
  stepsOf,
  type Finishing,
  type ProgressView,
} from "../cards/progress.ts";
import type { Redaction } from "../cards/redact.ts";
import { inLocales, type Speeches } from "../cards/speech.ts";
import type { FeishuChannel, Target } from "../channel/channel.ts";
import { FeishuFailure, wantsPlainer } from "../channel/failure.ts";
import { newRid, uuidOf, type Home, type ProgressRecord, type Records } from "../bot/records.ts";
import { createRest, headOf } from "./rest.ts";

/** The platform stops streaming by itself after ten minutes. */
const ROLL_MS = 9 * 60_000;
/** Of an answer that no card could hold; the platform takes 30 KB of such a message. */
const MAX_WORDS_LENGTH = 4_000;

export type Sending = {
  channel: FeishuChannel;
  records: Records;
  /** The languages of a chat's readers. */
  speak(chat: string): Speeches;
  redaction: Redaction;
  now(): number;
  log(line: string): void;
  /** Entities stream, and need a permission of the app; without it cards are patched. */
  modes: {
    entities: boolean;
    /** How many cards change just now: they share what the platform lets through. */ active: number;
  };
};

/** Shows a turn's progress as one card after the other. Calls of one streamer come one at a time. */
export type Streamer = {
  show(view: ProgressView): Promise<void>;
  /**
   * The card is done. Sends one if there is none, unless `ifShown`. `attach` sends the text that did not fit, before the card
   * refers to it, and says whether it arrived.
   */
  finish(view: ProgressView, finish: Finishing, options: FinishOptions): Promise<void>;
  /** A new turn begins with a clean card. */
  reset(): void;
};

export type FinishOptions = { ifShown?: boolean; uuid: string; attach(): Promise<boolean> };

type Shown = ProgressRecord & { since: number; out: string; steps: string };

export function targetOf(home: Home): Omit<Target, "uuid"> {
  const { chat, root, group } = home;
  return { chat, ...(root !== undefined && { replyTo: root, ...(group && { inThread: true }) }) };
}

export function createStreamer(sending: Sending, home: () => Home): Streamer {
  const { channel, records, now, log, modes } = sending;
  const speeches = () => sending.speak(home().chat);
  const rest = createRest(sending.redaction);
  let shown: Shown | undefined;

  const send = async (view: ProgressView): Promise<void> => {
    const { session, chat } = home();
    const rid = newRid();
    const record = { k: "run" as const, rid, session, chat, g: 1, at: now() };
    records.saveCard(record);
    const made = progressCard(view, { rid, streaming: modes.entities }, speeches());
    const target = { ...targetOf(home()), uuid: uuidOf(rid) };
    const card = modes.entities ? await createEntity(sending, made) : undefined;
    const { messageId: message } = await (card === undefined
      ? channel.sendCard({ ...target, card: progressCard(view, { rid, streaming: false }, speeches()) })
      : channel.sendCard({ ...target, cardId: card }));
    records.saveCard({ ...record, message });
    const mark = { message, ...(card !== undefined && { card }) };
    records.setProgress(session, mark);
    shown = { ...mark, since: now(), out: outOf(view.text), steps: stepsOf(view) };
  };

  const change = async (at: Shown, view: ProgressView): Promise<void> => {
    const [out, steps] = [outOf(view.text), stepsOf(view)];
    if (out === at.out && steps === at.steps) return;
    if (at.card === undefined) {
      const rid = records.ofMessage(at.message)?.rid ?? newRid();
      await channel.patchCard(at.message, progressCard(view, { rid, streaming: false }, speeches()));
    } else {
      if (out !== at.out) await streamText(channel, at.card, OUT, out);
      if (steps !== at.steps) await streamText(channel, at.card, STEPS, steps);
    }
    [at.out, at.steps] = [out, steps];
  };

  const forget = () => {
    shown = undefined;
    records.endProgress(home().session);
  };

  /** The old card keeps what it can hold, and the next one continues from there. */
  const roll = async (at: Shown, view: ProgressView): Promise<void> => {
    const { card } = finishedCard(
      rest.leave(view, speeches()),
      { in: ({ t }) => ({ title: t.continued, template: "grey", notes: [] }) },
      speeches(),
    );
    forget();
    await closeProgress(channel, at, card).catch((error: unknown) =>
      log(`a card could not be closed: ${thrownText(error)}`),
    );
  };

  return {
    reset() {
      rest.reset();
      shown = undefined;
    },
    async show(whole) {
      let view = rest.settledOf(whole);
      try {
        if (shown && mustRoll(shown, view)) {
          await roll(shown, view);
          view = rest.settledOf(whole);
        }
        if (shown) await change(shown, view);
        else await send(bytesOf({ text: view.text }) > ROLL_BYTES ? { ...view, text: headOf(view, speeches()) } : view);
      } catch (error) {
        log(`progress could not be shown: ${thrownText(error)}`);
        if (error instanceof FeishuFailure && (error.kind === "gone" || error.kind === "content")) forget();
      }
    },
    async finish(whole, finish, { ifShown = false, uuid, attach }) {
      const view = rest.of(whole);
      const at = shown;
      if (!at && ifShown) return;
      const { cut } = finishedCard(view, finish, speeches());
      const { card } = finishedCard(view, cut ? { ...finish, attached: await attach() } : finish, speeches());
      try {
        if (at) await closeProgress(channel, at, card);
        else await channel.sendCard({ ...targetOf(home()), uuid, card });
      } catch (error) {
        if (!wantsPlainer(error)) throw error; // the same card, later
        log(`a last card could not be shown: ${thrownText(error)}`);
        await sendInstead(channel, { ...targetOf(home()), uuid }, { card, text: wordsOf(view, finish, speeches()) });
      }
      rest.end(whole);
      forget();
    },
  };

  function mustRoll({ since }: Shown, view: ProgressView): boolean {
    if (now() - since > ROLL_MS) return true;
    return bytesOf(progressCard(view, { rid: "", streaming: true }, speeches())) > ROLL_BYTES;
  }
}

/** The last picture of a card that showed progress. */
export async function closeProgress(channel: FeishuChannel, at: ProgressRecord, card: Card): Promise<void> {
  if (at.card === undefined) return channel.patchCard(at.message, card);
  const { summary } = card.config;
  try {
    await channel.entitySettings(at.card, { config: { streaming_mode: false, summary } });
  } catch (error) {
    if (!(error instanceof FeishuFailure) || error.kind !== "streaming") throw error; // it streams no more: fine
  }
  await channel.updateEntity(at.card, card);
}

/** Id of a card that streams; undefined when none could be made. */
async function createEntity({ channel, modes, log }: Sending, made: Card): Promise<string | undefined> {
  try {
    return (await channel.createEntity(made)).cardId;
  } catch (error) {
    if (error instanceof FeishuFailure && error.kind === "permission") modes.entities = false;
    log(`a card that streams could not be made: ${thrownText(error)}`);
    return undefined;
  }
}

/** Streams into a card, and turns its streaming on again where the platform has stopped it. */
async function streamText(channel: FeishuChannel, card: string, element: string, text: string): Promise<void> {
  try {
    await channel.streamText(card, element, text);
  } catch (error) {
    if (!(error instanceof FeishuFailure) || error.kind !== "streaming") throw error;
    await channel.entitySettings(card, { config: { streaming_mode: true } });
    await channel.streamText(card, element, text);
  }
}

/** Sends a card of its own or, if no card will do, words. */
async function sendInstead(
  channel: FeishuChannel,
  target: Target,
  { card, text }: { card: Card; text: Record<string, string> },
): Promise<void> {
  try {
    await channel.sendCard({ ...target, uuid: uuidOf(target.uuid, "again"), card });
  } catch {
    await channel.sendText({ ...target, uuid: uuidOf(target.uuid, "words"), text });
  }
}

/** The last card of a turn as words. */
function wordsOf(view: ProgressView, finish: Finishing, speeches: Speeches): Record<string, string> {
  return inLocales(speeches, (speech) => {
    const { title, notes } = finish.in(speech);
    const all = plainWords([title, view.text, ...notes].filter((one) => one !== "").join("\n\n"));
    return [...all].slice(0, MAX_WORDS_LENGTH).join("");
  });
}
