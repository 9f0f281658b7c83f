import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { createBash } from "../../src/tools/shell/bash.ts";
import { promptAt } from "../../src/tools/shell/prompt-watch.ts";
import type { ToolResult } from "../../src/protocol/facts/message.ts";
import { Workspace } from "./workspace.ts";

describe("the end of an output is a question", () => {
  for (const [output, question] of [
    ["Cloning…\nPassword: ", "Password:"],
    ["[sudo] password for lin: ", "[sudo] password for lin:"],
    ["Enter passphrase for key '/home/lin/.ssh/id_ed25519': ", "Enter passphrase for key '/home/lin/.ssh/id_ed25519':"],
    ["Username for 'https://example.org': ", "Username for 'https://example.org':"],
    ["After this, 10 MB will be used.\nDo you want to continue? [Y/n] ", "Do you want to continue? [Y/n]"],
    [
      "The authenticity of host cannot be established.\nAre you sure you want to continue connecting (yes/no/[fingerprint])? ",
      "Are you sure you want to continue connecting (yes/no/[fingerprint])?",
    ],
    ["overwrite 'a.txt'? ", "overwrite 'a.txt'?"],
    ["Need to install the following packages:\ncreate-x\nOk to proceed? (y) ", "Ok to proceed? (y)"],
    ["Press any key to continue...\n", "Press any key to continue..."],
    ["Press Enter to open the browser", "Press Enter to open the browser"],
    ["\u001b[32m?\u001b[39m \u001b[1mProject name:\u001b[22m \u001b[2mmy-app\u001b[22m", "? Project name: my-app"],
    ["Loading 10%\rLoading 100%\rProceed (y/n)? ", "Proceed (y/n)?"],
    [">>> ", ">>>"],
    ["sqlite> ", "sqlite>"],
    ["lines 1-23 (END)", "lines 1-23 (END)"],
    ["请输入密码：", "请输入密码："],
    ["用户名:", "用户名:"],
    ["文件已存在，是否覆盖？", "文件已存在，是否覆盖？"],
    ["确定要删除吗（是/否）", "确定要删除吗（是/否）"],
    ["按任意键继续…\n", "按任意键继续…"],
    ["请选择一个选项 > ", "请选择一个选项 >"],
    ["", undefined],
    ["Compiling…", undefined],
    ["Downloading model: ", undefined],
    ["12 passed, 0 failed\n", undefined],
    ["What is new?\n", undefined],
    ["reset your password: see the manual\n", undefined],
    ["正在编译", undefined],
    ["Server listening on http://localhost:3000\n", undefined],
    ["  at Object.<anonymous> (file.js:1:2)\n", undefined],
  ] as const)
    test(JSON.stringify(output.slice(-60)), () => {
      assert.equal(promptAt(output), question);
    });
});

const bash = createBash({ quietMs: 150 });

async function run(command: string, timeout = 20_000): Promise<ToolResult & { asked: string[] }> {
  using work = new Workspace();
  const result = await work.run(bash, { command, timeout });
  return { ...result, asked: work.asked };
}

test("a command that stops at a question is told of while it waits, and is not ended for it", async () => {
  const { ok, text, asked } = await run("printf '文件已存在，是否覆盖？'; sleep 1; echo; echo went on");
  assert.deepEqual(asked, ["文件已存在，是否覆盖？"]);
  assert.deepEqual([ok, text], [true, "文件已存在，是否覆盖？\nwent on"]);
});

test("one that runs into its time limit at a question: the model reads what it waited for, and what to do instead", async () => {
  const { ok, text, asked } = await run("echo hello; printf 'Password: '; sleep 60", 700);
  assert.deepEqual([ok, asked], [false, ["Password:"]]);
  assert.match(text, /Timed out after 700 ms.*\nIt seems to have waited for somebody to answer: "Password:"/);
  assert.match(text, /a password or a token is for them alone/);
});

test("a question that got no input and gave up is named in the result", async () => {
  const { ok, text, asked } = await run("printf 'Continue? [Y/n] '; read -r x || { echo Abort.; exit 1; }");
  assert.deepEqual([ok, asked], [false, []]);
  assert.match(text, /Continue\? \[Y\/n\] Abort\.\nExit code 1\.\nIt seems to have waited .*Continue\?/);
});

test("one that asks over and over because nobody answers is noticed, and told of once", async () => {
  const flood = "i=0; while [ $i -lt 300 ]; do printf 'Continue? [y/N] '; read -r x && break; i=$((i+1)); done";
  const { ok, text, asked } = await run(`${flood}; sleep 60`, 1_500);
  assert.equal(ok, false);
  assert.deepEqual(asked, ["Continue? [y/N]"]);
  assert.match(text, /It seems to have waited/);
});

test("what only takes its time, prints for itself or reads from a pipe is left in peace", async () => {
  const commands = [
    "echo Compiling; sleep 0.7",
    "sleep 0.7 | cat",
    "sleep 0.7; exit 0",
    "printf 'Building: '; sleep 0.7",
  ];
  const asked = await Promise.all(commands.map(async (command) => (await run(command)).asked));
  assert.deepEqual(asked, [[], [], [], []]);
});

const hasScript = spawnSync("script", ["--version"]).status === 0 && process.platform === "linux";
test(
  "a program that reads from a terminal of its own is noticed without a word from it",
  { skip: !hasScript },
  async () => {
    const { asked, text } = await run("sleep 60 | script -qec 'head -n 1' /dev/null", 1_200);
    assert.deepEqual(asked, ["head"], text);
  },
);
