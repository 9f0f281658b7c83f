import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { asks, bash, Machine, mark } from "../support/cli.ts";
import { noTmux, tmux } from "../support/tmux.ts";
import { untilGone } from "../support/until.ts";

const idle = "What would you like to do?";
const prompt = /\n\S*[#$]$/;

suite("on a screen that Sage draws, in tmux", { skip: noTmux }, () => {
  test("a conversation with real keys; the shell gets its terminal back as it was", async () => {
    using machine = new Machine();
    const model = machine.script(
      { text: "First a **question**.", calls: [asks({ question: "Which colour?", labels: ["Red", "Blue"] })] },
      { text: "Now a command.", calls: [bash("echo ran >> ran.txt; seq 1 20")] },
      { text: "All done." },
      { text: "Bye then." },
    );
    using term = tmux(machine);
    term.shell("stty -g > before; echo of the shell");
    term.sage(`--model ${model} "go on"`);
    await term.until("Which colour?");
    await term.answer("2", "Enter");
    await term.until("Permission needed");
    await term.answer("1", "Enter");
    await term.until("All done.");
    term.resize(60, 20);
    await term.until(/All done\.[^]*What would you like to do/);
    term.resize(110, 45);
    await term.until(/All done\.[^]*What would you like to do/);
    term.type("thanks 谢谢");
    await term.until("thanks 谢谢");
    term.press("Enter");
    await term.until("Bye then.");
    term.press("C-d");
    await term.until(/Resume with: sage --resume \w+/);
    term.shell("stty -g > after; echo code $?");
    await term.until("code 0");
    assert.equal(machine.file("after"), machine.file("before"));
    assert.equal(machine.file("ran.txt"), "ran\n");
    const all = term.all();
    for (const line of [
      "of the shell\n",
      "❯ go on",
      "  First a question.",
      "Which colour? → Blue",
      "● Bash echo ran",
      "❯ thanks 谢谢",
      "  Bye then.",
    ])
      assert.ok(all.includes(line), `${line} is missing in:\n${all}`);
    assert.equal(all.includes("Permission needed"), false, "no panel is left in the scrollback");
  });

  test("the demo kills the process that asks; the answer comes from another one, and the terminal is as it was", async () => {
    using machine = new Machine();
    using term = tmux(machine);
    term.shell("stty -g > before");
    term.sage("demo; stty -g > after; echo code $?");
    await term.until("Which language");
    await term.answer("1", "Enter");
    for (const command of [/Write this file/, /node hello\.mjs[^]*Allow once/]) {
      await term.until(command);
      await term.answer("1", "Enter");
    }
    await term.until(/rm hello\.mjs[^]*Allow once/);
    await term.until(/kill -9 \d+[^]*from this other process\?/);
    term.type("y");
    term.press("Enter");
    await term.until("code 0");
    assert.match(
      term.all(),
      /Recorded for Bash rm hello\.mjs: allowed[^]*Removed\. A process was killed while it waited for you/,
    );
    assert.equal(machine.file("after"), machine.file("before"));
  });

  test("Esc interrupts, Ctrl-C twice leaves; the same turn goes on after kill -9, and another terminal answers it", async () => {
    using machine = new Machine();
    const model = machine.script(
      { text: "one two three four five six seven eight nine ten", delayMs: 2_000 },
      { text: "eleven twelve" },
      { text: "Now.", calls: [mark] },
      { text: "End." },
    );
    using term = tmux(machine);
    term.shell("stty -g > before");
    term.sage(`--model ${model} "go on"; echo code $?`);
    await term.until("one two");
    term.press("Escape");
    await term.until("Interrupted by you");
    term.press("C-c", "C-c");
    await term.until("code 130");
    const session = /sage --resume (\w+)/.exec(term.all())?.[1] ?? "";
    term.shell("clear");
    term.sage(`--resume ${session}`);
    await term.until("Paused.");
    term.type("/resume");
    term.press("Enter");
    await term.until("eleven twelve");
    await term.until(idle);
    term.type("and now");
    term.press("Enter");
    await term.until("Permission needed");
    const [open] = await machine.pending();

    // Killed at the request: the shell has its terminal, the request is still there, and a new Sage shows it.
    process.kill(term.pid(), "SIGKILL");
    await term.until("Killed");
    term.shell("clear; echo killed");
    await term.until("killed");
    term.sage(`--resume ${session}`);
    await term.until("Permission needed");

    const other = term.another();
    other.sage(`--resume ${session}`);
    await other.until("Permission needed");
    await other.answer("1", "Enter");
    await term.until("End.");
    await other.until("End.");
    assert.equal(machine.file("ran.txt"), "ran\n");
    const [resolved] = await machine.facts("input.resolved");
    assert.equal(resolved?.data["requestId"], open?.id);
    assert.equal((await machine.facts("turn.begun")).length, 2);
  });

  test("SIGTERM: nothing is resolved, the terminal is as it was, in Chinese on 40 columns", async () => {
    using machine = new Machine();
    machine.env["LANG"] = "zh_CN.UTF-8";
    const question = {
      question: "用哪种颜色来画这座灯塔的屋顶呢？这个问题比一行要长。",
      labels: ["红色", "蓝色"],
      header: "颜色",
    };
    const model = machine.script({ text: "我先**问**一句。", calls: [asks(question)] }, { text: "好的。" });
    using term = tmux(machine, { cols: 40, rows: 30 });
    term.shell("stty -g > before");
    term.sage(`--model ${model} 画一座灯塔`);
    await term.until("用哪种颜色");
    term.shell(""); // a stray key decides nothing
    await term.until("红色");
    process.kill(term.pid(), "SIGTERM");
    await term.until(prompt);
    term.shell("stty -g > after; echo restored");
    await term.until("restored");
    assert.equal(machine.file("after"), machine.file("before"));
    assert.equal((await machine.pending()).length, 1);
    term.sage("--continue");
    await term.until("红色");
    await term.answer("2", "Enter");
    await term.until("好的。");
    assert.match(term.all(), /灯塔/);
  });

  test("a window that is closed: nothing is resolved, nothing runs on, and what was half written is there again", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [mark] }, { text: "End." });
    using term = tmux(machine);
    const closed = term.another();
    closed.sage(`--model ${model} "go on"`);
    await closed.until("Permission needed");
    await closed.answer("Tab", "4", "Enter");
    closed.type("not on 主干");
    await closed.until("not on 主干");
    const pid = term.pid();
    closed.close();
    await untilGone(pid);
    assert.equal((await machine.pending()).length, 1);
    term.sage("--continue");
    await term.until("not on 主干");
    await term.answer("4", "Enter");
    term.type("!");
    term.press("Enter");
    await term.until("End.");
    assert.equal(machine.file("ran.txt"), undefined);
    const [resolved] = await machine.facts("input.resolved");
    assert.deepEqual(resolved?.data["response"], {
      type: "denied",
      requestId: resolved?.data["requestId"],
      reason: "not on 主干!",
    });
  });

  test("/model: another model from the next turn on, also after a resume; one that cannot be loaded is refused", async () => {
    using machine = new Machine();
    const first = machine.script({ text: "The first one." });
    const second = machine.script({}, { text: "The second one." }, { text: "Still the second." });
    const third = machine.script({}, {}, {}, { text: "The third." }, { text: "The third again." });
    using term = tmux(machine, { cols: 150 });
    term.sage(`--model ${first} hello`);
    await term.until("The first one.");
    for (const [name, why] of [
      ["nobody/nothing", "failed: a model should be"],
      ["scripted/nowhere.json", "failed: there is no file"],
    ] as const) {
      term.type(`/model ${name}`);
      term.press("Enter");
      await term.until(why);
    }
    assert.deepEqual(await machine.facts("model.chosen"), []);
    term.type(`/model ${second}`);
    term.press("Enter");
    await term.until("Model changed by you");
    await term.until(`${second} · `);
    term.type("and you?");
    term.press("Enter");
    await term.until("The second one.");
    term.press("C-d");
    await term.until("Resume with: sage --resume");
    assert.match((await machine.sage(["-p", "-c", "who is it?"])).out, /Still the second\./);
    assert.match((await machine.sage(["-p", "-c", "--model", third, "and now?"])).out, /The third\./);
    assert.match((await machine.sage(["-p", "-c", "and now?"])).out, /The third again\./);
    assert.deepEqual(
      (await machine.facts("model.chosen")).map(({ data }) => data["model"]),
      [second, third],
    );
  });

  test("a mistake of ours is told on a terminal that is as it was", async () => {
    using machine = new Machine();
    const trouble = join(machine.dir, "trouble.mjs");
    const check = "if (existsSync('now')) throw new Error('our mistake')";
    writeFileSync(trouble, `import { existsSync } from "node:fs"; setInterval(() => { ${check} }, 50)`);
    using term = tmux(machine);
    term.shell(`stty -g > before; export NODE_OPTIONS="--import=${trouble}"`);
    term.sage(`--model ${machine.script({ text: "Hello." })}`);
    await term.until(idle);
    writeFileSync(join(machine.cwd, "now"), "");
    await term.until("our mistake");
    await term.until(prompt);
    term.shell("stty -g > after; echo restored");
    await term.until(/\nrestored/);
    assert.equal(machine.file("after"), machine.file("before"));
    assert.equal(term.screen().includes(idle), false);
  });
});
