import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { News } from "../ledger.ts";

const PAUSE_MS = 200;

type Listening = {
  connect(): Promise<Client>;
  heard(news: News): void;
  /** After every connection, the first too: what was told in between was missed. */
  back(): void;
  signal: AbortSignal;
};

/** Hears which sessions have new facts. Notifications only make it quicker: whoever misses one reads it at the next look. */
export async function listen({ connect, heard, back, signal }: Listening): Promise<void> {
  while (!signal.aborted) {
    try {
      const client = await connect();
      const gone = new Promise<void>((resolve) => client.once("end", resolve).once("error", () => resolve()));
      const leave = () => void client.end().catch(() => {});
      signal.addEventListener("abort", leave, { once: true });
      client.on("notification", ({ payload = "" }) => {
        const [before = "", upTo = "", ...session] = payload.split(" ");
        heard({ session: session.join(" "), before: Number(before), upTo: Number(upTo) });
      });
      await client.query("LISTEN sage_fact");
      if (signal.aborted) leave();
      else back();
      await gone;
      signal.removeEventListener("abort", leave);
      leave();
    } catch {
      // The server is away: try again.
    }
    if (!signal.aborted) await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}
