import { createCipheriv, createHash, randomBytes } from "node:crypto";
import { checkCard } from "./card-check.ts";
import type { Ack, Sockets } from "./sockets.ts";
import { forgetOldest } from "./world.ts";
import type { Json, Locale, Shown, World } from "./world.ts";

const DEADLINE_MS = 3_000;
const LADDER_MS = [15_000, 5 * 60_000, 60 * 60_000, 6 * 60 * 60_000];

export type Attempt = { eventId: string; message?: string; ok: boolean; at: number; status?: number };

export type Delivery = {
  /** Delivers an event and redelivers it until somebody acknowledges. */
  event(type: string, event: Json, header?: Json): string;
  /** Delivers an event that was delivered before once more. */
  redeliver(eventId: string, options?: { newEventId?: boolean }): Promise<Ack | undefined>;
  /** Delivers a click and shows the answer to whoever clicked. */
  click(by: string, messageId: string, action: Json): Promise<Shown>;
  attempts: Attempt[];
  /** Each event so many times. */
  duplicates: number;
  /** To this address instead of the long connection. */
  webhook: string | undefined;
  /** Signs and encrypts as the platform does. */
  request(payload: unknown, options?: SignOptions): { headers: Record<string, string>; body: string };
  idle(): Promise<void>;
};

export type SignOptions = { at?: number; nonce?: string; key?: string; unsigned?: boolean };

