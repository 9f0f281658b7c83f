import assert from "node:assert/strict";
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
  await daemon.until(/serves at http:\/\/\S+:\d+/);
  const url = /serves at (http:\/\/[\d.:]+)/.exec(daemon.errors())?.[1] ?? "";
  const webhook = `${url}/feishu/webhook`;
  if (how.mode === "webhook") feishu.delivery.webhook = webhook;
  await until(async () => (await fetch(`${url}/ready`)).status === 200);
  return { ...daemon, webhook };
}
