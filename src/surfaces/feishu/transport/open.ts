import { setTimeout as after } from "node:timers/promises";
import type { SurfaceStore } from "../../../protocol/host/surface-store.ts";
import { feishuServeTexts } from "../../../texts/surfaces/feishu-serve.ts";
import type { Lang } from "../../../texts/language.ts";
import type { FeishuChannel, ChannelStatus } from "../channel/channel.ts";
import { createApi, type Api } from "./api/api.ts";
import { createClicks } from "./incoming/clicks.ts";
import { usual, type FeishuApp, type Log, type Timings } from "./api/config.ts";
import { readClick, readEnvelope, readMessage, readRecall, wireAnswer, type Envelope } from "./incoming/event.ts";
import { createInbox } from "./incoming/inbox.ts";
import { createQueues } from "./api/queues.ts";
import { createSending } from "./outgoing/sending.ts";
import { createConnection } from "./incoming/socket.ts";
import { createWebhook, type Webhook } from "./incoming/webhook.ts";
import { thrownText } from "../../../texts/shared/error.ts";

/** Time for the acknowledgement of the last event to be sent. */
const FLUSH_MS = 50;

export type OpenFeishu = FeishuChannel & {
  /** Only in webhook mode. */
  webhook?: Webhook;
  /** Counters since the start, for metrics. */
  counts(): Readonly<Record<"messages" | "clicks" | "calls" | "failures", number>>;
};

type FeishuParts = {
  /** Storage of this app alone: two bots in one group receive the same messages. */
  store: SurfaceStore;
  lang: Lang;
  log: Log;
  timings?: Partial<Timings>;
  now?: () => number;
  /** Resolves once a successor can read the store; rejects if there is one. Nothing is acknowledged or sent before. */
  kept?(): Promise<void>;
};

/** Feishu over the official library: both ways in, one way out. */
export function openFeishu(
  app: FeishuApp,
  { store, lang, log, timings: some, now = Date.now, kept = async () => {} }: FeishuParts,
): OpenFeishu {
  const timings = { ...usual, ...some };
  const { rememberMs, answerMs, retryMs } = timings;
  const over = new AbortController();
  const sleep = (ms: number) => after(ms, undefined, { signal: over.signal }); // closing ends it
  const platform = createApi(app, timings, log, sleep);
  const api: Api = {
    ...platform,
    async call(...asked) {
      await kept();
      return platform.call(...asked);
    },
  };
  const queues = createQueues();
  const sending = createSending({ api, appId: app.appId, queues, store, sleep, log });
  const inbox = createInbox(store, { rememberMs, log, sleep });
  const bot = createBot(api, { store, sleep, log, retryMs });
  const { hold, replaced, patchCard: patch } = sending;
  const texts = feishuServeTexts(lang);
  const clicks = createClicks({ store, rememberMs, answerMs, texts, log, hold, replaced, patch });
  const counted = { messages: 0, clicks: 0 };
  let heardAt: number | undefined;
  let closing: Promise<void> | undefined;
  const under = new Set<Promise<object>>();

  /** Handles one genuine event and returns the response. If this throws, the platform delivers the event again. */
  const receive = (envelope: Envelope): Promise<object> => {
    if (closing) return Promise.reject(new Error("leaving: it comes again"));
    heardAt = Date.now();
    if (envelope.header.tenant_key !== "" && store.get("tenant") === undefined)
      store.set("tenant", envelope.header.tenant_key);
    const handled = handleEvent(envelope, { bot, inbox, clicks, counted, kept, now, rememberMs, log });
    under.add(handled);
    void handled.catch(() => {}).then(() => under.delete(handled));
    return handled;
  };

  const connection =
    app.mode === "socket"
      ? createConnection(app, {
          api,
          timings,
          log,
          async receive(payload) {
            const envelope = readEnvelope(payload);
            return envelope && envelope.header.app_id === app.appId ? receive(envelope) : {};
          },
        })
      : undefined;

  const { encryptKey, verificationToken, appId } = app;
  const webhook =
    app.mode === "webhook" && encryptKey !== undefined && verificationToken !== undefined
      ? createWebhook({ appId, encryptKey, verificationToken }, { receive, now, log })
      : undefined;

  /** Accepts nothing new, and waits a moment for responses and messages in progress. */
  const close = async (): Promise<void> => {
    const patience = after(timings.leaveMs, undefined, { ref: false });
    await Promise.race([Promise.allSettled(under).then(() => after(FLUSH_MS)), patience]);
    connection?.close();
    await Promise.race([inbox.stop().then(() => queues.idle()), patience]);
    over.abort(new Error("the bridge is closing"));
  };

  return {
    ...sending,
    ...(webhook && { webhook }),
    onMessage: inbox.onMessage,
    botName: bot.name,
    tenant: () => store.get("tenant") as string | undefined,
    counts: () => ({ ...counted, ...api.counts() }),
    linkTo: (chat) => `${linksOf(app.domain)}/client/chat/open?openChatId=${encodeURIComponent(chat)}`,
    onRecall: inbox.onRecall,
    onCard: clicks.onCard,
    async start(signal) {
      signal.addEventListener("abort", () => void (closing ??= close()), { once: true });
      if (signal.aborted || closing) return;
      await bot.learn();
      inbox.start();
      await connection?.start();
    },
    status() {
      if (connection) {
        const now = connection.status();
        // A failed connection says little; the API calls know why the platform does not answer.
        const { problem } = bot.status();
        return now.state === "connected" || now.problem || !problem ? now : { ...now, problem };
      }
      const state = closing ? ("closed" as const) : bot.status().state;
      return { ...bot.status(), state, ...(heardAt !== undefined && { heardAt }) };
    },
    close: () => (closing ??= close()),
  };
}

