import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Machine, mark } from "../support/cli.ts";
import { fakeFeishu, type FakeFeishu } from "../support/feishu/platform.ts";
import { until } from "../support/until.ts";

for (const mode of ["socket", "webhook"])
  test(`${mode}: a task in a chat survives kill -9 of the daemon, and runs once when it is allowed`, async () => {
    await using feishu = await fakeFeishu();
    using machine = new Machine();
    const lin = feishu.user("林");
    const eve = feishu.user("Eve");
    const group = feishu.group("开发", [lin, eve]);
    const script = machine.script({ calls: [mark] }, { text: "It is done." });
    const start = () => serve(machine, feishu, { mode, approver: lin.openId, script });

    let daemon = await start();
    eve.say("do it for me", { chat: group, mentionBot: true });
    lin.say("go", { chat: group, mentionBot: true });
    const asked = await feishu.until(group, ({ buttons }) => buttons.length > 1);
    assert.match(asked.text, /echo ran >> ran\.txt/);
    daemon.kill("SIGKILL");
    await daemon.ended;
    assert.equal(machine.file("ran.txt"), undefined);

    daemon = await start();
    const hostile = await fetch(daemon.webhook, { method: "POST", body: '{"encrypt":"AAAA"}' });
    assert.equal(hostile.status, mode === "socket" ? 404 : 401);
    const allow = asked.buttons[0] ?? "";
    const refused = await eve.click(asked.id, allow);
    assert.notEqual(refused.toast?.type, "success");
    assert.equal(machine.file("ran.txt"), undefined);
    const shown = await lin.click(asked.id, allow);
    assert.equal(shown.error, undefined);
    await feishu.until(group, ({ text }) => text.includes("It is done."));
    assert.equal(machine.file("ran.txt"), "ran\n");
    assert.equal((await machine.facts("session.opened")).length, 1);
    assert.deepEqual(
      (await machine.facts("input.resolved")).map(({ data }) => [data["outcome"], data["surface"]]),
      [["answered", "feishu"]],
    );
    daemon.kill("SIGTERM");
    const { code, err } = await daemon.ended;
    assert.equal(code, 0);
    assert.doesNotMatch(err, / error /);
    assert.doesNotMatch(err, new RegExp(`${feishu.appSecret}|${feishu.encryptKey}`));
  });

test("the founding dialogue, played by sage serve itself: a dangerous command, a file name, its content, the end", async () => {
  await using feishu = await fakeFeishu();
  using machine = new Machine();
  const lin = feishu.user("林", "zh_cn");
  const askText = (question: string) => ({
    tool: "AskUserQuestion",
    input: { questions: [{ question, header: "文件", options: [], multiSelect: false }] },
  });
  writeFileSync(join(machine.cwd, "test.js"), "old\n");
  const script = machine.script(
    { text: "正在执行任务", calls: [{ tool: "Bash", input: { command: "rm -f test.js" } }] },
    { calls: [askText("请输入新的文件名：")] },
    { calls: [askText("请输入文件内容：")] },
    { calls: [{ tool: "Write", input: { file_path: "newFile.js", content: "export {};\n" } }] },
    { text: "newFile.js 已写好。" },
  );
  const daemon = await serve(machine, feishu, { mode: "socket", approver: lin.openId, script });
  const sees = (pattern: RegExp) => feishu.until(lin.chat, ({ from, text }) => from === "bot" && pattern.test(text));
  const field = async (pattern: RegExp) => {
    const { id } = await sees(pattern);
    return feishu.until(lin.chat, (one) => one.id === id && one.fields.includes("q0_other"));
  };
  lin.say("删除 test.js，然后写一个新文件");
  const permission = (what: RegExp) =>
    feishu.until(lin.chat, ({ buttons, text }) => buttons.includes("Allow once") && what.test(text));
  const asked = await permission(/rm -f test\.js/);
  assert.ok(machine.file("test.js"));
  assert.equal((await lin.click(asked.id, "allow_once")).toast?.content, "已允许一次");
  await field(/请输入新的文件名/);
  lin.say("/status");
  await feishu.until(lin.chat, ({ text }) => /waiting for your input/.test(text));
  lin.say("newFile.js");
  const content = await field(/请输入文件内容/);
  assert.equal((await lin.submit(content.id, { q0_other: "export {};" })).toast?.content, "回答已记录");
  const confirm = await permission(/newFile\.js[^]*\+ export/);
  await lin.click(confirm.id, "allow_once");
  await sees(/newFile\.js 已写好/);
  assert.deepEqual([machine.file("test.js"), machine.file("newFile.js")], [undefined, "export {};\n"]);
  const told = (await machine.facts("call.finished")).map(({ data }) => String(data["text"]));
  assert.match(told.join("\n"), /newFile\.js[^]*export \{\};/);
  daemon.kill("SIGTERM");
  assert.equal((await daemon.ended).code, 0);
});

async function serve(machine: Machine, feishu: FakeFeishu, how: { mode: string; approver: string; script: string }) {
  const daemon = machine.start(["serve", "--port", "0", "--model", how.script], {
    env: {
      FEISHU_APP_ID: feishu.appId,
      FEISHU_APP_SECRET: feishu.appSecret,
      FEISHU_DOMAIN: feishu.url,
      FEISHU_MODE: how.mode,
      FEISHU_ENCRYPT_KEY: feishu.encryptKey,
      FEISHU_VERIFICATION_TOKEN: feishu.verificationToken,
      FEISHU_APPROVERS: how.approver,
      NO_PROXY: "127.0.0.1",
    },
  });
  await daemon.until(/listening on http:\/\/\S+:\d+/);
  const url = /listening on (http:\/\/[\d.:]+)/.exec(daemon.errors())?.[1] ?? "";
  const webhook = `${url}/feishu/webhook`;
  if (how.mode === "webhook") feishu.delivery.webhook = webhook;
  await until(async () => (await fetch(`${url}/ready`)).status === 200);
  return { ...daemon, webhook };
}
