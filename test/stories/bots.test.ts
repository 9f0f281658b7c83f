import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bash, Machine } from "../support/cli.ts";
import { fakeFeishu } from "../support/feishu/platform.ts";

test("two bots in one daemon: each answers its own people, in its own folder, and neither lets the other's approver decide", async () => {
  await using first = await fakeFeishu();
  await using second = await fakeFeishu();
  second.world.app.id = "cli_ffffffffffffffff";
  second.world.app.secret = "the-secret-of-ops-0123456789abcdef";
  using machine = new Machine();
  const [home, opsFolder] = [machine.env["SAGE_HOME"] ?? "", join(machine.dir, "ops")];
  for (const folder of [home, opsFolder]) mkdirSync(folder, { recursive: true });
  const [lin, wang] = [first.user("Lin"), second.user("Wang")];
  writeFileSync(
    join(home, "settings.json"),
    JSON.stringify({
      feishu: {
        ...{ appId: first.appId, domain: first.url, approvers: [lin.openId] },
        bots: {
          ops: { appId: second.world.app.id, domain: second.url, cwd: opsFolder, approvers: [wang.openId] },
        },
      },
    }),
  );
  const model = machine.script({ calls: [bash("pwd > where.txt")] }, { text: "the end" });
  const daemon = machine.start(["serve", "--port", "0", "--model", model], {
    env: {
      FEISHU_APP_SECRET: first.appSecret,
      FEISHU_APP_SECRET_OPS: second.world.app.secret,
      NO_PROXY: "127.0.0.1",
    },
  });
  await daemon.until(/ops: long connection: connected/);
  for (const [feishu, person] of [
    [first, lin],
    [second, wang],
  ] as const) {
    person.say("go");
    const card = await feishu.until(person.chat, ({ buttons }) => buttons.includes("Allow once"));
    const other = feishu === first ? wang : lin;
    const { tenantKey } = feishu.world.app;
    feishu.world.people.set(other.openId, { openId: other.openId, name: other.name, tenantKey });
    const refused = await feishu.delivery.click(other.openId, card.id, {
      tag: "button",
      value: JSON.parse(/"value":(\{[^}]*allow_once[^}]*\})/.exec(JSON.stringify(card.card))?.[1] ?? "{}") as object,
    });
    assert.equal(refused.toast?.type, "error");
    await person.click(card.id, "allow_once");
    await feishu.until(person.chat, ({ text }) => /the end/.test(text));
  }
  const written = (await machine.facts("call.finished")).length;
  assert.equal(written, 2);
  assert.equal(machine.file("where.txt")?.trim(), machine.cwd);
  assert.equal(machine.file("../ops/where.txt")?.trim(), opsFolder);
  daemon.kill("SIGTERM");
  assert.equal((await daemon.ended).code, 0);
});
