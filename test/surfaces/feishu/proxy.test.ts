import assert from "node:assert/strict";
import { test } from "node:test";
import { feishuBots } from "../../../src/cli/connect/feishu/config.ts";
import { readSettings } from "../../../src/config/settings/settings.ts";
import { openSurfaceStores } from "../../../src/host/surface-store.ts";
import { openFeishu } from "../../../src/surfaces/feishu/transport/open.ts";
import { feishuSetupTexts } from "../../../src/texts/serve/feishu-setup.ts";
import { fakeFeishu } from "../../support/feishu/platform.ts";
import { proxyServer, secured, trustExample } from "../../support/proxy.ts";
import { workspace } from "../../support/sage.ts";
import { until } from "../../support/until.ts";

test("behind a proxy the calls, the discovery and the long connection all go through it", async () => {
  trustExample();
  await using feishu = await fakeFeishu();
  const port = Number(new URL(feishu.url).port);
  await using front = await secured(port);
  await using proxy = await proxyServer({ secure: front.port }, "lin:pass");
  const endpoint = JSON.stringify(feishu.sockets.endpoint(port));
  feishu.discovery.answer = JSON.parse(endpoint.replace(`ws://127.0.0.1:${port}`, "wss://messages.example.test"));
  using here = workspace();
  const { appId, appSecret } = feishu;
  const env = {
    FEISHU_APP_ID: appId,
    FEISHU_APP_SECRET: appSecret,
    FEISHU_DOMAIN: "https://open.example.test",
    FEISHU_ALLOWED_USERS: "anyone",
    HTTPS_PROXY: proxy.url,
  };
  const settings = readSettings(here.path("no-settings.json"));
  const [bot] = feishuBots(settings, env, { cwd: here.dir, lang: "en", t: feishuSetupTexts("en") });
  assert.ok(bot);
  const stores = openSurfaceStores(here.path("surfaces.db"));
  const channel = openFeishu(bot.app, { store: stores.of("feishu"), lang: "en", log() {}, now: feishu.clock.now });
  const got: string[] = [];
  channel.onMessage(({ text }) => void got.push(text));
  await channel.start(new AbortController().signal);
  await until(
    () => channel.status().state === "connected",
    () => JSON.stringify(channel.status()),
  );
  feishu.user("Lin").say("through the wall");
  await until(() => got.length === 1);
  assert.deepEqual(got, ["through the wall"]);
  assert.deepEqual(
    new Set(proxy.asked),
    new Set(["CONNECT open.example.test:443", "CONNECT messages.example.test:443"]),
  );
  await channel.close();
  stores.close();
});
