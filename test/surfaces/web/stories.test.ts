import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { silenceOptions } from "../../../src/config/settings/silence.ts";
import { askUser, bash, question, sageWith, workspace, type TestSage } from "../../support/sage.ts";
import { served } from "../../support/served.ts";
import { until } from "../../support/until.ts";
import { launch, noBrowser } from "./browser.ts";
import { allow, builtPage, enter, people } from "./visit.ts";

/** The real page, the real server, the real host and a real browser; the model follows a script. npm run test:web has further ones. */
describe("stories of the page", { skip: noBrowser }, () => {
  const here = workspace();
  const words = Array.from({ length: 60 }, (_, n) => `word${n};`);
  let browser: Browser;
  let files: Map<string, Buffer>;
  let sage: TestSage;
  let server: Awaited<ReturnType<typeof served>>;
  let [lin, kai]: (Page & { complaints: string[] })[] = [];
  before(async () => {
    const script = [
      { text: "First **one** thing.", calls: [bash("env echo built")] },
      { calls: [askUser(question("Which colour?"), question("And for how long?", ["An hour", "A day"]))] },
      { text: "All done." },
      { text: words.join(" "), delayMs: 2_500 },
    ];
    sage = await sageWith({ dir: here.dir, script });
    files = await builtPage();
    server = await served(sage, here.dir, { files, settings: { people, workspaces: { app: here.dir } } });
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
    await sage?.[Symbol.asyncDispose]();
    here[Symbol.dispose]();
  });

  test("a link lets one browser in, once; its key is in no address, and all that the browser keeps is its own key", async () => {
    const { key } = await server.devices.invite({ owner: "account:lin" });
    lin = await enter(browser, server, key);
    assert.equal(lin.url(), `${server.url}/#/`);
    const kept = `Promise.all([Object.keys(localStorage), Object.keys(sessionStorage), caches.keys(),
      indexedDB.databases(), navigator.serviceWorker.getRegistrations()])`;
    assert.deepEqual(await lin.evaluate(kept), [["sage.key"], [], [], [], []]);
    assert.deepEqual(await lin.context().cookies(), []);
    kai = await enter(browser, server, key, "[role=alert]");
    assert.match(await kai.innerText("[role=alert]"), /not valid any more/);
    assert.deepEqual([kai.url(), server.logged.some((one) => one.includes(key))], [`${server.url}/#/`, false]);
    await kai.goto(`${server.url}/?again#k=${(await server.devices.invite({ owner: "account:kai" })).key}`);
    await kai.waitForSelector(".link.open");
    kai.complaints.length = 0; // a key that is refused is in the browser's console
  });

  test("two people see a request as it is opened; one allows it, the other reads who did, and the turn goes on", async () => {
    assert.ok(lin && kai);
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
  });

  test("the line breaks in the middle of a stream: the page says so, comes back, and no word is there twice", async () => {
    assert.ok(lin);
    await lin.evaluate(`
      globalThis.most = 0;
      new MutationObserver(() => {
        const text = document.querySelector(".transcript")?.textContent ?? "";
        for (const word of ["word1;", "word9;", "word30;", "word59;"]) most = Math.max(most, text.split(word).length - 1);
      }).observe(document.body, { childList: true, subtree: true, characterData: true });`);
    await sage.say("count");
    await lin.getByText("word9;").waitFor();
    server.cut();
    await lin.waitForSelector(".banner");
    server.mend();
    await lin.waitForSelector(".link.open");
    await lin.getByText("word59;").waitFor();
    await until(() => sage.facts().filter(({ type }) => type === "turn.ended").length === 2);
    await lin.waitForTimeout(200);
    assert.equal(await lin.evaluate("most"), 1);
  });

  test("a request that takes a signed yes says so, is not allowed by whoever sits there, and is by a verified person", async () => {
    using dir = workspace();
    const rules = [{ behavior: "ask", text: "Bash(touch hard)", source: "user" }] as const;
    const script = [{ calls: [bash("touch hard")] }, { text: "over" }];
    const options = silenceOptions({ signed: ["hard"] });
    await using own = await sageWith({ dir: dir.dir, script, rules: [...rules], options });
    await using site = await served(own, dir.dir, { files, settings: { people } });
    await own.say("go");
    const [request] = await own.open();
    const at = { url: site.url.replace("127.0.0.1", "localhost") };
    const page = await enter(browser, at, (await site.devices.invite({ owner: "account:lin" })).key);
    const wire = await page.context().newCDPSession(page);
    await wire.send("WebAuthn.enable");
    const { authenticatorId } = await wire.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        ...{ protocol: "ctap2", transport: "internal", automaticPresenceSimulation: true },
        ...{ hasUserVerification: true, isUserVerified: false },
      },
    });
    const verified = (isUserVerified: boolean) =>
      wire.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    const make = async () => {
      await page.goto(`${at.url}/#/devices`);
      await page.click("[data-passkey]");
    };
    const alert = () => page.locator("[role=alert]").innerText();
    await page.goto(`${at.url}/#/r/${request!.id}`);
    await page.getByText("A yes counts only from a paired device that is another machine, or with a passkey").waitFor();
    await allow(page);
    await page.getByText("has to come from a paired device").waitFor();
    await make();
    await page.getByText("the passkey was not accepted").waitFor();
    await verified(true);
    await make();
    await page.locator(".chip", { hasText: "passkey" }).waitFor();
    await make();
    assert.match(await alert(), /you have a passkey/);

    await page.goto(`${at.url}/#/r/${request!.id}`);
    await verified(false);
    await allow(page);
    await page.getByText("the passkey was not accepted, and nothing was recorded").waitFor();
    assert.equal((await own.open()).length, 1);
    await verified(true);
    await allow(page);
    await page.waitForSelector("article.ended");
    assert.match(await page.innerText("article.ended"), /allowed, signed with a passkey/);
    await own.outcome();
    assert.ok(existsSync(dir.path("hard")));
    await page.context().close();
  });
});
