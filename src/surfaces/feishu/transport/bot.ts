import type { SurfaceStore } from "../../../protocol/host/surface-store.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import type { ChannelStatus } from "../channel/channel.ts";
import type { Api } from "./api/api.ts";
import type { Log } from "./api/config.ts";

const MAX_PAUSE_MS = 60_000;

/** The bot's own id and name, to recognise its mentions. The last known ones count while the platform cannot be reached. */
export type Bot = {
  id(): string | undefined;
  name(): string;
  /** Asks until the platform answers; resolves after the first attempt. */
  learn(): Promise<void>;
  /** State of API calls: the only sign of health where no connection is open. */
  status(): ChannelStatus;
};

export function createBot(
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
