import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { asks, bash, Machine } from "../../support/cli.ts";
import { noTmux, tmux } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

suite("a panel with real keys", { skip: noTmux, concurrency: 2 }, () => {
  test("a question is answered in Chinese, pasted into, and resized while it is open", async () => {
    using machine = new Machine();
    const model = machine.script(
      {
        calls: [
          asks(
            { question: "Which colour?", labels: ["Red", "Blue"], header: "Colour" },
            { question: "还要什么？", labels: ["测试", "文档"], header: "附加", multiSelect: true },
          ),
        ],
      },
      { text: "Thanks." },
    );
    using terminal = tmux(machine, { cols: 70, rows: 24 });
    terminal.sage(`--model ${model} go`);
    await terminal.until(/\[Colour\]/);
    await terminal.answer("Down", "Enter");
    await terminal.until(/\[附加\]/);
    terminal.press("Space", "Down", "Down");
    terminal.type("加上");
    terminal.paste("第一\n第二");
    await terminal.until(/▏ 加上第一\n\s+▏ 第二/);
    for (const [cols, rows] of [
      [40, 16],
      [100, 30],
    ] as const) {
      terminal.resize(cols, rows);
      await terminal.until(new RegExp(`^── Question ─{${Math.min(cols, 72) - 12}}\\n[^]*▏ 第二`, "m"));
      // The cursor is at the caret, for the input method: after two characters of two columns each.
      await terminal.until(/^14: +▏ 第二$/, () => {
        const { row, col } = terminal.cursor();
        return `${col}: ${terminal.screen().split("\n")[row]}`;
      });
    }
    terminal.press("Enter");
    await terminal.until(/❯ ✓ Submit/);
    terminal.press("Enter");
    await terminal.until(/Thanks\./);
    const [resolved] = await machine.facts("input.resolved");
    const response = resolved?.data["response"] as { answers: unknown } | undefined;
    assert.deepEqual(response?.answers, {
      "Which colour?": { selected: ["Blue"] },
      "还要什么？": { selected: ["测试"], other: "加上第一\n第二" },
    });
  });

  test("a permission: neither typing nor a paste allows it; scrolled to its end, two keys do", async () => {
    using machine = new Machine();
    const command = `${Array.from({ length: 60 }, (_, n) => `: ${n}`).join("\n")}\necho ran >> ran.txt`;
    const model = machine.script({ calls: [bash(command)] }, { text: "Thanks." });
    using terminal = tmux(machine, { cols: 60, rows: 24 });
    terminal.sage(`--model ${model} go`);
    await terminal.until(/Permission needed[^]*locked/);
    await terminal.answer();
    terminal.paste("1\n\ny\n");
    terminal.type("yes1");
    terminal.press("Enter");
    await terminal.until(/Typing does nothing here/);
    await terminal.answer("1", "Enter");
    await terminal.until(/Scroll to the end/);
    terminal.press("End");
    await terminal.until(/No rule allows[^]*❯ 1 Allow once$/m);
    assert.equal(machine.file("ran.txt"), undefined);
    terminal.press("Enter");
    await terminal.until(/Thanks\./);
    assert.equal(machine.file("ran.txt"), "ran\n");
  });

  test("a permission is refused with a reason in Chinese, which the agent reads in the same result", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [bash("echo ran >> ran.txt")] }, { text: "Thanks." });
    machine.env["SAGE_LANG"] = "zh";
    using terminal = tmux(machine);
    terminal.sage(`--model ${model} go`);
    await terminal.until(/需要许可/);
    await terminal.answer("Tab", "4", "Enter");
    await terminal.until(/告诉智能体理由/);
    terminal.type("请先运行测试");
    terminal.press("Enter");
    await terminal.until(/Thanks\./);
    const [finished] = await machine.facts("call.finished");
    assert.match(String(finished?.data["text"]), /请先运行测试/);
    assert.equal(machine.file("ran.txt"), undefined);
  });

  test("killed while a command ran: the panel after the restart says so, and offers what is left", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [bash("echo ran >> ran.txt; sleep 300")] }, { text: "Thanks." });
    using terminal = tmux(machine, { cols: 80, rows: 24 });
    terminal.sage(`--model ${model} go`);
    await terminal.until(/Permission needed/);
    await terminal.answer("1", "Enter");
    await until(() => machine.file("ran.txt"));
    assert.equal(machine.file("ran.txt"), "ran\n", terminal.screen());
    process.kill(terminal.pid(), "SIGKILL");
    await terminal.until("Killed");
    terminal.shell("clear");
    terminal.sage("--continue");
    await terminal.until(/still running[^]*❯ 1 \( \) wait/);
    await terminal.answer("2");
    await terminal.until(/→ kill[^]*❯ ✓ Submit/);
    terminal.press("Enter");
    await terminal.until(/❯ 1 \( \) rerun/);
    await terminal.answer("2");
    await terminal.until(/→ done[^]*❯ ✓ Submit/);
    terminal.press("Enter");
    await terminal.until(/Thanks\./);
    assert.equal(machine.file("ran.txt"), "ran\n", "it ran once");
  });

  test("put aside with Esc, half an answer is there again after a restart", async () => {
    using machine = new Machine();
    const model = machine.script(
      { calls: [asks({ question: "Which colour?", labels: ["Red", "Blue"] })] },
      { text: "Thanks." },
    );
    using terminal = tmux(machine, { cols: 80, rows: 24 });
    terminal.sage(`--model ${model} go`);
    await terminal.until(/Which colour\?/);
    await terminal.answer();
    terminal.type("深蓝色");
    await terminal.until(/▏ 深蓝色/);
    terminal.press("Escape");
    await terminal.until(/1 open request/);
    process.kill(terminal.pid(), "SIGKILL");
    await terminal.until("Killed");
    terminal.shell("clear");
    terminal.sage("--continue");
    await terminal.until(/→ “深蓝色”[^]*❯ ✓ Submit/);
    await terminal.answer("Enter");
    await terminal.until(/Thanks\./);
    assert.deepEqual(await machine.outcomes(), ["answered"]);
  });
});
