import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { inviteSelf } from "../../src/cli/serve/web/visitors.ts";
import { openSurfaceStores, shareFile } from "../../src/host/surface-store.ts";
import { createDevices } from "../../src/surfaces/web/devices.ts";
import { serveTexts } from "../../src/texts/serve/serve.ts";
import { workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

test("serve --open shows the link where no browser can be opened, and never to a log that is kept", async (t) => {
  using here = workspace();
  const stores = openSurfaceStores(here.path("surfaces.db"));
  const devices = createDevices(shareFile(stores.of("web")));
  const shown: string[] = [];
  t.mock.method(console, "log", (text: string) => void shown.push(text));
  const invite = (env: NodeJS.ProcessEnv) =>
    inviteSelf({ devices, origins: ["http://127.0.0.1:1"], folder: here.dir, opens: true, env, t: serveTexts("en") });
  await invite({ PATH: here.dir, JOURNAL_STREAM: "8:1" });
  await invite({ PATH: here.dir }); // no program there
  await until(() => shown.length > 0);
  writeFileSync(here.path("xdg-open"), "#!/bin/sh\nexit 3\n", { mode: 0o755 });
  await invite({ PATH: here.dir }); // a program without a browser
  await until(() => shown.length > 1);
  assert.equal(shown.filter((text) => text.includes("http://127.0.0.1:1/#k=sagelink_")).length, 2);
  stores.close();
});
