import { messageOf } from "../../protocol/index.ts";
import { bytesOf, type Card } from "./cards/card.ts";
import { plainWords } from "./cards/escape.ts";
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
} from "./cards/progress.ts";
import type { Redaction } from "./cards/redact.ts";
import { inLocales, type Speeches } from "./cards/speech.ts";
import type { FeishuChannel, Target } from "./channel.ts";
import { FeishuFailure, wantsPlainer } from "./failure.ts";
import { isOpen } from "../../view/standing.ts";
import { newRid, uuidOf, type Home, type ProgressRecord, type Records } from "./records.ts";

/** The platform stops streaming by itself after ten minutes. */
const ROLL_MS = 9 * 60_000;
/** Of an answer that no card could hold; the platform takes 30 KB of such a message. */
const LONGEST_WORDS = 4_000;

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
  let shown: Shown | undefined;
  /** Text and steps that stand on earlier cards, and the fence to open again. A block of code that was cut is opened again. */
  let [from, fromStep, carry] = [0, 0, ""];

  const rest = ({ text, steps, live }: ProgressView): ProgressView => {
    const clean = sending.redaction.text(text);
    // A card does not begin with the empty lines that set it off from the one before.
    if (carry === "") while (clean[from] === "\n") from++;
    return {
      text: carry + clean.slice(from),
      steps: steps.slice(fromStep).map((step) => ({ ...step, about: sending.redaction.text(step.about) })),
      live: live.map(sending.redaction.text),
    };
  };

  const send = async (view: ProgressView): Promise<void> => {
    const { session, chat } = home();
    const rid = newRid();
    const record = { k: "run" as const, rid, session, chat, g: 1, at: now() };
    records.saveCard(record);
    const made = progressCard(view, { rid, streaming: modes.entities }, speeches());
    const target = { ...targetOf(home()), uuid: uuidOf(rid) };
    const card = modes.entities ? await entity(made) : undefined;
    const { message, cardId } = await (
      card === undefined
        ? channel.sendCard({ ...target, card: progressCard(view, { rid, streaming: false }, speeches()) })
        : channel.sendCard({ ...target, cardId: card })
    ).then(({ messageId }) => ({ message: messageId, cardId: card }));
    records.saveCard({ ...record, message });
    const mark = { message, ...(cardId !== undefined && { card: cardId }) };
    records.setProgress(session, mark);
    shown = { ...mark, since: now(), out: outOf(view.text), steps: stepsOf(view) };
  };

  const entity = async (made: Card): Promise<string | undefined> => {
    try {
      return (await channel.createEntity(made)).cardId;
    } catch (error) {
      if (error instanceof FeishuFailure && error.kind === "permission") modes.entities = false;
      log(`a card that streams could not be made: ${messageOf(error)}`);
      return undefined;
    }
  };

  const change = async (at: Shown, view: ProgressView): Promise<void> => {
    const [out, steps] = [outOf(view.text), stepsOf(view)];
    if (out === at.out && steps === at.steps) return;
    if (at.card === undefined) {
      const rid = records.ofMessage(at.message)?.rid ?? newRid();
      await channel.patchCard(at.message, progressCard(view, { rid, streaming: false }, speeches()));
    } else {
      if (out !== at.out) await stream(at.card, OUT, out);
      if (steps !== at.steps) await stream(at.card, STEPS, steps);
    }
    [at.out, at.steps] = [out, steps];
  };

  const stream = async (card: string, element: string, text: string): Promise<void> => {
    try {
      await channel.streamText(card, element, text);
    } catch (error) {
      if (!(error instanceof FeishuFailure) || error.kind !== "streaming") throw error;
      await channel.entitySettings(card, { config: { streaming_mode: true } });
      await channel.streamText(card, element, text);
    }
  };

  const forget = () => {
    shown = undefined;
    records.endProgress(home().session);
  };

  /** The old card keeps what it can hold, and the next one goes on from there. */
  const roll = async (at: Shown, view: ProgressView): Promise<void> => {
    const head = headOf(view, speeches());
    const done = view.steps.findIndex(({ standing }) => isOpen(standing));
    const steps = done < 0 ? view.steps.length : done;
    const old = { text: head, steps: view.steps.slice(0, steps), live: [] };
    const { card } = finishedCard(
      old,
      { in: ({ t }) => ({ title: t.continued, template: "grey", notes: [] }) },
      speeches(),
    );
    from += head.length - carry.length;
    fromStep += steps;
    carry = openFence(head);
    forget();
    await closeProgress(channel, at, card).catch((error: unknown) =>
      log(`a card could not be closed: ${messageOf(error)}`),
    );
  };

  return {
    reset() {
      [from, fromStep, carry] = [0, 0, ""];
      shown = undefined;
    },
    async show(whole) {
      let view = rest({ ...whole, text: settled(whole) });
      try {
        if (shown && mustRoll(shown, view)) {
          await roll(shown, view);
          view = rest({ ...whole, text: settled(whole) });
        }
        if (shown) await change(shown, view);
        else await send(bytesOf({ text: view.text }) > ROLL_BYTES ? { ...view, text: headOf(view, speeches()) } : view);
      } catch (error) {
        log(`progress could not be shown: ${messageOf(error)}`);
        if (error instanceof FeishuFailure && (error.kind === "gone" || error.kind === "content")) forget();
      }
    },
    async finish(whole, finish, { ifShown = false, uuid, attach }) {
      const view = rest(whole);
      const at = shown;
      if (!at && ifShown) return;
      const { cut } = finishedCard(view, finish, speeches());
      const { card } = finishedCard(view, cut ? { ...finish, attached: await attach() } : finish, speeches());
      try {
        if (at) await closeProgress(channel, at, card);
        else await channel.sendCard({ ...targetOf(home()), uuid, card });
      } catch (error) {
        if (!wantsPlainer(error)) throw error; // the same card, later
        log(`a last card could not be shown: ${messageOf(error)}`);
        await instead(card, view, finish, uuid);
      }
      from = sending.redaction.text(whole.text).length;
      const running = whole.steps.findIndex(({ standing }) => isOpen(standing));
      fromStep = running < 0 ? whole.steps.length : running;
      carry = "";
      forget();
    },
  };

  /** Sends a card of its own or, if no card will do, words. */
  async function instead(card: Card, view: ProgressView, finish: Finishing, uuid: string): Promise<void> {
    const target = targetOf(home());
    try {
      await channel.sendCard({ ...target, uuid: uuidOf(uuid, "again"), card });
    } catch {
      const text = inLocales(speeches(), (speech) => {
        const { title, notes } = finish.in(speech);
        const all = plainWords([title, view.text, ...notes].filter((one) => one !== "").join("\n\n"));
        return [...all].slice(0, LONGEST_WORDS).join("");
      });
      await channel.sendText({ ...target, uuid: uuidOf(uuid, "words"), text });
    }
  }

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

/** While it is being written, its last word is not shown: half a secret is not recognised as one. */
function settled({ text, said = false }: ProgressView): string {
  return said ? text : text.replace(/[\x21-\x7e]{1,500}$/, "");
}

/** The part of the text that one card should hold, up to the end of a line. */
function headOf(view: ProgressView, speeches: Speeches): string {
  const size = (text: string) => bytesOf(progressCard({ ...view, text }, { rid: "", streaming: true }, speeches));
  if (size(view.text) <= ROLL_BYTES) return view.text;
  let [low, high] = [0, view.text.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (size(view.text.slice(0, middle)) <= ROLL_BYTES) low = middle;
    else high = middle;
  }
  const end = view.text.lastIndexOf("\n", low);
  const at = end > low / 2 ? end + 1 : low;
  // Not between the two halves of one character.
  return view.text.slice(0, /[\ud800-\udbff]/.test(view.text[at - 1] ?? "") ? at - 1 : at);
}

function openFence(text: string): string {
  const fences = text.match(/^```.*$/gm) ?? [];
  return fences.length % 2 === 1 ? `${fences.at(-1)}\n` : "";
}
