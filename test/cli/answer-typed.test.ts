// What only a person may allow is allowed on a terminal by typing what stands there. A script that lost its terminal cannot.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { bash, Machine, program } from "../support/cli.ts";

/** A session that waits for a yes to this command; `touch hard` is a person's alone. */
async function asked(machine: Machine, command: string): Promise<string> {
  await machine.sage(["permissions", "add", "ask", "Bash(touch hard)", "--to", "user"]);
  await machine.sage(["-p", "go", "--model", machine.script({ calls: [bash(command)] }, { text: "ok" })]);
  const [request] = await machine.pending();
  return request!.id;
}

const whereClearedBy = (machine: Machine) => {
  const { PATH = "", HOME = "", SAGE_HOME = "" } = machine.env;
  return ["env", "-i", `PATH=${PATH}`, `HOME=${HOME}`, `SAGE_HOME=${SAGE_HOME}`];
};

suite("a yes on the command line", { skip: process.platform === "win32" }, () => {
  const rows: [what: string, command: string, flags: string[], under: (machine: Machine) => string[], code: number][] =
    [
      ["a script may allow what is not a person's alone", "touch soft", ["--yes"], () => [], 0],
      ["a script may not allow what is", "touch hard", ["--yes"], () => [], 1],
      ["nor as JSON", "touch hard", ["--json", '{"type":"granted"}'], () => [], 1],
      [
        "nor in a session of its own without an environment",
        "touch hard",
        ["--yes"],
        (machine) => ["setsid", "--wait", ...whereClearedBy(machine)],
        1,
      ],
      ["it may refuse it", "touch hard", ["--no"], () => [], 0],
    ];
  for (const [what, command, flags, under, code] of rows)
    test(what, async () => {
      using machine = new Machine();
      const id = await asked(machine, command);
      const told = await machine.sage(["answer", id, ...flags], { under: under(machine) });
      assert.equal(told.code, code, told.out + told.err);
      if (code > 0) assert.match(told.err, /only a person may allow this, and here is no terminal/);
      assert.equal((await machine.pending()).length, code > 0 ? 1 : 0);
    });

  test("a pipe into the session itself may not allow it either, and may refuse it", async () => {
    using machine = new Machine();
    const id = await asked(machine, "touch hard");
    const said = (input: string) =>
      machine.sage(["--resume", id.split("/")[0]!, "--model", machine.script({ text: "ok" })], { input });
    const told = await said("y\n");
    assert.match(told.out, /only a person may allow this, and here is no terminal/);
    assert.equal((await machine.pending()).length, 1);
    await said("n\n");
    assert.equal((await machine.pending()).length, 0);
    const [end] = await machine.facts("input.resolved");
    assert.equal((end!.data["response"] as { type: string }).type, "denied");
  });

  test("a terminal shows a number to type; what is typed otherwise allows nothing, and the receipt says that it was typed there", async () => {
    using machine = new Machine();
    const id = await asked(machine, "touch hard");
    const wrong = machine.terminal(["answer", id, "--yes"]);
    await wrong.answer(/Only a person may allow this: .*touch hard[^]*to allow it: /, "y");
    assert.equal(await wrong.code, 1);
    assert.match(wrong.screen(), /nothing was recorded/);
    assert.equal((await machine.pending()).length, 1);

    const { code, screen } = await machine.allows(id);
    assert.equal(code, 0, screen);
    assert.match(screen, /typed here/);
    const [end] = await machine.facts("input.resolved");
    assert.deepEqual([end!.data["typed"], end!.data["surface"]], [true, "cli"]);
    const again = await machine.sage(["answer", id, "--yes"]);
    assert.equal(again.code, 0, again.err); // the same answer once more: nothing is left to allow
    const why = await machine.sage(["why"]);
    assert.match(why.out, /typed here/);
  });

  test("a terminal asks for nothing where any script might answer, and another person's terminal is no way around", async () => {
    using machine = new Machine();
    const id = await asked(machine, "touch soft");
    const soft = machine.terminal(["answer", id, "--yes"]);
    assert.equal(await soft.code, 0, soft.screen());
    assert.doesNotMatch(soft.screen(), /to allow it/);

    const hard = await asked(machine, "touch hard");
    // Its standard input is the terminal still, and the session is another one.
    const shell = `setsid --wait ${process.execPath} ${program} answer ${hard} --yes; echo "ended $?"`;
    const apart = machine.terminal(shell);
    await apart.until(/ended 1/);
    assert.match(apart.screen(), /no terminal to type on/);
  });
});
