import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { allow, askUser, bash, question } from "../../support/sage.ts";
import { sageOnScreen } from "../../support/terminal.ts";

suite("a session on a terminal", () => {
  test("text, a permission, a question and the end, each once, in order, and all of it in the scrollback", async () => {
    await using at = await sageOnScreen(
      [
        {
          text: `First I look.\n\n${"So much to say.\n\n".repeat(30)}Then I ask.`,
          calls: [bash("echo one; echo two > two.txt")],
        },
        { text: "Now a question.", calls: [askUser(question("Which colour?"))] },
        { text: "All **done**." },
      ],
      { task: "go", rows: 36 },
    );
    await at.until("Permission needed");
    await at.answer("1", "\r");
    await at.until("Which colour?");
    await at.answer("2", "\r");
    const text = await at.until(/Done: 2 tool calls/);
    const story = [
      "❯ go",
      "  First I look.",
      "  Then I ask.",
      "● Bash echo one; echo two > two.txt",
      "  Answered by you",
      "  │ one",
      "  Now a question.",
      "Which colour? → Blue",
      "  All done.",
      "Done: 2 tool calls",
    ];
    const places = story.map((line) => text.indexOf(line));
    assert.deepEqual(
      places.map((place) => place >= 0),
      story.map(() => true),
      text,
    );
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    for (const line of story) assert.equal(text.split(line).length, 2, `${line} stands there once:\n${text}`);
    assert.equal(text.includes("Permission needed"), false, "the panel is gone");
  });

  test("a request that comes into the middle of a sentence neither is answered by it nor loses it", async () => {
    await using at = await sageOnScreen([{ calls: [bash("echo x > x.txt")], delayMs: 500 }, { text: "End." }], {
      task: "go",
    });
    at.type("use port ");
    await at.until("Permission needed");
    at.type("3001 中文");
    await at.answer("\x1b");
    await at.until("use port 3001 中文");
    assert.equal((await at.sage.open()).length, 1);
  });

  test("Esc puts a request aside, a message may be written meanwhile, Ctrl-R brings it back", async () => {
    await using at = await sageOnScreen([{ calls: [bash("echo x > x.txt")] }, { text: "End." }], { task: "go" });
    await at.until("Permission needed");
    await at.answer("\x1b");
    await at.until("1 open request");
    at.press("\x1b"); // a second one does nothing worse
    await at.until("Ctrl-C to cancel it");
    at.enter("also 中文");
    await at.until("❯ also 中文");
    assert.deepEqual(await at.sage.open(), [...at.sage.store.pending(at.sage.session)]);
    at.press("\x12");
    await at.until("Permission needed");
    await at.answer("3", "\r");
    await at.until("End.");
    assert.equal((await at.until("refused")).includes("✗ Bash"), true);
  });

  for (const [lang, one, two] of [
    ["en", "⋯ Waits for the next step: also 中文", "⋯ 2. Waits for the next step: and this"],
    ["zh", "⋯ 等待下一步读取：also 中文", "⋯ 2. 等待下一步读取：and this"],
  ] as const)
    test(`a message that is sent while it works is shown as waiting until it has been read, ${lang}`, async () => {
      await using at = await sageOnScreen([{ calls: [bash("echo x > x.txt")] }, { text: "End." }], {
        task: "go",
        lang,
      });
      await at.until(lang === "en" ? "Permission needed" : "需要许可"); // its call is on the screen before the panel is
      await at.answer("\x1b");
      await at.until(lang === "en" ? "1 open request" : "1 个待处理的请求");
      at.enter("also 中文");
      await at.until(one);
      at.enter("and this");
      await at.until(two);
      at.press("\x12");
      await at.answer("1", "\r");
      await at.until("End.");
      assert.equal((await at.screen.text()).includes(two), false, "read by now");
      assert.deepEqual((await at.until("❯ and this")).split("❯ also 中文").length, 2, "said once");
    });

  test("answered elsewhere: the panel folds, and the transcript says by whom and from where", async () => {
    await using at = await sageOnScreen([{ calls: [bash("echo x > x.txt")] }, { text: "End." }], { task: "go" });
    await at.until("Permission needed");
    const [request] = await at.sage.open();
    await at.sage.answer({ type: "granted", requestId: request?.id ?? "" }, "Mei");
    const text = await at.until("End.");
    assert.match(text, /Answered by Mei from test at \d\d:\d\d: allowed/);
    assert.equal(text.includes("Permission needed"), false);
  });

  test("keys on their way to a panel that somebody else has just answered say nothing", async (test) => {
    await using at = await sageOnScreen([{ calls: [bash("echo x > x.txt")] }, { text: "End." }, { text: "Two." }], {
      task: "go",
    });
    await at.until("Permission needed");
    const [request] = await at.sage.open();
    test.mock.timers.enable({ apis: ["Date"], now: Date.now() });
    await at.sage.answer({ type: "granted", requestId: request?.id ?? "" }, "Mei");
    await at.until("End.");
    at.press("1", "\r");
    test.mock.timers.tick(400);
    at.enter("now");
    await at.until("Two.");
    const said = at.sage.store.since(at.sage.session, 0).filter((fact) => fact.type === "user.said");
    assert.deepEqual(
      said.map(({ data }) => data.text),
      ["go", "now"],
    );
  });

  test("a second terminal follows, answers, and both say so", async () => {
    await using at = await sageOnScreen([{ text: "Hello.", calls: [bash("echo x > x.txt")] }, { text: "End." }], {
      task: "go",
    });
    await at.until("Permission needed");
    await using other = await sageOnScreen([], { sage: at.sage, by: "Mei", rows: 40 });
    await other.until("Permission needed");
    await other.answer("1", "\r");
    await at.until(/Answered by Mei in the terminal/);
    await at.until("End.");
    await other.until("End.");
  });

  test("todos stand above the editor while they last; subagents under another name run, and a bad input is invalid", async () => {
    const list = (...statuses: string[]) => ({
      tool: "TodoWrite",
      input: { todos: statuses.map((status, n) => ({ content: `step ${n + 1}`, status, activeForm: `Doing ${n}` })) },
    });
    await using at = await sageOnScreen(
      {
        "": [
          { calls: [list("completed", "in_progress", "pending")] },
          { calls: [{ tool: "Task", input: { subagent_type: "explore", prompt: "look around" } }] },
          { calls: [{ tool: "Read", input: { what: "a" } }, bash("touch x")] },
          { calls: [list("completed", "completed", "completed")] },
          { text: "End." },
        ],
        Explore: [{ text: "Looked." }],
      },
      { task: "go", rows: 50 },
    );
    await at.until("Run this command?");
    await at.answer("\x1b");
    const shown = await at.until(/ {2}✓ step 1\n {2}▸ step 2\n {2}☐ step 3\n◆ 1 open request/);
    assert.match(shown, /● TodoWrite 1 of 3 done\n● Task look around/);
    assert.match(shown, /✗ Read [^\n]*\(invalid\)/);
    at.press("\x12");
    await at.answer("3", "\r");
    await at.until(/● TodoWrite 3 of 3 done\n\n {2}End\./);
    assert.doesNotMatch(await at.screen.text(), /step/);
  });

  test("requests of one reply say which of how many they are; a question breaks between words", async () => {
    const long =
      "Shall the shipping of every order that comes in before midnight be free, or only of those above fifty?";
    await using at = await sageOnScreen(
      [
        { calls: [bash("touch one"), bash("touch two"), bash("touch three")] },
        { calls: [askUser(question(long))] },
        { text: "End." },
      ],
      { task: "go", cols: 50 },
    );
    for (const [n, name] of ["one", "two", "three"].entries()) {
      await at.until(new RegExp(`Permission needed \\(${n + 1} of 3\\)[^]*│ touch ${name}\\n`));
      await at.answer("1", "\r");
    }
    await at.until("Shall the shipping");
    const rows = (await at.screen.rows()).filter((row) => /^[│┊] /.test(row)).map((row) => row.slice(2).trimEnd());
    assert.equal(rows.join(" "), long);
    assert.ok(rows.length > 1);
    await at.answer("1", "\r", "\r");
    await at.until("End.");
  });

  test("a paste of 200 lines says 200, whether or not its last line ends", async () => {
    for (const end of ["", "\n", "\r\n"]) {
      await using at = await sageOnScreen([]);
      await at.until("What would you like to do?");
      const lines = Array.from({ length: 200 }, (_, n) => `line ${n}`).join("\n");
      at.press(`\x1b[200~${lines}${end}\x1b[201~`);
      await at.until(/\[paste #1 \+200 lines\]/);
    }
  });

  test("an edit that a rule allows has its numbers, and a file written again only its changes", async () => {
    await using at = await sageOnScreen(
      [
        { calls: [{ tool: "Write", input: { file_path: "a.ts", content: "one\ntwo\nthree\nfour\nfive\nsix\n" } }] },
        { calls: [{ tool: "Edit", input: { file_path: "a.ts", old_string: "five", new_string: "FIVE" } }] },
        { calls: [{ tool: "Write", input: { file_path: "a.ts", content: "one\n2\nthree\nfour\nFIVE\nsix\n" } }] },
        { text: "End." },
      ],
      { task: "go", rows: 50, rules: [allow("Edit")] },
    );
    const shown = await at.until("End.");
    assert.match(
      shown,
      /● Edit a\.ts\n {2}│ 2 {3}two\n {2}│ 3 {3}three\n {2}│ 4 {3}four\n {2}│ 5 - five\n {2}│ 5 \+ FIVE\n {2}│ 6 {3}six\n/,
    );
    assert.match(
      shown,
      /● Write a\.ts\n {2}│ 1 {3}one\n {2}│ 2 - two\n {2}│ 2 \+ 2\n {2}│ 3 {3}three\n {2}│ 4 {3}four\n {2}│ 5 {3}FIVE\n/,
    );
  });

  test("what a subagent may not do is seen to have failed", async () => {
    const task = { tool: "Task", input: { description: "look around", prompt: "list files", agent: "Explore" } };
    const calls = [{ tool: "Glob", input: { pattern: "*" } }, bash("touch x")];
    await using at = await sageOnScreen(
      { "": [{ calls: [task] }, { text: "End." }], Explore: [{ calls }, { text: "Looked." }] },
      { task: "go" },
    );
    assert.match(await at.until("End."), /● Task look around[^\n]*\n {2}⎿ Glob \*\n {2}⎿ ✗ Bash touch x\n/);
  });

  test("Ctrl-O after a thought shows the thought", async () => {
    await using at = await sageOnScreen([{ reasoning: "First this.\nThen that.", text: "Done thinking." }], {
      task: "go",
    });
    await at.until("Done: ");
    assert.doesNotMatch(await at.screen.text(), /Then that/);
    at.press("\x0f");
    await at.until(/Thought:\n {2}│ First this\.\n {2}│ Then that\./);
  });
});
