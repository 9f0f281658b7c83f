import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { bash, allow } from "../../support/sage.ts";
import { actsOf } from "../../support/slash.ts";
import { sageOnScreen } from "../../support/terminal.ts";

/** Every kind of block, and longer than any screen: each line has a number to be found by. */
function longAnswer(count: number): { text: string; numbers: string[] } {
  const parts: string[] = [];
  const numbers: string[] = [];
  const next = () => {
    const number = `n${String(numbers.length + 1).padStart(3, "0")}n`;
    numbers.push(number);
    return number;
  };
  while (numbers.length < count) {
    parts.push(
      `## ${next()} 标题`,
      `A paragraph with **bold** ${next()} and 中文文字, long enough to be wrapped on a narrow screen.`,
    );
    parts.push([`- ${next()}`, `- ${next()} 第二项`, `  - ${next()}`].join("\n"));
    parts.push(["```ts", ...Array.from({ length: 12 }, () => `const ${next()} = "值"; // comment`), "```"].join("\n"));
    parts.push([`| a | b |`, `|---|---|`, `| ${next()} | ${next()} |`].join("\n"));
  }
  return { text: parts.join("\n\n"), numbers };
}

const found = (text: string) => [...text.matchAll(/n\d{3}n/g)].map(([number]) => number);

