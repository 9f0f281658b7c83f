import { attempt } from "../../../../base/attempt.ts";
import { thrownText } from "../../../../texts/shared/error.ts";
import type { Log } from "../api/config.ts";
import { type Envelope, readEnvelope } from "./event.ts";
import { createDecipheriv, createHash, timingSafeEqual } from "node:crypto";

const TOLD_MS = 10_000;

export type Webhook = (request: WebhookRequest) => Promise<{ status: number; body: object }>;

/** Answers one request. Never throws, and tells a stranger nothing. */
export function createWebhook(
  keys: WebhookKeys,
  { receive, now, log }: { receive(envelope: Envelope): Promise<object>; now(): number; log: Log },
): Webhook {
  const refused = sparingly((text) => log("warn", text));
  return async (request) => {
    const verdict = verify(request, keys, now());
    if (!verdict.genuine) {
      refused(`webhook: refused with ${verdict.status}: ${verdict.why}`);
      return { status: verdict.status, body: {} };
    }
    if ("challenge" in verdict) return { status: 200, body: { challenge: verdict.challenge } };
    try {
      return { status: 200, body: await receive(verdict.envelope) };
    } catch (error) {
      // Not stored, so not acknowledged: the platform delivers it again.
      log("error", `webhook: an event was not recorded: ${thrownText(error)}`);
      return { status: 503, body: {} };
    }
  };
}

/** Limits log lines: strangers must not be able to fill the disk. */
function sparingly(tell: (text: string) => void): (text: string) => void {
  let count = 0;
  let toldAt = -Infinity;
  return (text) => {
    count++;
    if (performance.now() - toldAt < TOLD_MS) return;
    tell(count > 1 ? `${text} (${count} since the last line)` : text);
    count = 0;
    toldAt = performance.now();
  };
}

/** The platform signs when it sends, and may send late. */
const FRESH_MS = 60 * 60_000;
/** A challenge is a few hundred bytes. */
const MAX_UNSIGNED_BYTES = 8 * 1024;

type WebhookKeys = { appId: string; encryptKey: string; verificationToken: string };

type WebhookRequest = { headers: Record<string, string | undefined>; body: Buffer };

/** Is a request the platform's own? Decided on the bytes as they came, and nothing in it is believed before that. */
type Verdict =
  | { genuine: true; envelope: Envelope }
  /** The console asks whether this address is ours. */
  | { genuine: true; challenge: string }
  | { genuine: false; status: 400 | 401 | 403; why: string };

export function verify({ headers, body }: WebhookRequest, keys: WebhookKeys, now: number): Verdict {
  const signed = isSigned(headers, body, keys.encryptKey);
  // Large unsigned bodies are not parsed or decrypted: a flood of them must not delay a challenge.
  if (!signed && body.length > MAX_UNSIGNED_BYTES) return refuse(401, "the signature is missing or wrong");
  const encrypted = stringIn(parse(body.toString("utf8")), "encrypt");
  if (encrypted === undefined) return refuse(400, "the body should be a JSON object with an encrypted text");
  const text = decrypt(encrypted, keys.encryptKey);
  const payload = text === undefined ? undefined : parse(text);
  if (payload === undefined) return refuse(signed ? 400 : 401, "the body cannot be decrypted");

  // The one request that may come without a signature: it proves itself by its encryption and its token.
  if (stringIn(payload, "type") === "url_verification") {
    const challenge = stringIn(payload, "challenge");
    if (!same(stringIn(payload, "token") ?? "", keys.verificationToken)) return refuse(403, "the token is another one");
    return challenge === undefined ? refuse(400, "the challenge is missing") : { genuine: true, challenge };
  }
  if (!signed) return refuse(401, "the signature is missing or wrong");
  const at = Number(headers["x-lark-request-timestamp"]) * 1_000;
  if (!(Math.abs(now - at) <= FRESH_MS)) return refuse(401, "it was signed too long ago");
  const envelope = readEnvelope(payload);
  if (!envelope) return refuse(400, "the event is of a form that is not known");
  if (!same(envelope.header.token, keys.verificationToken)) return refuse(403, "the token is another one");
  if (envelope.header.app_id !== keys.appId) return refuse(403, "it is for another app");
  return { genuine: true, envelope };
}

/** SHA-256 over timestamp, nonce, key and the very bytes: no HMAC, no separators. */
function isSigned(headers: WebhookRequest["headers"], body: Buffer, key: string): boolean {
  const timestamp = headers["x-lark-request-timestamp"];
  const nonce = headers["x-lark-request-nonce"];
  const signature = headers["x-lark-signature"];
  // Without separators a digit could move from timestamp to nonce, so the timestamp has a fixed length.
  if (timestamp === undefined || !/^\d{10}$/.test(timestamp) || nonce === undefined || signature === undefined)
    return false;
  const expected = createHash("sha256")
    .update(timestamp + nonce + key)
    .update(body)
    .digest("hex");
  return same(signature, expected);
}

function decrypt(encrypted: string, key: string): string | undefined {
  try {
    const bytes = Buffer.from(encrypted, "base64");
    const decipher = createDecipheriv("aes-256-cbc", createHash("sha256").update(key).digest(), bytes.subarray(0, 16));
    return Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}

/** Compares digests, so that neither content nor length can be found out by the time it takes. */
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function parse(text: string): unknown {
  return attempt(() => JSON.parse(text));
}

function stringIn(value: unknown, key: string): string | undefined {
  const found = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return typeof found === "string" ? found : undefined;
}

function refuse(status: 400 | 401 | 403, why: string): Verdict {
  return { genuine: false, status, why };
}
