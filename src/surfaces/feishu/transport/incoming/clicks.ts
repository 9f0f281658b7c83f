import type { SurfaceStore } from "../../../../protocol/host/surface-store.ts";
import { thrownText } from "../../../../texts/shared/error.ts";
import type { FeishuServeTexts } from "../../../../texts/surfaces/feishu-serve.ts";
import type { CardAnswer, CardClick } from "../../channel/channel.ts";
import type { Log } from "../api/config.ts";

export type Clicks = {
  onCard(handler: (click: CardClick) => Promise<CardAnswer>): void;
  /** Resolves within the platform's time limit, whatever the handler does. */
  answer(click: CardClick): Promise<CardAnswer>;
};

export type ClickParts = {
  store: SurfaceStore;
  rememberMs: number;
  answerMs: number;
  texts: FeishuServeTexts;
  log: Log;
  /** Blocks other changes to the message until the response has been sent. */
  hold(messageId: string): () => void;
  /** The response replaced the card: pending older versions are dropped. */
  replaced(messageId: string): void;
  patch(messageId: string, card: object): Promise<void>;
};

/** Handles each click once. The response is awaited as long as the platform waits; the card is patched as well. */
export function createClicks(parts: ClickParts): Clicks {
  const { store, rememberMs, answerMs, texts, log, hold, replaced, patch } = parts;
  let handler: ((click: CardClick) => Promise<CardAnswer>) | undefined;
  const under = new Map<string, Promise<CardAnswer>>();

  const handle = async (click: CardClick): Promise<CardAnswer> => {
    try {
      if (!handler) throw new Error("nobody listens yet");
      return await handler(click);
    } catch (error) {
      log("error", `a click could not be handled: ${thrownText(error)}`);
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
    // Just after the response was sent: the platform refuses or undoes a change that arrives with it.
    setTimeout(release, 50);
    if (first !== "late") {
      if (first.card) replaced(click.messageId);
      // The response may be lost, and the card would stay open for everybody.
      void put(click, first);
      return first;
    }
    void answered.then((answer) => put(click, answer));
    return { toast: { type: "info", content: texts.clickReceived } };
  };

  const put = async ({ messageId }: CardClick, { card }: CardAnswer): Promise<void> => {
    if (!card) return;
    await patch(messageId, card).catch((error: unknown) =>
      log("debug", `an answer was not put on its card again: ${thrownText(error)}`),
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
