// npm run test:web: further stories of the real page on the real server. The default run has a sample, in stories.test.ts.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { sageWith, workspace, type TestSage } from "../../support/sage.ts";
import { served } from "../../support/served.ts";
import { launch, noBrowser } from "./browser.ts";
import { builtPage, enter, people } from "./visit.ts";

describe("further stories of the page", { skip: noBrowser }, () => {
  const here = workspace();
  let browser: Browser;
  let sage: TestSage;
  let server: Awaited<ReturnType<typeof served>>;
  before(async () => {
    sage = await sageWith({ dir: here.dir, script: [] });
    const identity = { header: "x-user", secret: "0123456789abcdef" };
    server = await served(sage, here.dir, {
      files: await builtPage(),
      settings: { people, serve: { web: { identity } } },
    });
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
    await sage?.[Symbol.asyncDispose]();
    here[Symbol.dispose]();
  });

  test("a device that is removed while it is connected has to be paired again; a frame of another page stays empty", async () => {
    const page = await enter(browser, server, (await server.devices.invite({ owner: "account:kai" })).key);
    const device = server.devices.list().findLast(({ owner }) => owner === "account:kai");
    assert.ok(device && (await server.devices.remove(device.id)));
    await page.getByText("Pair this browser").waitFor();
    assert.deepEqual(await page.evaluate("Object.keys(localStorage)"), []);
    const framing = await page.context().newPage();
    await framing.setContent(`<iframe src="${server.url}/"></iframe>`);
    await framing.waitForTimeout(300);
    assert.notEqual(framing.frames()[1]?.url(), `${server.url}/`);
    await page.context().close();
  });

  test("a link that waits for a yes at the terminal says so, and opens the page when it is given", async () => {
    const { id, key } = await server.devices.invite({ owner: "account:lin", confirm: true });
    const page = await enter(browser, server, key, ".pairing [role=status]");
    assert.match(await page.innerText(".pairing"), /Pairing…[^]*Confirm this device at the terminal/);
    assert.equal(await page.locator("input").count(), 0);
    assert.ok(await server.devices.admit(id, true));
    await page.waitForSelector(".link.open");
    assert.equal(await page.innerText(".me"), "Lin");
    await page.context().close();
  });

  test("behind a proxy that signs people in the page opens without a key; without either it is to be paired", async () => {
    using there = workspace();
    await using behind = await served(sage, there.dir, {
      files: await builtPage(),
      settings: server.settings,
      proxy: { "x-user": "kai@example.org", "x-sage-proxy": "0123456789abcdef" },
    });
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(behind.url);
    await page.waitForSelector(".link.open");
    assert.equal(await page.innerText(".me"), "Kai");
    assert.deepEqual(await page.evaluate("Object.keys(localStorage)"), []);
    await page.goto(server.url);
    await page.getByText("Pair this browser").waitFor();
    await context.close();
  });

  test("a page of another version reloads itself once, as soon as nothing is half written", async () => {
    using there = workspace();
    const files = await builtPage("0.0.0-old");
    await using old = await served(sage, there.dir, { files, settings: { people } });
    const context = await browser.newContext();
    const page = await context.newPage();
    let loads = 0;
    page.on("load", () => loads++);
    await page.goto(`${old.url}/#k=${(await old.devices.invite({ owner: "account:lin" })).key}`);
    await page.waitForSelector(".link.open");
    await page.waitForFunction(
      () => (globalThis as unknown as { sessionStorage: { length: number } }).sessionStorage.length === 1,
    );
    await page.waitForSelector(".link.open");
    await page.waitForTimeout(500);
    assert.equal(loads, 2, "a cache in between may keep the old page: it is fetched once more, not for ever");
    // Somebody writes while the host, which is another one by then, cannot be reached.
    await page.evaluate("sessionStorage.clear()");
    old.cut();
    await page.reload();
    await page.fill("textarea.message", "half a thought");
    await page.evaluate("document.activeElement.blur()");
    old.mend();
    await page.waitForSelector(".link.open");
    await page.waitForTimeout(1_500);
    assert.deepEqual([loads, await page.inputValue("textarea.message")], [3, "half a thought"]);
    await page.fill("textarea.message", "");
    await page.evaluate("document.activeElement.blur()");
    await page.waitForFunction(
      () => (globalThis as unknown as { sessionStorage: { length: number } }).sessionStorage.length === 1,
    );
    await page.waitForSelector(".link.open");
    assert.equal(loads, 4);
    await context.close();
  });
});
