import { join } from "node:path";
import type { Host } from "../../protocol/index.ts";
import { createRedaction } from "../../runtime/redact.ts";
import type { SurfaceStores } from "../../runtime/surface-store.ts";
import type { Log } from "../../surfaces/feishu/transport/config.ts";
import type { OpenFeishu } from "../../surfaces/feishu/transport/open.ts";
import type { Lang } from "../../texts/language.ts";
import type { FeishuConfig } from "../feishu/config.ts";

export type SurfaceParts = {
  host: Host;
  surfaces: SurfaceStores;
  env: NodeJS.ProcessEnv;
  /** Sessions may read there, wherever they work. */
  output: string;
  /** Of new sessions, where one was named. */
  model: string | undefined;
  lang: Lang;
  log: Log;
};

/** Feishu as a surface of the daemon. */
export async function openSurface(
  feishu: FeishuConfig,
  { host, surfaces, env, output, model, lang, log }: SurfaceParts,
): Promise<{ channel: OpenFeishu; attach(signal: AbortSignal): Promise<void> }> {
  const { openFeishu } = await import("../../surfaces/feishu/transport/open.ts");
  const store = surfaces.of(`feishu/${feishu.appId}`);
  const channel = openFeishu(feishu, { store, lang, log });
  const { appId: app, people, cwd, folders, models } = feishu;
  return {
    channel,
    async attach(signal) {
      const { attachFeishu } = await import("../../surfaces/feishu/index.ts");
      const attached = attachFeishu(host, {
        ...{ channel, store, app, people, cwd, folders, models, lang, signal },
        ...(model !== undefined && { model }),
        inbox: join(output, "feishu"),
        hostRecovers: true,
        redaction: createRedaction(env),
        log: (line) => log("warn", line),
      });
      await attached.ready;
    },
  };
}
