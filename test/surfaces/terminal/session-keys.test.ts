import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { said, SageError } from "../../../src/protocol/reasons/reason.ts";
import type { ModelRequest } from "../../../src/models/model.ts";
import { allow, bash } from "../../support/sage.ts";
import { sageOnScreen } from "../../support/terminal.ts";
import { until } from "../../support/until.ts";

suite("a session on a terminal", () => {
  for (const [lang, taken] of [
    ["en", "Message taken back by you: also 中文"],
    ["zh", "你撤回了消息：also 中文"],
  ] as const)
    test(`↑ takes the message that waits back into the editor, and Enter sends it anew, ${lang}`, async () => {
      const requests: ModelRequest[] = [];
      await using at = await sageOnScreen([{ calls: [bash("echo x > x.txt")] }, { text: "End." }], {
        task: "go",
        lang,
        wrap: (model) => ({
          ...model,
          reply: (request, scope) => (requests.push(request), model.reply(request, scope)),
        }),
      });
      await at.until(lang === "en" ? "Permission needed" : "需要许可"); // its call is on the screen before the panel is
      await at.answer("\x1b");
      await at.until(lang === "en" ? "1 open request" : "1 个待处理的请求");
      at.enter("first");
      await at.until(/⋯ (Waits for the next step: |等待下一步读取：)first/);
      at.enter("also 中文");
      await at.until(/⋯ 2\. .*also 中文/);
      at.press("\x1b[A");
      await at.until(taken);
      await at.until(/⋯ (Waits for the next step: |等待下一步读取：)first/);
      at.enter(", better");
      await at.until(/⋯ 2\. .*better/);
      at.press("\x12");
      await at.answer("1", "\r");
      await at.until("End.");
      const told = requests.at(-1)!.messages.flatMap((one) => (one.role === "user" ? [one.text] : []));
      assert.deepEqual(told, ["go", "first", "also 中文, better"]);
    });

  test("a message in the request under way waits no more: ↑ leaves it, and whoever takes it back hears that it was too late", async () => {
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    await using at = await sageOnScreen([{ calls: [bash("echo x > x.txt")] }, { text: "End." }], {
      task: "go",
      wrap: (model) => ({
        ...model,
        async reply(request, scope) {
          if (++asked === 2) await gate.promise;
          return model.reply(request, scope);
        },
      }),
    });
    await at.until("Permission needed");
    await at.answer("\x1b");
    await at.until("1 open request");
    at.enter("more");
    await at.until("Waits for the next step: more");
    at.press("\x12");
    await at.answer("1", "\r");
    await until(() => asked === 2, "the second request to the model");
    await until(async () => !(await at.screen.text()).includes("Waits for the next step"));
    at.press("\x1b[A");
    const { host, session } = at.sage;
    const message = at.sage.facts().findLast(({ type }) => type === "user.said")?.key ?? "";
    await host.send({ type: "withdraw", session, message, by: "Mei", surface: "test" });
    await at.until("Message taken back by Mei");
    gate.resolve();
    await at.until("Too late to take it back: the agent has read the message.");
  });

  test("at a request: Ctrl-C once cancels it and the turn, twice leaves and resolves nothing", async () => {
    await using at = await sageOnScreen([{ calls: [bash("echo x > x.txt")] }, { calls: [bash("echo x > x.txt")] }], {
      task: "go",
    });
    await at.until("Permission needed");
    at.press("\x03");
    await at.until("Cancelling the request and the turn");
    await at.until("Turn cancelled");
    const told = (await at.screen.all()).match(/^.*(?:cancelled|stopped|Stopped).*$/gm);
    assert.deepEqual(told, ["Turn cancelled: Lin stopped the turn"], "one key, one message");
    assert.deepEqual(at.sage.store.pending(at.sage.session), []);
    at.enter("again");
    await at.until("Permission needed");
    await new Promise((resolve) => setTimeout(resolve, 2_000)); // the first one is forgotten
    at.press("\x03", "\x03");
    const { why, waiting } = await at.surface.done;
    assert.deepEqual({ why, waiting }, { why: "interrupted", waiting: 1 });
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // nor is it cancelled afterwards
    assert.equal(at.sage.store.pending(at.sage.session).length, 1);
  });

  test("what is typed right after Ctrl-C at a request is the next message, whole", async () => {
    await using at = await sageOnScreen([{ calls: [bash("echo x > x.txt")] }, { text: "End." }], { task: "go" });
    await at.until("Permission needed");
    await at.answer("\x03");
    at.type("do it 中文 instead");
    await at.until("Turn cancelled");
    at.press("\r");
    await at.until("End.");
    const said = at.sage.facts().filter((fact) => fact.type === "user.said");
    assert.equal(said.at(-1)?.data.text, "do it 中文 instead");
  });

  test("Esc interrupts, the turn goes on with what is said; Ctrl-D leaves and resolves nothing", async () => {
    await using at = await sageOnScreen(
      [
        { text: "one two three four five six seven eight", delayMs: 3_000 },
        { text: "nine ten" },
        { calls: [bash("echo x > x.txt")] },
      ],
      { task: "go" },
    );
    await at.until("one two");
    at.press("\x1b");
    await at.until("Interrupted by you");
    await at.until("Paused");
    at.enter("/resume");
    await at.until("nine ten");
    await at.until("Done:");
    at.enter("next");
    await at.until("Permission needed");
    at.press("\x04"); // Ctrl-D at a request
    assert.deepEqual({ ...(await at.surface.done), last: undefined }, { why: "left", waiting: 1, last: undefined });
    assert.equal(at.sage.store.pending(at.sage.session).length, 1);
  });

  test("Esc with a message that waits has it read now: no pause, no /resume", async () => {
    await using at = await sageOnScreen([{ calls: [bash("echo begun; sleep 60")] }, { text: "pnpm it is" }], {
      task: "go",
      rules: [allow("Bash")],
    });
    await at.until("begun");
    at.enter("use pnpm");
    await at.until("⋯ Waits for the next step: use pnpm");
    await at.until("Esc reads your message now");
    at.press("\x1b", "\x1b");
    await at.until("pnpm it is");
    const text = await at.until("Done:");
    assert.match(text, /Interrupted by you to read a message\./);
    assert.doesNotMatch(text, /Paused|\/resume/);
    assert.equal(at.sage.facts().filter(({ type }) => type === "turn.interrupted").length, 1);
  });

  for (const word of ["/resume", "go on"])
    test(`a turn that fails after a pause and "${word}" is told once, and its message stays in the conversation`, async () => {
      const heard: string[][] = [];
      const later = ({ messages }: ModelRequest) => {
        heard.push(messages.flatMap((one) => (one.role === "user" ? [one.text] : [])));
        if (heard.length === 1) throw new SageError("model-unavailable", said("no luck"));
        return { text: "End." };
      };
      await using at = await sageOnScreen([{ calls: [bash("sleep 20")] }, later], {
        task: "go",
        rules: [allow("Bash(sleep:*)")],
      });
      await at.until("Running Bash");
      at.press("\x1b");
      await at.until("Paused");
      at.enter(word);
      await at.until("Turn failed");
      await new Promise((resolve) => setTimeout(resolve, 500));
      assert.equal((await at.screen.all()).match(/Turn failed/g)?.length, 1);
      assert.doesNotMatch(await at.screen.text(), /Esc to interrupt/);
      at.enter("once more");
      await at.until("End.");
      assert.deepEqual(heard.at(-1), ["go", ...(word === "go on" ? [word] : []), "once more"]);
    });

  test("Ctrl-C beside a request set aside clears the draft, and only then cancels the request", async () => {
    await using at = await sageOnScreen([{ calls: [bash("echo x > x.txt")] }], { task: "go" });
    await at.until("Permission needed");
    await at.answer("\x1b");
    await at.until("1 open request");
    at.type("草稿 draft");
    await at.until("草稿 draft");
    at.press("\x03");
    await at.until("What would you like to do?");
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // longer than a cancel waits for a second Ctrl-C
    assert.equal((await at.sage.open()).length, 1);
    at.press("\x03");
    await at.until("Turn cancelled");
  });

  test("a draft behind a panel stays, and keeps nobody from leaving", async () => {
    await using at = await sageOnScreen([{ calls: [bash("echo x > x.txt")] }], { task: "go" });
    await at.until("Permission needed");
    await at.answer("\x1b");
    at.type("draft");
    at.press("\x12");
    await at.until("Permission needed");
    at.press("\x03", "\x03");
    const { why, waiting } = await at.surface.done;
    assert.deepEqual({ why, waiting }, { why: "interrupted", waiting: 1 });
  });

  test("a key between two Ctrl-C keeps Sage; ↑ recalls a message with the cursor at its end", async () => {
    const history = { load: () => ["oldest", "第一行\nlast line"], add: () => {} };
    await using at = await sageOnScreen([], { history });
    await at.until("What would you like to do?");
    at.press("\x03");
    await at.until("Ctrl-C again to exit");
    at.press("x", "\x7f", "\x03");
    assert.equal(at.ended(), undefined);
    at.press("\x1b[A", "!");
    await at.until(/第一行\s*\n\s*last line!/);
    at.press("\x03", "\x1b[A", "\x1b[A", "\x1b[A", "?");
    await at.until("oldest?");
  });

  test("Ctrl-C: clears what is typed, then asks, then leaves", async () => {
    await using at = await sageOnScreen([]);
    await at.until("What would you like to do?");
    at.press("h", "i", "\x03");
    await at.until("What would you like to do?");
    assert.equal(at.ended(), undefined);
    at.press("\x03");
    await at.until("Ctrl-C again to exit");
    at.press("\x03");
    assert.equal((await at.surface.done).why, "interrupted");
  });
});