suite("the screen", () => {
  for (const [cols, rows] of [
    [80, 24],
    [40, 12],
    [120, 50],
  ] as const)
    test(`a long answer, streamed on ${cols}×${rows}, stands in the scrollback once and in order`, async () => {
      const { text, numbers } = longAnswer(90);
      await using at = await sageOnScreen([{ text, delayMs: 600 }], { task: "go", cols, rows });
      const seen = await at.until("Done:");
      assert.deepEqual(found(seen), numbers);
    });

  test("a code block that is taller than the screen goes to the scrollback while it comes", async () => {
    const lines = Array.from({ length: 60 }, (_, n) => `n${String(n).padStart(3, "0")}n();`);
    await using at = await sageOnScreen(
      [{ text: `\`\`\`js\n${lines.join("\n")}\n\`\`\`\n\nThat was it.`, delayMs: 800 }],
      {
        task: "go",
        rows: 15,
      },
    );
    await at.until("n020n"); // the beginning is out of the window
    const half = await at.screen.all();
    assert.equal(half.includes("n000n"), true, "and can be read already");
    const seen = await at.until("That was it.");
    assert.deepEqual(
      found(seen),
      lines.map((line) => line.slice(0, 5)),
    );
  });

  test("another width or height: what was said stays, once, and the scrollback is not wiped", async () => {
    const { text, numbers } = longAnswer(60);
    await using at = await sageOnScreen([{ text, delayMs: 300 }, { text: "Second." }], {
      task: "go",
      cols: 80,
      rows: 30,
    });
    await at.until("Done:");
    for (const [cols, rows] of [
      [50, 20],
      [120, 40],
      [40, 10],
      [90, 30],
    ] as const) {
      at.screen.resize(cols, rows);
      await new Promise((resolve) => setTimeout(resolve, 60));
      const last = numbers.at(-1) ?? "";
      assert.match(
        await at.screen.text(),
        new RegExp(`${last}[^]*What would you`),
        `the end is seen at ${cols}×${rows}`,
      );
    }
    const seen = new Set(found(await at.screen.all()));
    assert.deepEqual([...seen].toSorted(), numbers);
    assert.doesNotMatch(at.screen.raw(), /\x1b\[[23]J/);
    at.enter("more");
    await at.until("Second.");
  });

  test("a resize in the middle of a long reply loses nothing", async () => {
    const { text, numbers } = longAnswer(90);
    await using at = await sageOnScreen([{ text, delayMs: 1_500 }], { task: "go", cols: 80, rows: 20 });
    await at.until("n020n");
    at.screen.resize(60, 16);
    await at.until("n050n");
    at.screen.resize(100, 24);
    const seen = await at.until("Done:");
    assert.deepEqual([...new Set(found(seen))].toSorted(), numbers);
  });

  test("the caret is where the next letter goes, also after Chinese, emoji and a wrapped line", async () => {
    await using at = await sageOnScreen([], { cols: 40 });
    await at.until("What would you like to do?");
    const row = async () => (await at.screen.rows()).findLastIndex((line) => line.startsWith("───")) - 1;
    at.press("你", "好", "👩‍💻", "a");
    await at.until("你好👩‍💻a");
    assert.deepEqual(await at.screen.cursor(), { row: await row(), col: 7 });
    at.press("\x1b[D", "\x1b[D"); // before the emoji
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(await at.screen.cursor(), { row: await row(), col: 4 });
    at.press("\x05");
    at.type("中文字".repeat(8));
    await at.until(/文字中文字中文字 *\n──/);
    assert.deepEqual(await at.screen.cursor(), { row: await row(), col: 16 }); // half a character does not fit a row
  });

  test("a large paste is folded on the screen and whole in the message; nothing in it steers", async () => {
    await using at = await sageOnScreen([{ text: "Thanks." }]);
    const lines = Array.from({ length: 40 }, (_, n) => `pasted ${n} \x9b2J`);
    await at.until("What would you like to do?");
    at.press(`\x1b[200~${lines.join("\r")}\r\x1b[201~`); // as an editor copies whole lines
    await at.until("[paste #1 +40 lines]");
    at.press("\r");
    await at.until("Thanks.");
    const [said] = at.sage.facts().filter((fact) => fact.type === "user.said");
    assert.equal(said?.data.text, lines.map((line) => line.replace("\x9b", "")).join("\n"));
  });

  test("what was sent comes back with ↑, also what was sent another day", async () => {
    const kept: string[] = [];
    const history = { load: () => ["yesterday"], add: (text: string) => void kept.push(text) };
    await using at = await sageOnScreen([{ text: "First." }], { history });
    await at.until("What would you like to do?");
    at.enter("today");
    await at.until("First.");
    assert.deepEqual(kept, ["today"]);
    at.press("\x1b[A");
    await at.until(/──\ntoday *\n──/);
    at.press("\x1b[A");
    await at.until(/──\nyesterday *\n──/);
  });

  test("! runs in the person's own name, and goes along with the next message only", async () => {
    const ran: string[] = [];
    await using at = await sageOnScreen([{ text: "I see." }, { text: "And now?" }], {
      async shell(command, { output }) {
        ran.push(command);
        output("it is \x1b[31mred\x1b[2J\n");
        return { code: 1, told: "it is red\n" };
      },
    });
    await at.until("What would you like to do?");
    at.enter("!make");
    await at.until("│ it is red‹U+001B›[2J");
    at.enter("look");
    await at.until("I see.");
    at.enter("again");
    await at.until("And now?");
    assert.deepEqual(ran, ["make"]);
    assert.deepEqual(
      at.sage.facts().flatMap((fact) => (fact.type === "user.said" ? [fact.data.text] : [])),
      ["look\n\nI ran this myself: make\nOutput:\n```\nit is red\n\n(exit code 1)\n```", "again"],
    );
  });

  test("files and commands are completed; a name that hides something is not offered", async () => {
    await using at = await sageOnScreen([], {
      files: async (query) => ["src/main.ts", "src/\x1b[2Jbad.ts"].filter((file) => file.includes(query)),
      own: () => [{ name: "exposé", description: "explain the last commit" }],
      acts: actsOf({ export: async (path) => ({ text: `Saved to ${path}.` }) }),
    });
    await at.until("What would you like to do?");
    at.type("see @s");
    assert.doesNotMatch(await at.until("→ src/main.ts"), /bad/);
    at.press("\t");
    await at.until("see @src/main.ts");
    at.press("\x03");
    at.type("/exp");
    await at.until(/→ \/export +save this session[^\n]*\n +\/exposé +explain the last commit/);
    at.press("\t");
    at.type("a.html");
    at.press("\r");
    await at.until("Saved to a.html.");
    at.type("/mode acc");
    await at.until(/→ accept-edits +show or change the mode/);
    at.press("\t", "\r");
    await at.until("accept edits (Shift-Tab)");
  });

  test("when something waits: the title, a bell, a notification and the person's own command, at once", async () => {
    const told: string[] = [];
    await using at = await sageOnScreen([{ calls: [bash("rm -r x")] }, { text: "End." }], {
      task: "go",
      notify: async (text) => void told.push(text),
    });
    await at.until("Permission needed");
    assert.deepEqual(told, ["Sage needs permission: Bash rm -r x · ~"]);
    const raw = at.screen.raw();
    for (const sequence of [
      "\x07\x1b]9;Sage needs permission: Bash rm -r x · ~\x07",
      "\x1b]0;Sage · waiting for you · ~\x07",
    ])
      assert.ok(raw.includes(sequence), JSON.stringify(sequence));
    await at.answer("3", "\r");
    await at.until("Done:");
    at.press("\x04");
    await at.surface.done;
    assert.ok(at.screen.raw().trimEnd().endsWith("\x1b[23;0t"), "the title that was there before comes back");
  });

  test("output is live, folded, and unfolded by Ctrl-O; what has scrolled by is shown again, whole", async () => {
    await using at = await sageOnScreen([{ calls: [bash("seq 1 30")] }, { text: "End." }], {
      task: "go",
      rules: [allow("Bash(seq:*)")],
      rows: 50,
    });
    const folded = await at.until("End.");
    assert.match(folded, /… 24 lines above \(Ctrl-O\)\n {2}│ 25\n[^]*│ 30\n/);
    at.press("\x0f");
    await at.until(/Bash:\n(?: {2}│ \d+\n){29} {2}│ 30/);
  });

  test("long output: its true length, its last lines, where it is kept; Ctrl-O reads all of it, from disk, with search", async () => {
    const command = `printf '\\033[31mred\\033[0m \\033[2J\\n'; seq 2 9999; printf 'needle last'`;
    await using at = await sageOnScreen([{ calls: [bash(command)] }, { text: "End." }], {
      task: "go",
      rules: [allow("Bash(printf:*)"), allow("Bash(seq:*)")],
    });
    const folded = await at.until("End.");
    assert.match(folded, /… 10,000 lines in all \(Ctrl-O\)\n {4}kept in [^│]+\.txt\n {2}│ 9995\n/);
    assert.match(folded, /│ 9999\n {2}│ needle last\n/);
    at.press("\x0f");
    const first = await at.until(/lines 1–21 of 10,000/);
    assert.match(first, /\n {2}red ‹U\+001B›\[2J\n {2}2\n/, "colours are left out, and nothing steers the screen");
    assert.ok(!at.screen.raw().includes("\x1b[2J"));
    at.press("G");
    await at.until(/lines 9,980–10,000 of 10,000[^]*\n {2}needle last\n/);
    at.press("g", "/", "5", "0", "0", "0", "\r");
    await at.until(/lines 5,000–5,020 of 10,000[^\n]*\n {2}5000\n/);
    at.press("/", "7", "7", "\r", "n");
    await at.until(/lines 5,177–/);
    at.press("N");
    await at.until(/lines 5,077–/);
    at.press("/");
    at.enter("nowhere");
    await at.until("Not found: nowhere");
    at.press("q");
    await at.until(/What would you like to do\?[^\n]*\n[^\n]*\n[^\n]*scripted/);
    assert.doesNotMatch(await at.screen.text(), /Not found/);
    at.enter("go on");
    await at.until("❯ go on");
  });

  test("a request that opens while the person reads waits until they have read", async () => {
    await using at = await sageOnScreen(
      [{ calls: [bash("seq 1 100")] }, { text: "Once." }, { calls: [bash("touch x")] }, { text: "End." }],
      { task: "go", rules: [allow("Bash(seq:*)")] },
    );
    await at.until("Once.");
    await at.until("What would you like to do?");
    at.press("\x0f");
    await at.until("lines 1–21 of 100");
    await at.sage.say("more");
    await at.until(/lines 1–21 of 100 · Waiting for you/);
    at.press(" ", "q");
    await at.until("Run this command?");
    await at.answer("3", "\r");
    await at.until("End.");
  });

  test("a terminal that says it is light gets darker colours, and its reply is not typed", async () => {
    await using at = await sageOnScreen([{ text: "# Title" }]);
    await at.until("What would you like to do?");
    assert.ok(at.screen.raw().includes("\x1b]11;?\x07"), "it is asked");
    at.press("\x1b]11;rgb:ffff/ffff/f0f0\x07");
    await new Promise((resolve) => setImmediate(resolve));
    at.enter("go");
    await at.until("Title");
    assert.match(at.screen.raw(), /\x1b\[38;5;90m\S*Title/);
    assert.deepEqual(
      at.sage.facts().flatMap((fact) => (fact.type === "user.said" ? [fact.data.text] : [])),
      ["go"],
    );
  });

  test("an error of ours leaves the terminal as it was", async () => {
    await using at = await sageOnScreen([]);
    await at.until("What would you like to do?");
    (process as NodeJS.EventEmitter).emit("uncaughtExceptionMonitor", new Error("boom"), "uncaughtException");
    const raw = at.screen.raw();
    assert.ok(raw.lastIndexOf("\x1b[?25h") > raw.lastIndexOf("\x1b[?25l"), "the cursor is shown");
    assert.ok(raw.endsWith("\x1b[23;0t"));
    assert.doesNotMatch(await at.screen.text(), /What would you like to do/);
  });
});
