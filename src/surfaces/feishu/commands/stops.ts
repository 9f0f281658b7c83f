import type { Incoming } from "../channel/channel.ts";
import { placeIn } from "../bot/records.ts";

const REMEMBER_MS = 10 * 60_000;

type Stop = { chat: string; root?: string | undefined; owner: string; group: boolean; at: number };

/** Messages on their way to a session, and the word "stop" that overtakes them. */
export type Stops = {
  /** Aborted when somebody says stop there, also when they have done so already; `end` when the message is in safe hands. */
  begin(message: Incoming): { signal: AbortSignal; end(): void };
  /** Drops earlier messages that have not reached their session yet. False if there were none. */
  stop(message: Incoming): boolean;
};

export function createStops(now: () => number): Stops {
  const going = new Map<Incoming, AbortController>();
  let stops: (Stop & { saidAt: number })[] = [];
  return {
    begin(message) {
      const controller = new AbortController();
      going.set(message, controller);
      if (stops.some((stop) => isStopped(message, stop))) controller.abort(new Error("stopped"));
      return { signal: controller.signal, end: () => void going.delete(message) };
    },
    stop(message) {
      const { chat, root, group, owner } = placeIn(message);
      const top = group && message.rootId === undefined;
      const stop = { chat, root: top ? undefined : root, group, owner, at: message.at };
      stops = [...stops.filter(({ saidAt }) => now() - saidAt < REMEMBER_MS), { ...stop, saidAt: now() }];
      const hit = [...going].filter(([other]) => other !== message && isStopped(other, stop));
      for (const [, controller] of hit) controller.abort(new Error("stopped"));
      return hit.length > 0;
    },
  };
}

/** At the top of a group it covers the same person's messages there; elsewhere all messages of the same place. */
function isStopped(message: Incoming, stop: Stop): boolean {
  if (message.chatId !== stop.chat || message.at > stop.at) return false;
  const { root, owner } = placeIn(message);
  return stop.group && stop.root === undefined ? owner === stop.owner : root === stop.root;
}
