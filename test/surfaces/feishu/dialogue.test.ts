import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { createRedaction } from "../../../src/config/secrets/redact.ts";
import { bash } from "../../support/sage.ts";
import { ask, said, team, until } from "./team.ts";

test("the example dialogue: a task, a permission by a click, a text by a message, and the end", async () => {
  await using sage = await team({
    lang: "zh",
    script: [
      { text: "我来清理。", calls: [bash("rm -f test.js")] },
      { calls: [ask("请输入新的文件名：")] },
      { text: "已改名为 newFile.js。" },
    ],
  });
  const { lin, feishu } = sage;
  writeFileSync(join(sage.cwd, "test.js"), "");
  lin.say("删除 test.js，然后起个新名字");
  const asked = await sage.card(lin.chat, "允许一次");
  assert.match(asked.text, /rm -f test\.js/);
  assert.ok(existsSync(join(sage.cwd, "test.js")));
  const shown = await lin.click(asked.id, "allow_once");
  assert.deepEqual(shown.toast, { type: "success", content: "已允许一次" });
  await sage.sees(lin.chat, /许可：已允许一次[^]*林 在飞书中回答/);
  const text = await sage.sees(lin.chat, /请输入新的文件名/);
  assert.ok(!existsSync(join(sage.cwd, "test.js")));
  lin.say("newFile.js");
  await sage.sees(lin.chat, /任务完成[^]*已改名为 newFile\.js/);
  await sage.surface.settled();
  assert.match(feishu.message(text.id).card ? JSON.stringify(feishu.message(text.id).card) : "", /newFile/);

  const receipts = sage.facts("input.resolved").map(({ data }) => [data.by, data.surface, data.outcome]);
  assert.deepEqual(receipts, [
    [`林 (${lin.openId})`, "feishu", "answered"],
    [`林 (${lin.openId})`, "feishu", "answered"],
  ]);
  assert.equal(sage.facts("turn.ended")[0]?.data.status, "success");
  const all = said(feishu, lin.chat);
  assert.ok(all.every(({ streaming, pings }) => !streaming && pings.length === 0));
  assert.deepEqual(
    // How far it came before the first question depends on the machine.
    all.map(({ text: one }) => one.split("\n")[0]).filter((title) => title !== "目前进展"),
    ["许可：已允许一次", "输入：已回答", "任务完成"],
  );
  await until(() => feishu.world.calls.every(({ code }) => code === 0));
});

test("the demo plays the dialogue and leaves a page that loads and runs nothing", async () => {
  const script = join(import.meta.dirname, "../../../scripts/feishu-demo.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, "en"]);
  const html = readFileSync(stdout.trim(), "utf8");
  assert.match(html, /Permission: allowed once[^]*Answered by 林 in Feishu/);
  assert.doesNotMatch(html, /<script|src=|href=|@_user/);
});

test("/ask: a question about the request, in words or in reply to its card; the reply comes below the card, once, and the card still asks", async () => {
  await using sage = await team({
    options: { redaction: createRedaction({}) },
    script: {
      "": [{ calls: [bash("rm -f test.js")] }, { text: "done" }],
      inquiry: [{ text: 'because token=ghp_0123456789abcdefghijklmnopqrstuvwxyz is in it <at user_id="all"></at>' }],
    },
  });
  const { lin, feishu } = sage;
  lin.say("clean up");
  const asked = await sage.card(lin.chat, "Allow once");
  assert.match(asked.text, /\/ask #\d{6}/);
  lin.say("/ask why that file?");
  const reply = await sage.sees(lin.chat, /Inquiry by 林 in Feishu: why that file\?[^]*The agent replies[^]*because/);
  assert.doesNotMatch(reply.text, /ghp_0123/);
  assert.deepEqual(reply.pings, []);
  lin.say("？ 还有呢", { replyTo: asked.id });
  await sage.sees(lin.chat, /还有呢[^]*The agent replies/);
  await sage.surface.settled();
  assert.equal(said(feishu, lin.chat).filter(({ text }) => /The agent replies/.test(text)).length, 2);
  assert.equal(sage.facts("input.resolved").length, 0);
  await lin.click(asked.id, "deny");
  await sage.sees(lin.chat, /done/);
  lin.say("/ask too late?");
  await sage.sees(lin.chat, /That card is closed/);
});
