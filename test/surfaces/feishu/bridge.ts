import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectionLimits, createHttp, listen } from "../../../src/cli/serve/web/http.ts";
import type { SurfaceStore } from "../../../src/protocol/host/surface-store.ts";
import { openSurfaceStores } from "../../../src/host/surface-store.ts";
import type { Incoming } from "../../../src/surfaces/feishu/channel/channel.ts";
import type { FeishuApp, Timings } from "../../../src/surfaces/feishu/transport/api/config.ts";
import { openFeishu } from "../../../src/surfaces/feishu/transport/open.ts";
import { serveTexts } from "../../../src/texts/serve/serve.ts";
import type { FakeFeishu } from "../../support/feishu/platform.ts";

export { until } from "../../support/until.ts";

export type BridgeOptions = {
  mode?: FeishuApp["mode"];
  timings?: Partial<Timings>;
  /** Folder of its memory; the same folder again is a restart. */
  dir?: string;
  slowestMs?: number;
  connections?: ConnectionLimits;
  /** Stands between the channel and its memory. */
  wrap?: (store: SurfaceStore) => SurfaceStore;
  /** Waits for memory that is kept elsewhere: nothing leaves before. */
  kept?: () => Promise<void>;
  onMessage?: ((message: Incoming) => void | Promise<void>) | undefined;
};

/** The real channel, against the stand-in for the platform, with waits that suit a test. */
export async function bridge(feishu: FakeFeishu, options: BridgeOptions = {}) {
  const { mode = "socket", dir: given, slowestMs, wrap = (store) => store } = options;
  const dir = given ?? mkdtempSync(join(tmpdir(), "sage-feishu-"));
  const stores = openSurfaceStores(join(dir, "surfaces.db"));
  const logged: string[] = [];
  const { appId, appSecret, encryptKey, verificationToken, url: domain } = feishu;
  const channel = openFeishu(
    { appId, appSecret, domain, mode, encryptKey, verificationToken },
    {
      store: wrap(stores.of(`feishu/${appId}`)),
      lang: "en",
      log: (level, text) => void logged.push(`${level}: ${text}`),
      timings: { retryMs: 20, leaveMs: 1_000, ...options.timings },
      now: feishu.clock.now,
      ...(options.kept && { kept: options.kept }),
    },
  );
  const got: Incoming[] = [];
  channel.onMessage(options.onMessage ?? ((message) => void got.push(message)));
  const http =
    mode === "webhook"
      ? createHttp({
          ready: () => ({ ready: true }),
          ...(channel.webhook && { webhooks: { "/feishu/webhook": channel.webhook } }),
          log() {},
          ...(slowestMs && { slowestMs }),
        })
      : undefined;
  const limits = options.connections ? { connections: options.connections } : {};
  const listening = http && (await listen(http, { host: "127.0.0.1", port: 0, t: serveTexts("en"), ...limits }));
  const url = listening && `http://127.0.0.1:${listening.port}/feishu/webhook`;
  if (url) feishu.delivery.webhook = url;
  const leaving = new AbortController();
  await channel.start(leaving.signal);
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await listening?.close();
    await channel.close();
    stores.close();
  };
  return {
    channel,
    store: stores.of(`feishu/${appId}`),
    dir,
    url: url ?? "",
    got,
    logged,
    texts: () => got.map(({ text }) => text),
    close,
    async [Symbol.asyncDispose]() {
      await close();
      if (given === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

export const card = (text: string, ...more: object[]) => ({
  schema: "2.0",
  config: { update_multi: true },
  body: { elements: [{ tag: "markdown", element_id: "out", content: text }, ...more] },
});

export const button = (id: string) => ({
  tag: "button",
  element_id: id,
  text: { tag: "plain_text", content: id },
  behaviors: [{ type: "callback", value: { k: "perm", rid: "p_1", act: id } }],
});
