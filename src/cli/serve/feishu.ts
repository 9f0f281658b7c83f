import type { SurfaceStores } from "../../runtime/surface-store.ts";
import type { Log } from "../../surfaces/feishu/transport/config.ts";
import type { OpenFeishu } from "../../surfaces/feishu/transport/open.ts";
import type { Lang } from "../../texts/language.ts";
import type { FeishuConfig } from "../feishu/config.ts";

export type SurfaceParts = { surfaces: SurfaceStores; lang: Lang; log: Log };

/** Feishu as a surface of the daemon. */
export async function openSurface(
  feishu: FeishuConfig,
  { surfaces, lang, log }: SurfaceParts,
): Promise<{ channel: OpenFeishu }> {
  const { openFeishu } = await import("../../surfaces/feishu/transport/open.ts");
  const store = surfaces.of(`feishu/${feishu.appId}`);
  return { channel: openFeishu(feishu, { store, lang, log }) };
}
