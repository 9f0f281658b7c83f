import type { StopReason } from "@agentclientprotocol/sdk";
import { Refusal } from "./editor.ts";

/** Prompts that wait for the end of a turn. */
type Waiting = {
  /** `key`: the message whose turn is waited for; without one, any turn's end. */
  add(key: string | undefined): { end: Promise<StopReason>; forget(): void };
  /** A turn has heard the message. */
  read(key: string): void;
  /** A turn has ended: for all prompts that it heard, and those that wait for any turn. */
  ended(end: StopReason | Refusal): void;
  /** Ends every wait. */
  settle(end: StopReason | Refusal): void;
};

type One = { key: string | undefined; isRead: boolean; settle(end: StopReason | Refusal): void };

export function createWaiting(): Waiting {
  const waiting = new Set<One>();
  const settle = (end: StopReason | Refusal, which: (one: One) => boolean) => {
    for (const one of [...waiting].filter(which)) {
      waiting.delete(one);
      one.settle(end);
    }
  };
  return {
    add(key) {
      const { promise, resolve, reject } = Promise.withResolvers<StopReason>();
      promise.catch(() => {}); // whoever waits for it hears of it
      const one: One = { key, isRead: false, settle: (end) => (end instanceof Refusal ? reject(end) : resolve(end)) };
      waiting.add(one);
      return { end: promise, forget: () => void waiting.delete(one) };
    },
    read(key) {
      for (const one of waiting) if (one.key === key) one.isRead = true;
    },
    ended: (end) => settle(end, ({ key, isRead }) => key === undefined || isRead),
    settle: (end) => settle(end, () => true),
  };
}
