import { identify, type Identity } from "../../processes/identity.ts";
import type { Cluster } from "../../host/cluster/cluster.ts";
import { openSurfaceStores, shareFile } from "../../host/surface-store.ts";
import type { SharedStore, SurfaceStore } from "../../protocol/host/surface-store.ts";
import type { ServeTexts } from "../../texts/serve/serve.ts";
import { feishuSurface, type BotConfig } from "../connect/feishu/config.ts";
import { openBot, shareBot, type Bot, type SurfaceParts } from "./feishu/bot.ts";

/** Memory of the surfaces of a daemon, and the bots that use it. */
export type SurfaceMemory = {
  web: SharedStore;
  /** The sessions that are this daemon's own; none where workers run them. */
  own?: SurfaceStore;
  openBot(bot: BotConfig, parts: SurfaceParts & { t: ServeTexts }): Promise<Bot>;
  /** Notes where the page is served, for `sage devices`. */
  serves(origins: readonly string[]): Promise<void>;
  /** Other gateways take over the bots. */
  leave(): Promise<void>;
  close(): void;
};

/** A daemon that serves the page from this machine, as its file notes it. */
export type Served = Identity & { origins: string[] };

export function fileMemory(path: string): SurfaceMemory {
  const stores = openSurfaceStores(path);
  const web = shareFile(stores.of("web"));
  return {
    web,
    own: stores.of("serve"),
    openBot: (bot, parts) => openBot(bot, stores.of(feishuSurface(bot)), parts),
    serves: (origins) =>
      web.change((store) => store.set("served", { ...identify(process.pid), origins: [...origins] } satisfies Served)),
    async leave() {},
    close: stores.close,
  };
}

export async function sharedMemory(
  { pool, process: id, connect, replica }: Cluster,
  failed: (error: unknown) => void,
): Promise<SurfaceMemory> {
  const { joinGateways } = await import("../../host/cluster/gateways/membership.ts");
  const { surfaceTable } = await import("../../journal/postgres/surface-table.ts");
  const table = surfaceTable(pool);
  const presence = await joinGateways(table, { process: id, connect }, { failed });
  const web = await presence.share("web");
  return {
    web,
    openBot: async (bot, parts) => shareBot(bot, presence, { ...parts, caughtUp: replica.caughtUp }),
    async serves(origins) {
      const living = new Set((await table.gateways()).map((gateway) => servedKey(gateway.id)));
      await web.change((store) => {
        for (const { key } of store.list(servedKey(""))) if (!living.has(key)) store.delete(key);
        store.set(servedKey(id), [...origins]);
      });
    },
    leave: () => presence.leave(),
    close() {},
  };
}

export function servedKey(gateway: string): string {
  return `served/${gateway}`;
}
