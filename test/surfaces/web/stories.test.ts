import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { buildPage } from "../../../scripts/page.ts";
import { askUser, bash, question, sageWith, workspace, type TestSage } from "../../support/sage.ts";
import { served } from "../../support/served.ts";
import { launch, noBrowser } from "./browser.ts";

async function pageFiles(dir: string, version?: string) {
  await buildPage(dir, version === undefined ? {} : { version });
  const read = (file: string) =>
    [file, readFileSync(join(dir, file === "index.html" ? file : join("assets", file)))] as const;
  return new Map([read("index.html"), ...readdirSync(join(dir, "assets")).map(read)]);
}

/** The real page, the real server, the real host and a real browser; the model follows a script. */
describe("stories of the page", { skip: noBrowser }, () => {
  const here = workspace();
  const built = mkdtempSync(join(tmpdir(), "sage-page-"));
  const people = {
    Lin: { ids: ["account:lin"], roles: ["approver" as const] },
    Kai: { ids: ["account:kai"], roles: ["approver" as const] },
  };
  let browser: Browser;
  let sage: TestSage;
  let server: Awaited<ReturnType<typeof served>>;
  before(async () => {
    const script = [
      { text: "First **one** thing.", calls: [bash("env echo built")] },
      { calls: [askUser(question("Which colour?"), question("And for how long?", ["An hour", "A day"]))] },
      { text: "All done." },
    ];
    sage = await sageWith({ dir: here.dir, script });
    const files = await pageFiles(join(built, "web"));
    server = await served(sage, here.dir, { files, settings: { people, workspaces: { app: here.dir } } });
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
    await sage?.[Symbol.asyncDispose]();
    rmSync(built, { recursive: true, force: true });
    here[Symbol.dispose]();
  });
  /** Somebody's browser, let in by a link. */
  const enter = async (owner: string, url = server.url): Promise<Page & { complaints: string[] }> => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(`${url}/#k=${server.devices.invite({ owner }).key}`);
    await page.waitForSelector(".link.open");
    return Object.assign(page, { complaints });
  };
  const allow = async (page: Page) => {
    await page.waitForSelector("[data-choice=once]:not([aria-disabled=true])");
    await page.waitForTimeout(600);
    await page.click("[data-choice=once]");
    await page.waitForTimeout(450);
    await page.getByRole("button", { name: "Yes, allow once" }).click();
  };

  test("a link lets one browser in, once; its key is in no address, and all that the browser keeps is its own key", async () => {
    const { key } = server.devices.invite({ owner: "account:lin" });
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.url}/#k=${key}`);
    await page.waitForSelector(".link.open");
    assert.equal(page.url(), `${server.url}/#/`);
    assert.deepEqual(await page.evaluate("Object.keys(localStorage)"), ["sage.key"]);
    assert.deepEqual(await context.cookies(), []);
    const other = await (await browser.newContext()).newPage();
    await other.goto(`${server.url}/#k=${key}`);
    assert.match(await other.innerText("[role=alert]"), /not valid any more/);
    assert.deepEqual([other.url(), server.logged.some((line) => line.includes(key))], [`${server.url}/#/`, false]);
    await context.close();
    await other.context().close();
  });

  test("two people see a request as it is opened; one allows it, the other reads who did, and the turn goes on", async () => {
    const [lin, kai] = [await enter("account:lin"), await enter("account:kai")];
    await sage.say("build it");
    const [request] = await sage.open();
    assert.ok(request);
    for (const page of [lin, kai]) await page.click("article.card a.body");
    await kai.waitForSelector("article.request");
    await allow(lin);
    await kai.waitForSelector("article.ended");
    assert.match(await kai.innerText("article.ended"), /Answered by Lin in the browser, on .+ at \d\d:\d\d: allowed/);
    assert.match(await lin.innerText("article.ended"), /Answered by you at/);

    // The next request: two questions, begun on one device and finished on another.
    await sage.open();
    await lin.goto(`${server.url}/#/s/${sage.session}`);
    await kai.goto(`${server.url}/#/s/${sage.session}`);
    await lin.click("label:has-text('Blue')");
    await lin.waitForTimeout(100);
    await lin.evaluate("document.activeElement.blur()");
    await kai.waitForSelector("label:has-text('Blue') :checked");
    await kai.click("label:has-text('A day')");
    const submit = kai.getByRole("button", { name: "Submit", exact: true });
    await submit.scrollIntoViewIfNeeded();
    await kai.waitForTimeout(600);
    await submit.click();
    await kai.getByText("All done.").waitFor();
    await lin.getByText("All done.").waitFor();
    assert.match(
      await lin.innerText(".transcript"),
      /First one thing\.[^]*Bash[^]*env echo built[^]*Which colour[^]*by Kai in the browser/,
    );
    assert.equal(sage.result(0, 0).trim(), "built");
    assert.deepEqual([lin.complaints, kai.complaints], [[], []], "the policy found nothing to refuse");
    await lin.context().close();
    await kai.context().close();
  });

  test("a device that is removed while it is connected has to be paired again; a frame of another page stays empty", async () => {
    const page = await enter("account:kai");
    const device = server.devices.list().findLast(({ owner }) => owner === "account:kai");
    assert.ok(device && server.devices.remove(device.id));
    await page.getByText("Pair this browser").waitFor();
    assert.deepEqual(await page.evaluate("Object.keys(localStorage)"), []);
    const framing = await page.context().newPage();
    await framing.setContent(`<iframe src="${server.url}/"></iframe>`);
    await framing.waitForTimeout(300);
    assert.notEqual(framing.frames()[1]?.url(), `${server.url}/`);
    await page.context().close();
  });

  test("a page of another version reloads itself once, as soon as nothing is half written", async () => {
    const files = await pageFiles(join(built, "old"), "0.0.0-old");
    await using old = await served(sage, join(here.dir), { files, settings: { people } });
    const context = await browser.newContext();
    const page = await context.newPage();
    let loads = 0;
    page.on("load", () => loads++);
    await page.goto(`${old.url}/#k=${old.devices.invite({ owner: "account:lin" }).key}`);
    await page.waitForSelector(".link.open");
    await page.waitForFunction(
      () => (globalThis as unknown as { sessionStorage: { length: number } }).sessionStorage.length === 1,
    );
    await page.waitForSelector(".link.open");
    await page.waitForTimeout(500);
    assert.equal(loads, 2, "a cache in between may keep the old page: it is fetched once more, not for ever");
    await context.close();
  });
});
