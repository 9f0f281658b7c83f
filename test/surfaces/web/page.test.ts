import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { reason, type Command, type Fact, type FactData, type InputRequest } from "../../../src/protocol/index.ts";
import { accessible } from "./axe.ts";
import { fakeSite, launch, noBrowser, openTab, type Tab, type TabOptions } from "./browser.ts";
import { bashRequest, fact, now, questionRequest, session, snapshot, watched } from "./examples.ts";

/** The page in a real browser, on a host that the test plays. */
describe("the page", { skip: noBrowser }, () => {
  let browser: Browser;
  let site: Awaited<ReturnType<typeof fakeSite>>;
  before(async () => {
    [browser, site] = await Promise.all([launch(), fakeSite()]);
  });
  after(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
  });
  const sessions = [session("s1", "Fix the parser"), session("s2", "Set up storage")];
  const open = async (requests: InputRequest[] = [bashRequest("npm run build")], options: TabOptions = {}) => {
    const tab = await openTab(browser, site.url, options);
    await tab.inbox(snapshot(requests, sessions));
    return tab;
  };
  const sent = (tab: Tab, ...types: Command["type"][]) =>
    tab.fake<Command[]>("sent").then((all) => all.filter(({ type }) => types.length === 0 || types.includes(type)));
  const lifted = (tab: Tab, selector: string) => tab.page.waitForSelector(`${selector}:not([aria-disabled=true])`);
  const end = (requestId: string, by = "lin"): FactData["input.resolved"] => ({
    ...{ requestId, outcome: "answered", by, surface: "feishu", at: now, response: { type: "granted", requestId } },
  });

  test("what allows is locked until its end was seen; one tap, a double tap and a held key are not enough", async () => {
    const long = bashRequest(Array.from({ length: 80 }, (_, n) => `echo ${n}`).join("\n"));
    const tab = await open([long], { at: "#/r/r1", phone: true });
    const { page } = tab;
    await page.waitForSelector("[data-choice=once][aria-disabled=true]");
    await page.waitForTimeout(700);
    await page.evaluate("document.querySelector('[data-choice=once]').click()");
    assert.match(await page.locator("[role=alert]").innerText(), /Scroll to the end/);
    await page.locator("[data-choice=once]").scrollIntoViewIfNeeded();
    await lifted(tab, "[data-choice=once]");
    await page.waitForTimeout(600);
    await page.locator("[data-choice=once]").dblclick();
    await page.waitForTimeout(100);
    assert.deepEqual(await sent(tab, "respond"), [], "a double tap is one tap");
    await page.evaluate(
      `for (let n = 0; n < 5; n++) document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", repeat: true, bubbles: true, cancelable: true }))`,
    );
    assert.deepEqual(await sent(tab, "respond"), []);
    await page.waitForTimeout(400);
    await page.getByRole("button", { name: "Yes, allow once" }).click();
    assert.deepEqual(await sent(tab, "respond"), [
      { type: "respond", response: { type: "granted", requestId: "r1" }, by: "you", surface: "web" },
    ]);
    assert.deepEqual(tab.complaints, []);
    await tab.context.close();
  });

  test("a tap that lands on what has just appeared or moved is no answer", async () => {
    const tab = await open([], { at: "#/r/r1" });
    await tab.page.evaluate(`
      globalThis.watcher = new MutationObserver(() => {
        if (globalThis.seen || !document.querySelector("[data-choice=no]")) return;
        globalThis.seen = true;
        for (const ms of [0, 100, 400]) setTimeout(() => document.querySelector("[data-choice=no]")?.click(), ms);
      });
      watcher.observe(document.body, { childList: true, subtree: true });`);
    await tab.inbox(snapshot([bashRequest("rm -r dist")], sessions));
    await tab.page.waitForTimeout(1_000);
    assert.deepEqual(await sent(tab, "respond"), []);
    // Something comes in above it.
    await tab.page.evaluate(`{
      const gap = document.createElement("div");
      gap.style.height = "60px";
      document.querySelector("main").prepend(gap);
      setTimeout(() => document.querySelector("[data-choice=no]").click(), 150);
    }`);
    await tab.page.waitForTimeout(400);
    assert.deepEqual(await sent(tab, "respond"), []);
    await tab.page.waitForTimeout(600);
    await tab.page.evaluate("document.querySelector('[data-choice=no]').click()");
    assert.equal((await sent(tab, "respond")).length, 1, "after half a second of quiet it is one");
    await tab.context.close();
  });

  test("an end that something covers was not seen", async () => {
    const tab = await openTab(browser, site.url, { at: "#/r/r1" });
    await tab.page.evaluate(`{
      const bar = document.createElement("div");
      bar.style.cssText = "position:fixed;inset:0;z-index:9;pointer-events:auto;background:#8888";
      bar.id = "bar";
      document.body.append(bar);
    }`);
    await tab.inbox(snapshot([bashRequest("rm -r dist")], sessions));
    await tab.page.waitForSelector("[data-choice=once]");
    await tab.page.waitForTimeout(900);
    assert.equal(await tab.page.getAttribute("[data-choice=once]", "aria-disabled"), "true");
    await tab.page.evaluate("document.getElementById('bar').remove()");
    await lifted(tab, "[data-choice=once]");
    await tab.context.close();
  });

  test("keyboard alone: to a request, into it, and two keys to allow it; typing ahead is dropped", async () => {
    const requests = [bashRequest("npm test", { id: "a", ago: 9_000 }), bashRequest("make", { id: "b", ago: 8_000 })];
    const tab = await open(requests);
    const { page } = tab;
    await page.waitForSelector("article.card");
    await page.keyboard.press("y");
    await page.keyboard.press("Enter");
    assert.deepEqual(await sent(tab, "respond"), [], "no request has the focus");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForSelector("article.request[data-request=b]");
    await page.keyboard.press("y");
    await page.keyboard.press("Enter");
    await page.waitForTimeout(900);
    assert.deepEqual(await sent(tab, "respond"), [], "typed ahead");
    await page.keyboard.press("y");
    await page.getByRole("button", { name: "Yes, allow once" }).waitFor();
    await page.keyboard.press("Escape");
    await page.waitForSelector("[data-choice=once]");
    await page.keyboard.press("y");
    await page.keyboard.press("Enter");
    assert.deepEqual(
      (await sent(tab, "respond")).map((one) => one.type === "respond" && one.response),
      [{ type: "granted", requestId: "b" }],
    );
    await tab.context.close();
  });

  test("a long title of a session makes no page wider than the phone", async () => {
    for (const at of ["#/", "#/r/r1", "#/sessions"]) {
      const tab = await openTab(browser, site.url, { at, phone: true });
      await tab.inbox(snapshot([bashRequest("npm test")], [session("s1", "tidy up every corner of it ".repeat(6))]));
      await tab.page.waitForSelector("#main a");
      const [main, widest] = (await tab.page.evaluate(`[
        document.querySelector("main").clientWidth,
        Math.max(...[...document.querySelectorAll("main article, main li")].map((one) => one.getBoundingClientRect().right)),
      ]`)) as [number, number];
      assert.ok(widest <= main, `${at}: ${widest} of ${main}`);
      await tab.context.close();
    }
  });

  test("the loser of a race reads who won, and keeps the words they had written", async () => {
    const tab = await open([bashRequest("npm run build")], { at: "#/r/r1" });
    const { page } = tab;
    await page.click("button.more");
    await page.click("[data-choice=reason]");
    await page.fill("textarea", "not on a Friday");
    await tab.inbox({ type: "fact", fact: fact("s1", "t0/0/0/permit0.resolved", "input.resolved", end("r1")) });
    await page.waitForSelector("article.ended");
    assert.match(
      await page.innerText("article.ended [role=status]"),
      /Answered by lin in Feishu at \d\d:\d\d: allowed/,
    );
    await page.click("article.ended summary");
    assert.match(await page.innerText("article.ended pre"), /not on a Friday/);
    assert.equal(await page.title(), "Sage");
    await tab.context.close();
  });

  test("away: it can be read and written, nothing is sent, and on return the draft is saved and the browser keeps nothing", async () => {
    const tab = await open([bashRequest("npm run build")], { at: "#/r/r1" });
    const { page } = tab;
    await lifted(tab, "[data-choice=once]");
    await page.waitForTimeout(600);
    await tab.fake("link('lost')");
    await page.waitForSelector(".banner[role=alert]");
    assert.equal(await page.getAttribute("[data-choice=once]", "aria-disabled"), "true");
    await page.evaluate(
      "for (const one of document.querySelectorAll('[data-choice=once], [data-choice=no]')) one.click()",
    );
    await page.click("button.more");
    await page.click("[data-choice=reason]");
    await page.fill("textarea", "not on a Friday");
    await page.evaluate("document.activeElement.blur()");
    assert.deepEqual(await sent(tab), []);
    assert.deepEqual(await page.evaluate("Object.keys(localStorage)"), ["sage.draft.r1"]);
    await tab.fake("link('open')");
    await tab.inbox(snapshot([bashRequest("npm run build")], sessions));
    await page.waitForFunction(() => (globalThis as unknown as { fake: { sent: unknown[] } }).fake.sent.length > 0);
    assert.deepEqual(await sent(tab), [
      { type: "saveDraft", requestId: "r1", draft: { reason: "not on a Friday" }, by: "you", surface: "web" },
    ]);
    assert.deepEqual(await page.evaluate("Object.keys(localStorage)"), []);
    await tab.context.close();
  });

  test("questions: a draft from elsewhere is taken up, a newer one is offered, some answers may be sent alone", async () => {
    const [one] = ["Which database should the service use?"];
    const tab = await open([questionRequest()], { at: "#/r/q1" });
    const { page } = tab;
    await page.waitForSelector("fieldset");
    const drafted = (label: string) =>
      tab.inbox({
        type: "fact",
        fact: fact("s2", `draft/${label}`, "draft.saved", {
          ...{ requestId: "q1", draft: { answers: { [one]: { selected: [label] } } }, by: "lin", surface: "feishu" },
        }),
      });
    await drafted("Postgres");
    await page.waitForSelector("label:has-text('Postgres') :checked");
    await page.click("label:has-text('Types')");
    await drafted("SQLite");
    await page.getByText(/A newer draft by lin in Feishu/).waitFor();
    assert.ok(await page.isChecked("label:has-text('Postgres') input"));
    await page.click("label:has-text('Types')");
    const submit = page.getByRole("button", { name: "Submit 1 of 2 answers" });
    await submit.scrollIntoViewIfNeeded();
    await page.waitForTimeout(600);
    await submit.click();
    assert.deepEqual(
      (await sent(tab, "respond")).map((command) => command.type === "respond" && command.response),
      [{ type: "answers", requestId: "q1", answers: { [one]: { selected: ["Postgres"] } }, partial: true }],
    );
    await tab.context.close();
  });

  test("requests that are alike are answered together once their list was seen whole, and a later one is not among them", async () => {
    const alike = (id: string, ago: number) =>
      bashRequest(`npm run ${id}`, {
        id,
        ago,
        suggestions: [{ type: "addRule", rule: "Bash(npm run:*)", behavior: "allow", destination: "session" }],
      });
    const tab = await open([alike("a", 9_000), alike("b", 8_000)], { at: "#/r/a" });
    const { page } = tab;
    await page.click("button.more");
    await page.click("[data-choice=together]");
    await page.waitForSelector(".together");
    await tab.inbox({ type: "fact", fact: fact("s1", "t0/0/2/permit0", "input.requested", alike("c", 0)) });
    await lifted(tab, ".together .yes");
    await page.waitForTimeout(600);
    await page.click(".together .yes");
    await page.waitForTimeout(600);
    await page.getByRole("button", { name: "Yes, allow all 2 once" }).click();
    assert.deepEqual(await sent(tab, "respondAll"), [
      { type: "respondAll", requestIds: ["a", "b"], answer: { type: "granted" }, by: "you", surface: "web" },
    ]);
    await tab.context.close();
  });

  test("an inquiry is asked and replied to below the request, which stays open", async () => {
    const tab = await open([bashRequest("npm run build")], { at: "#/r/r1" });
    const { page } = tab;
    await page.click("[data-choice=inquire]");
    await page.fill(".inquiries textarea", "why not make?");
    await page.waitForTimeout(600);
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    assert.deepEqual(
      (await sent(tab, "inquire")).map((command) => command.type === "inquire" && command.text),
      ["why not make?"],
    );
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const asked = { requestId: "r1", inquiry: "i" };
    for (const one of [
      fact("s1", "i", "inquiry.made", { ...asked, text: "why not make?", by: "you", surface: "web" }),
      fact("s1", "i.replied", "inquiry.replied", {
        ...{
          ...asked,
          text: "There is no Makefile.",
          looks: [],
          model: "m",
          usage,
          modelCalls: 1,
          cost: { usd: 0.0123 },
        },
      }),
    ])
      await tab.inbox({ type: "fact", fact: one });
    assert.match(await page.innerText(".reply"), /There is no Makefile\.\s+\$0\.0123/);
    await page.waitForSelector("[data-choice=once]");
    await tab.context.close();
  });

  test("a session is drawn as it happens: text grows, a call changes, and a text that began again is there once", async () => {
    const tab = await open([], { at: "#/s/s1" });
    const { page } = tab;
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const delta = (attempt: number, n: number, text: string, more = {}) =>
      tab.watch("s1", {
        type: "delta",
        delta: { session: "s1", key: "t0/0/model", attempt, n, kind: "text", text, ...more },
      });
    const tell = (one: Fact) => tab.watch("s1", { type: "fact", fact: one });
    await tab.watch("s1", ...watched([fact("s1", "said/1", "user.said", { text: "go", by: "you", surface: "web" })]));
    for (const word of ["One ", "two ", "three"]) {
      await delta(0, 0, word);
      await page.locator(".md", { hasText: word.trim() }).waitFor();
    }
    await delta(0, 0, "One two three four", { whole: true });
    await page.getByText(/^One two three four$/).waitFor();
    const call = { type: "call" as const, id: "1", tool: "Bash", input: { command: "ls" } };
    await tell(
      fact("s1", "t0/0/model", "model.replied", {
        ...{
          parts: [{ type: "text", text: "One two three four" }, call],
          usage,
          finish: "calls",
          model: "m",
          sawUpTo: 1,
        },
      }),
    );
    await page.getByText("not started").waitFor();
    await tell(fact("s1", "t0/0/0/run0.started", "call.started", { tool: "Bash", effect: "reads", digest: "" }));
    await page.waitForSelector("details.running[open]");
    await tab.watch("s1", {
      type: "delta",
      delta: { session: "s1", key: "t0/0/0/run0", attempt: 0, n: 0, kind: "output", text: "a.txt\n" },
    });
    await page.getByText("a.txt").waitFor();
    await tell(fact("s1", "t0/0/0/run0.finished", "call.finished", { ok: false, text: "a.txt\nno", end: "failed" }));
    await page.waitForSelector("details.failed");
    assert.equal(await page.getByText(/One two three four/).count(), 1);
    await tab.context.close();
  });

  test("somebody who may only look reads everything and answers nothing", async () => {
    const tab = await open([bashRequest("npm run build")], { at: "#/r/r1" });
    await tab.fake("may('talk')");
    await tab.page.waitForTimeout(700);
    await tab.page.evaluate("document.querySelector('[data-choice=no]').click()");
    assert.match(await tab.page.innerText("[role=alert]"), /not answer it/);
    assert.deepEqual(await sent(tab, "respond"), []);
    await tab.context.close();
  });

  test("hostile text in every field stays text: nothing runs, nothing is asked for, nobody complains", async () => {
    const evil = `<img src=x onerror="alert(1)"><script>alert(2)</script> [click](javascript:alert(3)) ![p](https://example.com/x.png) \u202e‹U+0041› https://example.com`;
    const request = bashRequest(evil, {
      description: evil,
      agent: [evil],
      why: reason("said", { text: evil }),
      tool: evil,
    });
    const question = questionRequest({ id: "q1", session: "s1" });
    if (question.kind === "question")
      question.questions[0] = {
        question: evil,
        header: evil,
        multiSelect: false,
        options: [{ label: evil, description: evil }],
      };
    const tab = await openTab(browser, site.url, { at: "#/s/s1" });
    let dialogs = 0;
    tab.page.on("dialog", (dialog) => {
      dialogs++;
      void dialog.dismiss();
    });
    await tab.inbox(snapshot([request, question], [session("s1", evil, { cwd: evil })]));
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const text = `# ${evil}\n\n${evil}\n\n\`\`\`html\n${evil}\n\`\`\`\n\n| ${evil.replaceAll("|", "")} |\n|---|\n| x |\n\n<b>raw</b>`;
    await tab.watch(
      "s1",
      ...watched([
        fact("s1", "said/1", "user.said", { text: evil, by: evil, surface: evil }),
        fact("s1", "t0/0/model", "model.replied", {
          parts: [
            { type: "text", text },
            { type: "call", id: "1", tool: evil, input: { command: evil } },
          ],
          ...{ usage, finish: "calls", model: evil, sawUpTo: 1 },
        }),
        fact("s1", "t0/0/0/run0.started", "call.started", { tool: evil, effect: "writes", digest: "" }),
        fact("s1", "t0/0/0/run0.finished", "call.finished", { ok: false, text: evil }),
      ]),
    );
    await tab.page.waitForSelector(".md h3");
    await tab.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    await tab.page.waitForTimeout(400);
    assert.deepEqual(tab.complaints, []);
    assert.equal(dialogs, 0);
    assert.equal(await tab.page.locator("main img, main script, main iframe, main b:text-is('raw')").count(), 0);
    const links = await tab.page
      .locator("main a[target]")
      .evaluateAll((all) => all.map((one) => (one as unknown as { href: string; rel: string }).href));
    assert.deepEqual(new Set(links), new Set(["https://example.com/x.png", "https://example.com/"]));
    await tab.context.close();
  });

  test("axe finds nothing on the inbox, a permission, a question and a session", async () => {
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const shapes: [string, TabOptions][] = [
      ["inbox", { at: "#/", phone: true }],
      ["permission", { at: "#/r/r1", dark: true }],
      ["question", { at: "#/r/q1", lang: "zh" }],
      ["session", { at: "#/s/s1", dark: true, phone: true, lang: "zh" }],
    ];
    for (const [name, options] of shapes) {
      const tab = await open([bashRequest("rm -r dist"), questionRequest()], options);
      if (name === "session")
        await tab.watch(
          "s1",
          ...watched([
            fact("s1", "said/1", "user.said", { text: "go", by: "you", surface: "web" }),
            fact("s1", "t0/0/model", "model.replied", {
              parts: [
                { type: "text", text: "# One\n\n```ts\nlet a = 1;\n```" },
                { type: "call", id: "1", tool: "Bash", input: { command: "ls" } },
              ],
              ...{ usage, finish: "calls", model: "m", sawUpTo: 1 },
            }),
          ]),
        );
      await tab.page.waitForSelector("article");
      await tab.page.waitForTimeout(500);
      await accessible(tab.page, name);
      await tab.context.close();
    }
  });
});
