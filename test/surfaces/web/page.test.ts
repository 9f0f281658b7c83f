import assert from "node:assert/strict";
import { test } from "node:test";
import type { Receipt } from "../../../src/protocol/host/receipt.ts";
import { reason } from "../../../src/protocol/reasons/reason.ts";
import { accessible } from "./axe.ts";
import { onFakeHost } from "./browser.ts";
import { bashRequest, fact, now, questionRequest, session, snapshot, watched } from "./examples.ts";
import { fill, overflow, places, receipt } from "./full.ts";

/** The page in a real browser, on a host that the test plays. A sample: npm run test:web has the others. */
onFakeHost("the page", ({ open, tab: openTab, sent, lifted, sessions }) => {
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
    // Bringing the button into view moves the page, and a tap right after that counts as an accident.
    await page.getByRole("button", { name: "Yes, allow once" }).scrollIntoViewIfNeeded();
    await page.waitForTimeout(1_000);
    await page.getByRole("button", { name: "Yes, allow once" }).click();
    assert.deepEqual(await sent(tab, "respond"), [
      { type: "respond", response: { type: "granted", requestId: "r1" }, by: "you", surface: "web" },
    ]);
    assert.deepEqual(tab.complaints, []);
    await tab.close();
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
    await tab.close();
  });

  test("an end that something covers was not seen", async () => {
    const tab = await openTab({ at: "#/r/r1" });
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
    await tab.close();
  });

  test("the loser of a race reads who won, and keeps the words they had written", async () => {
    const tab = await open([bashRequest("npm run build")], { at: "#/r/r1" });
    const { page } = tab;
    await page.click("button.more");
    await page.click("[data-choice=reason]");
    await page.fill("textarea", "not on a Friday");
    await tab.inbox({
      type: "fact",
      fact: fact("s1", "t0/0/0/permit0.resolved", "input.resolved", {
        ...{ requestId: "r1", outcome: "answered", by: "lin", surface: "feishu", at: now },
        response: { type: "granted", requestId: "r1" },
      }),
    });
    await page.waitForSelector("article.ended");
    assert.match(
      await page.innerText("article.ended [role=status]"),
      /Answered by lin in Feishu at \d\d:\d\d: allowed/,
    );
    await page.click("article.ended summary");
    assert.match(await page.innerText("article.ended pre"), /not on a Friday/);
    assert.equal(await page.title(), "Sage");
    await tab.close();
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
    const tab = await openTab({ at: "#/s/s1" });
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
    await tab.close();
  });

  test("a call says once who refused it, and of one that failed that somebody had allowed it; ages are whole units", async () => {
    const tab = await open([bashRequest("npm run build", { ago: now - Date.now() + 95_000 })], { at: "#/s/s1" });
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const calls = ["npm test", "npm publish"].map(
      (command, n) => ({ type: "call", id: `${n}`, tool: "Bash", input: { command } }) as const,
    );
    const answered = (n: number, type: "granted" | "denied") => {
      const requestId = `s1/t0/0/${n}/permit0`;
      const by = { requestId, outcome: "answered", by: "lin", surface: "feishu", at: now } as const;
      return [
        fact("s1", `t0/0/${n}/permit0`, "input.requested", bashRequest("x", { id: requestId })),
        fact("s1", `t0/0/${n}/permit0.resolved`, "input.resolved", { ...by, response: { type, requestId } }),
      ];
    };
    await tab.watch(
      "s1",
      ...watched([
        fact("s1", "said/1", "user.said", { text: "go", by: "you", surface: "web" }),
        fact("s1", "t0", "turn.begun", { loop: 1, maxSteps: 9, sawUpTo: 0 }),
        fact("s1", "t0/0/model", "model.replied", {
          parts: [...calls],
          usage,
          finish: "calls",
          model: "m",
          sawUpTo: 1,
        }),
        ...answered(0, "granted"),
        ...answered(1, "denied"),
        fact("s1", "t0/0/0/run0.started", "call.started", { tool: "Bash", effect: "writes", digest: "" }),
        fact("s1", "t0/0/0/run0.finished", "call.finished", { ok: false, text: "1 test failed", end: "failed" }),
        fact("s1", "t0/0/1/run0.finished", "call.finished", { ok: false, text: "refused", end: "refused-by-person" }),
      ]),
    );
    const { page } = tab;
    await page.waitForSelector("details.call.failed");
    assert.equal(await page.innerText("details.call.failed summary small"), "failed · allowed by lin in Feishu");
    assert.equal(await page.innerText("details.call.refused-by-person summary small"), "refused by lin in Feishu");
    await page.evaluate("location.hash = '#/'");
    assert.equal(await page.innerText("article time"), "1 min ago");
    const [request, resolution] = answered(0, "denied").map(({ data }) => data);
    const refused = receipt(0, "refused", {
      standing: "refused-by-person",
      asked: [{ request, resolution }],
    } as Partial<Receipt>);
    const reply = { ok: true, receipts: [refused], sessions: [], records: [] };
    await page.evaluate(`fake.replies.receipts = ${JSON.stringify(reply)}; location.hash = "#/receipts"`);
    assert.match(await page.innerText(".receipts summary"), /^\d\d:\d\d\s+refused by lin in Feishu\s+Bash [^\n]*$/);
    await tab.close();
  });

  test("axe finds nothing on a session with an open request, and nothing runs past the edge of a phone", async () => {
    const tab = await open([], { at: "#/s/s1", phone: true, dark: true, lang: "zh" });
    await fill(tab);
    await tab.page.waitForSelector(".transcript .md");
    await accessible(tab.page, "session");
    for (const at of places) {
      await tab.page.evaluate(`location.hash = ${JSON.stringify(at)}`);
      await tab.page.waitForTimeout(60);
      assert.deepEqual(await overflow(tab.page), [], at);
    }
    await tab.close();
  });
});
