import { messageOf, type SurfaceStore } from "../../../protocol/index.ts";
import type { FeishuServeTexts } from "../../../texts/feishu-serve.ts";
import type { CardAnswer, CardClick } from "../channel.ts";
import type { Log } from "./config.ts";

export type Clicks = {
  onCard(handler: (click: CardClick) => Promise<CardAnswer>): void;
  /** In time for the platform, whatever the handler does. */
  answer(click: CardClick): Promise<CardAnswer>;
};

export type ClickParts = {
  store: SurfaceStore;
  rememberMs: number;
  answerMs: number;
  texts: FeishuServeTexts;
  log: Log;
  /** Keeps others from changing the message until the answer has left. */
  hold(messageId: string): () => void;
  /** An answer replaced the card: older pictures of it are worth nothing. */
  replaced(messageId: string): void;
  patch(messageId: string, card: object): Promise<void>;
};

/** Each click is handled once. Its answer is awaited for as long as the platform waits; its card is also patched. */
export function createClicks(parts: ClickParts): Clicks {
  const { store, rememberMs, answerMs, texts, log, hold, replaced, patch } = parts;
  let handler: ((click: CardClick) => Promise<CardAnswer>) | undefined;
  const under = new Map<string, Promise<CardAnswer>>();

  const handle = async (click: CardClick): Promise<CardAnswer> => {
    try {
      if (!handler) throw new Error("nobody listens yet");
      return await handler(click);
    } catch (error) {
      log("error", `a click could not be handled: ${messageOf(error)}`);
      return { toast: { type: "error", content: texts.clickFailed } };
    }
  };

  const inTime = async (click: CardClick): Promise<CardAnswer> => {
    const release = hold(click.messageId);
    const answered = handle(click);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"late">((resolve) => (timer = setTimeout(resolve, answerMs, "late")));
    const first = await Promise.race([answered, late]);
    clearTimeout(timer);
    // Just after the answer has left: a change that comes with it would be refused or undone.
    setTimeout(release, 50);
    if (first !== "late") {
      if (first.card) replaced(click.messageId);
      // The answer may be lost on its way, and the card would stay open for everybody.
      void put(click, first);
      return first;
    }
    void answered.then((answer) => put(click, answer));
    return { toast: { type: "info", content: texts.clickReceived } };
  };

  const put = async ({ messageId }: CardClick, { card }: CardAnswer): Promise<void> => {
    if (!card) return;
    await patch(messageId, card).catch((error: unknown) =>
      log("debug", `an answer was not put on its card again: ${messageOf(error)}`),
    );
  };

  return {
    onCard: (given) => void (handler = given),
    answer(click) {
      const same = under.get(click.eventId);
      if (same) return same;
      if (!store.claim(`click/${click.eventId}`, rememberMs)) return Promise.resolve({});
      const answer = inTime(click).finally(() => under.delete(click.eventId));
      under.set(click.eventId, answer);
      return answer;
    },
  };
}
