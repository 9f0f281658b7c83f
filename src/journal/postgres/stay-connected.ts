import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { News } from "../replica/ledger.ts";

const PAUSE_MS = 200;

type Staying = {
  connect(): Promise<Client>;
  /** Runs on every new connection, before anything is awaited from it. */
  begin(client: Client): Promise<void>;
  /** The connection that was begun is gone. */
  lost?(): void;
  /** False: the process may end during the pause before the next connection. */
  ref?: boolean;
  signal: AbortSignal;
};

/** Keeps one connection open: a new one follows each that is lost, until the signal is aborted. */
export async function stayConnected({ connect, begin, lost, ref = true, signal }: Staying): Promise<void> {
  while (!signal.aborted) {
    try {
      const client = await connect();
      const gone = new Promise<void>((resolve) => client.once("end", resolve).once("error", () => resolve()));
      const leave = () => void client.end().catch(() => {});
      if (signal.aborted) return leave(); // it was aborted while it connected
      signal.addEventListener("abort", leave, { once: true });
      try {
        await begin(client);
        await gone;
        lost?.();
      } finally {
        signal.removeEventListener("abort", leave);
        leave();
      }
    } catch {
      // The server is away: try again.
    }
    await sleep(PAUSE_MS, undefined, { signal, ref }).catch(() => {});
  }
}

type Listening = {
  connect(): Promise<Client>;
  heard(news: News): void;
  /** After every connection, including the first: notifications in between were missed. */
  back(): void;
  signal: AbortSignal;
};

/** Listens for sessions with new facts. Notifications are only an optimisation: a missed one is found by the next poll. */
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
