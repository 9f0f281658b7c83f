import type { SurfaceStore } from "../../../../protocol/host/surface-store.ts";
import { thrownText } from "../../../../texts/shared/error.ts";
import type { FeishuChannel, Incoming, Recall } from "../../channel/channel.ts";
import type { Log } from "../api/config.ts";
import { createQueues } from "../api/queues.ts";

const TRIES = 5;

type Kept = { message: Incoming; tries: number };

/** Messages on disk, between the platform and their handler: claimed and stored in one step, deleted once handled. */
type Inbox = {
  /** Stores the message before it returns. False: it was there already. An edited message counts as new. */
  accept(message: Incoming): boolean;
  /** Drops a message that was not handled yet; otherwise tells the handler that it was recalled. */
  recall(recall: Recall): void;
  onRecall: FeishuChannel["onRecall"];
  onMessage: FeishuChannel["onMessage"];
  /** Starts handling stored messages. */
  start(): void;
  /** Starts no further message; resolves when the current ones are handled. */
  stop(): Promise<void>;
};

export function createInbox(
  store: SurfaceStore,
  { rememberMs, log, sleep }: { rememberMs: number; log: Log; sleep: (ms: number) => Promise<void> },
): Inbox {
  const queues = createQueues();
  let handler: ((message: Incoming) => void | Promise<void>) | undefined;
  let overtakes: (message: Incoming) => boolean = () => false;
  let recalled: ((recall: Recall) => void | Promise<void>) | undefined;
  let open = false;
  const going = new Set<string>();

  const hand = async (key: string): Promise<void> => {
    for (;;) {
      const kept = store.get(key) as Kept | undefined;
      if (!kept || !open || !handler) return;
      const { message, tries } = kept;
      if (tries >= TRIES) {
        log("error", `message ${message.messageId} was given up after ${TRIES} tries`);
        store.delete(key);
        return;
      }
      // Counted before the attempt: a message that crashes the process must not do so forever.
      store.set(key, { message, tries: tries + 1 });
      try {
        await handler(message);
        store.delete(key);
        return;
      } catch (error) {
        log("error", `message ${message.messageId} could not be handed on: ${thrownText(error)}`);
        await sleep(1_000 * 2 ** tries);
      }
    }
  };

  const drive = () => {
    if (!open || !handler) return;
    for (const { key, value } of store.list("inbox/")) {
      if (going.has(key)) continue;
      going.add(key);
      const { message } = value as Kept;
      queues
        .run(overtakes(message) ? key : `${message.chatId}/${message.threadId ?? ""}`, () => hand(key))
        .catch((error: unknown) => log("error", `the inbox cannot be read: ${thrownText(error)}`))
        .finally(() => going.delete(key));
    }
  };

  return {
    accept(message) {
      const { messageId, at, editedAt } = message;
      const key = keyOf(message);
      const isNew = store.atomically(() => {
        if (store.claim(`seen/${messageId}`, rememberMs)) {
          const { editedAt: _first, ...fresh } = message; // edited before it first arrived: this is its text
          store.set(key, { message: fresh, tries: 0 });
          store.set(`when/${messageId}`, at, { ttlMs: rememberMs });
          return true;
        }
        if (editedAt === undefined || !store.claim(`seen/${messageId}/${editedAt}`, rememberMs)) return false;
        const waiting = store.get(key) as Kept | undefined;
        if (waiting?.tries === 0) {
          const { editedAt: _now, ...fresh } = message;
          store.set(key, { message: fresh, tries: 0 });
          return false;
        }
        store.set(`${key}/${editedAt}`, { message, tries: 0 });
        return true;
      });
      if (isNew) setImmediate(drive); // the acknowledgement goes first
      return isNew;
    },
    recall(recall) {
      const { messageId } = recall;
      if (!store.claim(`recalled/${messageId}`, rememberMs)) return;
      const at = store.get(`when/${messageId}`) as number | undefined;
      const key = keyOf({ messageId, at: at ?? 0 });
      const waiting = store.get(key) as Kept | undefined;
      if (waiting?.tries === 0) return void store.delete(key);
      const heard = Promise.resolve(recalled?.(recall));
      heard.catch((error: unknown) => log("error", `a message that was taken back: ${thrownText(error)}`));
    },
    onRecall: (given) => void (recalled = given),
    onMessage(given, options) {
      handler = given;
      if (options) ({ overtakes } = options);
      drive();
    },
    start() {
      open = true;
      drive();
    },
    async stop() {
      open = false;
      await queues.idle();
    },
  };
}

/** Sorted by the time they were sent. */
const keyOf = ({ at, messageId }: Pick<Incoming, "at" | "messageId">): string =>
  `inbox/${String(at).padStart(15, "0")}/${messageId}`;