export function createDelivery(world: World, sockets: Sockets): Delivery {
  const { app, clock, messages, shown } = world;
  const sent = new Map<string, { type: string; event: Json; header: Json }>();
  const busy = new Set<Promise<unknown>>();

  const envelope = (type: string, event: Json, header: Json): Json => ({
    schema: "2.0",
    header: {
      event_id: randomBytes(16).toString("hex"),
      event_type: type,
      // Milliseconds for messages, microseconds for clicks.
      create_time: String(type === "card.action.trigger" ? clock.now() * 1_000 : clock.now()),
      token: app.verificationToken,
      app_id: app.id,
      tenant_key: app.tenantKey,
      ...header,
    },
    event,
  });

  const post = async (payload: Json, within: (giveUp: () => void) => () => void): Promise<Ack | undefined> => {
    const giveUp = new AbortController();
    const stop = within(() => giveUp.abort());
    try {
      const { headers, body } = delivery.request(payload);
      const response = await fetch(delivery.webhook ?? "", {
        method: "POST",
        headers,
        body,
        redirect: "manual",
        signal: giveUp.signal,
      });
      const text = await response.text();
      return { code: response.status, ...(text !== "" && { body: JSON.parse(text) as unknown }) };
    } catch {
      return undefined;
    } finally {
      stop();
    }
  };

  const deliver = (payload: Json): Promise<Ack | undefined> => {
    const within = (giveUp: () => void) => clock.after(DEADLINE_MS, giveUp);
    const work =
      delivery.webhook === undefined ? sockets.deliver(JSON.stringify(payload), within) : post(payload, within);
    busy.add(work);
    void work.finally(() => busy.delete(work));
    return work;
  };

  const attempt = async (payload: Json, tries: number): Promise<void> => {
    const ack = await deliver(payload);
    const ok = ack?.code === 200;
    const message = ((payload["event"] as Json)["message"] as Json | undefined)?.["message_id"];
    delivery.attempts.push({
      eventId: String((payload["header"] as Json)["event_id"]),
      ...(typeof message === "string" && { message }),
      ok,
      at: clock.now(),
      ...(ack && { status: ack.code }),
    });
    const next = LADDER_MS[tries];
    if (!ok && next !== undefined) clock.after(next, () => void attempt(payload, tries + 1));
  };

  const delivery: Delivery = {
    attempts: [],
    duplicates: 1,
    webhook: undefined,
    event(type, event, header = {}) {
      const payload = envelope(type, event, header);
      const id = String((payload["header"] as Json)["event_id"]);
      sent.set(id, { type, event, header: payload["header"] as Json });
      forgetOldest(sent, 500);
      if (world.events.has(type)) for (let n = 0; n < delivery.duplicates; n++) void attempt(payload, 0);
      return id;
    },
    async redeliver(eventId, { newEventId = false } = {}) {
      const known = sent.get(eventId);
      if (!known) throw new Error(`no event ${eventId} was sent`);
      const { event_id: old, ...header } = known.header;
      return deliver(envelope(known.type, known.event, newEventId ? header : { ...header, event_id: old }));
    },
    async click(by, messageId, action) {
      const message = messages.get(messageId);
      const person = world.people.get(by);
      if (!message || !person) throw new Error("who clicks what?");
      const began = clock.now();
      const show = (more: Partial<Shown>): Shown => {
        const one = { by, message: messageId, ms: clock.now() - began, ...more };
        shown.push(one);
        return one;
      };
      if (!world.callbacks.has("card.action.trigger") || !world.published) return show({ error: 200340 });
      const token = `c-${randomBytes(16).toString("hex")}`;
      world.updateTokens.set(token, { message: messageId, at: clock.now(), used: 0, armed: false });
      message.locked = true;
      const ack = await deliver(
        envelope(
          "card.action.trigger",
          {
            operator: { tenant_key: person.tenantKey, open_id: by, union_id: by.replace("ou_", "on_") },
            token,
            action: { timezone: "Asia/Shanghai", ...action },
            host: "im_message",
            context: { open_message_id: messageId, open_chat_id: message.chat },
          },
          {},
        ),
      );
      message.locked = false;
      if (!ack) return show({ error: 200341 });
      if (ack.code !== 200) return show({ error: 200671, why: String(ack.code) });
      const known = world.updateTokens.get(token);
      if (known) known.armed = true;
      const answer = ack.body ?? {};
      const problem = refused(answer, message.card, message.entity !== undefined && streaming(message.card));
      if (problem) return show(problem);
      const { toast, card } = answer as { toast?: Toast; card?: { data: Json } };
      if (card) {
        message.card = card.data;
        const entity = message.entity === undefined ? undefined : world.entities.get(message.entity);
        if (entity) entity.card = card.data;
      }
      return show(toast ? { toast: { type: toast.type, content: textOf(toast, person.locale) } } : {});
    },
    request(
      payload,
      { at = clock.now(), nonce = randomBytes(8).toString("hex"), key = app.encryptKey, unsigned } = {},
    ) {
      const iv = randomBytes(16);
      const cipher = createCipheriv("aes-256-cbc", createHash("sha256").update(key).digest(), iv);
      const text = typeof payload === "string" ? payload : JSON.stringify(payload);
      const encrypt = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final()]).toString("base64");
      const body = JSON.stringify({ encrypt });
      const timestamp = String(Math.floor(at / 1_000));
      const signature = createHash("sha256")
        .update(timestamp + nonce + key)
        .update(body)
        .digest("hex");
      return {
        body,
        headers: {
          "content-type": "application/json; charset=utf-8",
          ...(!unsigned && {
            "x-lark-request-timestamp": timestamp,
            "x-lark-request-nonce": nonce,
            "x-lark-signature": signature,
          }),
        },
      };
    },
    async idle() {
      while (busy.size > 0) await Promise.allSettled(busy);
    },
  };
  return delivery;
}

type Toast = { type: string; content: string; i18n?: Record<string, string> };

const textOf = ({ content, i18n }: Toast, locale: Locale | undefined): string => (locale && i18n?.[locale]) ?? content;

function refused(answer: unknown, before: Json | undefined, streams: boolean): Partial<Shown> | undefined {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer))
    return { error: 200672, why: `the answer is ${JSON.stringify(answer)}` };
  const { toast, card, ...rest } = answer as { toast?: Json; card?: Json };
  if (Object.keys(rest).length > 0) return { error: 200672, why: `unknown ${Object.keys(rest).join(", ")}` };
  if (toast && !["info", "success", "warning", "error"].includes(String(toast["type"])))
    return { error: 200672, why: `the toast is of type ${String(toast["type"])}` };
  if (!card) return undefined;
  if (card["type"] !== "raw") return { error: 200673, why: "card.type" };
  const data = card["data"] as Json;
  if (before?.["schema"] === "2.0" && data["schema"] !== "2.0") return { error: 200830 };
  if (streams) return { error: 200673, why: "a card that streams is not updated by an answer" };
  const problem = checkCard(data);
  return problem && { error: 200673, why: problem.message };
}

function streaming(card: Json | undefined): boolean {
  return ((card?.["config"] ?? {}) as Json)["streaming_mode"] === true;
}
