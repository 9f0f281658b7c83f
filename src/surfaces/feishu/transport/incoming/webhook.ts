import { thrownText } from "../../../../texts/shared/error.ts";
import type { Log } from "../api/config.ts";
import type { Envelope } from "./event.ts";
import { verify, type WebhookKeys, type WebhookRequest } from "./genuine.ts";

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
