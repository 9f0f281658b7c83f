import { homedir } from "node:os";
import { join } from "node:path";
import type { Host } from "../../../protocol/index.ts";
import { loadConfig } from "../../../config/config.ts";
import type { Home } from "../../../config/home.ts";
import { createRedaction } from "../../../config/redact.ts";
import type { SurfaceStores } from "../../../host/surface-store.ts";
import type { Log } from "../../../surfaces/feishu/transport/config.ts";
import type { OpenFeishu } from "../../../surfaces/feishu/transport/open.ts";
import type { Lang } from "../../../texts/language.ts";
import type { FeishuConfig } from "../feishu/config.ts";

export type SurfaceParts = {
  host: Host;
  surfaces: SurfaceStores;
  home: Home;
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
  { host, surfaces, home, env, output, model, lang, log }: SurfaceParts,
): Promise<{ channel: OpenFeishu; attach(signal: AbortSignal): Promise<void> }> {
  const { openFeishu } = await import("../../../surfaces/feishu/transport/open.ts");
  const store = surfaces.of(`feishu/${feishu.appId}`);
  const channel = openFeishu(feishu, { store, lang, log });
  const { appId: app, people, cwd, folders, models } = feishu;
  return {
    channel,
    async attach(signal) {
      const { attachFeishu } = await import("../../../surfaces/feishu/index.ts");
      const attached = attachFeishu(host, {
        ...{ channel, store, app, people, cwd, folders, models, lang, signal },
        ...(model !== undefined && { model }),
        inbox: join(output, "feishu"),
        hostRecovers: true,
        redaction: createRedaction(env),
        mayRead: (path, cwd) => mayRead(path, cwd, { home, env }),
        log: (line) => log("warn", line),
      });
      await attached.ready;
    },
  };
}

/** By the rules as they stand in that folder now; whoever would be asked about it has not been. */
export async function mayRead(
  path: string,
  cwd: string,
  { home, env }: Pick<SurfaceParts, "home" | "env">,
): Promise<boolean> {
  const { loadDecision } = await import("../permissions/decision.ts");
  const decide = await loadDecision();
  const { rules } = loadConfig(home, cwd, env);
  const where = { mode: "default", cwd, home: homedir(), roots: [cwd] } as const;
  return decide({ rules, ...where, tool: "Read", input: { file_path: path } }).result.behavior === "allow";
}
