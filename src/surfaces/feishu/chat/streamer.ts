import { thrownText } from "../../../texts/shared/error.ts";
import { bytesOf, type Card } from "../cards/card.ts";
import { plainWords, type Redaction } from "../cards/escape.ts";
import type { Finishing, ProgressView } from "../cards/progress.ts";
import { finishedCard, OUT, outOf, progressCard, ROLL_BYTES, STEPS, stepLines } from "../cards/progress.ts";
import { inLocales, type Speeches } from "../cards/speech.ts";
import type { FeishuChannel, Target } from "../channel/channel.ts";
import { FeishuFailure, wantsPlainer } from "../channel/failure.ts";
import { newRid, uuidOf, type Home, type ProgressRecord, type Records } from "../bot/records.ts";
import { isOpen } from "../../../view/transcript/standing.ts";

/** The platform stops streaming by itself after ten minutes. */
const ROLL_MS = 9 * 60_000;
/** Of an answer that no card could hold; the platform takes 30 KB of such a message. */
const MAX_WORDS_LENGTH = 4_000;

export type Sending = {
  channel: FeishuChannel;
  records: Records;
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
  /** The card is done; sends one unless `ifShown`. `attach` first sends the text that did not fit, and says whether it arrived. */
  finish(view: ProgressView, finish: Finishing, options: FinishOptions): Promise<void>;
  reset(): void;
};

type FinishOptions = { ifShown?: boolean; uuid: string; attach(): Promise<boolean> };

type Shown = ProgressRecord & { since: number; out: string; steps: string };

export function sendTarget(home: Home): Omit<Target, "uuid"> {
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
    const target = { ...sendTarget(home()), uuid: uuidOf(rid) };
    const card = modes.entities ? await createEntity(sending, made) : undefined;
    const { messageId: message } = await (card === undefined
      ? channel.sendCard({ ...target, card: progressCard(view, { rid, streaming: false }, speeches()) })
      : channel.sendCard({ ...target, cardId: card }));
    records.saveCard({ ...record, message });
    const mark = { message, ...(card !== undefined && { card }) };
    records.setProgress(session, mark);
    shown = { ...mark, since: now(), out: outOf(view.text), steps: stepLines(view) };
  };

  const change = async (at: Shown, view: ProgressView): Promise<void> => {
    const [out, steps] = [outOf(view.text), stepLines(view)];
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
        else if (bytesOf({ text: view.text }) <= ROLL_BYTES) await send(view);
        else await send({ ...view, text: fittingHead(view, speeches()) });
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
        else await channel.sendCard({ ...sendTarget(home()), uuid, card });
      } catch (error) {
        if (!wantsPlainer(error)) throw error; // the same card, later
        log(`a last card could not be shown: ${thrownText(error)}`);
        const text = fallbackText(view, finish, speeches());
        await sendInstead(channel, { ...sendTarget(home()), uuid }, { card, text });
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

function fallbackText(view: ProgressView, finish: Finishing, speeches: Speeches): Record<string, string> {
  return inLocales(speeches, (speech) => {
    const { title, notes } = finish.in(speech);
    const all = plainWords([title, view.text, ...notes].filter((text) => text !== "").join("\n\n"));
    return [...all].slice(0, MAX_WORDS_LENGTH).join("");
  });
}

/** The part of a turn that is not on earlier cards, without secrets. */
type Rest = {
  of(view: ProgressView): ProgressView;
  /** The same while it is being written: without its last word, for half a secret is not recognised as one. */
  settledOf(view: ProgressView): ProgressView;
  /** Leaves what one card can hold on it, and returns that. */
  leave(view: ProgressView, speeches: Speeches): ProgressView;
  /** Everything is on cards now, except for open steps. */
  end(whole: ProgressView): void;
  reset(): void;
};

function createRest(redaction: Redaction): Rest {
  let [from, fromStep] = [0, 0];
  /** The fence that opens a block of code again that was cut. */
  let fence = "";

  const of = ({ text, steps, live }: ProgressView): ProgressView => {
    const clean = redaction.text(text);
    // A card does not begin with the empty lines that set it off from the one before.
    if (fence === "") while (clean[from] === "\n") from++;
    return {
      text: fence + clean.slice(from),
      steps: steps.slice(fromStep).map((step) => ({ ...step, about: redaction.text(step.about) })),
      live: live.map(redaction.text),
    };
  };
  return {
    of,
    settledOf: (view) => of({ ...view, text: settled(view) }),
    leave(view, speeches) {
      const text = fittingHead(view, speeches);
      const steps = view.steps.slice(0, closedSteps(view));
      from += text.length - fence.length;
      fromStep += steps.length;
      fence = openFence(text);
      return { text, steps, live: [] };
    },
    end(whole) {
      from = redaction.text(whole.text).length;
      fromStep = closedSteps(whole);
      fence = "";
    },
    reset() {
      [from, fromStep, fence] = [0, 0, ""];
    },
  };
}

function closedSteps({ steps }: ProgressView): number {
  const open = steps.findIndex(({ standing }) => isOpen(standing));
  return open < 0 ? steps.length : open;
}

function settled({ text, said = false }: ProgressView): string {
  return said ? text : text.replace(/[\x21-\x7e]{1,500}$/, "");
}

/** The part of the text that one card should hold, up to the end of a line. */
function fittingHead(view: ProgressView, speeches: Speeches): string {
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
