import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { suite, test } from "node:test";
import { asks, Machine, mark } from "../support/cli.ts";

const permit = "Allow? (y/n/…) > ";
const colours = asks(
  { question: "Which colour?", labels: ["Red", "Blue"] },
  { question: "Which shape?", labels: ["Round", "Square"] },
);

suite("the demo", () => {
  test("without a terminal it answers itself, says so, and leaves nothing behind", async () => {
    using machine = new Machine();
    for (const [args, label] of [
      [
        ["demo"],
        /Demo: the model is a script[^]*\[demo answers itself\] 1[^]*\[demo answers itself\] y[^]*Lighthouse: Welcome home\.[^]*kill -9 \d+[^]*sage inbox[^]*Recorded for Bash rm hello\.mjs: allowed[^]*Removed\./,
      ],
      [[], /sage: no model configured|Demo: /],
      [["demo", "--lang", "zh"], /演示：模型[^]*\[演示自动回答\] 1[^]*灯塔：欢迎回家。/],
    ] as const) {
      const { code, out } = await machine.sage([...args]);
      assert.equal(code, 0, out);
      assert.match(out, label);
    }
    assert.deepEqual(
      readdirSync(machine.dir).filter((name) => name.startsWith("sage-demo-")),
      [],
    );
  });
});

test("a terminal that closes takes the demo's folder with it, however often it says so", async () => {
  using machine = new Machine();
  const terminal = machine.terminal(["demo"]);
  await terminal.until("Answer > ");
  assert.doesNotMatch(terminal.screen(), /keeps it open/);
  for (let n = 0; n < 2; n++) terminal.kill("SIGHUP");
  await terminal.code;
  assert.deepEqual(
    readdirSync(machine.dir).filter((name) => name.startsWith("sage-demo-")),
    [],
  );
});

suite("in a pipe", () => {
  test("every line counts in order, and the end of the input ends it", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [colours] }, { calls: [mark] }, { text: "One." }, { text: "Two." });
    const { code, out } = await machine.sage(["--model", model], { input: "go\n1\n2\n\ny\nand again\n" });
    assert.equal(code, 0);
    assert.match(
      out,
      /Which colour\? → Red; Which shape\? → Square[^]*Allow\? \(y\/n\/…\) > y[^]*One\.[^]*> and again[^]*Two\./,
    );
    assert.doesNotMatch(out, /\x1b/);
    assert.equal(machine.file("ran.txt"), "ran\n");
  });

  test("input that ends before the answer leaves the request open: exit 3", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [mark] }, { text: "End." });
    const { code, out } = await machine.sage(["--model", model, "go"]);
    assert.equal(code, 3);
    assert.match(out, /Resume with: sage --resume/);
    assert.equal((await machine.pending()).length, 1);
  });

  test("one SIGINT interrupts once, and the turn goes on with what is said next", async () => {
    using machine = new Machine();
    const model = machine.script(
      { text: "one two three four five six seven eight", delayMs: 2_500 },
      { text: "As you like." },
    );
    const running = machine.start(["--model", model, "go"]);
    await running.until("one two");
    running.kill("SIGINT");
    await running.until("Interrupted by");
    running.type("do it differently\n");
    await running.until("Done:");
    running.end();
    assert.equal((await running.ended).code, 0);
    assert.equal((await machine.facts("turn.interrupted")).length, 1);
  });

  test("SIGHUP leaves: nothing is resolved", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [mark] }, { text: "End." });
    const running = machine.start(["--model", model, "go"]);
    await running.until(permit);
    running.kill("SIGHUP");
    assert.equal((await running.ended).code, 129);
    assert.deepEqual([(await machine.pending()).length, await machine.outcomes()], [1, []]);
  });

  test("a session that another process runs is followed, and may be answered from here", async () => {
    using machine = new Machine();
    const model = machine.script({ calls: [mark] }, { text: "Both see this." });
    const owner = machine.start(["--model", model, "go"]);
    await owner.until(permit);
    const [request] = await machine.pending();
    const other = machine.start(["--model", model, "--resume", request?.session ?? ""]);
    await other.until(permit);
    other.type("y\n");
    await owner.until(/Answered by you at/);
    await Promise.all([owner.until("Both see this."), other.until("Both see this.")]);
    for (const one of [owner, other]) one.end();
    assert.deepEqual([(await owner.ended).code, (await other.ended).code], [0, 0]);
    assert.equal(machine.file("ran.txt"), "ran\n");
  });

  test("a model that cannot be loaded is said, not waited for", async () => {
    using machine = new Machine();
    const { code, err } = await machine.sage(["--model", "scripted/nowhere.json", "go"]);
    assert.match(err, /^sage: there is no file \S+nowhere\.json to play as a script\n$/);
    assert.equal(code, 2);
    assert.equal((await machine.sage(["sessions", "--json"])).out, "[]\n", "and no session is left behind");
  });
});
