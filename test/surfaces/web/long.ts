// npm run test:web: what takes long in a real browser. The default run has a sample of it, in page.test.ts and stories.test.ts.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { buildPage } from "../../../scripts/page.ts";
import { Machine, bash } from "../../support/cli.ts";
import { browserAndSite, noBrowser, openTab } from "./browser.ts";
import { fact, session, snapshot, watched } from "./examples.ts";
import { manyTurns } from "./many-turns.ts";
import { allow } from "./visit.ts";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("the page, at length", { skip: noBrowser }, () => {
  const { browser, site } = browserAndSite();

  test("kill -9 with a request open: the page says so and comes back; what was pressed meanwhile is not sent; the same turn goes on", async () => {
    using machine = new Machine();
    const folder = mkdtempSync(join(tmpdir(), "sage-page-"));
    await buildPage(join(folder, "web"));
    const port = await freePort();
    const args = [
      "serve",
      "--port",
      `${port}`,
      "--model",
      machine.script({ calls: [bash("env echo once >> ran")] }, { text: "All done." }),
    ];
    const env = { SAGE_PAGE: join(folder, "web") };
    const first = machine.start(args, { env });
    await first.until(/#k=\S+/);
    const [link = ""] = /http:\S+#k=\S+/.exec(first.output() + first.errors()) ?? [];
    const context = await browser().newContext({ viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    await page.goto(link);
    await page.waitForSelector(".link.open");
    await page.fill("textarea.message", "go");
    await page.press("textarea.message", "Enter");
    await page.waitForSelector("article.request [data-choice=once]:not([aria-disabled=true])");
    const address = page.url();
    const id = await page.getAttribute("article.request", "data-request");
    await page.waitForTimeout(600);

    first.kill("SIGKILL");
    await page.waitForSelector(".banner");
    await page.evaluate("for (const one of document.querySelectorAll('[data-choice]')) one.click()");
    const second = machine.start(args, { env });
    await page.waitForSelector(".link.open");
    assert.equal(page.url(), address);
    assert.equal(await page.getAttribute("article.request", "data-request"), id, "the same request, still open");
    await allow(page);
    await page.getByText("All done.").waitFor();
    assert.equal(await page.getByText("All done.").count(), 1);

    // Eight tabs of one browser, each with a connection of its own.
    const tabs = await Promise.all(Array.from({ length: 8 }, () => context.newPage()));
    for (const tab of tabs) await tab.goto(address.replace(/#.*/, "#/"));
    for (const tab of tabs) await tab.waitForSelector(".link.open");
    second.kill("SIGTERM");
    await second.ended;
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("page and lines in another process on one journal: the first answer wins, and the other reads who gave it", async () => {
    using machine = new Machine();
    const folder = mkdtempSync(join(tmpdir(), "sage-page-"));
    await buildPage(join(folder, "web"));
    const idle = machine.script({ text: "nothing" });
    const daemon = machine.start(["serve", "--port", `${await freePort()}`, "--model", idle], {
      env: { SAGE_PAGE: join(folder, "web") },
    });
    await daemon.until(/#k=\S+/);
    const [link = ""] = /http:\S+#k=\S+/.exec(daemon.output() + daemon.errors()) ?? [];
    const calls = ["env echo one >> ran", "env echo two >> ran"].map((command) => ({ calls: [bash(command)] }));
    const lines = machine.start(["--model", machine.script(...calls, { text: "All done." }), "go"]);
    const context = await browser().newContext({ viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    await page.goto(link);
    await lines.until("Allow? (y/n/…) > ");
    await page.click("article.card a.body");
    await allow(page);
    await lines.until(/Answered by .* in the browser/);

    await page.goto(link.replace(/#.*/, "#/"));
    await page.click("article.card a.body");
    await page.getByText("env echo two >> ran").waitFor();
    lines.type("y\n");
    await page.waitForSelector("article.ended");
    assert.match(await page.innerText("article.ended"), /Answered by .* at \d\d:\d\d: allowed/);
    assert.doesNotMatch(await page.innerText("article.ended"), /in the browser/);
    await lines.until("All done.");
    assert.equal(machine.file("ran"), "one\ntwo\n");
    lines.end();
    daemon.kill("SIGTERM");
    await Promise.all([lines.ended, daemon.ended]);
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("4,000 items: the last 200 are drawn, and a delta draws its own item and no other", async () => {
    const tab = await openTab(browser(), site().url, { at: "#/s/s1" });
    const facts = manyTurns(1_333);
    await tab.inbox(snapshot([], [session("s1", "long", { state: "running", pending: 0 })]));
    await tab.watch("s1", ...watched(facts), {
      type: "fact",
      fact: fact("s1", "said/x", "user.said", { text: "last", by: "you", surface: "web" }),
    });
    await tab.page.waitForSelector("text=last");
    assert.equal(await tab.page.locator(".transcript > li").count(), 200);
    await tab.page.evaluate(`
      globalThis.touched = new Set();
      new MutationObserver((all) => all.forEach(({ target }) => {
        const item = (target.nodeType === 1 ? target : target.parentElement)?.closest(".transcript > li");
        if (item) touched.add(item);
      })).observe(document.querySelector(".transcript"), { subtree: true, childList: true, characterData: true });`);
    for (let n = 0; n < 20; n++)
      await tab.watch("s1", {
        type: "delta",
        delta: { session: "s1", key: "t9999/0/model", attempt: 0, n, kind: "text", text: `word${n} ` },
      });
    await tab.page.waitForSelector("text=word19");
    assert.ok((await tab.page.evaluate<number>("touched.size")) <= 2, "the new item, and nothing of the others");
    await tab.page.getByRole("button", { name: /earlier items/ }).click();
    await tab.page.waitForTimeout(300);
    assert.equal(await tab.page.locator(".transcript > li").count(), 400);
    await tab.close();
  });

  test("a slow phone on a slow line gets there", async (t) => {
    const context = await browser().newContext({ viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    const line = await context.newCDPSession(page);
    await line.send("Network.enable");
    await line.send("Network.emulateNetworkConditions", {
      ...{ offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 100_000 },
    });
    await line.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    const started = performance.now();
    await page.goto(site().url);
    await page.waitForSelector("h1");
    t.diagnostic(`usable after ${Math.round(performance.now() - started)} ms`);
    await context.close();
  });
});
