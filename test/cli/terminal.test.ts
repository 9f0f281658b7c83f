import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { asks, bash, Machine, mark } from "../support/cli.ts";

const permit = "Allow? (y/n/…) > ";
const idle = /\n> $/;
const colours = asks(
  { question: "Which colour?", labels: ["Red", "Blue"] },
  { question: "Which shape?", labels: ["Round", "Square"] },
);

suite("in a terminal", () => {
  test("the demo is answered by keys", async () => {
    using machine = new Machine();
    const terminal = machine.terminal(["demo"]);
    await terminal.answer("Answer > ", "Good evening, 灯塔");
    await terminal.answer("none) > ", "");
    await terminal.until('console.log("Lighthouse: Good evening, 灯塔");');
    await terminal.answer(permit, "y");
    await terminal.until("│ node hello.mjs");
    await terminal.answer(permit, "r");
    await terminal.answer("back) > ", "not today");
    await terminal.until("refused — “not today”");
    await terminal.until("so the program is written and did not run");
    await terminal.until("From the journal:");
    assert.equal(await terminal.code, 0);
  });
  test("the demo: what was asked by a process that was killed is refused in another, and the turn goes on", async () => {
    using machine = new Machine();
    const terminal = machine.terminal(["demo"]);
    await terminal.answer("Answer > ", "1");
    await terminal.answer("none) > ", "");
    await terminal.until('console.log("Lighthouse: Welcome home.");');
    await terminal.answer(permit, "y");
    await terminal.until("│ node hello.mjs");
    await terminal.answer(permit, "y");
    await terminal.until("│ rm hello.mjs");
    await terminal.answer("from this other process? (y/n) > ", "");
    await terminal.answer("(y/n) > ", "n");
    await terminal.until("You refused, so the program stays.");
    assert.equal(await terminal.code, 0);
    assert.match(terminal.screen(), /kill -9 \d+[^]*Recorded for Bash rm hello\.mjs: refused/);
  });
  test("a question, a permission, and a conversation that goes on", async () => {
    using machine = new Machine();
    const model = machine.script(
      { text: "First.", calls: [colours] },
      { text: "Now.", calls: [mark] },
      { text: "All done." },
      { text: "Bye then." },
    );
    const terminal = machine.terminal(["--model", model, "go"]);
    await terminal.answer("Answer > ", "2");
    await terminal.answer("Answer > ", "Round");
    await terminal.answer("none) > ", "be quick");
    await terminal.until("Which colour? → Blue; Which shape? → Round — “be quick”");
    await terminal.answer(permit, "");
    await terminal.until("An empty line is no answer.");
    await terminal.answer(permit, "y");
    await terminal.until("All done.");
    await terminal.answer(idle, "thanks");
    await terminal.until("Bye then.");
    await terminal.answer(idle, "/quit");
    await terminal.until("sage --resume");
    assert.equal(await terminal.code, 0);
    assert.equal(terminal.screen().match(/All done\./g)?.length, 1);
    assert.equal(machine.file("ran.txt"), "ran\n");
  });

  test("B4: nothing typed before a prompt was shown answers it", async () => {
    using machine = new Machine();
    const text = "I am about to ask for something. ".repeat(4);
    const model = machine.script({ text, calls: [mark], delayMs: 1_500 }, { text: "End." });
    const terminal = machine.terminal(["--model", model, "go"]);
    await terminal.until("I am about");
    terminal.type("y\r"); // a whole line, while the agent talks
    await terminal.until("(the agent reads this at its next step)");
    terminal.type("y"); // half a line, finished only when the prompt is there
    await terminal.until("Permission needed");
    terminal.type("y\r"); // at once, before anyone could have read it
    await terminal.until("typed before the prompt");
    await terminal.answer(permit, "");
    await terminal.until("An empty line is no answer.");
    assert.equal((await machine.pending()).length, 1);
    await terminal.answer(permit, "c");
    await terminal.answer(/back\) > $/, ""); // nor is it a comment
    await terminal.answer(permit, "n");
    await terminal.until("End.");
    await terminal.until(/\n> y$/); // half a line waits where messages are taken
    assert.equal(machine.file("ran.txt"), undefined);
    assert.deepEqual(
      (await machine.facts("user.said")).map(({ data }) => data["text"]),
      ["go", "y"],
    );
  });

  test("a paste decides nothing at a request, and is one message where a message is asked for", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [mark] }, { text: "First." }, { text: "Second." });
    const terminal = machine.terminal(["--model", model, "go"]);
    await terminal.until(permit);
    terminal.type("\x1b[200~y\ry\r\x1b[201~");
    await terminal.until("it was pasted");
    await terminal.answer(permit, "n");
    await terminal.until("First.");
    await terminal.until(idle);
    terminal.type("\x1b[200~one\rtwo\r\x1b[201~three\r");
    await terminal.until("Second.");
    assert.equal(machine.file("ran.txt"), undefined);
    assert.deepEqual(
      (await machine.facts("user.said")).map(({ data }) => data["text"]),
      ["go", "one\ntwo\nthree"],
    );
  });

  test("an answer from elsewhere folds the prompt, and the next one is shown", async () => {
    using machine = new Machine();
    const model = machine.script(
      { calls: [bash("echo one > one.txt"), bash("echo two > two.txt")] },
      { text: "Both." },
    );
    const terminal = machine.terminal(["--model", model, "go"]);
    await terminal.until("Permission needed (1 of 2)");
    await terminal.until(permit);
    const [first] = await machine.pending();
    const { code, out } = await machine.sage(["answer", first?.id ?? "", "--yes"]);
    assert.equal(code, 0);
    assert.match(out, /The running session continues with it\./);
    await terminal.until(/Answered by \S+ on the command line at \d\d:\d\d: allowed/);
    await terminal.until("│ echo two > two.txt");
    await terminal.answer(permit, "c");
    await terminal.answer("back) > ", "fine by me");
    await terminal.until("Both.");
    assert.deepEqual([machine.file("one.txt"), machine.file("two.txt")], ["one\n", "two\n"]);
  });

  test("Ctrl-C interrupts, a second one leaves; the same turn stays paused until it is resumed", async () => {
    using machine = new Machine();
    const model = machine.script({ text: "one two three four five six", delayMs: 2_500 }, { text: "seven eight" });
    const terminal = machine.terminal(["--model", model, "go"]);
    await terminal.until("one two");
    terminal.type("\x03");
    await terminal.until("Interrupting…");
    await terminal.until(idle);
    terminal.type("\x03");
    await terminal.until(/Resume with: sage --resume (\w+)/);
    assert.equal(await terminal.code, 130);
    const session = /sage --resume (\w+)/.exec(terminal.screen())?.[1] ?? "";
    const again = machine.terminal(["--model", model, "--resume", session]);
    await again.until(/Interrupted [^]*\/resume/);
    await again.until(idle);
    const states = (await machine.facts("state.changed")).length;
    again.type("/resume\r");
    await again.until("seven eight");
    await again.until("Done:");
    assert.deepEqual(
      (await machine.facts("state.changed")).slice(states - 1, states + 1).map(({ data }) => data["to"]),
      [
        { state: "paused", reason: { code: "interrupted", args: {} } },
        { state: "executing", phase: "preparingContext" },
      ],
    );
    assert.equal((await machine.facts("turn.begun")).length, 1);
  });

  test("Ctrl-C at a request cancels it and its turn; Ctrl-D leaves and keeps it, with what was answered so far", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [colours] }, { text: "Thanks." }, { calls: [mark] });
    const terminal = machine.terminal(["--model", model, "go"]);
    await terminal.answer("Answer > ", "2");
    await terminal.until("Question 2 of 2");
    await terminal.until("Answer > ");
    terminal.type("\x04");
    assert.equal(await terminal.code, 3);
    const [open] = await machine.pending();

    const again = machine.terminal(["--model", model, "--continue"]);
    await again.until("From your draft: Which colour? → Blue");
    await again.answer("Answer > ", "1");
    await again.answer("none) > ", "");
    await again.until("Thanks.");
    const [resolved] = await machine.facts("input.resolved");
    assert.equal(resolved?.data["requestId"], open?.id);
    await again.answer(idle, "now the other thing");
    await again.until(permit);
    again.type("\x03");
    await again.until("Cancelling the request and the turn");
    await again.until("Turn cancelled");
    assert.deepEqual(await machine.outcomes(), ["answered", "cancelled"]);
    assert.equal(machine.file("ran.txt"), undefined);
  });

  test("what will run can be edited first", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [bash("echo wrong > out.txt")] }, { text: "End." });
    const terminal = machine.terminal(["--model", model, "go"]);
    await terminal.answer(permit, "e");
    await terminal.until("back) > echo wrong > out.txt");
    terminal.type("\x15echo right > out.txt\r");
    await terminal.until("allowed with changes");
    await terminal.until("End.");
    assert.equal(machine.file("out.txt"), "right\n");
  });

  test("B6: a rule is kept in the file that was named, after editing it, and its twin is not asked about", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [bash("node one.js")] }, { calls: [bash("node two.js")] }, { text: "End." });
    const local = join(machine.cwd, ".sage/settings.local.json");
    const terminal = machine.terminal(["--model", model, "go"], { cols: 200 });
    await terminal.until("  1  │ Bash(node one.js)");
    await terminal.until(`│ local   you, in this project (project): ${local}`);
    await terminal.answer(permit, "a local =");
    await terminal.until("back) > Bash(node one.js)");
    terminal.type(`${"\x7f".repeat(8)}:*)\r`);
    await terminal.until("allowed, always with Bash(node:*) (you, in this project)");
    await terminal.until(`Rule saved to ${local}: Bash(node:*)`);
    await terminal.until("End.");
    assert.deepEqual(JSON.parse(readFileSync(local, "utf8")), { permissions: { allow: ["Bash(node:*)"] } });
    assert.deepEqual(await machine.outcomes(), ["answered"]);
  });

  test("B6: a rule that cannot be saved holds for the session, and that is told", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [bash("node one.js")] }, { calls: [bash("node one.js")] }, { text: "End." });
    const terminal = machine.terminal(["--model", model, "go"], { cols: 200 });
    await terminal.until(permit);
    mkdirSync(join(machine.cwd, ".sage"));
    writeFileSync(join(machine.cwd, ".sage/settings.json"), '{"permissions":{"allow":["Bash"]}}');
    terminal.type("a local\r");
    await terminal.until("Rule added for this session only: Bash(node one.js)");
    await terminal.until("End.");
    assert.equal(machine.file(".sage/settings.local.json"), undefined);
  });

  test("in Chinese, with Chinese answers, on a narrow terminal", async () => {
    using machine = new Machine();
    const model = machine.script(
      {
        text: "我先问一句。",
        calls: [asks({ question: "用哪种颜色来画这座灯塔的屋顶呢？", labels: ["红色", "蓝色"], header: "颜色" })],
      },
      { text: "好的。" },
    );
    const terminal = machine.terminal(["--model", model, "画一座灯塔"], { cols: 24, env: { LANG: "zh_CN.UTF-8" } });
    await terminal.until("┊ "); // too wide for one row, and still behind its margin
    await terminal.answer("回答 > ", "介于红蓝之间的紫色");
    await terminal.answer("可留空） > ", "谢谢");
    await terminal.until("好的。");
    const [resolved] = await machine.facts("input.resolved");
    assert.deepEqual(resolved?.data["response"], {
      type: "answers",
      requestId: resolved?.data["requestId"],
      answers: { "用哪种颜色来画这座灯塔的屋顶呢？": { selected: [], other: "介于红蓝之间的紫色" } },
      remark: "谢谢",
    });
  });

  test("a dumb terminal gets no escape sequence, NO_COLOR no colour", async () => {
    using machine = new Machine();
    const model = machine.script({ text: "Hello.", calls: [mark] }, { text: "End." });
    for (const [env, forbidden] of [
      [{ TERM: "dumb" }, /\x1b/],
      [{ NO_COLOR: "1" }, /\x1b\[[\d;]*m/],
    ] as const) {
      const terminal = machine.terminal(["--model", model, "go"], { env });
      await terminal.answer(permit, "n");
      await terminal.answer(idle, "/quit");
      await terminal.code;
      assert.doesNotMatch(terminal.raw(), forbidden);
    }
  });
});
