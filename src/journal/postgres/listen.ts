import type { Client } from "pg";
import type { News } from "../replica/ledger.ts";
import { stayConnected } from "./stay-connected.ts";

type Listening = {
  connect(): Promise<Client>;
  heard(news: News): void;
  /** After every connection, the first too: what was told in between was missed. */
  back(): void;
  signal: AbortSignal;
};

/** Hears which sessions have new facts. Notifications only make it quicker: whoever misses one reads it at the next look. */
export function listen({ connect, heard, back, signal }: Listening): Promise<void> {
  const begin = async (client: Client) => {
    client.on("notification", ({ payload = "" }) => {
      const [before = "", upTo = "", ...session] = payload.split(" ");
      heard({ session: session.join(" "), before: Number(before), upTo: Number(upTo) });
    });
    await client.query("LISTEN sage_fact");
    if (!signal.aborted) back();
  };
  return stayConnected({ connect, begin, signal });
}
