// npm run test:web: acts of a person on every kind of page. The default run has a sample of it, in page.test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "../../../src/protocol/facts/fact.ts";
import { onFakeHost } from "./browser.ts";
import { bashRequest, fact, questionRequest, session, snapshot, watched } from "./examples.ts";

onFakeHost("the page, act by act", ({ open, tab: openTab, sent, lifted, sessions }) => {
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
    await tab.close();
  });

  test("a long title of a session makes no page wider than the phone", async () => {
    for (const at of ["#/", "#/r/r1", "#/sessions"]) {
      const tab = await openTab({ at, phone: true });
      await tab.inbox(snapshot([bashRequest("npm test")], [session("s1", "tidy up every corner of it ".repeat(6))]));
      await tab.page.waitForSelector("#main a");
      const [main, widest] = (await tab.page.evaluate(`[
        document.querySelector("main").clientWidth,
        Math.max(...[...document.querySelectorAll("main article, main li")].map((one) => one.getBoundingClientRect().right)),
      ]`)) as [number, number];
      assert.ok(widest <= main, `${at}: ${widest} of ${main}`);
      await tab.close();
    }
  });

  test("away: it can be read and written, nothing is sent, and on return the draft is saved and the browser keeps nothing", async () => {
    const tab = await open([bashRequest("npm run build")], { at: "#/r/r1" });
    const { page } = tab;
    await lifted(tab, "[data-choice=once]");
    await page.waitForTimeout(600);
    await tab.fake("link('lost')");
    await page.waitForSelector(".banner[role=alert]");
    await page.waitForTimeout(700); // the page has moved, which is a lock of its own
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
    await tab.close();
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
    await tab.close();
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
    assert.match(
      await page.innerText(".together ol"),
      /npm run a[^]*npm run b/,
      "they can be read until the answer is given",
    );
    await page.getByRole("button", { name: "Yes, allow all 2 once" }).click();
    assert.deepEqual(await sent(tab, "respondAll"), [
      { type: "respondAll", requestIds: ["a", "b"], answer: { type: "granted" }, by: "you", surface: "web" },
    ]);
    await tab.close();
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
    await tab.close();
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
    await tab.close();
  });

  test("a message that nothing has read can be taken back; one that was read, or is another's, cannot", async () => {
    const tab = await open([], { at: "#/s/s1" });
    const { page } = tab;
    const said = (key: string, by: string) => fact("s1", key, "user.said", { text: key, by, surface: "web" });
    const mine = said("said/2", "you");
    await tab.watch("s1", ...watched([said("said/1", "lin"), mine]));
    const back = page.getByRole("button", { name: "Take it back" });
    await back.waitFor();
    assert.equal(await back.count(), 1, "only one's own");
    await page.evaluate(
      `fake.replies.withdraw = { ok: false, code: "input-invalid", message: "", reason: { code: "message-read", args: {} } }`,
    );
    await back.click();
    assert.notEqual(await page.innerText(".said [role=alert]"), "");
    assert.deepEqual(await sent(tab, "withdraw"), [
      { type: "withdraw", session: "s1", message: "said/2", by: "you", surface: "web" },
    ]);
    const withdrawn = { message: mine.seq, by: "you", surface: "web" };
    await tab.watch("s1", {
      type: "fact",
      fact: fact("s1", "withdrawn/said/2", "message.withdrawn", withdrawn),
    });
    await page.waitForSelector(".said.gone");
    assert.equal(await back.count(), 0);
    await tab.close();
  });

  test("somebody who may only look reads everything and answers nothing", async () => {
    const tab = await open([bashRequest("npm run build")], { at: "#/r/r1" });
    await tab.fake("may('talk')");
    await tab.page.waitForTimeout(700);
    await tab.page.evaluate("document.querySelector('[data-choice=no]').click()");
    assert.match(await tab.page.innerText("[role=alert]"), /not answer it/);
    assert.deepEqual(await sent(tab, "respond"), []);
    await tab.close();
  });
});