type EventParts = {
  bot: Pick<ReturnType<typeof createBot>, "id">;
  inbox: ReturnType<typeof createInbox>;
  clicks: ReturnType<typeof createClicks>;
  counted: { messages: number; clicks: number };
  kept(): Promise<void>;
  now(): number;
  rememberMs: number;
  log: Log;
};

async function handleEvent(
  envelope: Envelope,
  { bot, inbox, clicks, counted, kept, now, rememberMs, log }: EventParts,
): Promise<object> {
  const { header, event } = envelope;
  switch (header.event_type) {
    case "im.message.receive_v1": {
      const message = readMessage(event, bot.id());
      if (!message) return {};
      if (now() - message.at < rememberMs) counted.messages += inbox.accept(message) ? 1 : 0;
      // Too old to know whether it was seen.
      else log("warn", `a message of ${new Date(message.at).toISOString()} is too old, and is left alone`);
      await kept();
      return {};
    }
    case "im.message.recalled_v1": {
      const recall = readRecall(event);
      if (recall) inbox.recall(recall);
      await kept();
      return {};
    }
    case "card.action.trigger": {
      const click = readClick(envelope);
      counted.clicks += click ? 1 : 0;
      return click ? wireAnswer(await clicks.answer(click)) : {};
    }
    default:
      return {};
  }
}

/** Origin of links that the client opens, by the origin of the API. */
function linksOf(domain: string): string {
  return /larksuite/.test(domain) ? "https://applink.larksuite.com" : "https://applink.feishu.cn";
}

const MAX_PAUSE_MS = 60_000;

/** The bot's own id and name, to recognise its mentions. The last known ones count while the platform cannot be reached. */
type Bot = {
  id(): string | undefined;
  name(): string;
  /** Asks until the platform answers; resolves after the first attempt. */
  learn(): Promise<void>;
  /** State of API calls: the only sign of health where no connection is open. */
  status(): ChannelStatus;
};

function createBot(
  api: Api,
  { store, sleep, log, retryMs }: { store: SurfaceStore; sleep(ms: number): Promise<void>; log: Log; retryMs: number },
): Bot {
  let id = store.get("bot") as string | undefined;
  let name = (store.get("bot-name") as string | undefined) ?? "Sage";
  let status: ChannelStatus = { state: "connecting", since: Date.now() };

  /** True once id and name are known. */
  const ask = async (): Promise<boolean> => {
    try {
      const { bot } = (await api.call({ method: "GET", path: "bot/v3/info" }, { once: true })) as {
        bot?: { open_id?: string; app_name?: string };
      };
      if (!bot?.open_id) throw new Error("the app has no bot");
      id = bot.open_id;
      store.set("bot", id);
      if (bot.app_name) store.set("bot-name", (name = bot.app_name));
      status = { state: "connected", since: Date.now() };
      return true;
    } catch (error) {
      status = {
        state: "failed",
        since: status.state === "failed" ? status.since : Date.now(),
        problem: thrownText(error),
      };
      log("error", `the bot cannot be looked up: ${thrownText(error)}`);
      return false;
    }
  };

  const insist = async (): Promise<void> => {
    for (let waitMs = retryMs; ; waitMs = Math.min(waitMs * 2, MAX_PAUSE_MS)) {
      await sleep(waitMs);
      if (await ask()) return;
    }
  };

  return {
    id: () => id,
    name: () => name,
    async learn() {
      if (!(await ask())) insist().catch(() => {}); // it ends when the bridge does
    },
    status: () => status,
  };
}
