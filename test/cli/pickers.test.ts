import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { bash, Machine } from "../support/cli.ts";
import { noTmux, tmux } from "../support/tmux.ts";

const idle = "What would you like to do?";

/** A provider that says which models it has, and nothing else. */
async function provider(...models: string[]) {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data: models.map((id) => ({ id })) }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    [Symbol.dispose]: () => void server.close(),
  };
}

function settings(machine: Machine, value: object): void {
  mkdirSync(machine.env["SAGE_HOME"] ?? "", { recursive: true });
  writeFileSync(join(machine.env["SAGE_HOME"] ?? "", "settings.json"), JSON.stringify(value));
}

suite("lists in the terminal, with real keys", { skip: noTmux }, () => {
  test("/rewind refuses at once while a turn runs; a yes cancels a paused one, and its message is back in the editor", async () => {
    using machine = new Machine();
    const model = machine.script({ text: "one two three four five six seven eight", delayMs: 8_000 });
    using term = tmux(machine, { cols: 110 });
    term.sage(`--model ${model} 画一座灯塔`);
    await term.until("one two");
    term.type("/rewind");
    term.press("Enter");
    await term.until("a turn is open");
    term.press("Escape");
    await term.until("⏸");
    term.type("/rewind");
    term.press("Enter");
    await term.until("Go back to before which message?");
    term.press("Enter");
    await term.until("Only the conversation");
    assert.equal(term.screen().includes("Only the files"), false);
    assert.equal((await machine.facts("turn.ended")).length, 0, "nobody has agreed yet");
    term.press("Enter");
    await term.until("❯ Go back");
    term.press("Enter");
    await term.until(/─\n *画一座灯塔 *\n─/);
    assert.equal((await machine.facts("turn.ended")).length, 1);
    assert.equal((await machine.facts("session.rewound")).length, 1);
  });

  test("sage --resume without an id, and /resume: title, state, age and folder; the choice goes on", async () => {
    using machine = new Machine();
    for (const [task, reply] of [
      ["画一座灯塔", "好的。"],
      ["fix the parser", "Fixed."],
    ] as const)
      await machine.sage(["-p", "--model", machine.script({ text: reply }), task]);
    const plain = await machine.sage(["--resume"]);
    assert.equal(plain.code, 2);
    assert.match(plain.err, /--resume needs a session id here:\n\s+\w{8}  fix the parser\n\s+\w{8}  画一座灯塔/);

    using term = tmux(machine, { cols: 110 });
    term.sage("--resume; echo code $?");
    await term.until(/Resume a session · 2[^]*❯ fix the parser +\d+ s ago · ~\/project · \w{8}\n +画一座灯塔/);
    term.press("Escape");
    await term.until("code 0");
    assert.equal(term.screen().includes("Resume a session"), false, "nothing of it is left");
    term.sage("--resume");
    await term.until("Resume a session · 2");
    term.type("灯塔");
    await term.until("1 of 2");
    term.press("Enter");
    await term.until(/好的。[^]*What would you like to do/);
    term.type("/resume");
    term.press("Enter");
    await term.until(/Resume a session · 1[^]*❯ fix the parser/);
    term.press("Enter");
    await term.until(/Fixed\.[^]*What would you like to do/);
  });

  test("/model: what the providers have, a failure said, an unknown name refused at once, in Chinese too", async () => {
    using server = await provider("qwen-small", "qwen-large");
    using machine = new Machine();
    settings(machine, {
      providers: { here: { baseURL: server.baseURL }, gone: { baseURL: "http://127.0.0.1:9/v1" } },
    });
    using term = tmux(machine, { cols: 120 });
    const model = machine.script({ text: "Hello." });
    term.sage(`--model ${model}`);
    await term.until(idle);
    term.type("/model here/nosuch");
    term.press("Enter");
    await term.until("here has no model nosuch; the model stays as it was");
    assert.deepEqual(await machine.facts("model.chosen"), []);
    term.type("/model");
    term.press("Enter");
    await term.until(/Choose a model · 3[^]*in use[^]*here\/qwen-small[^]*gone: /);
    term.type("large");
    term.press("Enter");
    await term.until("Model changed by you");
    await term.until("here/qwen-large · ");
    term.press("C-d");
    await term.until(/\n\S*[#$]$/);
    machine.env["LANG"] = "zh_CN.UTF-8";
    term.shell("clear; export LANG=zh_CN.UTF-8");
    term.sage(`--model ${model}`);
    await term.until("想做什么");
    term.type("/model here/nosuch");
    term.press("Enter");
    await term.until("here 没有模型 nosuch；模型保持不变");
    term.type("/model");
    term.press("Enter");
    await term.until(/选择模型 · 3[^]*当前/);
  });

  test("/permissions gives and takes back nothing for somebody who may not approve", async () => {
    using machine = new Machine();
    const people = { Lin: { ids: [`account:${userInfo().username}`], roles: ["talker"] } };
    settings(machine, { people, permissions: { deny: ["Bash(rm *)"] } });
    using term = tmux(machine, { cols: 100 });
    term.sage(`--model ${machine.script({ text: "One." })}`);
    await term.until(idle);
    term.type("/permissions");
    term.press("Enter");
    await term.until("Permission rules · ");
    term.press("Enter");
    await term.until("What should the rule do?");
    term.press("Enter");
    await term.until("Rule, such as");
    term.type("Bash(frob b)");
    term.press("Enter");
    await term.until("Where should");
    term.press("Enter"); // this session
    await term.until("Lin is not an approver");
    term.press("Escape");
    await term.until(idle);
    term.type("/permissions");
    term.press("Enter");
    await term.until("Permission rules · ");
    term.type("rm");
    await term.until("1 of 2");
    term.press("Enter");
    await term.until("Edit…");
    term.press("Down", "Enter");
    await term.until("Lin is not an approver");
    assert.deepEqual(await machine.facts("rule.added"), []);
    const kept = JSON.parse(readFileSync(join(machine.env["SAGE_HOME"] ?? "", "settings.json"), "utf8")) as object;
    assert.deepEqual(kept, { people, permissions: { deny: ["Bash(rm *)"] } });
  });

  test("/permissions: a rule is added, edited and removed, in a file and in the session, and counts at once", async () => {
    using machine = new Machine();
    settings(machine, { permissions: { deny: ["Bash(rm *)"] } });
    using term = tmux(machine, { cols: 100 });
    const model = machine.script({ calls: [bash("frob a")] }, { text: "One." });
    term.sage(`--model ${model}`);
    await term.until(idle);
    const open = async () => {
      term.type("/permissions");
      term.press("Enter");
      await term.until("Permission rules · ");
    };
    await open();
    await term.until(/Deny {2}Bash\(rm \*\) +you, in all projects/);
    term.press("Enter");
    await term.until("What should the rule do?");
    term.press("Enter");
    await term.until("Rule, such as");
    term.type("Bash(frob");
    term.press("Enter");
    await term.until('the rule "Bash(frob" cannot be read');
    term.press("C-u");
    term.type("Bash(frob b)");
    term.press("Enter");
    await term.until("Where should");
    term.press("Down", "Down", "Down", "Enter");
    await term.until("Added Bash(frob b) (you, in all projects).");
    await open();
    term.type("frob");
    await term.until("1 of 3");
    term.press("Enter");
    await term.until("Edit…");
    term.press("Enter");
    await term.until("⌕ Bash(frob b)");
    term.press("C-u");
    term.type("Bash(frob *)");
    term.press("Enter");
    await term.until("Added Bash(frob *) (you, in all projects).");
    const kept = () =>
      JSON.parse(readFileSync(join(machine.env["SAGE_HOME"] ?? "", "settings.json"), "utf8")) as object;
    assert.deepEqual(kept(), { permissions: { deny: ["Bash(rm *)"], allow: ["Bash(frob *)"] } });
    term.type("go");
    term.press("Enter");
    await term.until("One."); // without a question

    await open();
    term.press("Enter");
    await term.until("What should the rule do?");
    term.press("Down", "Down", "Enter");
    await term.until("Rule, such as");
    term.type("Bash(ls *)");
    term.press("Enter");
    await term.until("Where should");
    term.press("Enter");
    await term.until(/Bash\(ls \*\)[^]*What would you like to do/);
    assert.equal((await machine.facts("rule.added")).at(-1)?.data["destination"], "session");
    await open();
    term.type("ls");
    await term.until("this session");
    term.press("Enter");
    await term.until("Remove");
    term.press("Down", "Enter");
    await term.until("What would you like");
    assert.equal((await machine.facts("rule.removed")).at(-1)?.data["rule"], "Bash(ls *)");
  });

  test("Esc Esc: a message, what to take back, and a yes above what will change", async () => {
    using machine = new Machine();
    settings(machine, { permissions: { allow: ["Edit(./**)"] } });
    const write = { tool: "Write", input: { file_path: join(machine.cwd, "灯塔.txt"), content: "一座灯塔" } };
    const model = machine.script({ text: "Hello." }, { calls: [write] }, { text: "Written." });
    using term = tmux(machine, { cols: 100 });
    term.sage(`--model ${model} "hello there"`);
    await term.until("Hello.");
    term.type("画一座灯塔");
    term.press("Enter");
    await term.until("Written.");
    await term.until(idle);
    assert.equal(machine.file("灯塔.txt"), "一座灯塔");
    term.press("Escape");
    await new Promise((done) => setTimeout(done, 150));
    term.press("Escape");
    await term.until(/Go back to before which message\? · 2[^]*❯ 画一座灯塔[^]*hello there/);
    term.press("Enter");
    await term.until(/❯ Conversation and files/);
    term.press("Enter");
    await term.until(/❯ Go back\n[^]*remove +灯塔\.txt/);
    assert.equal(machine.file("灯塔.txt"), "一座灯塔", "not before somebody agreed");
    term.press("Enter");
    await term.until("1 file restored.");
    assert.equal(machine.file("灯塔.txt"), undefined);
  });
});
