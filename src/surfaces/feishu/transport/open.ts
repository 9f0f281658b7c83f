import type { SurfaceStore } from "../../../protocol/index.ts";
import { feishuServeTexts } from "../../../texts/feishu-serve.ts";
import type { Lang } from "../../../texts/language.ts";
import type { ChannelStatus, FeishuChannel } from "../channel.ts";
import { createApi } from "./api.ts";
import { createClicks } from "./clicks.ts";
import { usual, type FeishuApp, type Log, type Timings } from "./config.ts";
import { readClick, readEnvelope, readMessage, wireAnswer, type Envelope } from "./event.ts";
import { verify, type WebhookRequest } from "./genuine.ts";
import { createInbox } from "./inbox.ts";
import { createQueues } from "./queues.ts";
import { createSending } from "./sending.ts";
import { createConnection } from "./socket.ts";

const REFUSED_MS = 10_000;

export type OpenFeishu = FeishuChannel & {
  /** Answers one request to the webhook; only there in that mode. It never throws, and says nothing to a stranger. */
  webhook?: (request: WebhookRequest) => Promise<{ status: number; body: object }>;
};

export type FeishuParts = {
  /** Of this app alone: two bots in one group hear of the same messages. */
  store: SurfaceStore;
  lang: Lang;
  log: Log;
  timings?: Partial<Timings>;
  now?: () => number;
};

/** Feishu over the official library: both ways in, one way out. */
export function openFeishu(
  app: FeishuApp,
  { store, lang, log, timings: some, now = Date.now }: FeishuParts,
): OpenFeishu {
  const timings = { ...usual, ...some };
  const leaving = new AbortController();
  const sleep = sleeper(leaving.signal);
  const api = createApi(app, timings, log, sleep);
  const queues = createQueues();
  const sending = createSending({ api, queues, store, sleep, log });
  const inbox = createInbox(store, { rememberMs: timings.rememberMs, log, sleep });
  const clicks = createClicks({
    store,
    rememberMs: timings.rememberMs,
    answerMs: timings.answerMs,
    texts: feishuServeTexts(lang),
    log,
    hold: sending.hold,
    replaced: sending.replaced,
    patch: sending.patchCard,
  });
  let botId = store.get("bot") as string | undefined;

  /** One genuine event, whichever way it came: what is returned is the answer. What throws is delivered again. */
  const receive = async (envelope: Envelope): Promise<object> => {
    const { header, event } = envelope;
    if (header.event_type === "im.message.receive_v1") {
      const message = readMessage(event, botId);
      // Older than what is remembered: whether it was seen can no longer be known.
      if (message && now() - message.at < timings.rememberMs) inbox.accept(message);
      return {};
    }
    if (header.event_type !== "card.action.trigger") return {};
    const click = readClick(envelope);
    return click ? wireAnswer(await clicks.answer(click)) : {};
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

  /** Who the bot is, for its mentions; known from the last time when it cannot be asked now. */
  const learnBot = async () => {
    try {
      const { bot } = (await api.call({ method: "GET", path: "bot/v3/info" })) as { bot?: { open_id?: string } };
      if (bot?.open_id === undefined) return;
      botId = bot.open_id;
      store.set("bot", botId);
      serving = { state: "connected", since: Date.now() };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      serving = { state: "failed", since: Date.now(), problem };
      log("error", `the bot cannot be looked up: ${problem}`);
    }
  };
  let serving: ChannelStatus = { state: "idle", since: Date.now() };
  let heardAt: number | undefined;

  /** Strangers must not be able to fill a disk with lines. */
  let silent = 0;
  let toldAt = -Infinity;
  const refused = (why: string) => {
    silent++;
    if (performance.now() - toldAt < REFUSED_MS) return;
    log("warn", `webhook: refused with ${why}${silent > 1 ? ` (${silent} since the last line)` : ""}`);
    silent = 0;
    toldAt = performance.now();
  };

  const { encryptKey, verificationToken, appId } = app;
  const webhook: OpenFeishu["webhook"] =
    app.mode === "webhook" && encryptKey !== undefined && verificationToken !== undefined
      ? async (request) => {
          const verdict = verify(request, { appId, encryptKey, verificationToken }, now());
          if (!verdict.genuine) {
            refused(`${verdict.status}: ${verdict.why}`);
            return { status: verdict.status, body: {} };
          }
          if ("challenge" in verdict) return { status: 200, body: { challenge: verdict.challenge } };
          if (leaving.signal.aborted) return { status: 503, body: {} };
          heardAt = Date.now();
          try {
            return { status: 200, body: await receive(verdict.envelope) };
          } catch (error) {
            // Not recorded, so not acknowledged: it comes again.
            log(
              "error",
              `webhook: an event was not recorded: ${error instanceof Error ? error.message : String(error)}`,
            );
            return { status: 503, body: {} };
          }
        }
      : undefined;

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    connection?.close();
    const patience = new Promise<void>((resolve) => setTimeout(resolve, timings.leaveMs).unref());
    await Promise.race([inbox.stop().then(() => queues.idle()), patience]);
    serving = { state: "closed", since: Date.now() };
    leaving.abort(new Error("the bridge is closing"));
  };

  return {
    ...sending,
    ...(webhook && { webhook }),
    onMessage: inbox.onMessage,
    onCard: clicks.onCard,
    async start(signal) {
      signal.addEventListener("abort", () => void (closing ??= close()), { once: true });
      if (signal.aborted) return;
      await learnBot();
      inbox.start();
      await connection?.start();
    },
    status: () => connection?.status() ?? { ...serving, ...(heardAt !== undefined && { heardAt }) },
    close: () => (closing ??= close()),
  };
}

/** Sleeps that end when the bridge does. */
function sleeper(signal: AbortSignal): (ms: number) => Promise<void> {
  return (ms) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const stop = () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", stop);
        resolve();
      }, ms);
      signal.addEventListener("abort", stop, { once: true });
    });
}
